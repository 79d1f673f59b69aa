package script

import (
	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

// Asker is somebody who asks for a few assertions only, if the attempts of a
// script are one. It is called by one goroutine for a session.
type Asker interface {
	// Wants says whether one of these assertions is asked for. A launch line is
	// left out of which none is: its checks are not run.
	Wants(ids []string) bool
	// Heard hears each finding as it is made.
	Heard(Finding)
	// Suffices says after an attempt whether the rest of its launch line may be
	// left out: the checks are then of the attempts that were made.
	Suffices(*evidence.Attempt) bool
}

var errUnasked error = &needsError{"nothing was asked of this launch"}

// unasked says that nobody wants what the launch on the current line shows.
func (s *session) unasked() bool {
	asker, asks := s.attempts.(Asker)
	if !asks {
		return false
	}
	ids, more := s.script.shownBy(s.line, s.cell)
	return !more && !asker.Wants(ids)
}

// shownBy are the assertions that are checked of the launch on a line. More says
// that something else is made of it than checks.
func (s Script) shownBy(line int, cell scenario.Cell) (ids []string, more bool) {
	for _, statement := range s.Statements {
		if statement.Line <= line || !statement.holds(cell) {
			continue
		}
		switch statement.verb() {
		case "launch", "finalize":
			return ids, more
		case "document":
			more = true
		case "check":
			ids = append(ids, statement.Words[1].encode())
		}
	}
	return ids, more
}

// found keeps a finding and tells it.
func (s *session) found(f Finding) {
	s.findings = append(s.findings, f)
	if asker, listens := s.attempts.(Asker); listens {
		asker.Heard(f)
	}
}
