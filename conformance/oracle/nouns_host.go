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
// prefix CHANNEL bytes=N | nothing-left | attempt-known | attempts-differ.
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
	case "attempts-differ":
		return test{all: attemptsDiffer}, exactly(words, 1)
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
		shown := map[string]string{"set": "edited", "drop": "edited", "raw": "edited", "append": "edited", "pad": "edited", "cut": "edited", "empty": "edited",
			"copies": "sent", "delay": "sent", "held": "held", "exit": "ends", "kill": "killed", "stop": "stopped"}[verb]
		if verb == "copies" && value == "0" {
			shown = "received"
		}
		if len(v.did(shown)) == 0 {
			w.undecided(Broken, "relay: "+word+" did not happen")
		}
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

// attemptsDiffer: the attempts of a launch have each an identity of their own,
// and none is one digit alone, which no drawing of 128 bits gives.
//
// Rules: R10, R14.
func attemptsDiffer(views []*view, w *wants) {
	if len(views) < 2 {
		w.undecided(Broken, fmt.Sprintf("%d attempts: want two or more", len(views)))
	}
	var earlier []string
	for _, v := range views {
		known, _ := hosted(attemptKnown) // never fails
		known.each(v, w)
		if d := v.decision(w); d != nil && v.facts.Host.Attempt != "" {
			id := d.dotted(v.facts.Host.Attempt).orEmpty().text
			w.that(id == "" || strings.Trim(id, id[:1]) != "", "attempt "+id, "128 random bits")
			w.that(!slices.Contains(earlier, id), "attempt "+id+" once more", "an identity of its own")
			earlier = append(earlier, id)
		}
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
