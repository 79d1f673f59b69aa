package record

import (
	"strconv"

	"touchstone/contracts"
)

// Usage is the measured-usage block: five stages and the whole job, each with
// the nineteen fixed cells. Rules: R12.
type Usage struct {
	Version int
	Stages  Stages
	Job     Entry
}

// Stages has one entry for each stage, started or not.
type Stages struct{ Prepare, Compile, Run, Finalize, Publish Entry }

// Entry is the cells of one stage or of the job, in the contract's order.
type Entry struct {
	State string
	cells []cell
}

// cell is one resource.
type cell struct {
	Quantity
	scope, source, state string
}

var cells = contracts.UsageCells()

// Quantity is what is known of one cell, nil where nothing is, never 0; the
// unit is the cell's own.
type Quantity struct {
	Used, Peak, Requested, Limit *int64

	Scope   string // of what; "" is the entry's own
	Sampled bool   // the peak is the largest of some samples
}

// largest is the largest integer that a record may carry (inclusive).
const largest = 1<<53 - 1

// Number returns n as a quantity, nil if a record cannot carry it exactly.
func Number(n int64) *int64 {
	if n < 0 || n > largest {
		return nil
	}
	return &n
}

// NotStarted returns the entry of a stage that never began.
func NotStarted() Entry { return entry(contracts.ScopeStageProcess, contracts.StateNotStarted) }

// Started returns an entry of which nothing is measured yet: every cell is
// unavailable. scope is what its cells describe, unless a cell has its own.
func Started(scope string) Entry {
	e := entry(scope, contracts.StateUnavailable)
	e.State = contracts.StateMeasured
	return e
}

func entry(scope, state string) Entry {
	e := Entry{State: state, cells: make([]cell, len(cells))}
	for i, known := range cells {
		own := scope
		switch known.Name {
		case "memory_job":
			own = contracts.ScopeJobDomain
		case "arena_claimed", "arena_capacity":
			own = contracts.ScopeAttachment
		}
		e.cells[i] = cell{scope: own, source: contracts.SourceNone, state: state}
	}
	return e
}

// Set fills one cell. Without Used and Peak the cell stays unavailable, and
// its source none, but keeps what admission knows; unless that is all that the
// cell is to say, with admission as its source.
func (e Entry) Set(name, source string, q Quantity) {
	for i := range cells {
		if cells[i].Name != name {
			continue
		}
		c := &e.cells[i]
		if c.Quantity = q; q.Scope != "" {
			c.scope = q.Scope
		}
		known := q.Used != nil || q.Peak != nil || source == contracts.SourceAdmission && q.Limit != nil
		if known {
			c.source, c.state = source, contracts.StateMeasured
		}
		if known && q.Sampled {
			c.state = contracts.StateSampledLowerBound
		}
	}
}

// encode appends the cells' spelling.
func (u Usage) encode(b []byte) []byte {
	b = append(b, `{"version":`...)
	b = strconv.AppendInt(b, int64(u.Version), 10)
	b = append(b, `,"stages":{"prepare":`...)
	b = append(u.Stages.Prepare.encode(b), `,"compile":`...)
	b = append(u.Stages.Compile.encode(b), `,"run":`...)
	b = append(u.Stages.Run.encode(b), `,"finalize":`...)
	b = append(u.Stages.Finalize.encode(b), `,"publish":`...)
	b = append(u.Stages.Publish.encode(b), `},"job":`...)
	return append(u.Job.encode(b), '}')
}

func (e Entry) encode(b []byte) []byte {
	b = append(word(append(b, `{"state":`...), e.State), `,"resources":{`...)
	for i, c := range e.cells {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(word(b, cells[i].Name), ':')
		b = append(c.encode(b, cells[i].Unit), '}')
	}
	return append(b, "}}"...)
}

func (c cell) encode(b []byte, unit string) []byte {
	b = number(append(b, `{"used":`...), c.Used)
	b = number(append(b, `,"requested":`...), c.Requested)
	b = number(append(b, `,"limit":`...), c.Limit)
	b = number(append(b, `,"peak":`...), c.Peak)
	b = word(append(b, `,"unit":`...), unit)
	b = word(append(b, `,"scope":`...), c.scope)
	b = word(append(b, `,"source":`...), c.source)
	return word(append(b, `,"state":`...), c.state)
}

// word spells a word of the vocabulary, which needs no escape.
func word(b []byte, s string) []byte { return append(append(append(b, '"'), s...), '"') }

func number(b []byte, n *int64) []byte {
	if n == nil {
		return append(b, "null"...)
	}
	return strconv.AppendInt(b, *n, 10)
}
