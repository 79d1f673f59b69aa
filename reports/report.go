// Package reports writes what a run found: report.json for machines and for
// recheck, junit.xml, report.tap and summary.md for CI, report.html for people.
// It knows nothing of how a verdict came about.
package reports

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Version is the integer version of report.json; within it members are only
// added.
const Version = 1

// Verdicts of an assertion in a cell. Planned is always their sum.
const (
	Pass           = "pass"
	Fail           = "fail"
	NotRun         = "not-run"         // needs something that is not there
	Broken         = "broken"          // a fault of the suite
	ExpectedFail   = "expected-fail"   // a declared gap that fails
	UnexpectedPass = "unexpected-pass" // a declared gap that passes
	WrongFail      = "wrong-fail"      // a declared gap that no longer holds as declared
)

// Verdicts returns the seven verdicts in the order of a table.
func Verdicts() []string {
	return []string{Pass, Fail, NotRun, Broken, ExpectedFail, UnexpectedPass, WrongFail}
}

// What a not-run assertion lacks. Without rights a run is undecided; without
// the others a certificate is partial (C-80).
const (
	LacksRights     = "rights"
	LacksFeature    = "feature"  // of the kernel
	LacksLauncher   = "launcher" // its file gives no way to ask
	LacksDemanded   = "demanded" // nor for what the contract demands of every launcher
	LacksOccurrence = "occurrence"
)

// Report is report.json. Paths are relative to the folder that holds it.
type Report struct {
	Schema     string            `json:"schema"` // touchstone-report
	Version    int               `json:"version"`
	RunID      string            `json:"run_id"`
	Suite      Suite             `json:"suite"`
	Launcher   Launcher          `json:"launcher"`
	Selection  Selection         `json:"selection"`
	Started    string            `json:"started"` // RFC 3339, UTC
	Seconds    float64           `json:"seconds"`
	Building   float64           `json:"building_seconds"` // of Seconds, for the fixtures
	Conclusion string            `json:"conclusion"`
	ExitStatus int               `json:"exit_status"`
	Full       bool              `json:"full"` // every planned assertion passed, nothing was left out
	Totals     Totals            `json:"totals"`
	Tests      []Test            `json:"tests"`
	Assertions []Assertion       `json:"assertions"`
	Scripts    []Script          `json:"scripts"`
	Leaks      []Leak            `json:"leaks"`
	Stale      []StaleGap        `json:"stale_gaps"`
	Blocked    string            `json:"blocked"` // why nothing could run, "" when something did
	Host       map[string]string `json:"host"`
}

// Suite identifies the suite.
type Suite struct {
	Version string `json:"version"`
	Commit  string `json:"commit"` // "" when not known
}

// Launcher identifies what was certified.
type Launcher struct {
	Name   string `json:"name"`
	File   string `json:"file"`
	SHA256 string `json:"sha256"` // of the launcher file
}

// Selection is what was asked for.
type Selection struct {
	Tests   []string `json:"tests"`
	Facade  string   `json:"facade"`
	Profile string   `json:"profile"`
	Jobs    int      `json:"jobs"`
}

// Narrowed reports whether something was left out: such a run can be full only
// for what was selected.
func (s Selection) Narrowed() bool { return len(s.Tests) > 0 || s.Facade != "" || s.Profile != "" }

// Scope is how far a run asked, in the words of every page. "full" is every
// assertion but those of contracts/unsettled.tsv.
func (r Report) Scope() string {
	switch {
	case !r.Full:
		return "partial"
	case r.Selection.Narrowed():
		return "full for what was selected"
	}
	return "full"
}

// Totals count assertions. Planned is the sum of the others but Leaks.
type Totals struct {
	Planned        int `json:"planned"`
	Pass           int `json:"pass"`
	Fail           int `json:"fail"`
	NotRun         int `json:"not_run"`
	Broken         int `json:"broken"`
	ExpectedFail   int `json:"expected_fail"`
	UnexpectedPass int `json:"unexpected_pass"`
	WrongFail      int `json:"wrong_fail"`
	Leaks          int `json:"leaks"`
	Attempts       int `json:"attempts"`
}

// Count adds one verdict.
func (t *Totals) Count(verdict string) {
	t.Planned++
	for name, n := range map[string]*int{Pass: &t.Pass, Fail: &t.Fail, NotRun: &t.NotRun, Broken: &t.Broken,
		ExpectedFail: &t.ExpectedFail, UnexpectedPass: &t.UnexpectedPass, WrongFail: &t.WrongFail} {
		if name == verdict {
			*n++
		}
	}
}

// Sum is the number of verdicts of all kinds.
func (t Totals) Sum() int {
	return t.Pass + t.Fail + t.NotRun + t.Broken + t.ExpectedFail + t.UnexpectedPass + t.WrongFail
}

// Test is one acceptance test, or the checks of every attempt.
type Test struct {
	Test    string `json:"test"` // T14, or every-attempt
	Verdict string `json:"verdict"`
	Totals  Totals `json:"totals"`
}

// Assertion is one assertion in one cell.
type Assertion struct {
	ID        string    `json:"id"`
	Rule      string    `json:"rule"`
	Cell      string    `json:"cell"` // direct/unjailed
	Universal bool      `json:"universal"`
	Verdict   string    `json:"verdict"`
	Lacks     string    `json:"lacks"`    // of a not-run one
	Reason    string    `json:"reason"`   // of a not-run or broken one and of a gap; of a pass, what it could not show
	Checks    int       `json:"checks"`   // that spoke of it
	Findings  []Finding `json:"findings"` // that were no pass, at most 20
	Replay    string    `json:"replay"`   // command that runs it again; "" for a pass
	Capsule   string    `json:"capsule"`  // file that touchstone repro runs again; "" for a pass, and where no script ran
}

// Finding is what one or more checks of a script said that were no pass.
type Finding struct {
	Script  string `json:"script"`
	Line    int    `json:"line"` // 0 for a check of every attempt
	Phase   string `json:"phase"`
	Verdict string `json:"verdict"`
	Seen    string `json:"seen"`
	Wanted  string `json:"wanted"`
	Reason  string `json:"reason"`
	Attempt string `json:"attempt"` // folder, of the first
	Count   int    `json:"count"`   // equal findings of this script, this one included
	// Also are the attempts of the others, at most 20.
	Also []string `json:"also"`
	// Members are the paths of the terminal record that a failure is about.
	Members []string `json:"members"`
}

// Script is one script in one cell.
type Script struct {
	Script  string  `json:"script"`
	Test    string  `json:"test"`
	Cell    string  `json:"cell"`
	Seconds float64 `json:"seconds"`
	// AttemptSeconds are those of Seconds that its attempts took, the rest is
	// judging; CPUSeconds is what the launcher had of the processor in them.
	AttemptSeconds float64  `json:"attempt_seconds"`
	CPUSeconds     float64  `json:"cpu_seconds"`
	Attempts       []string `json:"attempts"` // folders, in order
	Verdict        string   `json:"verdict"`  // the worst of its assertions'
	Capsule        string   `json:"capsule"`  // "" where everything passed and nothing was left behind
}

// Leak is something that an attempt left behind: a failure of its own.
type Leak struct {
	Cell    string `json:"cell"`
	Script  string `json:"script"`
	Attempt string `json:"attempt"`
	What    string `json:"what"`
	Replay  string `json:"replay"`
	Capsule string `json:"capsule"`
}

// StaleGap is a declared gap that speaks of nothing this run planned.
type StaleGap struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// SchemaName is the schema member of report.json.
const SchemaName = "touchstone-report"

// Encode is the report as indented JSON: it is read by people too.
func Encode(r Report) ([]byte, error) {
	content, err := json.Marshal(r, json.Deterministic(true), jsontext.WithIndent(" "), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, fmt.Errorf("encode report: %w", err)
	}
	return append(content, '\n'), nil
}

// Decode reads a report of this version. Unknown members are skipped.
func Decode(content []byte) (Report, error) {
	var r Report
	if err := json.Unmarshal(content, &r); err != nil {
		return Report{}, fmt.Errorf("decode report: %w", err)
	}
	if r.Schema != SchemaName || r.Version != Version {
		return Report{}, fmt.Errorf("decode report: %q version %d, want %q version %d", r.Schema, r.Version, SchemaName, Version)
	}
	return r, nil
}

// The files that Write makes.
const (
	ReportFile  = "report.json"
	JUnitFile   = "junit.xml"
	TAPFile     = "report.tap"
	SummaryFile = "summary.md"
	PageFile    = "report.html"
)

// Write writes every form of the report into an existing folder, replacing
// what an earlier call wrote.
func Write(dir string, p Page) error {
	content, err := Encode(p.Report)
	if err != nil {
		return err
	}
	if err := replace(filepath.Join(dir, ReportFile), content); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return Render(dir, p)
}

// Render is Write without report.json, which the others follow from. It makes
// the folder if it is not there.
func Render(dir string, p Page) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	forms := []struct {
		name  string
		write func(io.Writer) error
	}{
		{JUnitFile, func(w io.Writer) error { return WriteJUnit(w, p.Report) }},
		{TAPFile, func(w io.Writer) error { return WriteTAP(w, p.Report) }},
		{SummaryFile, func(w io.Writer) error { return WriteMarkdown(w, p.Report) }},
		{PageFile, func(w io.Writer) error { return WriteHTML(w, p) }},
	}
	for _, f := range forms {
		var content bytes.Buffer
		if err := f.write(&content); err != nil {
			return err
		}
		if err := replace(filepath.Join(dir, f.name), content.Bytes()); err != nil {
			return fmt.Errorf("write %s: %w", f.name, err)
		}
	}
	return nil
}

// replace writes a file whole or not at all.
func replace(path string, content []byte) error {
	partial := path + ".new"
	if err := os.WriteFile(partial, content, 0o644); err != nil {
		return err
	}
	return os.Rename(partial, path)
}
