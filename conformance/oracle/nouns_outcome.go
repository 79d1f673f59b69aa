package oracle

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

func parseExit(words []string) (test, error) {
	wantSignal := len(words) == 2 && words[0] == "signal"
	if wantSignal {
		words = words[1:]
	}
	if err := exactly(words, 1); err != nil {
		return test{}, err
	}
	if words[0] == "nonzero" && !wantSignal {
		return each(func(v *view, w *wants) {
			status, signal, known := v.exit()
			w.that(known && signal == 0 && status != 0, v.exitText(), "an exit status other than 0")
		})
	}
	wanted, err := strconv.Atoi(words[0])
	if err != nil {
		return test{}, fmt.Errorf("%q is no number", words[0])
	}
	return each(func(v *view, w *wants) {
		status, signal, known := v.exit()
		if wantSignal {
			w.that(known && signal == wanted, v.exitText(), fmt.Sprintf("killed by signal %d", wanted))
			return
		}
		w.that(known && signal == 0 && status == wanted, v.exitText(), fmt.Sprintf("exit %d", wanted))
	})
}

func parseClass(words []string) (test, error) {
	if err := exactly(words, 1); err != nil {
		return test{}, err
	}
	return each(func(v *view, w *wants) {
		w.value(v.at("exit_class").is(words[0]), v.at("exit_class"), v.at("exit_class").String(), words[0])
	})
}

func parseFailure(words []string) (test, error) {
	if err := atLeast(words, 1); err != nil {
		return test{}, err
	}
	if words[0] == "none" {
		return each(func(v *view, w *wants) { w.null("failure", v.at("failure")) })
	}
	var wanted []failure
	for text := range slices.Values(split(words, "or")) {
		one, err := failureOf(text)
		if err != nil {
			return test{}, err
		}
		wanted = append(wanted, one)
	}
	return each(func(v *view, w *wants) { failureIsOne(v.at("failure"), wanted, w) })
}

// failure is a code and the conditions of its args.
type failure struct {
	code string
	args []condition
}

func failureOf(words []string) (f failure, err error) {
	if err := atLeast(words, 1); err != nil {
		return f, err
	}
	if f.code = words[0]; len(words) > 1 {
		f.args, err = parseConditions(words[1:])
	}
	return f, err
}

// split cuts a list at every word that is at.
func split(words []string, at string) (parts [][]string) {
	for {
		i := slices.Index(words, at)
		if i < 0 {
			return append(parts, words)
		}
		parts, words = append(parts, words[:i]), words[i+1:]
	}
}

// failureIsOne: where the contract leaves the choice among several, the last is
// the one that a fault is described by.
func failureIsOne(seen *node, wanted []failure, w *wants) {
	for i, one := range wanted {
		inner := &wants{}
		failureIs(seen, one.code, one.args, inner)
		if len(inner.faults) == 0 {
			return
		}
		if i == len(wanted)-1 {
			failureIs(seen, one.code, one.args, w)
		}
	}
}

// failureIs compares code and args: every arg given, and no other there.
func failureIs(failure *node, code string, args []condition, w *wants) {
	if code == "none" {
		w.null("failure", failure)
		return
	}
	if !failure.at("code").is(code) {
		w.value(false, failure, "failure="+failure.String(), code)
		return
	}
	for _, c := range args {
		c.judge(failure.at("args", c.member), w)
	}
	for _, m := range failure.at("args").orEmpty().members {
		wanted := slices.ContainsFunc(args, func(c condition) bool { return c.member == m.name })
		w.that(wanted, fmt.Sprintf("arg %s=%s", m.name, m.value), "no such arg")
	}
}

func (n *node) orEmpty() *node {
	if n == nil {
		return &node{}
	}
	return n
}

func parseNever(words []string) (test, error) {
	if err := atLeast(words, 1); err != nil {
		return test{}, err
	}
	return each(func(v *view, w *wants) {
		w.that(packetSeen(v), "no packet", "a record")
		if packetSeen(v) {
			w.that(!slices.Contains(words, v.record.Code()), "failure "+v.record.Code(), "none of "+strings.Join(words, ", "))
		}
	})
}

// successHolds is every rule of success together, each fault under its id.
func successHolds(v *view, w *wants) {
	w.that(packetSeen(v), "no packet", "one packet")
	for _, r := range successRules {
		if r.id == "T1.67" && !unusedSink(v) {
			continue
		}
		inner := &wants{}
		r.relate(v, inner)
		for _, f := range inner.faults {
			w.faults = append(w.faults, fault{Path: r.id, Seen: f.Seen, Wanted: f.Wanted})
		}
	}
}

// refusedWhole: the launcher says that the run failed, everywhere it can.
func refusedWhole(v *view, w *wants) {
	status, signal, known := v.exit()
	w.that(known && (status != 0 || signal != 0), v.exitText(), "a nonzero exit")
	w.truth("complete", v.at("complete"), false)
	w.value(v.at("failure").isObject(), v.at("failure"), "failure="+v.at("failure").String(), "a failure")
	reportRefused(v, w)
}

// outcome is what same-outcome compares, spelled for people.
func (v *view) outcome() string {
	content := blank(v.attempt.ReportBytes(), v.facts.Volatile)
	return fmt.Sprintf("%s, %s, failure %s, report %s", v.exitText(), v.at("exit_class"), v.at("failure"), digest(content))
}

func parseAttempts(words []string) (test, error) {
	if err := exactly(words, 1); err != nil {
		return test{}, err
	}
	if words[0] != "same-outcome" {
		return test{}, fmt.Errorf("unknown %q", words[0])
	}
	return test{all: func(views []*view, w *wants) {
		if len(views) < 2 {
			w.undecided(Broken, "one attempt alone has nothing to be compared with")
		}
		for _, v := range views[1:] {
			w.that(v.outcome() == views[0].outcome(), v.attempt.Dir+": "+v.outcome(), views[0].outcome())
		}
	}}, nil
}
