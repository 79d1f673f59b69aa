package oracle

import (
	"fmt"
	"strconv"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

func oneDocument(v *view, w *wants) {
	w.that(v.document().problem == "", "the report: "+v.document().problem, "one JSON document and one LF")
}

func documentIsSuccess(v *view, w *wants) {
	w.that(v.document().isSuccess(), v.describeReport(), "a success document")
}

func (v *view) describeReport() string {
	switch {
	case v.document().problem != "":
		return fmt.Sprintf("%d bytes of report: %s", len(v.attempt.ReportBytes()), v.document().problem)
	case v.document().isFailure():
		return "a failure document with code " + v.document().root.at("code").String()
	case v.document().isSuccess():
		return "a success document"
	}
	return "a document of neither shape"
}

func producerExitedZero(v *view, w *wants) {
	w.equal("producer.exit_status", v.at("producer", "exit_status"), 0)
	w.null("producer.signal", v.at("producer", "signal"))
}

func noFailure(v *view, w *wants) { w.null("failure", v.at("failure")) }

func candidateComplete(v *view, w *wants) {
	w.truth("candidate.complete", v.channel("candidate", "complete"), true)
}

// recorded: the supervisor ended by itself, with a record or with a claim of
// success that owes one. What it wrote and when it closed is then held against
// what the host got, also where the run was refused: the record of a refused
// run is a bill, too.
func recorded(v *view) bool { return v.handled() && (packetSeen(v) || v.claimsSuccess()) }

// deliveredAsRecorded: the host's own counts and digests equal the record's. A
// prefix, which only a failed run has, may go without a digest.
func deliveredAsRecorded(v *view, w *wants) {
	for _, name := range []string{"report", "diagnostic"} {
		if v.closedByHost(name) { // what was on its way is lost
			continue
		}
		content := v.endpointBytes(name)
		w.equal(name+".written_bytes", v.channel(name, "written_bytes"), uint64(len(content)))
		if recorded := v.channel(name, "sha256"); v.claimsSuccess() || !recorded.isNull() {
			w.digest(name+".sha256", recorded, content)
		}
	}
	if kind := v.attempt.Scenario.Endpoints.Kind(scenario.ChannelSink); kind == scenario.Pipe || kind == scenario.Stream {
		written, recorded := uintOf(v.channel("sink", "written_bytes")), v.channel("sink", "sha256")
		w.atMost("the sink's bytes at the host", &node{kind: '0', text: strconv.Itoa(len(v.sink()))}, written)
		if v.claimsSuccess() {
			w.equal("sink.written_bytes", v.channel("sink", "written_bytes"), uint64(len(v.sink())))
		}
		whole := written == uint64(len(v.sink())) // nothing was lost on its way
		if v.claimsSuccess() || whole && !recorded.isNull() {
			w.digest("sink.sha256", recorded, v.sink())
		}
	}
}

func uintOf(n *node) uint64 {
	value, _ := n.uint()
	return value
}

func withinBudgets(v *view, w *wants) {
	report, seen := number(v.at("limits", "report_bytes", "effective"))
	w.that(seen == "", "limits.report_bytes.effective "+seen, "a number")
	w.atMost("report_charged_bytes", v.at("report_charged_bytes"), report)
	diagnostic, seen := number(v.at("limits", "diagnostic_bytes", "effective"))
	w.that(seen == "", "limits.diagnostic_bytes.effective "+seen, "a number")
	w.atMost("diagnostic.observed_bytes", v.channel("diagnostic", "observed_bytes"), diagnostic)
	if sink, ok := v.at("limits", "sink_bytes").uint(); ok {
		w.atMost("sink.accepted_bytes", v.channel("sink", "accepted_bytes"), sink)
	}
}

// endedBeforePacket: an endpoint that the launcher holds at another number too,
// which it must refuse, need not have ended; of one that the host closed it
// cannot know.
func endedBeforePacket(v *view, w *wants) {
	exempt := func(name string) bool { return v.attempt.Scenario.Endpoints.Aliased(name) || v.closedByHost(name) }
	for _, p := range v.attempt.Packets() {
		w.that((p.Body.Ended.Report || exempt("report")) && (p.Body.Ended.Diagnostic || exempt("diagnostic")),
			fmt.Sprintf("at the packet: report ended %t, diagnostic ended %t", p.Body.Ended.Report, p.Body.Ended.Diagnostic),
			"both data endpoints closed before the packet")
	}
	w.that(packetSeen(v), "no packet", "a packet")
}

func reapedAndEmpty(v *view, w *wants) {
	for _, name := range []string{"producer_reaped", "domain_empty"} {
		value, state := v.at("cleanup", name, "value"), v.at("cleanup", name, "measurement_state")
		w.that(value.isTrue() && state.is("measured"), fmt.Sprintf("cleanup.%s: %s, %s", name, value, state), "true, measured")
	}
	for _, l := range evidence.All[evidence.Leftover](v.attempt) {
		w.that(l.Body.What != "process", "left behind: "+l.Body.Detail, "no process of the attempt")
	}
}

func completeDelivered(v *view, w *wants) { w.truth("complete", v.at("complete"), true) }

func exitedZero(v *view, w *wants) {
	status, signal, known := v.exit()
	w.that(known && status == 0 && signal == 0, v.exitText(), "exit 0")
	w.equal("exit_status", v.at("exit_status"), 0)
}

func candidateTotal(v *view, w *wants) {
	observed, seen := number(v.channel("candidate", "observed_bytes"))
	w.that(seen == "", "candidate.observed_bytes "+seen, "a number")
	w.equal("candidate.written_bytes", v.channel("candidate", "written_bytes"), observed)
}

func reportIsCandidate(v *view, w *wants) {
	content := v.attempt.ReportBytes()
	size := uint64(len(content))
	w.equal("candidate.accepted_bytes", v.channel("candidate", "accepted_bytes"), size)
	for _, name := range []string{"observed_bytes", "accepted_bytes", "written_bytes"} {
		w.equal("report."+name, v.channel("report", name), size)
	}
	w.digest("candidate.sha256", v.channel("candidate", "sha256"), content)
	w.digest("report.sha256", v.channel("report", "sha256"), content)
	w.truth("report.complete", v.channel("report", "complete"), true)
}

func diagnosticsWhole(v *view, w *wants) {
	content := v.attempt.DiagnosticBytes()
	for _, name := range []string{"observed_bytes", "accepted_bytes", "written_bytes"} {
		w.equal("diagnostic."+name, v.channel("diagnostic", name), uint64(len(content)))
	}
	w.digest("diagnostic.sha256", v.channel("diagnostic", "sha256"), content)
	w.truth("diagnostic.complete", v.channel("diagnostic", "complete"), true)
	w.truth("diagnostic.truncated", v.channel("diagnostic", "truncated"), false)
}

// unusedSink: a success that no sink byte took part in.
func unusedSink(v *view) bool {
	observed, _ := v.channel("sink", "observed_bytes").uint()
	return v.claimsSuccess() && observed == 0
}

func sinkAbsent(v *view, w *wants) {
	for _, name := range []string{"observed_bytes", "accepted_bytes", "written_bytes"} {
		w.equal("sink."+name, v.channel("sink", name), 0)
	}
	w.truth("sink.complete", v.channel("sink", "complete"), true)
	w.truth("sink.truncated", v.channel("sink", "truncated"), false)
	for _, name := range []string{"sha256", "accepted_sha256", "logical_sha256"} {
		w.null("sink."+name, v.channel("sink", name))
	}
	w.null("sink_verification", v.at("sink_verification"))
}

func nothingUnknown(v *view, w *wants) {
	for _, name := range []string{"candidate", "report", "sink", "diagnostic"} {
		observed, _ := v.channel(name, "observed_bytes").uint()
		if name == "sink" && observed == 0 {
			continue
		}
		w.truth(name+".truncated", v.channel(name, "truncated"), false)
		w.truth(name+".source_total_known", v.channel(name, "source_total_known"), true)
	}
}

// usageMatchesChannels: the three byte cells of the job are the ledger's.
//
// Rules: R12, C-47.
func usageMatchesChannels(v *view, w *wants) {
	for _, c := range []struct {
		cell    string
		counter *node
	}{
		{"report_bytes", v.at("report_charged_bytes")},
		{"sink_bytes", v.channel("sink", "accepted_bytes")},
		{"diagnostic_bytes", v.channel("diagnostic", "accepted_bytes")},
	} {
		wanted, seen := number(c.counter)
		w.that(seen == "", "the counter of "+c.cell+" "+seen, "a number")
		w.equal("usage.job."+c.cell+".used", v.at("usage", "job", "resources", c.cell, "used"), wanted)
	}
}
