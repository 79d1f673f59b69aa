package certify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"touchstone/conformance/evidence"
	"touchstone/conformance/launcherfile"
	"touchstone/conformance/oracle"
	"touchstone/conformance/runlog"
	"touchstone/conformance/scenario"
	"touchstone/conformance/script"
	"touchstone/contracts"
	"touchstone/reports"
)

const root = "../.."

func isUsage(err error) bool {
	var wrong *UsageError
	return errors.As(err, &wrong)
}

func TestSelect(t *testing.T) {
	s, err := Select(root, Request{Launcher: "reference", Tests: []string{"T14", "T06-*"}, Facade: "direct", Profile: "jailed"})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range s.Scripts {
		if one.Test != "T14" && one.Test != "T6" {
			t.Errorf("selected %s", one.Name)
		}
	}
	if len(s.jobs) == 0 || len(s.cells) != 1 || s.cells[0].Profile != "jailed" {
		t.Errorf("%d jobs in %v", len(s.jobs), s.cells)
	}
	for name, r := range map[string]Request{
		"unknown launcher":   {Launcher: "nobody"},
		"unreadable file":    {Launcher: "/nowhere/launcher.toml"},
		"unknown test":       {Launcher: "reference", Tests: []string{"T99"}},
		"one unknown of two": {Launcher: "reference", Tests: []string{"T14", "T99"}},
		"broken pattern":     {Launcher: "reference", Tests: []string{"[T"}},
		"empty pattern":      {Launcher: "reference", Tests: []string{""}},
		"unknown facade":     {Launcher: "reference", Facade: "none"},
		"unknown profile":    {Launcher: "reference", Profile: "none"},
		"nothing left":       {Launcher: "reference", Tests: []string{"T01-jailed-path-sink"}, Profile: "unjailed"},
	} {
		_, err := Select(root, r)
		if !isUsage(err) || strings.ContainsRune(err.Error(), '\n') {
			t.Errorf("%s: got %v, want one line of usage", name, err)
		}
	}
}

func TestMalformedLauncherFileIsOneLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bad.toml")
	if err := os.WriteFile(path, []byte("version = 1\nname = \"x\"\nsurprise = 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Select(root, Request{Launcher: path})
	if !isUsage(err) || !strings.Contains(err.Error(), "surprise") || strings.ContainsRune(err.Error(), '\n') {
		t.Errorf("got %v", err)
	}
}

func TestRunFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := makeRunFolder(dir); err != nil {
		t.Fatal(err)
	}
	if err := makeRunFolder(dir); err != nil {
		t.Errorf("an empty folder: %v", err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, file, filepath.Join(file, "below"), "/proc/touchstone"} {
		if err := makeRunFolder(path); !isUsage(err) {
			t.Errorf("%s: got %v, want usage", path, err)
		}
	}
}

var cell = scenario.Cell{Facade: "direct", Profile: "unjailed"}

// tallyOf adds up made-up findings of one job whose script plans the ids.
func tallyOf(t *testing.T, gaps []launcherfile.Gap, leaks int, findings ...script.Finding) reports.Report {
	t.Helper()
	source := "# T14 A statement (R06)\nlaunch\n"
	for _, f := range findings {
		if f.Line > 0 {
			source += "check " + f.ID + " because \"made up\" exit 0\n"
		}
	}
	s, err := script.Parse("T14-made-up.txtar", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range oracle.UniversalIDs() {
		findings = append(findings, script.Finding{Finding: oracle.Finding{ID: id, Verdict: oracle.Pass}})
	}
	o := outcome{Result: script.Result{Script: s.Name, Cell: cell, Findings: findings, Attempts: []string{"/run/attempts/x"}}, test: "T14"}
	for range leaks {
		o.Leaks = append(o.Leaks, script.Leak{Attempt: "/run/attempts/x", What: "process: 7"})
	}
	selection := Selection{Request: Request{Launcher: "made-up"}, File: launcherfile.File{Gap: gaps}, Scripts: []script.Script{s},
		jobs: []job{{s, cell}}, cells: []scenario.Cell{cell}}
	r := reports.Report{Schema: reports.SchemaName, Version: reports.Version, RunID: "r", Launcher: reports.Launcher{SHA256: strings.Repeat("0", 64)},
		Started: "2026-01-02T00:00:00Z", Selection: reports.Selection{Tests: []string{}}, Host: map[string]string{}}
	tally{selection: selection, outcomes: []outcome{o}, root: "/run", today: "2026-01-02"}.fill(&r)
	return r
}

func finding(id string, v oracle.Verdict, reason string) script.Finding {
	return script.Finding{Finding: oracle.Finding{ID: id, Rule: oracle.Rule(id), Verdict: v, Reason: reason, Seen: "x", Wanted: "y", Attempt: "/run/attempts/x"}, Line: 3, Phase: "p"}
}

func gap(id, expiry string) launcherfile.Gap {
	return launcherfile.Gap{ID: id, Reason: "known", Owner: "somebody", Expiry: expiry}
}

func TestConclusions(t *testing.T) {
	pass, fail := finding("T14.01", oracle.Pass, ""), finding("T14.02", oracle.Fail, "")
	for name, c := range map[string]struct {
		gaps     []launcherfile.Gap
		leaks    int
		findings []script.Finding
		exit     int
		full     bool
	}{
		"all pass":                  {findings: []script.Finding{pass}, exit: Conforming, full: true},
		"one fails":                 {findings: []script.Finding{pass, fail}, exit: NotConforming},
		"one of two checks fails":   {findings: []script.Finding{finding("T14.02", oracle.Pass, ""), fail}, exit: NotConforming},
		"a leak alone":              {leaks: 1, findings: []script.Finding{pass}, exit: NotConforming},
		"broken":                    {findings: []script.Finding{pass, finding("T14.02", oracle.Broken, "ours")}, exit: Undecided},
		"failed and broken":         {findings: []script.Finding{fail, finding("T14.03", oracle.Broken, "ours")}, exit: NotConforming},
		"launcher cannot be asked":  {findings: []script.Finding{pass, finding("T14.02", oracle.NotRun, "the launcher file has no option")}, exit: Conforming},
		"nor what is demanded":      {findings: []script.Finding{pass, finding("T14.02", oracle.NotRun, "no cancel.signal"+launcherfile.Demanded)}, exit: Undecided},
		"isolation is no gap":       {gaps: []launcherfile.Gap{gap("T22.01", "2026-01-02")}, findings: []script.Finding{pass, finding("T22.01", oracle.Fail, "")}, exit: NotConforming},
		"nor what always holds":     {gaps: []launcherfile.Gap{gap("T1.19", "2026-01-02")}, findings: []script.Finding{pass, finding("T1.19", oracle.Fail, "")}, exit: NotConforming},
		"declared gap fails":        {gaps: []launcherfile.Gap{gap("T14.02", "2026-01-02")}, findings: []script.Finding{pass, fail}, exit: Conforming},
		"declared gap passes":       {gaps: []launcherfile.Gap{gap("T14.01", "2026-01-02")}, findings: []script.Finding{pass}, exit: Stale},
		"declared gap expired":      {gaps: []launcherfile.Gap{gap("T14.02", "2026-01-01")}, findings: []script.Finding{pass, fail}, exit: Stale},
		"declared gap of nothing":   {gaps: []launcherfile.Gap{gap("T2.01", "2026-01-02")}, findings: []script.Finding{pass}, exit: Stale},
		"gap hides no other":        {gaps: []launcherfile.Gap{gap("T14.01", "2026-01-02")}, findings: []script.Finding{pass, fail}, exit: NotConforming},
		"gap that is broken":        {gaps: []launcherfile.Gap{gap("T14.02", "2026-01-02")}, findings: []script.Finding{pass, finding("T14.02", oracle.Broken, "ours")}, exit: Undecided},
		"leak hides no stale":       {leaks: 2, gaps: []launcherfile.Gap{gap("T14.01", "2026-01-02")}, findings: []script.Finding{pass}, exit: NotConforming},
		"a failure keeps its leaks": {leaks: 3, findings: []script.Finding{fail}, exit: NotConforming},
	} {
		r := tallyOf(t, c.gaps, c.leaks, c.findings...)
		if r.ExitStatus != c.exit || r.Full != c.full || r.Totals.Leaks != c.leaks {
			t.Errorf("%s: exit %d full %t leaks %d, want %d %t %d", name, r.ExitStatus, r.Full, r.Totals.Leaks, c.exit, c.full, c.leaks)
		}
		if r.Totals.Sum() != r.Totals.Planned || len(r.Assertions) != r.Totals.Planned {
			t.Errorf("%s: planned %d, sum %d, listed %d", name, r.Totals.Planned, r.Totals.Sum(), len(r.Assertions))
		}
		sum := 0
		for _, row := range r.Tests {
			sum += row.Totals.Planned
		}
		if sum != r.Totals.Planned {
			t.Errorf("%s: tests plan %d of %d", name, sum, r.Totals.Planned)
		}
	}
}

// TestByChance: what only chance shows is not asked for, and does not pass; it
// fails.
func TestByChance(t *testing.T) {
	verdict := func(findings ...script.Finding) string {
		for _, a := range tallyOf(t, nil, 0, append(findings, finding("T14.01", oracle.Pass, ""))...).Assertions {
			if a.ID == "T22.13" {
				return a.Verdict
			}
		}
		return ""
	}
	seen := script.Finding{Finding: oracle.Finding{ID: "T22.13", Verdict: oracle.Fail}}
	if v := verdict(); v != "" {
		t.Errorf("seen and sound: %q, want nothing", v)
	}
	if v := verdict(seen); v != reports.Fail {
		t.Errorf("seen: %q, want fail", v)
	}
	if v := verdict(finding("T22.13", oracle.Pass, "")); v != reports.Pass {
		t.Errorf("a script asks: %q, want pass", v)
	}
}

func TestPlannedButNeverSeenIsNotRun(t *testing.T) {
	r := tallyOf(t, nil, 0, finding("T14.01", oracle.Pass, ""))
	i := slices.IndexFunc(r.Assertions, func(a reports.Assertion) bool { return a.ID == "T1.67" })
	if r.Assertions[i].Verdict != reports.Pass {
		t.Fatalf("got %+v", r.Assertions[i])
	}
	selection := Selection{jobs: nil, cells: []scenario.Cell{cell}}
	empty := reports.Report{}
	tally{selection: selection, today: "2026-01-02"}.fill(&empty)
	if empty.ExitStatus != Undecided || empty.Totals.NotRun != empty.Totals.Planned || empty.Totals.Planned == 0 {
		t.Errorf("a run of nothing: exit %d, %+v", empty.ExitStatus, empty.Totals)
	}
}

func TestBlockedRunIsUndecided(t *testing.T) {
	r := reports.Report{}
	s := Selection{cells: []scenario.Cell{cell}}
	tally{selection: s, blocked: "needs root", today: "2026-01-02"}.fill(&r)
	if r.ExitStatus != Undecided || r.Blocked != "needs root" || r.Totals.NotRun != r.Totals.Planned {
		t.Errorf("exit %d, %+v", r.ExitStatus, r.Totals)
	}
	if a := r.Assertions[0]; a.Lacks != reports.LacksRights || a.Reason != "needs root" {
		t.Errorf("got %+v", a)
	}
}

func TestFailureNamesItsReplay(t *testing.T) {
	r := tallyOf(t, nil, 1, finding("T14.02", oracle.Fail, ""))
	want := "scripts/certify --launcher made-up --tests T14-made-up --facade direct --profile unjailed"
	i := slices.IndexFunc(r.Assertions, func(a reports.Assertion) bool { return a.ID == "T14.02" })
	if a := r.Assertions[i]; a.Replay != want || a.Findings[0].Attempt != "attempts/x" || a.Rule == "" {
		t.Errorf("got %+v", a)
	}
	if l := r.Leaks[0]; l.Replay != want || l.Attempt != "attempts/x" {
		t.Errorf("got %+v", l)
	}
}

func TestReportFollowsItsSchema(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "reports", "report.v1.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("report", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("report")
	if err != nil {
		t.Fatal(err)
	}
	r := tallyOf(t, []launcherfile.Gap{gap("T2.01", "2026-01-02")}, 1, finding("T14.02", oracle.Fail, ""), finding("T14.03", oracle.Broken, "x"))
	content, err := reports.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(content, &value); err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(value); err != nil {
		t.Error(err)
	}
	value.(map[string]any)["exit_status"] = 9
	if err := schema.Validate(value); err == nil {
		t.Error("the schema accepts anything")
	}
}

// fakeAttempts records attempts without a launcher: exit 0, no packet.
type fakeAttempts struct {
	t   *testing.T
	run string
}

func (f fakeAttempts) Run(s scenario.Scenario, payload []byte) (*evidence.Attempt, error) {
	dir := folder(f.run, s)
	text, err := scenario.Encode(s)
	if err := errors.Join(err, os.MkdirAll(dir, 0o755)); err != nil {
		return nil, err
	}
	w, err := evidence.NewWriter(dir)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{evidence.ScenarioFile: text, evidence.LaunchFile: []byte("{}"), evidence.LauncherFile: []byte("{}")}
	if s.Fixture.PayloadFile != "" {
		files[s.Fixture.PayloadFile] = payload
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return nil, err
		}
		w.Include(name)
	}
	status := 0
	w.Event(evidence.Start{PID: 2, ArgvSHA256: strings.Repeat("0", 64)})
	w.Append(evidence.Monotonic(), "report", evidence.ReportFile, []byte("{\"engine\":\"x\"}\n"))
	w.Event(evidence.Exit{Who: "supervisor", PID: 2, Status: &status})
	if err := w.Close(); err != nil {
		return nil, err
	}
	return evidence.Load(dir)
}

func (f fakeAttempts) Reference(scenario.Scenario) (*evidence.Attempt, error) {
	return nil, errors.New("no engine")
}

// nobody is a Progress that tells nobody.
type nobody struct{}

func (nobody) Begin(int)                                 {}
func (nobody) End(string, string, string, time.Duration) {}
func (nobody) Finish()                                   {}

// heard counts the jobs that a person was told of.
type heard struct {
	nobody
	ended int
}

func (h *heard) End(string, string, string, time.Duration) { h.ended++ }

// TestAJobThatAnInterruptPreventedIsNotTold: it was not broken.
func TestAJobThatAnInterruptPreventedIsNotTold(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var events bytes.Buffer
	h := &heard{}
	log := runlog.NewWriter(&events, nil, map[string]any{})
	w := telling{h, log, "", ctx}
	w.ended(job{}, script.Result{}, 0)
	w.ended(job{}, script.Result{Attempts: []string{"000"}}, 0)
	if err := log.Close(); err != nil || h.ended != 1 {
		t.Errorf("%d jobs told, want the one with an attempt; %v", h.ended, err)
	}
}

// recordedRun is a whole run folder of a launcher that does nothing right.
func recordedRun(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	s, err := Select(root, Request{Launcher: "reference", Tests: []string{"T06-partial-line", "T31-positive-values"}, Profile: "unjailed"})
	if err != nil {
		t.Fatal(err)
	}
	p := Place{Root: root, Run: dir, Jobs: 2}
	r, err := newReport(s, p, reports.Suite{Version: "test"})
	if err := errors.Join(err, makeRunFolder(dir), record(dir, s, r)); err != nil {
		t.Fatal(err)
	}
	var events bytes.Buffer
	log := runlog.NewWriter(&events, nil, beginning(s, r))
	outcomes := perform(s, 2, t.TempDir(), fakeAttempts{t, dir}, telling{nobody{}, log, dir, t.Context()})
	tally{selection: s, outcomes: outcomes, root: dir, today: r.Started[:len(time.DateOnly)]}.fill(&r)
	log.Event(runlog.RunEnd, ending(r))
	if err := errors.Join(log.Close(), os.WriteFile(filepath.Join(dir, eventsFile), events.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
	if err := reports.Write(dir, reports.Page{Report: r}); err != nil {
		t.Fatal(err)
	}
	if r.ExitStatus != NotConforming {
		t.Fatalf("exit %d: %+v", r.ExitStatus, r.Totals)
	}
	return dir
}

func copyRun(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

func TestRecheckOfACopyIsTheSame(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not run: the record says that it was blocked for want of root")
	}
	dir := recordedRun(t)
	_, differences, err := Recheck(copyRun(t, dir), 2)
	if err != nil || len(differences) > 0 {
		t.Errorf("got %v, %v", differences, err)
	}
}

// TestRecheckNoticesEveryAlteration changes one byte of each kind of file.
func TestRecheckNoticesEveryAlteration(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not run: the record says that it was blocked for want of root")
	}
	dir := recordedRun(t)
	attempt := "attempts/direct-unjailed/T06-partial-line/000/"
	for name, alter := range map[string]func([]byte) []byte{
		attempt + evidence.ReportFile:   flip,
		attempt + evidence.EventsFile:   flip,
		attempt + evidence.ScenarioFile: flip,
		"scripts/T06-partial-line.txtar": func(c []byte) []byte {
			return []byte(strings.Replace(string(c), "status=7", "status=8", 1))
		},
		"report.json": func(c []byte) []byte {
			return []byte(strings.Replace(string(c), `"verdict": "fail"`, `"verdict": "pass"`, 1))
		},
	} {
		altered := copyRun(t, dir)
		path := filepath.Join(altered, name)
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, alter(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, differences, err := Recheck(altered, 2); err != nil || len(differences) == 0 {
			t.Errorf("%s altered: got %v, %v", name, differences, err)
		}
	}
}

func flip(content []byte) []byte {
	content[len(content)/2] ^= 1
	return content
}

func TestRecheckOfNoRun(t *testing.T) {
	if _, _, err := Recheck(t.TempDir(), 1); !isUsage(err) {
		t.Errorf("got %v, want usage", err)
	}
}

func TestEveryTestHasAKnownName(t *testing.T) {
	scripts, err := LoadScripts(filepath.Join(root, "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, a := range contracts.Assertions() {
		known[contracts.TestOf(a.ID)] = true
	}
	for _, s := range scripts {
		if !known[s.Test] {
			t.Errorf("%s: unknown test %s", s.Name, s.Test)
		}
	}
}

func TestCancelledRunIsAnError(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("interrupted")
	cancel(cause)
	if os.Geteuid() != 0 {
		t.Skip("not run: needs root")
	}
	s, err := Select(root, Request{Launcher: "naive-shell", Tests: []string{"T06-partial-line"}, Profile: "unjailed"})
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "producer"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	r, err := Run(ctx, s, Place{Root: root, Bin: bin, Exe: exe, Run: filepath.Join(t.TempDir(), "run"), Jobs: 1}, reports.Suite{}, nobody{})
	if !errors.Is(err, cause) || r.ExitStatus == Conforming {
		t.Errorf("got exit %d, %v", r.ExitStatus, err)
	}
	if diff := cmp.Diff(r.Totals.Planned, r.Totals.Sum()); diff != "" {
		t.Error(diff)
	}
}

// TestFailFastMakesNoFurtherAttempt: what is left is not run, and the exit
// status is that of the failure.
func TestFailFastMakesNoFurtherAttempt(t *testing.T) {
	l := &live{failFast: true}
	l.heard(script.Result{Findings: []script.Finding{{Finding: oracle.Finding{Verdict: oracle.NotRun}}}})
	if l.stopped.Load() {
		t.Fatal("what is not run ended the run")
	}
	for name, r := range map[string]script.Result{
		"failure": {Findings: []script.Finding{{Finding: oracle.Finding{Verdict: oracle.Fail}}}},
		"leak":    {Leaks: []script.Leak{{What: "process"}}},
	} {
		l := &live{failFast: true}
		l.heard(r)
		if _, err := l.Run(scenario.Scenario{}, nil); !errors.Is(err, errStopped) {
			t.Errorf("after a %s: %v", name, err)
		}
		slow := &live{}
		slow.heard(r)
		if slow.stopped.Load() {
			t.Errorf("a %s ended a run that was not asked to end", name)
		}
	}
}

func TestEqualFindingsAreCounted(t *testing.T) {
	var all []reports.Finding
	for i := range 3 {
		all = fold(all, reports.Finding{Script: "T4-s", Line: i, Verdict: reports.Fail, Seen: "a", Wanted: "b", Attempt: fmt.Sprint(i), Count: 1})
	}
	all = fold(all, reports.Finding{Script: "T4-s", Verdict: reports.Fail, Seen: "other", Wanted: "b", Count: 1})
	all = fold(all, reports.Finding{Script: "T5-s", Verdict: reports.Fail, Seen: "a", Wanted: "b", Count: 1})
	if len(all) != 3 || all[0].Count != 3 || all[0].Attempt != "0" || all[1].Count != 1 || all[2].Count != 1 {
		t.Errorf("got %+v", all)
	}
}

// TestDifferencesAreSentences: no Go value is printed.
func TestDifferencesAreSentences(t *testing.T) {
	old := reports.Report{Tests: []reports.Test{{Test: "T4", Verdict: "pass", Totals: reports.Totals{Planned: 2, Pass: 2}}},
		Assertions: []reports.Assertion{{ID: "T4.01", Cell: "c"}, {ID: "T4.02", Cell: "c"}}, Totals: reports.Totals{Planned: 2, Pass: 2}}
	now := reports.Report{Tests: []reports.Test{{Test: "T4", Verdict: "fail", Totals: reports.Totals{Planned: 2, Pass: 1, Fail: 1}}},
		Assertions: []reports.Assertion{{ID: "T4.01", Cell: "c"}}, Leaks: []reports.Leak{{Attempt: "a", What: "file x"}}}
	var got []string
	for _, d := range compare(old, now) {
		got = append(got, d.String())
	}
	wanted := []string{
		"planned assertions: recorded also T4.02 c, now nothing more", "test T4: recorded pass, 2 planned, 2 pass, now fail, 2 planned, 1 pass, 1 fail",
		"totals: recorded 2 planned, 2 pass, now 0 planned", "leaks: recorded nothing more, now also a file x"}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Error(diff)
	}
}
