package record

import (
	"errors"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"touchstone/contracts"
	"touchstone/reference/outcome"
)

// The record is spelled here member by member, in the contract's order: an
// encoder that has to find out what a record looks like takes several times as
// long, after every attempt.

// object writes members, of nested objects too.
type object struct{ text []byte }

// name writes a member's name, and the comma before it where there is one.
func (o *object) name(name string) {
	if o.text[len(o.text)-1] != '{' {
		o.text = append(o.text, ',')
	}
	o.text = append(word(o.text, name), ':')
}

func (o *object) open(name string) {
	o.name(name)
	o.text = append(o.text, '{')
}

func (o *object) close() { o.text = append(o.text, '}') }

func (o *object) integer(name string, n int64) {
	o.name(name)
	o.text = strconv.AppendInt(o.text, n, 10)
}

func (o *object) number(name string, n *int64) {
	o.name(name)
	o.text = number(o.text, n)
}

func (o *object) flag(name string, b bool) {
	o.name(name)
	o.text = strconv.AppendBool(o.text, b)
}

// word writes a string that needs no escape: of a vocabulary, or of hex digits.
func (o *object) word(name, s string) {
	o.name(name)
	o.text = word(o.text, s)
}

func (o *object) optional(name string, s *string) {
	if s == nil {
		o.null(name)
		return
	}
	o.word(name, *s)
}

func (o *object) null(name string) {
	o.name(name)
	o.text = append(o.text, "null"...)
}

func (o *object) raw(name string, value []byte) {
	o.name(name)
	o.text = append(o.text, value...)
}

// encode spells the record with a length of its own.
func (t Terminal) encode(length int64) ([]byte, error) {
	o := object{append(make([]byte, 0, 20<<10), '{')}
	o.word("schema", contracts.TerminalSchema)
	o.integer("version", contracts.TerminalVersion)
	o.word("contract", contracts.Contract)
	o.word("attempt_id", t.AttemptID)
	o.word("invocation", t.Invocation)
	o.flag("complete", t.Failure == nil)
	o.word("exit_class", class(t.Failure))
	err := o.failure(t.Failure)
	o.integer("exit_status", int64(t.ExitStatus()))
	err = errors.Join(err, o.producer(t.Producer))
	o.limits(t.Limits)
	o.integer("report_charged_bytes", t.Charged)
	o.channels(t.Channels, length)
	err = errors.Join(err, o.verification(t.Sink))
	o.name("usage")
	o.text = t.Usage.encode(o.text)
	o.cleanup(t.Cleanup)
	o.close()
	return append(o.text, '\n'), err
}

func (o *object) failure(f *outcome.Failure) error {
	if f == nil {
		o.null("failure")
		return nil
	}
	arguments, err := json.Marshal(args(f.Args))
	o.claim(&Claim{Code: f.Code, Args: arguments, Authority: contracts.AuthoritySupervisor})
	return err
}

// claim writes a failure, of whatever authority.
func (o *object) claim(c *Claim) {
	o.open("failure")
	o.word("code", c.Code)
	o.raw("args", c.Args)
	o.word("authority", c.Authority)
	o.close()
}

func (o *object) producer(p Producer) error {
	o.open("producer")
	defer o.close()
	o.optional("stage", p.Stage)
	o.number("exit_status", p.Exit)
	o.number("signal", p.Signal)
	switch {
	case p.Claim == nil:
		o.null("failure")
	case !p.Claim.Args.IsValid():
		return errors.New("args of the claim: not JSON")
	default:
		o.claim(p.Claim)
	}
	o.flag("failure_claim_omitted", p.Omitted)
	return nil
}

func (o *object) limits(l Limits) {
	o.open("limits")
	o.limit("report_bytes", l.ReportBytes)
	o.limit("diagnostic_bytes", l.DiagnosticBytes)
	o.limit("wall_ms", l.WallMS)
	o.limit("stall_ms", l.StallMS)
	o.number("sink_bytes", l.SinkBytes)
	o.integer("terminal_bytes", TerminalBytes)
	o.integer("stop_grace_ms", StopGraceMS)
	o.integer("relay_queue_bytes", RelayQueueBytes)
	o.integer("producer_claim_bytes", ProducerClaimBytes)
	o.close()
}

func (o *object) limit(name string, l Limit) {
	o.open(name)
	o.number("requested", l.Requested)
	o.number("granted", l.Granted)
	o.number("effective", l.Effective)
	o.close()
}

// channels writes the data channels, and of the status what is true of a whole
// record of this length.
func (o *object) channels(c Channels, length int64) {
	o.open("channels")
	o.channel("candidate", c.Candidate)
	o.channel("report", c.Report)
	o.open("sink")
	o.counters(c.Sink.Channel)
	o.optional("accepted_sha256", c.Sink.AcceptedSHA256)
	o.optional("logical_sha256", c.Sink.LogicalSHA256)
	o.close()
	o.channel("diagnostic", c.Diagnostic)
	o.channel("status", Channel{Observed: length, Accepted: length,
		Written: &length, Limit: Number(TerminalBytes), Complete: true, SourceTotalKnown: true})
	o.close()
}

func (o *object) channel(name string, c Channel) {
	o.open(name)
	o.counters(c)
	o.close()
}

func (o *object) counters(c Channel) {
	o.integer("observed_bytes", c.Observed)
	o.integer("accepted_bytes", c.Accepted)
	o.number("written_bytes", c.Written)
	o.number("limit_bytes", c.Limit)
	o.flag("truncated", c.Truncated)
	o.flag("complete", c.Complete)
	o.flag("source_total_known", c.SourceTotalKnown)
	o.optional("sha256", c.SHA256)
}

func (o *object) verification(v *Verification) (err error) {
	if v == nil {
		o.null("sink_verification")
		return nil
	}
	o.open("sink_verification")
	o.number("exit_status", v.Exit)
	o.number("signal", v.Signal)
	o.flag("complete", v.Complete)
	o.open("counts")
	for _, count := range []struct {
		tag string
		n   *int64
	}{{"E", v.Counts.E}, {"T", v.Counts.T}, {"O", v.Counts.O}, {"V", v.Counts.V}, {"K", v.Counts.K}, {"X", v.Counts.X}, {"H", v.Counts.H}} {
		o.number(count.tag, count.n)
	}
	o.close()
	o.optional("sha256", v.SHA256)
	if v.FinalizerVersion == nil {
		o.null("finalizer_version")
	} else { // free text
		o.name("finalizer_version")
		o.text, err = jsontext.AppendQuote(o.text, *v.FinalizerVersion)
	}
	o.close()
	return err
}

func (o *object) cleanup(c Cleanup) {
	o.open("cleanup")
	for _, fact := range []struct {
		name  string
		value Fact
	}{{"producer_reaped", c.ProducerReaped}, {"domain_empty", c.DomainEmpty}, {"artifacts_removed", c.ArtifactsRemoved}} {
		o.open(fact.name)
		state := contracts.Unavailable
		if fact.value == nil {
			o.null("value")
		} else {
			o.flag("value", *fact.value)
			state = contracts.Measured
		}
		o.word("measurement_state", state)
		o.close()
	}
	o.close()
}
