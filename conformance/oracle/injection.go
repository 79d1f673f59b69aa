package oracle

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"touchstone/conformance/evidence"
)

// injection is what the tracer's log says of an attempt.
type injection struct {
	decisions []decision
	final     *verdictLine
}

// decision is one firing of a rule, realised by what the kernel did.
type decision struct {
	State  string      `json:"state"`
	Rule   string      `json:"rule"`
	Action string      `json:"action"`
	PID    int         `json:"pid"`
	Call   string      `json:"call"`
	FD     *descriptor `json:"fd"`
}

// descriptor is what a call was made on. A number that nothing was open at has
// no inode.
type descriptor struct {
	Number int     `json:"fd"`
	Inode  *uint64 `json:"ino"`
}

// verdictLine is the log's last line.
type verdictLine struct {
	Rules []tally  `json:"rules"`
	Blind []string `json:"blind"`
	Error *string  `json:"error"`
}

type tally struct {
	ID      string `json:"id"`
	Fired   uint64 `json:"fired"`
	AsAsked bool   `json:"as_asked"`
	Why     string `json:"why"`
}

const (
	realised = "realised"

	tracerAsAsked, tracerNotAsked = 0, 3 // its exits after a whole run
)

// readInjection reads the tracer's log; a line that cannot be read makes it
// one without an end.
func readInjection(a *evidence.Attempt) injection {
	var i injection
	for line := range bytes.Lines(a.File(evidence.FaultLogFile)) {
		var head struct {
			Kind string `json:"kind"`
		}
		var d decision
		var last verdictLine
		err := json.Unmarshal(line, &head)
		switch head.Kind {
		case "decision":
			if err = json.Unmarshal(line, &d); d.State == realised {
				i.decisions = append(i.decisions, d)
			}
		case "final":
			err = json.Unmarshal(line, &last)
			i.final = &last
		}
		if err != nil {
			return injection{}
		}
	}
	return i
}

// acted counts the firings of a rule.
func (i injection) acted(rule string) uint64 {
	n := uint64(0)
	for _, d := range i.decisions {
		if d.Rule == rule {
			n++
		}
	}
	return n
}

// faultsHappened: nothing is said of a launcher that was not disturbed as the
// script asks. A fault that the launcher never gave occasion for could not be
// asked of it; a tracer that failed is a fault of the suite.
func faultsHappened(a *evidence.Attempt, w *wants) {
	if len(a.Scenario.Faults) == 0 {
		return
	}
	end, ended := evidence.First[evidence.Injection](a)
	i := readInjection(a)
	status := -1
	if end.Body.Status != nil {
		status = *end.Body.Status
	}
	said := strings.TrimSpace(end.Body.Said)
	switch {
	case !ended:
		w.undecided(Broken, "the tracer of the faults never ended")
		return
	case i.final == nil && strings.Contains(said, "operation not permitted"):
		w.undecided(NotRun, "processes cannot be traced here: "+said)
		return
	case i.final == nil || i.final.Error != nil || (status != tracerAsAsked && status != tracerNotAsked):
		w.undecided(Broken, fmt.Sprintf("the tracer of the faults failed: exit %d: %s", status, said))
		return
	case len(i.final.Blind) > 0:
		w.undecided(Broken, "the tracer of the faults did not see everything: "+strings.Join(i.final.Blind, "; "))
	}
	for _, t := range evidence.All[evidence.ProducerTracer](a) {
		if t.Body.Tracer != 0 {
			w.undecided(Broken, fmt.Sprintf("producer %d was traced, by %d", t.Body.PID, t.Body.Tracer))
		}
	}
	for _, t := range i.final.Rules {
		t.happened(i, w)
	}
}

// Watch begins the name of a rule that only looks out for what must not be: it
// may have no occasion, and a check says how often it had one.
const Watch = "no-"

// happened: a rule did as it was asked, and the decisions show it.
func (t tally) happened(i injection, w *wants) {
	switch acted := i.acted(t.ID); {
	case t.Fired == 0 && strings.HasPrefix(t.ID, Watch):
	case t.Fired == 0:
		w.undecided(NotRun, fmt.Sprintf("fault %s: %s", t.ID, t.Why))
	case !t.AsAsked:
		w.undecided(Broken, fmt.Sprintf("fault %s: %s", t.ID, t.Why))
	case acted < t.Fired:
		w.undecided(Broken, fmt.Sprintf("fault %s: %d firings, and decisions on %d", t.ID, t.Fired, acted))
	}
}
