package host

import (
	"fmt"
	"slices"

	"touchstone/contracts"
)

// Attested are the members of a successful record, with everything below them,
// that a host has no own knowledge of: S vouches for them, and a value that is
// altered but keeps its shape is not seen there. Everywhere else one altered
// value is, also in the three byte counts of usage.job; accepted_sha256 is
// compared where the sink is not internal. For a failed record see doc.go.
//
// Rules: R14, T27.18.
func Attested() []string {
	return []string{"producer.stage", "usage.stages", "usage.job", "cleanup.artifacts_removed",
		"channels.sink.accepted_sha256", "sink_verification.counts", "sink_verification.finalizer_version"}
}

// checks collects where a record and the host's own knowledge disagree.
type checks struct {
	record *Record
	found  []string
}

func (c *checks) note(holds bool, what string, args ...any) {
	if !holds && len(c.found) < maxFindings {
		c.found = append(c.found, fmt.Sprintf(what, args...))
	}
}

func (c *checks) at(path string) *value { return c.record.root.at(path) }

func (c *checks) equal(path string, want any) {
	if v := c.at(path); !v.same(want) {
		c.note(false, "%s: got %s, want %v", path, v, want)
	}
}

// oneOf compares with several values, any of which is right.
func (c *checks) oneOf(path string, want ...any) {
	v := c.at(path)
	c.note(slices.ContainsFunc(want, v.same), "%s: got %s, want one of %v", path, v, want)
}

// count is a number that has been found to be one; 0 for null.
func (c *checks) count(path string) int64 {
	n, _ := c.at(path).number()
	return n
}

// status: the record counts its own bytes, and has no digest of itself (C-37).
func (c *checks) status(length int64) {
	for _, name := range []string{"observed_bytes", "accepted_bytes", "written_bytes"} {
		c.equal("channels.status."+name, length)
	}
	c.equal("channels.status.limit_bytes", int64(terminalBytes))
	c.whole("status")
	c.equal("channels.status.sha256", nil)
}

// whole: nothing of a channel is missing or unknown.
func (c *checks) whole(channel string) {
	c.equal("channels."+channel+".complete", true)
	c.equal("channels."+channel+".truncated", false)
	c.equal("channels."+channel+".source_total_known", true)
}

// limits: what S says that it was asked and granted is what it was asked and
// granted. A refused run may not know (C-13, C-81).
func (c *checks) limits(o *Observed) {
	for _, name := range contracts.LimitTriples() {
		l, path := o.Limits[name], "limits."+name
		if c.record.complete() {
			c.equal(path+".granted", l.Granted)
			c.equal(path+".effective", l.Effective)
		} else {
			c.oneOf(path+".granted", l.Granted, nil)
			c.oneOf(path+".effective", l.Effective, nil)
		}
		switch {
		case l.Requested == nil:
			c.equal(path+".requested", nil)
		case c.record.complete():
			c.equal(path+".requested", *l.Requested)
		default:
			c.oneOf(path+".requested", *l.Requested, nil)
		}
	}
}

// outcome: complete, class, failure and exit status say one thing.
//
// Rules: R10, R20, C-16, C-19.
func (c *checks) outcome(o *Observed) {
	class, exits := classes[""], []any{int64(0)}
	if code := c.at("failure.code"); code != nil {
		class = classes[code.text]
		exits = exitStatuses(o.Invocation, code.text, class)
	}
	c.note(class != "", "failure.code: %s is none that a supervisor can establish", c.at("failure.code"))
	c.equal("exit_class", class)
	c.equal("complete", class == "success")
	c.oneOf("exit_status", exits...)
	producer := c.at("producer")
	both := !producer.at("exit_status").is('n') && !producer.at("signal").is('n')
	c.note(!both, "producer: an exit status and a signal")
	c.note(producer.at("failure").is('n') || !c.record.complete() && producer.at("failure_claim_omitted").same(false),
		"producer.failure: a claim where there can be none")
}

// classes gives the exit class of each code that S can establish; "" is none.
var classes = map[string]string{
	"":                              "success",
	"run_request_invalid":           "input_refusal",
	"report_mode_unsupported":       "input_refusal",
	"scratch_configuration_invalid": "input_refusal",
	"report_budget_exceeded":        "resource_refusal",
	"diagnostic_budget_exceeded":    "resource_refusal",
	"run_process_refused":           "resource_refusal",
	"run_deadline_exceeded":         "resource_refusal",
	"run_isolation_unavailable":     "resource_refusal",
	"run_producer_failed":           "producer_failure",
	"report_channel_failed":         "transport_failure",
	"report_sink_failed":            "transport_failure",
	"report_result_invalid":         "transport_failure",
	"harness_internal_error":        "harness_fault",
	"run_aborted":                   "aborted",
}

// exitStatuses are those a facade can end with for a failure. A refused report
// mode may keep the engine's own exit in the direct facade (C-72).
func exitStatuses(invocation, code, class string) []any {
	switch {
	case invocation == contracts.InvocationRunJSON && code == contracts.CodeReportModeUnsupported:
		return []any{int64(1), int64(2)}
	case invocation == contracts.InvocationRunJSON && class == "input_refusal":
		return []any{int64(2)}
	case invocation == contracts.InvocationRunJSON:
		return []any{int64(1)}
	case class == "producer_failure":
		return []any{int64(4), int64(2), int64(3), int64(5)}
	case class == "input_refusal":
		return []any{int64(4), int64(2)}
	}
	return []any{int64(4)}
}

// delivered: the host's own counts and digests are those of the record. A
// prefix, which only a failed run has, may go without a digest (C-38).
func (c *checks) delivered(o *Observed) {
	c.stream("report", o.Report)
	c.stream("diagnostic", o.Diagnostic)
	switch {
	case !o.Sink.Offered && !o.NamedSink:
		c.stream("sink", Stream{SHA256: emptyDigest})
	case !o.NamedSink || c.record.complete():
		c.stream("sink", o.Sink)
	}
}

// emptyDigest is the SHA-256 of no bytes.
const emptyDigest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func (c *checks) stream(channel string, s Stream) {
	path := "channels." + channel
	c.equal(path+".written_bytes", s.Bytes)
	if s.Bytes == 0 || !c.record.complete() {
		c.oneOf(path+".sha256", s.SHA256, nil)
		return
	}
	c.equal(path+".sha256", s.SHA256)
}

// ledger: the counters agree with each other, whoever wins.
//
// Rules: R08, R10, C-40, C-47.
func (c *checks) ledger() {
	for _, channel := range []string{"candidate", "report", "sink", "diagnostic"} {
		path := "channels." + channel
		observed, accepted := c.count(path+".observed_bytes"), c.count(path+".accepted_bytes")
		c.note(accepted <= observed, "%s: accepted %d of observed %d", path, accepted, observed)
		c.note(channel == "candidate" || c.count(path+".written_bytes") <= accepted, "%s: more written than accepted", path)
	}
	charged, sink := c.count("report_charged_bytes"), c.count("channels.sink.accepted_bytes")
	candidate, report := c.count("channels.candidate.accepted_bytes"), c.count("channels.report.accepted_bytes")
	relayed := report == candidate && charged == sink+candidate // a relay is charged once
	c.note(relayed || charged == sink+candidate+report, "report_charged_bytes: %d of sink %d, candidate %d, report %d",
		charged, sink, candidate, report)
	if effective, known := c.at("limits.report_bytes.effective").number(); known {
		c.note(charged <= effective, "report_charged_bytes: %d over %d", charged, effective)
	}
	for cell, counter := range map[string]string{"report_bytes": "report_charged_bytes",
		"sink_bytes": "channels.sink.accepted_bytes", "diagnostic_bytes": "channels.diagnostic.accepted_bytes"} {
		c.equal("usage.job.resources."+cell+".used", c.count(counter))
	}
}
