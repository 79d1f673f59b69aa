package certificate

import (
	"fmt"
	"slices"
	"strings"

	"touchstone/conformance/oracle"
	"touchstone/reports"
)

// Change is one assertion whose verdict is another in the later run.
type Change struct {
	ID   string `json:"id"`
	Cell string `json:"cell"`
	Was  string `json:"was"` // "" when it was not planned
	Is   string `json:"is"`  // "" when it is no longer planned
}

func (c Change) String() string {
	return fmt.Sprintf("%s %s: %s -> %s", c.ID, c.Cell, orNone(c.Was), orNone(c.Is))
}

func orNone(verdict string) string {
	if verdict == "" {
		return "not planned"
	}
	return verdict
}

// Pace is a script that took very much longer or shorter.
type Pace struct {
	Script string  `json:"script"`
	Cell   string  `json:"cell"`
	Was    float64 `json:"was_seconds"`
	Is     float64 `json:"is_seconds"`
}

// Comparison is what has become of run A in run B.
type Comparison struct {
	NewFailures []Change `json:"new_failures"` // bad now, not before
	NewlyNotRun []Change `json:"newly_not_run"`
	Gone        []Change `json:"gone"` // no longer planned
	Fixed       []Change `json:"fixed"`
	Other       []Change `json:"other"` // new assertions, gaps
	MoreLeaks   int      `json:"more_leaks"`
	Paces       []Pace   `json:"timing"`
}

// Worse tells whether anything is worse than before.
func (c Comparison) Worse() bool {
	return len(c.NewFailures)+len(c.NewlyNotRun)+len(c.Gone) > 0 || c.MoreLeaks > 0
}

// Same tells whether nothing but time has changed.
func (c Comparison) Same() bool { return !c.Worse() && len(c.Fixed)+len(c.Other) == 0 }

// Compare says what is otherwise in b than in a.
func Compare(a, b Certificate) Comparison {
	was, is := byAssertion(a), byAssertion(b)
	result := Comparison{NewFailures: []Change{}, NewlyNotRun: []Change{}, Gone: []Change{}, Fixed: []Change{}, Other: []Change{}, Paces: paces(a, b),
		MoreLeaks: max(0, b.Totals.Leaks-a.Totals.Leaks)}
	for _, key := range union(was, is) {
		id, cell, _ := strings.Cut(key, " ")
		c := Change{ID: id, Cell: cell, Was: was[key], Is: is[key]}
		switch {
		case c.Was == c.Is:
		case c.Is == "" && !oracle.ByChance(id):
			result.Gone = append(result.Gone, c)
		case reports.IsBad(c.Is) && !reports.IsBad(c.Was):
			result.NewFailures = append(result.NewFailures, c)
		case c.Is == reports.NotRun && c.Was != "":
			result.NewlyNotRun = append(result.NewlyNotRun, c)
		case c.Is == reports.Pass && c.Was != "":
			result.Fixed = append(result.Fixed, c)
		default:
			result.Other = append(result.Other, c)
		}
	}
	return result
}

func byAssertion(c Certificate) map[string]string {
	all := map[string]string{}
	for cell, verdicts := range c.Verdicts {
		for verdict, ids := range verdicts {
			for _, id := range ids {
				all[id+" "+cell] = verdict
			}
		}
	}
	return all
}

// union are the keys of both, tests and assertions in order of their numbers.
func union(a, b map[string]string) []string {
	both := map[string]string{}
	for _, m := range []map[string]string{a, b} {
		for key := range m {
			both[key] = ""
		}
	}
	keys := sorted(both)
	slices.SortStableFunc(keys, func(x, y string) int { return number(x) - number(y) })
	return keys
}

func number(key string) int {
	test, assertion := 0, 0
	fmt.Sscanf(key, "T%d.%d", &test, &assertion)
	return test*1000 + assertion
}

// paces are the scripts whose time has more than doubled or halved, by a
// second at least: a smaller change says more of the machine.
func paces(a, b Certificate) []Pace {
	all := []Pace{}
	for _, cell := range sorted(b.Seconds) {
		for _, script := range sorted(b.Seconds[cell]) {
			was, known := a.Seconds[cell][script]
			is := b.Seconds[cell][script]
			if known && max(was, is)-min(was, is) >= 1 && max(was, is) >= 2*min(was, is) {
				all = append(all, Pace{script, cell, was, is})
			}
		}
	}
	return all
}

// FromReport is an account of a run that has no certificate, for Compare only.
func FromReport(r reports.Report) Certificate {
	return Certificate{RunID: r.RunID, Launcher: Launcher{Name: r.Launcher.Name, SHA256: r.Launcher.SHA256}, Conclusion: r.Conclusion, ExitStatus: r.ExitStatus,
		Scope: scope(r), Totals: r.Totals, Verdicts: verdicts(r), Seconds: scriptSeconds(r)}
}
