package record

import "touchstone/contracts"

// Usage is the measured-usage block: five stages and the whole job, each with
// the nineteen fixed cells. Rules: R12.
type Usage struct {
	Version int    `json:"version"`
	Stages  Stages `json:"stages"`
	Job     Entry  `json:"job"`
}

// Stages has one entry for each stage, started or not.
type Stages struct {
	Prepare  Entry `json:"prepare"`
	Compile  Entry `json:"compile"`
	Run      Entry `json:"run"`
	Finalize Entry `json:"finalize"`
	Publish  Entry `json:"publish"`
}

// Entry is the cells of one stage or of the job.
type Entry struct {
	State     string          `json:"state"`
	Resources map[string]Cell `json:"resources"`
}

// Cell is one resource. A quantity that is not known is nil, never 0.
type Cell struct {
	Used      *int64 `json:"used"`
	Requested *int64 `json:"requested"`
	Limit     *int64 `json:"limit"`
	Peak      *int64 `json:"peak"`
	Unit      string `json:"unit"`
	Scope     string `json:"scope"`
	Source    string `json:"source"`
	State     string `json:"state"`
}

// Quantity is what is known of one cell; the unit is the cell's own.
type Quantity struct{ Used, Peak, Requested, Limit *int64 }

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
	e := Entry{State: state, Resources: make(map[string]Cell)}
	for _, cell := range contracts.UsageCells() {
		own := scope
		switch cell.Name {
		case "memory_job":
			own = contracts.ScopeJobDomain
		case "arena_claimed", "arena_capacity":
			own = contracts.ScopeAttachment
		}
		e.Resources[cell.Name] = Cell{Unit: cell.Unit, Scope: own, Source: contracts.SourceNone, State: state}
	}
	return e
}

// Set fills one cell. Without Used and Peak the cell stays unavailable, and
// its source none, but keeps what admission knows.
func (e Entry) Set(name, source string, q Quantity) {
	cell := e.Resources[name]
	cell.Used, cell.Peak, cell.Requested, cell.Limit = q.Used, q.Peak, q.Requested, q.Limit
	if q.Used != nil || q.Peak != nil {
		cell.Source, cell.State = source, contracts.StateMeasured
	}
	e.Resources[name] = cell
}
