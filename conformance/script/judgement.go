package script

import (
	"touchstone/conformance/evidence"
	"touchstone/conformance/oracle"
	"touchstone/conformance/scenario"
)

// Judgement is one question that a script put to the oracle, with all that its
// answer follows from.
type Judgement struct {
	Script   string
	Cell     scenario.Cell
	Line     int // of the script; 0 for the universal checks of one attempt
	ID       string
	Words    []string // the noun of a check; nil for the universal checks
	Attempts []*evidence.Attempt
	Facts    oracle.Facts
}

// Universal tells the checks of every attempt from those of a line.
func (j Judgement) Universal() bool { return j.Words == nil }

// Findings are the oracle's answer.
func (j Judgement) Findings() []oracle.Finding {
	if j.Universal() {
		return oracle.Universal(j.Attempts[0], j.Facts)
	}
	return []oracle.Finding{oracle.Check(j.ID, j.Words, j.Attempts, j.Facts)}
}

// Witness hears of every judgement, if the attempts of a script are one. It may
// be called for several cells concurrently.
type Witness interface{ Judged(Judgement) }

func (s *session) judge(j Judgement) []oracle.Finding {
	j.Script, j.Cell, j.Line = s.script.Name, s.cell, s.line
	if j.Universal() {
		j.Line = 0
	}
	if w, listens := s.attempts.(Witness); listens {
		w.Judged(j)
	}
	return j.Findings()
}
