package oracle

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

func onePacketThenEOF(v *view, w *wants) {
	packets := v.attempt.Packets()
	saw := fmt.Sprintf("%d terminal packets", len(packets))
	if len(packets) == 0 {
		saw += howItEnded(v.attempt)
	}
	w.that(len(packets) == 1, saw, "exactly one")
	end, ended := evidence.First[evidence.TerminalEOF](v.attempt)
	w.that(ended && end.Body.Error == "", "no clean end of the terminal endpoint", "an end after the packet")
	if ended && len(packets) > 0 {
		w.that(packets[len(packets)-1].Seq < end.Seq, "a packet after the end", "the end last")
	}
	killed, given := evidence.First[evidence.Watchdog](v.attempt)
	w.that(!given || !ended || end.Seq < killed.Seq, "an end only when the driver had killed what held the terminal endpoint", "an end of the launcher's own making")
}

// howItEnded tells of a launcher without a record how it ended, and its last
// words: most often they say why.
func howItEnded(a *evidence.Attempt) string {
	var text string
	exit, exited := a.Exit()
	watchdog, given := evidence.First[evidence.Watchdog](a)
	switch {
	case given:
		text = fmt.Sprintf("; stopped by the driver after %d ms", watchdog.Body.LimitMS)
	case exited && exit.Body.Signal != nil:
		text = fmt.Sprintf("; the launcher ended by signal %d", *exit.Body.Signal)
	case exited && exit.Body.Status != nil:
		text = fmt.Sprintf("; the launcher exited with %d", *exit.Body.Status)
	}
	lines := bytes.Split(bytes.TrimSpace(a.DiagnosticBytes()), []byte("\n"))
	if last := lines[len(lines)-1]; len(last) > 0 {
		text += fmt.Sprintf(", last diagnostics %.200q", last)
	}
	return text
}

func packetWhole(v *view, w *wants) {
	for _, p := range v.attempt.Packets() {
		w.that(!slices.Contains(p.Body.Flags, "MSG_TRUNC"), "MSG_TRUNC", "a whole message")
		w.that(p.Body.Size <= terminalBytes, fmt.Sprintf("%d bytes", p.Body.Size), fmt.Sprintf("at most %d", terminalBytes))
	}
}

// noAttempt is the identity of an attempt whose host gave none. Rules: C-2.
const noAttempt = "00000000000000000000000000000000"

func ownAttempt(v *view, w *wants) {
	issued := v.attempt.Launch.AttemptID
	none := v.attempt.Scenario.Admission != "" && v.at("attempt_id").is(noAttempt)
	w.value(none || v.at("attempt_id").is(issued), v.at("attempt_id"), v.at("attempt_id").String(), strconv.Quote(issued))
}

func ownFacade(v *view, w *wants) {
	w.value(v.at("invocation").is(v.facts.Invocation), v.at("invocation"), v.at("invocation").String(), strconv.Quote(v.facts.Invocation))
}

func completeMeansSuccess(v *view, w *wants) {
	complete := v.at("complete").isTrue()
	status, ok := v.at("exit_status").uint()
	signs := []struct {
		name string
		got  bool
	}{
		{"exit_class=success", v.at("exit_class").is("success")},
		{"failure=null", v.at("failure").isNull()},
		{"exit_status=0", ok && status == 0},
	}
	for _, s := range signs {
		w.that(s.got == complete, fmt.Sprintf("complete=%t and (%s)=%t", complete, s.name, s.got), "both or neither")
	}
}

func argsFollowCatalog(v *view, w *wants) {
	if failure := v.at("failure"); failure.isObject() {
		problem := argsFault(failure.at("code").plain(), failure.at("args"))
		w.that(problem == "", problem, "args as the catalog declares them")
		documentTellsIt(v, failure, w)
	}
}

// documentTellsIt: a failure document on the report says what the record says,
// in code, args and the catalog's fixed English. Only a producer's own, which is
// the candidate byte for byte, says what the producer did.
//
// Rules: R04, R11, R20.
func documentTellsIt(v *view, failure *node, w *wants) {
	document := v.document()
	code := document.root.at("code")
	relayed := v.record.Code() == "run_producer_failed" && digestMatches(v.channel("candidate", "sha256"), v.attempt.ReportBytes())
	if !document.isFailure() || relayed {
		return
	}
	w.that(code.is(v.record.Code()), v.describeReport(), "code "+v.record.Code()+", as the record has it")
	said, recorded := document.root.at("args").orEmpty(), failure.at("args").orEmpty()
	w.that(sameMembers(said, recorded), "args "+said.String()+" in the failure document", recorded.String()+", as the record has them")
	if english := failureCatalog().Codes[v.record.Code()].English; len(english) == 1 {
		w.that(document.root.at("error").is(english[0]), "error "+document.root.at("error").String(), strconv.Quote(english[0]))
	}
}

// sameMembers says whether two flat objects have the same members, in any order.
func sameMembers(a, b *node) bool {
	differs := func(m member) bool { return b.member(m.name).String() != m.value.String() }
	return len(a.members) == len(b.members) && !slices.ContainsFunc(a.members, differs)
}

func claimFollowsCatalog(v *view, w *wants) {
	claim := v.at("producer", "failure")
	if !claim.isObject() {
		return
	}
	problem := argsFault(claim.at("code").plain(), claim.at("args"))
	w.that(problem == "", problem, "a claim as the catalog declares it")
	w.that(v.at("producer", "failure_claim_omitted").isFalse(), "a claim that is said to be omitted", "one or the other")
}

func exitAgrees(v *view, w *wants) {
	status, signal, known := v.exit()
	said, ok := v.at("exit_status").uint()
	w.value(known && signal == 0 && ok && int(said) == status, v.at("exit_status"),
		v.exitText()+", exit_status="+v.at("exit_status").String(), "the same exit status")
	allowed := facadeExit(v.facts.Invocation, v.at("exit_class").plain(), v.record.Code(), v.at("producer", "stage").plain())
	w.that(ok && slices.Contains(allowed, said), fmt.Sprintf("exit_status=%s for %s", v.at("exit_status"), v.at("exit_class")),
		fmt.Sprintf("one of %v", allowed))
}

func stageWhenStarted(v *view, w *wants) {
	waited := !v.at("producer", "exit_status").isNull() || !v.at("producer", "signal").isNull()
	seen, _ := v.channel("candidate", "observed_bytes").uint()
	stage := v.at("producer", "stage")
	w.that(!(stage.isNull() && (waited || seen > 0)), "stage=null for a producer that ran", "a stage")
}

func oneWaitStatus(v *view, w *wants) {
	status, signal := v.at("producer", "exit_status"), v.at("producer", "signal")
	both := !status.isNull() && !signal.isNull()
	w.that(!both, fmt.Sprintf("exit_status=%s and signal=%s", status, signal), "at most one of them")
	reaped := v.at("cleanup", "producer_reaped", "value").isTrue() && !v.at("producer", "stage").isNull()
	ran := v.record.Code() == "run_producer_failed" || v.record.Complete()
	w.that(!(reaped && ran && status.isNull() && signal.isNull()), "a reaped producer without wait status", "exit_status or signal")
	unknown := status.isNull() && signal.isNull() && !v.at("cleanup", "producer_reaped", "value").isTrue() // it was never waited for
	if ends := evidence.All[evidence.ProducerExit](v.attempt); len(ends) > 0 && !unknown {
		said := fmt.Sprintf("exit_status=%s and signal=%s", status, signal)
		w.that(slices.ContainsFunc(ends, func(e evidence.Stamped[evidence.ProducerExit]) bool { return said == waitStatus(e.Body) }),
			said, waitStatus(ends[0].Body)+", as the kernel tells of the producer")
	}
}

// waitStatus is an end as the record has to spell it.
func waitStatus(e evidence.ProducerExit) string {
	if e.Signal != nil {
		return fmt.Sprintf("exit_status=null and signal=%d", *e.Signal)
	}
	return fmt.Sprintf("exit_status=%d and signal=null", *e.Status)
}

func classFollowsCode(v *view, w *wants) {
	class := "success"
	if code := v.record.Code(); code != "" {
		known := false
		if class, known = exitClass(code); !known {
			w.that(false, fmt.Sprintf("code %q as an authoritative failure", code), "a code that a supervisor can establish")
			return
		}
	}
	w.value(v.at("exit_class").is(class), v.at("exit_class"), fmt.Sprintf("%s for code %q", v.at("exit_class"), v.record.Code()), class)
}

func statusCountsItself(v *view, w *wants) {
	size := uint64(len(v.record.packet))
	for _, name := range []string{"observed_bytes", "accepted_bytes", "written_bytes"} {
		w.equal("status."+name, v.channel("status", name), size)
	}
	w.equal("status.limit_bytes", v.channel("status", "limit_bytes"), terminalBytes)
	w.truth("status.complete", v.channel("status", "complete"), true)
	w.truth("status.source_total_known", v.channel("status", "source_total_known"), true)
	w.truth("status.truncated", v.channel("status", "truncated"), false)
	w.null("status.sha256", v.channel("status", "sha256"))
}

func unmeasuredIsNull(v *view, w *wants) {
	for _, name := range []string{"producer_reaped", "domain_empty", "artifacts_removed"} {
		value, state := v.at("cleanup", name, "value"), v.at("cleanup", name, "measurement_state")
		w.that(value.isNull() == state.is("unavailable"), fmt.Sprintf("cleanup.%s: %s, %s", name, value, state),
			"null if and only if unavailable")
	}
}

// ownWords are the forms of text that may stand in a record anywhere.
var ownWords = regexp.MustCompile("^(?:[a-z][a-z0-9_]{0,47}|supervised/v1|pf-run-terminal|" + digestForm + "|" + attemptForm + ")$")

var versionWord = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z.+/-]{0,63}$`)

// noForeignText: no path, message or child text outside a claim's args.
//
// Rules: R10.
func noForeignText(v *view, w *wants) {
	v.record.root.walk("", func(path string, value *node) {
		if !value.isString() || hasPath(path, "producer.failure.args") || ownWords.MatchString(value.text) {
			return
		}
		if allowedText(path, value.text) {
			return
		}
		w.value(false, value, path+"="+value.String(), "no text but the contract's own words")
	})
}

func allowedText(path, text string) bool {
	switch {
	case path == "sink_verification.finalizer_version":
		return versionWord.MatchString(text)
	case path == "failure.args.mode", path == "failure.args.contract", path == "failure.args.field":
		return len(text) <= 64 && !strings.ContainsAny(text, " \n\t")
	}
	return false
}

func limitsResolved(v *view, w *wants) {
	for _, limit := range limitTable {
		limitResolved(v, w, limit.member, limit.knob)
	}
}

func limitResolved(v *view, w *wants, member, knob string) {
	requested, granted, effective := v.at("limits", member, "requested"), v.at("limits", member, "granted"), v.at("limits", member, "effective")
	value, given := requestedOption(v.attempt.Scenario, v.facts.Invocation, knob)
	if !given {
		w.value(requested.isNull(), requested, member+".requested="+requested.String(), "null: the option was omitted")
	} else if plainInteger(value) && requested.isNull() && v.admitted() {
		w.value(false, requested, member+".requested=null", value)
	}
	if !v.admitted() {
		return
	}
	low, okLow := effective.uint()
	high, okHigh := granted.uint()
	w.that(okLow && okHigh && low > 0 && low <= high,
		fmt.Sprintf("%s.effective=%s of granted=%s", member, effective, granted), "0 < effective <= granted")
}

// admitted: the request was not refused for what it asked or was granted.
//
// Rules: R07, C-13.
func (v *view) admitted() bool {
	return !v.at("exit_class").is("input_refusal") && v.record.Code() != "run_isolation_unavailable"
}

// requestedOption is the text of the option that counts: the flag before the
// variable in the direct facade, the variable alone in the entrypoint. The
// last of several counts.
//
// Rules: R07, C-5.
func requestedOption(s scenario.Scenario, invocation, knob string) (value string, given bool) {
	routes := []string{scenario.RouteEnv, scenario.RouteCLI}
	if invocation == "entrypoint" {
		routes = routes[:1]
	}
	for _, route := range routes {
		for _, o := range s.Options {
			if o.Knob == knob && o.Route == route {
				value, given = o.Value, true
			}
		}
	}
	return value, given
}
