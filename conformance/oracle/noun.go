package oracle

import (
	"fmt"
	"slices"
	"strings"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

// noun is one word of a script's check. Exactly one of each and all is what
// parse returns: a test of every attempt by itself, or of a launch's attempts
// together.
type noun struct {
	name, usage, says string
	parse             func(words []string) (test, error)
}

type test struct {
	each func(*view, *wants)
	all  func([]*view, *wants)
}

func each(t func(*view, *wants)) (test, error) { return test{each: t}, nil }

// Noun describes one word for the manual and the linter.
type Noun struct{ Name, Usage, Says string }

// Nouns are the words that may follow an id in a check, sorted by name.
func Nouns() []Noun {
	all := make([]Noun, 0, len(nouns))
	for _, n := range nouns {
		all = append(all, Noun{n.name, n.usage, n.says})
	}
	slices.SortFunc(all, func(a, b Noun) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// ParseNoun says what is wrong with a noun and its words; nil when they can be
// checked.
func ParseNoun(words []string) error {
	_, err := parseNoun(words)
	return err
}

func parseNoun(words []string) (test, error) {
	if len(words) == 0 {
		return test{}, fmt.Errorf("no noun")
	}
	for _, n := range nouns {
		if n.name != words[0] {
			continue
		}
		parsed, err := n.parse(words[1:])
		if err != nil {
			return test{}, fmt.Errorf("%s: %w: usage: %s", n.name, err, n.usage)
		}
		return parsed, nil
	}
	return test{}, fmt.Errorf("unknown noun %q", words[0])
}

// Check judges one noun over the attempts of the last launch: it must hold in
// each of them. The finding names the first attempt in which it does not.
//
// Evidence that was altered fails every check; a fault of the driver, a
// control of the host that failed, or a launch that never was make it broken. A
// control that was never reached fails a check that would pass otherwise: a
// disturbance must be shown to have happened. Without every fault of the
// scenario shown to be done, nothing is said at all.
func Check(id string, words []string, attempts []*evidence.Attempt, f Facts) Finding {
	parsed, err := parseNoun(words)
	if err != nil {
		return undecided(id, Broken, err.Error(), "")
	}
	if len(attempts) == 0 {
		return undecided(id, Broken, "no launch before this check", "")
	}
	views := make([]*view, 0, len(attempts))
	for _, a := range attempts {
		if reason, verdict := unusable(a); verdict != "" {
			return undecided(id, verdict, reason, a.Dir)
		}
		views = append(views, look(a, f))
	}
	if parsed.all != nil {
		w := &wants{}
		parsed.all(views, w)
		return w.finding(id, attempts[0].Dir)
	}
	var last Finding
	for _, v := range views {
		w := &wants{}
		faultsHappened(v.attempt, w) // its reason comes before what a noun missed for it
		parsed.each(v, w)
		controlsHappened(v.attempt, w)
		relaySawChild(v, w)
		if last = w.finding(id, v.attempt.Dir); last.Verdict != Pass {
			break
		}
	}
	return last
}

func (w *wants) finding(id, dir string) Finding {
	if w.verdict != "" {
		return undecided(id, w.verdict, w.reason, dir)
	}
	finding := Finding{ID: id, Rule: Rule(id), Verdict: Pass, Attempt: dir, Reason: w.note}
	if len(w.faults) > 0 {
		finding.Verdict, finding.Reason = Fail, ""
		finding.Seen, finding.Wanted = describe(w.faults)
		finding.Members = w.members
	}
	return finding
}

// controlsHappened: looking is free to find nothing, everything else that the
// scenario does to the launcher must have been done.
func controlsHappened(a *evidence.Attempt, w *wants) {
	for _, c := range evidence.All[evidence.Control](a) {
		action := c.Body.Action.Kind
		if action == scenario.DoObserve || action == scenario.DoPause || action == scenario.DoResume {
			continue
		}
		what := fmt.Sprintf("control %d (%s %s)", c.Body.Rule, action, c.Body.Action.Who)
		switch c.Body.Result {
		case evidence.Failed:
			w.undecided(Broken, what+" failed: "+c.Body.Detail)
		case evidence.NotReached:
			if c.Body.Trigger.Kind == scenario.AtChild && succeeded(a) {
				w.undecided(NotRun, what+" came too late: the launcher was done between two looks for a child of its")
				continue
			}
			w.that(len(w.faults) > 0, what+" was never reached", "the control to happen")
		}
	}
}

// relaySawChild: a relay that waits for the supervisor's first process looks for
// it, and can come too late.
func relaySawChild(v *view, w *wants) {
	for _, word := range v.attempt.Scenario.Relay {
		_, point, _ := strings.Cut(word, "=")
		if point == scenario.PointChild && len(v.did("started")) == 1 && len(v.did("stopped"))+len(v.did("killed")) == 0 {
			w.undecided(Broken, "relay: "+word+" did not happen")
		}
	}
}

// succeeded: the launcher ended with 0, so it had a child.
func succeeded(a *evidence.Attempt) bool {
	return slices.ContainsFunc(evidence.All[evidence.Exit](a), func(e evidence.Stamped[evidence.Exit]) bool {
		return e.Body.Who == "supervisor" && e.Body.Status != nil && *e.Body.Status == 0
	})
}

func exactly(words []string, n int) error {
	if len(words) != n {
		return fmt.Errorf("%d words, want %d", len(words), n)
	}
	return nil
}

func atLeast(words []string, n int) error {
	if len(words) < n {
		return fmt.Errorf("%d words, want at least %d", len(words), n)
	}
	return nil
}
