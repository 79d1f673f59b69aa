package oracle

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

// accepted: the document says so, and the accepted report is there, whole.
//
// Rules: R13, R14.
func accepted(v *view, w *wants) {
	h, d := v.facts.Host, v.decision(w)
	if d == nil {
		return
	}
	w.that(d.dotted(h.Outcome).is(h.Accepted), "outcome "+d.dotted(h.Outcome).String()+", "+d.dotted(h.Code).String(), h.Accepted)
	_, kept := v.result(h.Report)
	w.that(h.Report == "" || kept, "no report among the results", "the accepted report")
	v.resultsWhole(w)
	if len(v.did("edited"))+len(v.did("killed")) == 0 && len(v.did("supervised")) > 0 {
		w.that(v.did("supervised")[0].Detail == "exit=0", "supervisor "+v.did("supervised")[0].Detail, "exit=0")
	}
}

// resultsWhole: what bears a result's name is, to the byte, what the supervisor
// itself recorded that it wrote to that endpoint.
//
// Rules: R13, R14.
func (v *view) resultsWhole(w *wants) {
	names := map[string]string{scenario.ChannelReport: v.facts.Host.Report}
	if v.attempt.Scenario.Endpoints.Kind(scenario.ChannelSink) != "" {
		names[scenario.ChannelSink] = v.facts.Host.Sink
	} else if target := v.attempt.Scenario.Requests[scenario.RequestPathSink]; target != "" {
		names[scenario.ChannelSink] = target
	}
	for _, line := range v.did("recorded") {
		channel, digest, _ := strings.Cut(line.Detail, " ")
		name := names[channel]
		delete(names, channel)
		if name == "" {
			continue
		}
		kept := v.keptAs(name)
		w.that(kept.Size == line.Size && kept.SHA256 == digest, fmt.Sprintf("%s: %d bytes, SHA-256 %s", name, kept.Size, kept.SHA256),
			fmt.Sprintf("%d bytes, SHA-256 %s, as were written", line.Size, digest))
	}
	for channel, name := range names {
		if name != "" {
			w.undecided(Broken, "relay: what was written to "+channel+" is not known")
		}
	}
}

// keptAs is the file of a name: of a result, or at the named sink's target.
func (v *view) keptAs(name string) evidence.Result {
	if name == v.attempt.Scenario.Requests[scenario.RequestPathSink] {
		content := v.attempt.File(evidence.ArtifactFile)
		sum := sha256.Sum256(content)
		return evidence.Result{Name: name, Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:])}
	}
	kept, _ := v.result(name)
	return kept
}

func noResult(v *view, w *wants) {
	for _, name := range []string{v.facts.Host.Report, v.facts.Host.Sink} {
		_, kept := v.result(name)
		w.that(!kept, name+" among the results", "nothing accepted")
	}
}

// undisposed: a host that did not come to its decision has accepted nothing.
//
// Rules: R13.
func undisposed(v *view, w *wants) {
	noResult(v, w)
	_, decided := v.result(v.facts.Host.File)
	w.that(!decided, "a disposition", "none")
}

// parseRejected: an arg authority is the decision's, all others are the cause's.
func parseRejected(words []string) (test, error) {
	if err := atLeast(words, 1); err != nil {
		return test{}, err
	}
	var args []condition
	authority := ""
	for _, word := range words[1:] {
		c, err := parseCondition(word)
		switch {
		case err != nil:
			return test{}, err
		case c.member != "authority":
			args = append(args, c)
		case c.operator != "=" || len(c.values) != 1 || (c.values[0] != "host" && c.values[0] != "supervisor"):
			return test{}, fmt.Errorf("%q: want authority=host or authority=supervisor", word)
		default:
			authority = c.values[0]
		}
	}
	return hosted(func(v *view, w *wants) { rejected(v, w, words[0], args, authority) })
}

// rejected: one decision with this cause, and no result that was accepted.
//
// Rules: R14.
func rejected(v *view, w *wants, code string, args []condition, authority string) {
	h, d := v.facts.Host, v.decision(w)
	noResult(v, w)
	if d == nil {
		return
	}
	w.that(d.dotted(h.Outcome).is(h.Rejected), "outcome "+d.dotted(h.Outcome).String(), h.Rejected)
	seen := d.dotted(h.Code)
	w.that(seen.is(code), "code "+seen.String(), code)
	if seen.is(code) {
		causeArgs(d.dotted(h.Args), args, w)
	}
	switch {
	case authority == "":
	case h.Authority == "":
		w.undecided(NotRun, "the launcher file has no member for the authority")
	default:
		byHost := d.dotted(h.Authority).is(h.HostWord)
		w.that(byHost == (authority == "host"), "authority "+d.dotted(h.Authority).String(), authority)
	}
}

func causeArgs(got *node, args []condition, w *wants) {
	for _, c := range args {
		c.judge(got.at(c.member), w)
	}
	for _, m := range got.orEmpty().members {
		wanted := slices.ContainsFunc(args, func(c condition) bool { return c.member == m.name })
		w.that(wanted, fmt.Sprintf("arg %s=%s", m.name, m.value), "no such arg")
	}
}

// nothingLeft: of an attempt that was not accepted there is the decision alone,
// and nothing in its storage.
//
// Rules: R15.
func nothingLeft(v *view, w *wants) {
	for _, r := range evidence.All[evidence.Result](v.attempt) {
		w.that(r.Body.Name == v.facts.Host.File, r.Body.Name+" among the results", "the disposition alone")
	}
	for _, l := range evidence.All[evidence.Leftover](v.attempt) {
		w.that(false, l.Body.What+": "+l.Body.Detail, "nothing left")
	}
}
