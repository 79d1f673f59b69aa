package oracle

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

// Host says by which files and members (names with dots between) a host under
// test tells what has become of its attempt; "" is not told.
type Host struct {
	File, Report, Sink                      string // of its results
	Outcome, Accepted, Rejected             string
	Code, Args, Authority, HostWord         string
	Exit, Signal, Record, Attempt           string
	ReportBytes, DiagnosticBytes, SinkBytes string
	Storage                                 string
}

// parseDisposition reads: accepted | none | rejected CODE [arg=value…] [authority=host|supervisor] |
// supervisor exit=N | supervisor signal=N | record none | record believed |
// prefix CHANNEL bytes=N | nothing-left | attempt-known.
func parseDisposition(words []string) (test, error) {
	if err := atLeast(words, 1); err != nil {
		return test{}, err
	}
	switch words[0] {
	case "accepted", "none", "nothing-left", "attempt-known":
		if err := exactly(words, 1); err != nil {
			return test{}, err
		}
		return hosted(map[string]func(*view, *wants){"accepted": accepted, "none": undisposed, "nothing-left": nothingLeft, "attempt-known": attemptKnown}[words[0]])
	case "rejected":
		return parseRejected(words[1:])
	case "record":
		return parseBelieved(words[1:])
	case "supervisor":
		return parseHostWait(words[1:])
	case "prefix":
		return parsePrefix(words[1:])
	case "storage":
		return parseGrantedStorage(words[1:])
	}
	return test{}, fmt.Errorf("unknown %q", words[0])
}

// hosted is a test of attempts whose relay did all that it was told to.
func hosted(t func(*view, *wants)) (test, error) {
	return each(func(v *view, w *wants) {
		if v.attempt.Scenario.Kind != scenario.Hosted {
			w.undecided(Broken, "the attempt has no host of its own")
			return
		}
		v.relayDid(w)
		t(v, w)
	})
}

// decision is the host's one document; nil, with the fault, when there is none.
// Its outcome must be one of the two.
func (v *view) decision(w *wants) *node {
	text := v.attempt.File(evidence.DispositionFile)
	if len(text) == 0 {
		w.that(false, "no disposition", "one")
		return nil
	}
	root, err := parseDocument(text)
	if err != nil {
		w.that(false, "disposition: "+err.Error(), "one JSON document")
		return nil
	}
	return root
}

func (n *node) dotted(path string) *node {
	if n == nil || path == "" {
		return nil
	}
	return n.at(strings.Split(path, ".")...)
}

// result is the file of a name among the host's results.
func (v *view) result(name string) (evidence.Result, bool) {
	for _, r := range evidence.All[evidence.Result](v.attempt) {
		if name != "" && r.Body.Name == name {
			return r.Body, true
		}
	}
	return evidence.Result{}, false
}

// did are the relay's lines of one kind.
func (v *view) did(what string) (found []evidence.Relayed) {
	for _, r := range evidence.All[evidence.Relayed](v.attempt) {
		if r.Body.Did == what {
			found = append(found, r.Body)
		}
	}
	return found
}

// relayDid: what the scenario tells the relay must be shown to have happened.
// More than one start is the host's doing, and a second attempt of a run.
func (v *view) relayDid(w *wants) {
	if failed := v.did("failed"); len(failed) > 0 {
		w.undecided(Broken, "relay: "+failed[0].Detail)
	}
	w.that(len(v.did("started")) == 1, fmt.Sprintf("%d starts of the supervisor", len(v.did("started"))), "one")
	for _, word := range v.attempt.Scenario.Relay {
		name, value, _ := strings.Cut(word, "=")
		verb, _, _ := strings.Cut(name, ".")
		shown := map[string]string{"set": "edited", "drop": "edited", "append": "edited", "pad": "edited", "cut": "edited", "empty": "edited",
			"copies": "sent", "delay": "sent", "held": "held", "exit": "ends", "kill": "killed", "stop": "stopped"}[verb]
		if verb == "copies" && value == "0" {
			shown = "received"
		}
		if len(v.did(shown)) == 0 {
			w.undecided(Broken, "relay: "+word+" did not happen")
		}
	}
}

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
	}
	for _, line := range v.did("recorded") {
		channel, digest, _ := strings.Cut(line.Detail, " ")
		name := names[channel]
		delete(names, channel)
		if name == "" {
			continue
		}
		kept, _ := v.result(name)
		w.that(kept.Size == line.Size && kept.SHA256 == digest, fmt.Sprintf("%s: %d bytes, SHA-256 %s", name, kept.Size, kept.SHA256),
			fmt.Sprintf("%d bytes, SHA-256 %s, as were written", line.Size, digest))
	}
	for channel, name := range names {
		if name != "" {
			w.undecided(Broken, "relay: what was written to "+channel+" is not known")
		}
	}
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

// attemptKnown: the decision is about an identity of its own.
func attemptKnown(v *view, w *wants) {
	h, d := v.facts.Host, v.decision(w)
	switch {
	case d == nil:
	case h.Attempt == "":
		w.undecided(NotRun, "the launcher file has no member for the attempt's identity")
	default:
		id := d.dotted(h.Attempt)
		w.that(id.isString() && len(id.text) == 32 && strings.Trim(id.text, "0123456789abcdef") == "", "attempt "+id.String(), "32 hexadecimal digits")
	}
}

// parseBelieved reads none, believed, or members of the believed record by
// their dotted paths.
func parseBelieved(words []string) (test, error) {
	if err := atLeast(words, 1); err != nil {
		return test{}, err
	}
	var members []condition
	if words[0] != "none" && words[0] != "believed" {
		var err error
		if members, err = parseConditions(words); err != nil {
			return test{}, err
		}
	} else if err := exactly(words, 1); err != nil {
		return test{}, err
	}
	return hosted(func(v *view, w *wants) {
		h, d := v.facts.Host, v.decision(w)
		switch {
		case d == nil:
		case h.Record == "":
			w.undecided(NotRun, "the launcher file has no member for the believed record")
		case words[0] == "none":
			w.that(d.dotted(h.Record).isNull(), "a record", "null")
		default:
			w.that(d.dotted(h.Record).isObject(), "record "+d.dotted(h.Record).String(), "the record")
			for _, c := range members {
				c.judge(d.dotted(h.Record).dotted(c.member), w)
			}
		}
	})
}

// parseHostWait reads exit=N or signal=N: what the host says of S's end.
func parseHostWait(words []string) (test, error) {
	if err := exactly(words, 1); err != nil {
		return test{}, err
	}
	name, text, _ := strings.Cut(words[0], "=")
	if _, err := strconv.ParseUint(text, 10, 8); err != nil || (name != "exit" && name != "signal") {
		return test{}, fmt.Errorf("%q: want exit=N or signal=N", words[0])
	}
	return hosted(func(v *view, w *wants) {
		h, d := v.facts.Host, v.decision(w)
		if h.Exit == "" || h.Signal == "" {
			w.undecided(NotRun, "the launcher file has no members for the supervisor's wait status")
		}
		if d == nil || w.verdict != "" {
			return
		}
		seen := map[string]*node{"exit": d.dotted(h.Exit), "signal": d.dotted(h.Signal)}
		for member, value := range seen {
			wanted := "null"
			if member == name {
				wanted = text
			}
			w.that(spelled(value, wanted), member+" "+value.String(), wanted)
		}
	})
}

// parsePrefix reads CHANNEL and bytes=N, or bytes=passed: what the relay let
// through.
func parsePrefix(words []string) (test, error) {
	if err := exactly(words, 2); err != nil {
		return test{}, err
	}
	c, err := parseCondition(words[1])
	if err != nil || c.member != "bytes" {
		return test{}, fmt.Errorf("%q: want bytes=N", words[1])
	}
	if !slices.Contains([]string{scenario.ChannelReport, scenario.ChannelDiagnostic, scenario.ChannelSink}, words[0]) {
		return test{}, fmt.Errorf("unknown channel %q", words[0])
	}
	return hosted(func(v *view, w *wants) {
		h, d := v.facts.Host, v.decision(w)
		path := map[string]string{scenario.ChannelReport: h.ReportBytes, scenario.ChannelDiagnostic: h.DiagnosticBytes,
			scenario.ChannelSink: h.SinkBytes}[words[0]]
		switch {
		case d == nil:
		case path == "":
			w.undecided(NotRun, "the launcher file has no member for the "+words[0]+"'s prefix")
		default:
			c.judge(d.dotted(path), w)
		}
	})
}

// parseGrantedStorage reads N: the bytes of storage that the host says it granted.
//
// Rules: R09.
func parseGrantedStorage(words []string) (test, error) {
	c, err := parseCondition("storage=" + strings.Join(words, " "))
	if len(words) != 1 || err != nil {
		return test{}, fmt.Errorf("want N")
	}
	return hosted(func(v *view, w *wants) {
		switch path, d := v.facts.Host.Storage, v.decision(w); {
		case d == nil:
		case path == "":
			w.undecided(NotRun, "the launcher file has no member for the granted storage")
		default:
			c.judge(d.dotted(path), w)
		}
	})
}

// parseRelayed reads WHAT, or WHAT detail TEXT: the relay saw or did it.
func parseRelayed(words []string) (test, error) {
	if len(words) == 2 && words[1] == "before-producer" {
		return hosted(func(v *view, w *wants) { v.before(words[0], w) })
	}
	if len(words) != 1 && (len(words) != 3 || words[1] != "detail") {
		return test{}, fmt.Errorf("want WHAT, or WHAT detail TEXT")
	}
	return hosted(func(v *view, w *wants) {
		lines := v.did(words[0])
		w.that(len(lines) > 0, "nothing was "+words[0], words[0])
		if len(words) == 3 && len(lines) > 0 {
			w.that(lines[0].Detail == words[2], lines[0].Detail, words[2])
		}
	})
}

// before: the relay did it before any producer was seen.
func (v *view) before(what string, w *wants) {
	lines := v.did(what)
	seen := int64(0)
	for _, r := range evidence.All[evidence.Rendezvous](v.attempt) {
		seen = r.Mono
		break
	}
	w.that(seen > 0, "no producer was seen", "one at a rendezvous")
	w.that(len(lines) > 0 && lines[0].At < seen, fmt.Sprintf("%d lines of it, the producer at %d", len(lines), seen), what+" before the producer")
}
