package oracle

import (
	"bytes"
	"fmt"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

// view is one attempt with what every check needs, read once.
type view struct {
	attempt *evidence.Attempt
	facts   Facts
	record  *Record // of the first packet, nil when none came
	parsed  *document
	rules   []rule // of Universal, nil for a check of a line
}

func look(a *evidence.Attempt, f Facts) *view {
	v := &view{attempt: a, facts: f}
	if packets := a.Packets(); len(packets) > 0 {
		v.record = recent.decode(packets[0].Bytes)
	}
	return v
}

// document is the report, read when a check first asks for it.
func (v *view) document() document {
	if v.parsed == nil {
		read := readDocument(v.attempt.ReportBytes())
		read.success, read.failure = v.facts.SuccessMembers, v.facts.FailureMembers
		v.parsed = &read
	}
	return *v.parsed
}

// at is a member of the record; nil without a record.
func (v *view) at(path ...string) *node {
	if v.record == nil {
		return nil
	}
	return v.record.root.at(path...)
}

func (v *view) channel(name, cell string) *node { return v.at("channels", name, cell) }

// exit is the wait status of the supervisor: its exit status, else its signal.
func (v *view) exit() (status, signal int, known bool) {
	exit, found := v.attempt.Exit()
	switch {
	case !found:
		return 0, 0, false
	case exit.Body.Status != nil:
		return *exit.Body.Status, 0, true
	case exit.Body.Signal != nil:
		return 0, *exit.Body.Signal, true
	}
	return 0, 0, false
}

func (v *view) exitText() string {
	status, signal, known := v.exit()
	switch {
	case !known:
		return "no wait status: the driver's watchdog ended the attempt"
	case signal != 0:
		return fmt.Sprintf("killed by signal %d", signal)
	}
	return fmt.Sprintf("exit %d", status)
}

// claimsSuccess: the launcher says, by record or by exit status, that the run
// succeeded. Every condition of success must then hold.
func (v *view) claimsSuccess() bool {
	status, signal, known := v.exit()
	return (v.record != nil && v.record.Complete()) || (known && status == 0 && signal == 0)
}

// handled: the supervisor was left to end by itself, so that it owes a record.
func (v *view) handled() bool {
	for _, c := range evidence.All[evidence.Control](v.attempt) {
		if c.Body.Result != evidence.Done {
			continue
		}
		a := c.Body.Action
		closed := a.Kind == scenario.DoClose && a.Channel == scenario.ChannelTerminal
		stopped := (a.Kind == scenario.DoKill || a.Kind == scenario.DoStop) && a.Who == scenario.Supervisor
		if closed || stopped {
			return false
		}
	}
	return true
}

// closedByHost: the host closed its end of a data endpoint, so that it cannot
// know all that was written.
func (v *view) closedByHost(name string) bool {
	for _, c := range evidence.All[evidence.Control](v.attempt) {
		if c.Body.Result == evidence.Done && c.Body.Action.Kind == scenario.DoClose && c.Body.Action.Channel == name {
			return true
		}
	}
	return false
}

// owed: the launch was left to end by itself, and by its request and endpoints
// a record is due.
func (v *view) owed() bool { return v.handled() && v.attempt.Scenario.OwesRecord() }

// diagnostics are D's bytes without what the harness may add in front.
//
// Rules: C-59.
func (v *view) diagnostics() []byte {
	return bytes.TrimPrefix(v.attempt.DiagnosticBytes(), v.facts.HarnessDiagnostics)
}

// number is a counter of the record and a text for reports when it is absent.
func number(n *node) (uint64, string) {
	value, ok := n.uint()
	if !ok {
		return 0, "unreadable: " + n.String()
	}
	return value, ""
}
