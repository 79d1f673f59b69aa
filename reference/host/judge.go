package host

import (
	"fmt"

	"touchstone/contracts"
)

// Stream is one data channel as the host saw it.
type Stream struct {
	Offered bool // the host made it, or knows the artifact
	Bytes   int64
	SHA256  string // lowercase hex
	Ended   bool   // an end was read before the host killed anything
	Over    bool   // a byte beyond the cap came
	Lost    bool   // bytes could not be kept
}

// Exit is how S itself ended, as its parent saw it.
type Exit struct {
	Waited         bool // else nothing is known
	Status, Signal int  // one of them; Signal 0 for none
}

// Observed is everything that a verdict can rest on: what the host asked for,
// and what it saw with its own eyes. It is a plain value, so that a verdict is
// a pure function of it.
type Observed struct {
	AttemptID   string
	Invocation  string
	Limits      Limits
	PlannedSink int64 // 0: no plan
	NamedSink   bool  // Sink is the artifact that S published

	Packet        []byte // the first
	Packets       int    // 2 stands for more, too
	Truncated     bool
	Sender        int
	TerminalEnded bool

	Report, Diagnostic, Sink Stream

	Supervisor int // pid of S
	Exit       Exit
	Expired    bool // the watch ran out before an outcome was there
	Left       int  // processes that outlived S and had to be killed
}

// Cause is why an attempt is rejected. Its authority says who established it:
// "supervisor" in a verified record, or "host".
//
// Rules: R11, R14.
type Cause struct {
	Code      string
	Args      map[string]any
	Authority string
}

// AuthorityHost marks a cause that no record of S holds: a local disposition is
// never taken for a packet. Rules: R14.
const AuthorityHost = "host"

// Verdict is what Judge decides. Record is nil unless it was verified in full.
type Verdict struct {
	Accepted bool
	Cause    *Cause // nil if accepted
	Record   []byte // the verified packet without its LF
	Findings []string
}

// Reasons of a local cause. Rules: R14, R20.
const (
	reasonIO       = "io"
	reasonDeadline = "deadline"
	reasonProtocol = "protocol"
)

func local(channel, reason string) *Cause {
	return &Cause{contracts.CodeReportChannelFailed, map[string]any{"channel": channel, "reason": reason}, AuthorityHost}
}

// Judge decides whether the result of an attempt is accepted. It is pure.
//
// What is plainly no record of one attempt is a protocol failure, whatever else
// happened; then a watch that ran out is a deadline, and no packet at all is
// io. A record is then held against what the host knows, and any disagreement
// is a protocol failure. Only a record that agrees in everything is believed,
// be it success or S's own failure.
//
// Rules: R14, R21.
func Judge(o Observed) Verdict {
	framing := o.framing()
	switch {
	case len(framing) > 0:
		return Verdict{Cause: local(contracts.ChannelStatus, reasonProtocol), Findings: framing}
	case o.Expired:
		return Verdict{Cause: local(contracts.ChannelStatus, reasonDeadline), Findings: []string{"no outcome within the watch"}}
	case o.Packets == 0:
		return Verdict{Cause: local(contracts.ChannelStatus, reasonIO), Findings: []string{"no terminal packet"}}
	}
	record, err := Decode(o.Packet)
	if err != nil {
		return Verdict{Cause: local(contracts.ChannelStatus, reasonProtocol), Findings: []string{err.Error()}}
	}
	if found := o.compare(record); len(found) > 0 {
		return Verdict{Cause: local(contracts.ChannelStatus, reasonProtocol), Findings: found}
	}
	v := Verdict{Record: o.Packet[:len(o.Packet)-1]}
	switch {
	case !record.complete():
		v.Cause = record.cause()
	case o.Report.Lost:
		v.Cause = local(contracts.ChannelReport, reasonIO)
	case o.Sink.Lost:
		v.Cause = local(contracts.ChannelSink, reasonIO)
	default:
		v.Accepted = true
	}
	return v
}

// framing finds what needs no look into a record.
func (o *Observed) framing() (found []string) {
	note := func(wrong bool, what string, args ...any) {
		if wrong {
			found = append(found, fmt.Sprintf(what, args...))
		}
	}
	note(o.Packets > 1, "a second terminal packet")
	note(o.Packets > 0 && o.Truncated, "a terminal packet of more than %d bytes", terminalBytes)
	note(o.Packets > 0 && len(o.Packet) == 0, "an empty terminal packet")
	note(o.Packets > 0 && o.Sender != o.Supervisor, "a terminal packet from process %d, not from %d", o.Sender, o.Supervisor)
	for _, s := range []struct {
		name string
		Stream
	}{{"report", o.Report}, {"diagnostic", o.Diagnostic}, {"sink", o.Sink}} {
		note(s.Over, "%s: more than the granted bytes", s.name)
	}
	return found
}

// compare holds a well-formed record against what the host saw and asked.
func (o *Observed) compare(r *Record) []string {
	c := &checks{record: r}
	c.note(o.TerminalEnded, "terminal: no end behind the packet")
	c.note(o.Report.Ended, "report: no end")
	c.note(o.Diagnostic.Ended, "diagnostic: no end")
	c.note(!o.Sink.Offered || o.Sink.Ended, "sink: no end")
	c.equal("attempt_id", o.AttemptID)
	c.equal("invocation", o.Invocation)
	c.note(o.Exit.Waited && o.Exit.Signal == 0, "supervisor: ended by signal %d", o.Exit.Signal)
	c.equal("exit_status", int64(o.Exit.Status))
	c.status(int64(len(o.Packet)))
	c.limits(o)
	c.outcome(o)
	c.delivered(o)
	c.ledger()
	if r.complete() {
		c.success(o)
	}
	return c.found
}
