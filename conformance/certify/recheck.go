package certify

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"touchstone/reports"
)

// Difference is one thing that a recheck sees otherwise than the report.
type Difference struct {
	What     string `json:"what"`
	Recorded string `json:"recorded"`
	Now      string `json:"now"`
}

func (d Difference) String() string {
	return fmt.Sprintf("%s: recorded %s, now %s", d.What, d.Recorded, d.Now)
}

// Recheck judges a recorded run again, from its evidence alone, and compares
// every verdict, count and the exit status with its report. No launcher is
// needed, and nothing is written. No difference means that the report follows
// from the evidence.
//
// A folder that is no run is a *UsageError.
func Recheck(dir string, jobs int) (reports.Report, []Difference, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return reports.Report{}, nil, fmt.Errorf("recheck: %w", err)
	}
	m, s, err := readRecord(dir)
	if err != nil {
		return reports.Report{}, nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, reports.ReportFile))
	if err != nil {
		return reports.Report{}, nil, usage("recheck: %v", err)
	}
	old, err := reports.Decode(text)
	if err != nil {
		return reports.Report{}, nil, usage("recheck: %v", err)
	}
	now, err := judgeAgain(dir, m, s, jobs)
	if err != nil {
		return reports.Report{}, nil, err
	}
	return now, compare(old, now), nil
}

func judgeAgain(dir string, m meta, s Selection, jobs int) (reports.Report, error) {
	work, err := os.MkdirTemp("", "touchstone-recheck-")
	if err != nil {
		return reports.Report{}, fmt.Errorf("recheck: %w", err)
	}
	defer os.RemoveAll(work) // scripts only: a remnant in the temporary folder harms nobody
	var outcomes []outcome
	if m.Blocked == "" {
		outcomes = perform(s, jobs, work, &recorded{run: dir, failFast: s.Request.FailFast}, silent{})
	}
	r := reports.Report{Schema: reports.SchemaName, Version: reports.Version, RunID: m.RunID, Suite: m.Suite,
		Launcher: m.Launcher, Selection: m.Selection, Started: m.Started, Host: m.Host}
	tally{selection: s, outcomes: outcomes, blocked: m.Blocked, root: dir, today: m.Started[:len(time.DateOnly)]}.fill(&r)
	// As the report was read: through its own encoding.
	text, err := reports.Encode(r)
	if err != nil {
		return reports.Report{}, err
	}
	return reports.Decode(text)
}

// compare lists what differs: totals, conclusion, and each assertion's verdict
// with what was seen. Why something was undecided may be worded otherwise.
func compare(old, now reports.Report) []Difference {
	differences := []Difference{}
	differ := func(what string, recorded, seen any) {
		if a, b := fmt.Sprint(recorded), fmt.Sprint(seen); a != b {
			differences = append(differences, Difference{what, a, b})
		}
	}
	onlyOld, onlyNow := without(ids(old), ids(now)), without(ids(now), ids(old))
	differ("planned assertions", some(onlyOld), some(onlyNow))
	for _, a := range old.Assertions {
		i := slices.IndexFunc(now.Assertions, func(b reports.Assertion) bool { return b.ID == a.ID && b.Cell == a.Cell })
		if i < 0 {
			continue
		}
		what := a.ID + " " + a.Cell
		differ(what, verdictText(a), verdictText(now.Assertions[i]))
	}
	for _, a := range old.Tests {
		if i := slices.IndexFunc(now.Tests, func(b reports.Test) bool { return b.Test == a.Test }); i >= 0 {
			differ("test "+a.Test, a.Verdict+", "+totalsText(a.Totals), now.Tests[i].Verdict+", "+totalsText(now.Tests[i].Totals))
		}
	}
	differ("totals", totalsText(old.Totals), totalsText(now.Totals))
	differ("leaks", some(without(leaks(old), leaks(now))), some(without(leaks(now), leaks(old))))
	differ("conclusion", old.Conclusion, now.Conclusion)
	differ("exit status", old.ExitStatus, now.ExitStatus)
	differ("full", old.Full, now.Full)
	return differences
}

func ids(r reports.Report) []string {
	var names []string
	for _, a := range r.Assertions {
		names = append(names, a.ID+" "+a.Cell)
	}
	return names
}

func leaks(r reports.Report) []string {
	var names []string
	for _, l := range r.Leaks {
		names = append(names, l.Attempt+" "+l.What)
	}
	return names
}

// without are the names that the others lack, each as often as it is more.
func without(names, others []string) []string {
	left := map[string]int{}
	for _, name := range others {
		left[name]++
	}
	var more []string
	for _, name := range names {
		if left[name]--; left[name] < 0 {
			more = append(more, name)
		}
	}
	return more
}

// some are at most three of the names, in words.
func some(names []string) string {
	const most = 3
	switch {
	case len(names) == 0:
		return "nothing more"
	case len(names) > most:
		return fmt.Sprintf("also %s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return "also " + strings.Join(names, ", ")
}

// totalsText is the counts that are not zero.
func totalsText(t reports.Totals) string {
	text := fmt.Sprintf("%d planned", t.Planned)
	for _, part := range []struct {
		n    int
		name string
	}{{t.Pass, reports.Pass}, {t.Fail, reports.Fail}, {t.NotRun, reports.NotRun}, {t.Broken, reports.Broken}, {t.ExpectedFail, reports.ExpectedFail},
		{t.UnexpectedPass, reports.UnexpectedPass}, {t.WrongFail, reports.WrongFail}, {t.Leaks, "leaks"}, {t.Attempts, "attempts"}} {
		if part.n > 0 {
			text += fmt.Sprintf(", %d %s", part.n, part.name)
		}
	}
	return text
}

func verdictText(a reports.Assertion) string {
	text := a.Verdict
	for _, f := range a.Findings {
		if f.Verdict == reports.Fail {
			text += fmt.Sprintf("; %s:%d saw %s, wanted %s", f.Script, f.Line, f.Seen, f.Wanted)
		}
	}
	return text
}
