package certify

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// silent is a Progress that tells nobody.
type silent struct{}

func (silent) Begin(int)                                 {}
func (silent) End(string, string, string, time.Duration) {}
func (silent) Finish()                                   {}

// compare lists what differs: totals, conclusion, and each assertion's verdict
// with what was seen. Why something was undecided may be worded otherwise.
func compare(old, now reports.Report) []Difference {
	differences := []Difference{}
	differ := func(what string, recorded, seen any) {
		if a, b := fmt.Sprint(recorded), fmt.Sprint(seen); a != b {
			differences = append(differences, Difference{what, a, b})
		}
	}
	differ("planned assertions", ids(old), ids(now))
	for _, a := range old.Assertions {
		i := slices.IndexFunc(now.Assertions, func(b reports.Assertion) bool { return b.ID == a.ID && b.Cell == a.Cell })
		if i < 0 {
			continue
		}
		what := a.ID + " " + a.Cell
		differ(what, verdictText(a), verdictText(now.Assertions[i]))
	}
	differ("tests", old.Tests, now.Tests)
	differ("totals", old.Totals, now.Totals)
	differ("leaks", old.Leaks, now.Leaks)
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

func verdictText(a reports.Assertion) string {
	text := a.Verdict
	for _, f := range a.Findings {
		if f.Verdict == reports.Fail {
			text += fmt.Sprintf("; %s:%d saw %s, wanted %s", f.Script, f.Line, f.Seen, f.Wanted)
		}
	}
	return text
}
