package oracle

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"touchstone/conformance/evidence"
)

// parseBound reads <DUR or >DUR.
func parseBound(text string) (below bool, bound time.Duration, err error) {
	if len(text) < 2 || (text[0] != '<' && text[0] != '>') {
		return false, 0, fmt.Errorf("%q: want <DUR or >DUR", text)
	}
	bound, err = time.ParseDuration(text[1:])
	if err != nil || bound <= 0 {
		return false, 0, fmt.Errorf("%q: want a positive duration such as 250ms", text[1:])
	}
	return text[0] == '<', bound, nil
}

func parseElapsed(words []string) (test, error) {
	if err := exactly(words, 1); err != nil {
		return test{}, err
	}
	below, bound, err := parseBound(words[0])
	if err != nil {
		return test{}, err
	}
	return each(func(v *view, w *wants) {
		elapsed, known := v.attempt.Elapsed()
		if !known {
			w.that(false, v.exitText(), "an exit")
			return
		}
		if below {
			w.within("from the launch to the exit", elapsed, bound, v)
			return
		}
		w.that(elapsed > bound, elapsed.Round(time.Millisecond).String(), "more than "+bound.String())
	})
}

// handOvers are how often a launcher's processes wait for each other, at most,
// between a deadline and its exit: each time the machine may be late.
const handOvers = 6

// within is an upper bound with the stated slack. Where the machine was so late
// to the driver itself that it may have been to the launcher, what is beyond
// decides nothing.
func (w *wants) within(what string, elapsed, bound time.Duration, v *view) {
	slack, late := v.facts.Slack, v.attempt.Lateness()
	if elapsed >= bound+slack && elapsed < bound+slack+handOvers*late {
		w.undecided(Broken, fmt.Sprintf("%s %s, on a machine that was up to %s late", elapsed.Round(time.Millisecond), what, late.Round(time.Millisecond)))
		return
	}
	w.that(elapsed < bound+slack, fmt.Sprintf("%s %s", elapsed.Round(time.Millisecond), what),
		fmt.Sprintf("less than %s, with %s slack", bound, slack))
}

func parseAfterLastByte(words []string) (test, error) {
	if err := exactly(words, 2); err != nil {
		return test{}, err
	}
	below, bound, err := parseBound(words[1])
	if err != nil || !below {
		return test{}, fmt.Errorf("%q: want <DUR", words[1])
	}
	if !slices.Contains([]string{"report", "diagnostic", "sink"}, words[0]) {
		return test{}, fmt.Errorf("unknown channel %q", words[0])
	}
	return each(func(v *view, w *wants) {
		last, found := v.attempt.LastByte(words[0])
		exit, exited := v.attempt.Exit()
		if !found || !exited {
			w.that(false, fmt.Sprintf("byte read %t, exit %t", found, exited), "a byte, then an exit")
			return
		}
		w.within("from the last byte to the exit", time.Duration(exit.Mono-last), bound, v)
	})
}

func parseAfterControl(words []string) (test, error) {
	if err := exactly(words, 2); err != nil {
		return test{}, err
	}
	below, bound, err := parseBound(words[1])
	if err != nil || !below {
		return test{}, fmt.Errorf("%q: want <DUR", words[1])
	}
	return each(func(v *view, w *wants) {
		exit, exited := v.attempt.Exit()
		for _, c := range evidence.All[evidence.Control](v.attempt) {
			if c.Body.Action.Kind == words[0] && c.Body.Result == evidence.Done && exited {
				w.within("from "+words[0]+" to the exit", time.Duration(exit.Mono-c.Mono), bound, v)
				return
			}
		}
		w.that(false, fmt.Sprintf("no %s that was done, or %s", words[0], v.exitText()), "it, then an exit")
	})
}

func parseAtRendezvous(words []string) (test, error) {
	if err := atLeast(words, 2); err != nil {
		return test{}, err
	}
	point, err := strconv.ParseUint(words[0], 10, 32)
	if err != nil {
		return test{}, fmt.Errorf("%q is no point", words[0])
	}
	conditions, err := parseConditions(words[1:], "candidate", "sink", "printed", "report", "diagnostic", "parked")
	if err != nil {
		return test{}, err
	}
	return each(func(v *view, w *wants) {
		for _, r := range evidence.All[evidence.Rendezvous](v.attempt) {
			if uint64(r.Body.Point) == point {
				rendezvousIs(r.Body, conditions, w)
				return
			}
		}
		w.that(false, fmt.Sprintf("the producer never stopped at point %d", point), "a stop there")
	})
}

// parseNeverAtRendezvous: a producer waits at its point until the host has seen
// it, so that a point that nobody saw was not come to.
func parseNeverAtRendezvous(words []string) (test, error) {
	if err := exactly(words, 1); err != nil {
		return test{}, err
	}
	point, err := strconv.ParseUint(words[0], 10, 32)
	if err != nil {
		return test{}, fmt.Errorf("%q is no point", words[0])
	}
	return each(func(v *view, w *wants) {
		for _, r := range evidence.All[evidence.Rendezvous](v.attempt) {
			w.that(uint64(r.Body.Point) != point, fmt.Sprintf("the producer stopped at point %d", point), "no producer that comes so far")
		}
	})
}

func rendezvousIs(r evidence.Rendezvous, conditions []condition, w *wants) {
	for _, c := range conditions {
		switch c.member {
		case "candidate":
			c.number(r.CandidateBytes, w)
		case "sink":
			c.number(r.SinkBytes, w)
		case "printed":
			c.number(r.DiagnosticBytes, w)
		case "report":
			c.number(uint64(r.ReportRead), w)
		case "diagnostic":
			c.number(uint64(r.DiagnosticRead), w)
		case "parked":
			w.that(strconv.FormatBool(r.Parked) == c.values[0], fmt.Sprintf("parked=%t", r.Parked), c.String())
		}
	}
}

func parseProducers(words []string) (test, error) {
	if err := exactly(words, 1); err != nil {
		return test{}, err
	}
	c, err := parseCondition("producers=" + words[0])
	if err != nil || strings.Trim(words[0], "0123456789") != "" {
		return test{}, fmt.Errorf("%q is no number", words[0])
	}
	return each(func(v *view, w *wants) {
		seen, found := evidence.First[evidence.Producers](v.attempt)
		if !found {
			w.that(false, "no byte of report", "a first byte")
			return
		}
		c.number(uint64(seen.Body.Alive), w)
	})
}

// exitBound is a bound on a number of the supervisor's exit event.
func exitBound(words []string, name string, read func(evidence.Exit) int64) (test, error) {
	if len(words) != 2 || words[0] != "supervisor" {
		return test{}, fmt.Errorf("want supervisor and a bound")
	}
	c, err := parseCondition(name + words[1])
	if err != nil || c.operator == "=" {
		return test{}, fmt.Errorf("%q: want <=N or >=N", words[1])
	}
	return each(func(v *view, w *wants) {
		exit, found := v.attempt.Exit()
		if !found {
			w.that(false, v.exitText(), "an exit")
			return
		}
		value := read(exit.Body)
		if value < 0 {
			w.undecided(NotRun, "needs "+name+" of the supervisor, which this kernel did not tell")
			return
		}
		c.number(uint64(value), w)
	})
}

func parseMemory(words []string) (test, error) {
	return exitBound(words, "memory", peakMemory)
}

// peakMemory is wait4's peak, unless the peak that was seen in the process
// itself is lower: wait4's value starts at the driver's own size.
func peakMemory(e evidence.Exit) int64 {
	if e.PeakRSSBytes > 0 && e.PeakRSSBytes < e.MaxRSSBytes {
		return e.PeakRSSBytes
	}
	return e.MaxRSSBytes
}

func parseReadBytes(words []string) (test, error) {
	return exitBound(words, "read-bytes", func(e evidence.Exit) int64 { return e.ReadBytes })
}
