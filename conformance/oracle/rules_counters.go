package oracle

import "fmt"

// counters reads three counters of a channel; missing ones make ok false.
func (v *view) counters(w *wants, channel string) (observed, accepted uint64, ok bool) {
	observed, ok1 := v.channel(channel, "observed_bytes").uint()
	accepted, ok2 := v.channel(channel, "accepted_bytes").uint()
	if !ok1 || !ok2 {
		w.that(false, channel+" counters unreadable", "observed_bytes and accepted_bytes")
	}
	return observed, accepted, ok1 && ok2
}

// chargedOnce: the ledger is the sum of the unique representations. What went
// to R counts only if it is not the candidate itself.
//
// Rules: R08, C-33.
func chargedOnce(v *view, w *wants) {
	_, sink, ok1 := v.counters(w, "sink")
	_, candidate, ok2 := v.counters(w, "candidate")
	_, report, ok3 := v.counters(w, "report")
	if !ok1 || !ok2 || !ok3 {
		return
	}
	// The digest of a publication that was cut covers a prefix.
	written, _ := v.channel("report", "written_bytes").uint()
	relayed := report == candidate && (written < report || sameDigest(v.channel("report", "sha256"), v.channel("candidate", "sha256")))
	if report == 0 || relayed {
		report = 0
	}
	w.equal("report_charged_bytes", v.at("report_charged_bytes"), sink+candidate+report)
}

func sameDigest(a, b *node) bool { return a.isString() && b.isString() && a.text == b.text }

// oneProbeByte: nothing is accepted unseen, and a budget overflow is seen by
// exactly one byte more than was accepted.
//
// Rules: R06, R08, R10.
func oneProbeByte(v *view, w *wants) {
	for _, name := range []string{"candidate", "report", "sink", "diagnostic"} {
		observed, accepted, ok := v.counters(w, name)
		w.that(!ok || accepted <= observed, fmt.Sprintf("%s: accepted %d of observed %d", name, accepted, observed), "accepted <= observed")
	}
	name := v.overflowed()
	if name == "" {
		return
	}
	if observed, accepted, ok := v.counters(w, name); ok {
		w.that(observed == accepted+1, fmt.Sprintf("%s: observed %d, accepted %d", name, observed, accepted), "observed = accepted + 1")
	}
}

// overflowed is the channel whose budget the failure says was exceeded at run
// time; empty for every other outcome. An admission refusal has used_bytes 0.
func (v *view) overflowed() string {
	args := v.at("failure", "args")
	used, _ := args.at("used_bytes").uint()
	switch code := v.record.Code(); {
	case code == "diagnostic_budget_exceeded":
		return "diagnostic"
	case code == "report_budget_exceeded" && used > 0:
		return "candidate"
	case code == "report_sink_failed" && args.at("reason").is("sink_exhausted"):
		return "sink"
	}
	return ""
}

func withinLimits(v *view, w *wants) {
	for _, name := range []string{"candidate", "report", "sink", "diagnostic"} {
		_, accepted, ok := v.counters(w, name)
		if !ok {
			continue
		}
		if limit, known := v.channel(name, "limit_bytes").uint(); known {
			w.atMost(name+".accepted_bytes", v.channel(name, "accepted_bytes"), limit)
		}
		if name != "candidate" {
			w.atMost(name+".written_bytes", v.channel(name, "written_bytes"), accepted)
		}
	}
}

func candidateLimit(v *view, w *wants) {
	_, sink, ok := v.counters(w, "sink")
	if effective, known := v.at("limits", "report_bytes", "effective").uint(); ok && known && effective >= sink {
		v.limitIs(w, "candidate", effective-sink, "report_bytes")
		return
	}
	v.limitIs(w, "candidate", 0, "report_bytes")
}

func channelLimits(v *view, w *wants) {
	for _, name := range []string{"report", "diagnostic"} {
		member := name + "_bytes"
		effective, _ := v.at("limits", member, "effective").uint()
		v.limitIs(w, name, effective, member)
	}
	w.equal("status.limit_bytes", v.channel("status", "limit_bytes"), terminalBytes)
	planned, sink := v.at("limits", "sink_bytes"), v.channel("sink", "limit_bytes")
	w.that(planned.spell() == sink.spell() || !v.admitted(), fmt.Sprintf("sink.limit_bytes=%s with limits.sink_bytes=%s", sink, planned), "the same")
}

// limitIs compares a channel's limit with the effective one. Where that is not
// known, null and the granted value are right too.
//
// Rules: R10, C-81.
func (v *view) limitIs(w *wants, channel string, wanted uint64, member string) {
	got := v.channel(channel, "limit_bytes")
	if v.at("limits", member, "effective").isNull() {
		granted := v.at("limits", member, "granted")
		w.that(got.isNull() || got.spell() == granted.spell(), channel+".limit_bytes="+got.String(), "null or the granted limit")
		return
	}
	w.equal(channel+".limit_bytes", got, wanted)
}

// unknownCandidateTotal: without a complete end of the candidate its producer
// write total is not known; an end that was read makes it the observed count.
//
// Rules: R10, C-41.
func unknownCandidateTotal(v *view, w *wants) {
	written := v.channel("candidate", "written_bytes")
	if v.channel("candidate", "complete").isTrue() {
		return
	}
	if v.channel("candidate", "source_total_known").isTrue() && !written.isNull() {
		w.that(written.spell() == v.channel("candidate", "observed_bytes").spell(), "candidate.written_bytes="+written.String(), "null or observed_bytes")
		return
	}
	w.null("candidate.written_bytes", written)
}
