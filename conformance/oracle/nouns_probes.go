package oracle

import (
	"fmt"
	"slices"
	"strings"
)

func parseProbes(words []string) (test, error) {
	if len(words) == 1 && words[0] == "as-control" {
		return each(probesAsControl)
	}
	judge, err := probeTest(words)
	if err != nil {
		return test{}, err
	}
	return each(func(v *view, w *wants) { judge(lines(v.diagnostics()), w) })
}

// probesAsControl: supervision changes nothing that the probes tell of. What the
// engine itself changes, it changes with no supervision, too.
func probesAsControl(v *view, w *wants) {
	said, usable := controlSaid(v, w)
	if !usable {
		return
	}
	ours, theirs := probeLines(lines(v.diagnostics())), probeLines(said)
	w.that(len(ours) > 0 && len(ours) == len(theirs), fmt.Sprintf("%d probes", len(ours)), fmt.Sprintf("%d, as with no supervision, from 1", len(theirs)))
	for _, line := range ours {
		w.that(strings.HasSuffix(line, " ok") || slices.Contains(theirs, line), line, "ok, or the same with no supervision")
	}
}

func probeLines(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(line string) bool { return len(strings.Fields(line)) != 3 || !strings.HasPrefix(line, "probe ") })
}

func parseControlProbes(words []string) (test, error) {
	if len(words) > 0 && words[0] == "ok-where-present" {
		return parseControlWherePresent(words)
	}
	judge, err := probeTest(words)
	if err != nil {
		return test{}, err
	}
	return each(func(v *view, w *wants) {
		said, usable := controlSaid(v, w)
		if !usable {
			return
		}
		inner := &wants{}
		judge(said, inner)
		if len(inner.faults) == 0 {
			return
		}
		// The probe itself does not work here, which says nothing of the launcher.
		seen, _ := describe(inner.faults)
		if lacksFeature(said, words[1:]) {
			w.undecided(NotRun, "needs a kernel with it: with no supervision "+seen)
			return
		}
		w.undecided(Broken, "with no supervision: "+seen)
	})
}

// parseControlWherePresent: the control of an entry that some kernels lack. It
// must work, or say that the kernel has no such entry; then the launcher's part
// of the assertion is all that there is to see, and the verdict says so.
func parseControlWherePresent(words []string) (test, error) {
	if err := atLeast(words, 2); err != nil {
		return test{}, err
	}
	names := words[1:]
	return each(func(v *view, w *wants) {
		said, usable := controlSaid(v, w)
		if !usable {
			return
		}
		for _, name := range names {
			results := probeResults(said, name)
			switch {
			case len(results) == 0:
				w.undecided(Broken, "with no supervision: no probe "+name)
			case slices.ContainsFunc(results, func(r string) bool { return r != "ok" && r != "ENOSYS" }):
				w.undecided(Broken, "with no supervision: "+name+" "+strings.Join(results, " "))
			case slices.Contains(results, "ENOSYS"):
				w.note = "control not applicable: this kernel lacks it (with no supervision " + name + " ENOSYS)"
			}
		}
	})
}

// controlSaid are the lines of the unsupervised run of the fixture.
func controlSaid(v *view, w *wants) (said []string, usable bool) {
	if v.facts.Control == nil {
		w.undecided(Broken, "no control run before this check")
		return nil, false
	}
	if reason, verdict := unusable(v.facts.Control); verdict != "" {
		w.undecided(Broken, reason)
		return nil, false
	}
	return lines(v.facts.Control.Stderr()), true
}

// featureErrors are what a call gives where the kernel was built without it.
var featureErrors = []string{"ENOSYS", "EAFNOSUPPORT", "EOPNOTSUPP", "EPROTONOSUPPORT", "ESOCKTNOSUPPORT", "ENOENT", "ENODEV"}

// lacksFeature: every probe that did not work failed for such a reason.
func lacksFeature(all, names []string) bool {
	lacking := false
	for _, name := range names {
		for _, r := range probeResults(all, name) {
			if r == "ok" {
				continue
			}
			if !slices.Contains(featureErrors, r) {
				return false
			}
			lacking = true
		}
		if len(probeResults(all, name)) == 0 {
			return false
		}
	}
	return lacking
}

// probeTest judges lines "probe NAME RESULT": every name must be there, and
// every line of it must say ok, or none may.
func probeTest(words []string) (func([]string, *wants), error) {
	if err := atLeast(words, 2); err != nil {
		return nil, err
	}
	wantOK := words[0] == "ok"
	if !wantOK && words[0] != "denied" {
		return nil, fmt.Errorf("unknown %q", words[0])
	}
	return func(all []string, w *wants) {
		for _, name := range words[1:] {
			results := probeResults(all, name)
			w.that(len(results) > 0, "no probe "+name, name+" "+words[0])
			for _, r := range results {
				w.that((r == "ok") == wantOK, name+" "+r, name+" "+words[0])
			}
		}
	}, nil
}

func probeResults(all []string, name string) []string {
	var results []string
	for _, line := range all {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "probe" && fields[1] == name {
			results = append(results, fields[2])
		}
	}
	return results
}
