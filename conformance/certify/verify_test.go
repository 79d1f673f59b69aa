package certify

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"touchstone/conformance/certificate"
	"touchstone/conformance/launcherfile"
	"touchstone/conformance/runlog"
	"touchstone/contracts"
	"touchstone/reports"
)

// certifiedRun is a recorded run with its certificate.
func certifiedRun(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("not run: the record says that it was blocked for want of root")
	}
	dir := recordedRun(t)
	issue(t, dir)
	return dir
}

func reportOf(t *testing.T, dir string) reports.Report {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, reports.ReportFile))
	if err != nil {
		t.Fatal(err)
	}
	r, err := reports.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func issue(t *testing.T, dir string) {
	t.Helper()
	r := reportOf(t, dir)
	s, err := Select(root, Request{Launcher: "reference", Tests: []string{"T06-partial-line", "T31-positive-values"}, Profile: "unjailed"})
	if err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(root, "contracts", "assertions.tsv") // any file does: nothing is started
	about, err := subject(s, Place{Root: root, Exe: exe, Bin: t.TempDir()}, r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := certificate.Issue(dir, r, about); err != nil {
		t.Fatal(err)
	}
}

// problems verifies a run folder with its own certificate.
func problems(t *testing.T, dir string, now time.Time) []string {
	t.Helper()
	v, err := Verify(filepath.Join(dir, certificate.File), dir, Beside{}, 2, now)
	if err != nil {
		return []string{err.Error()}
	}
	return v.Problems
}

func TestCertificateOfACopyHolds(t *testing.T) {
	dir := certifiedRun(t)
	if got := problems(t, copyRun(t, dir), time.Now()); len(got) > 0 {
		t.Errorf("got %q", got)
	}
	if got := problems(t, dir, time.Now().AddDate(0, 0, certificate.DefaultDays)); len(got) != 1 || !strings.Contains(got[0], "age limit") {
		t.Errorf("an old certificate: %q", got)
	}
}

var digits = regexp.MustCompile(`[0-9]+`)

// kind is a file's sort: its name without numbers, scripts alike.
func kind(name string) string {
	if strings.HasPrefix(name, "scripts/") {
		return "script"
	}
	return digits.ReplaceAllString(filepath.Base(name), "N")
}

// TestEveryFlippedByteIsNoticed: in files of every kind, at the first and the
// last byte and at random ones between.
func TestEveryFlippedByteIsNoticed(t *testing.T) {
	dir := certifiedRun(t)
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewSource(seed))
	files := map[string][]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		files[kind(name)] = append(files[kind(name)], name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, wanted := range []string{"certificate.json", "evidence.shaN", "ledger.json", "report.json", "report.html", "meta.json", "script", "events.jsonl", "scenario.json"} {
		if _, found := files[wanted]; !found {
			t.Errorf("no file of kind %s", wanted)
		}
	}
	for sort, names := range files {
		for range 12 {
			flipOne(t, dir, names[random.Intn(len(names))], sort, random)
		}
	}
}

func flipOne(t *testing.T, dir, name, sort string, random *rand.Rand) {
	t.Helper()
	path := filepath.Join(dir, name)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(before) == 0 {
		return
	}
	at := []int{0, len(before) - 1, random.Intn(len(before))}[random.Intn(3)]
	after := bytes.Clone(before)
	after[at] ^= 1 << random.Intn(8)
	if err := os.WriteFile(path, after, 0o644); err != nil {
		t.Fatal(err)
	}
	if len(problems(t, dir, time.Now())) == 0 {
		t.Errorf("%s (%s): byte %d of %d flipped from %q to %q unnoticed", name, sort, at, len(before), before[at], after[at])
	}
	if err := os.WriteFile(path, before, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestOtherAlterationsAreNoticed(t *testing.T) {
	dir := certifiedRun(t)
	for name, alter := range map[string]func(string) error{
		"a file more": func(d string) error { return os.WriteFile(filepath.Join(d, "attempts", "more"), nil, 0o644) },
		"a file less": func(d string) error { return os.Remove(filepath.Join(d, reports.JUnitFile)) },
		"a link":      func(d string) error { return os.Symlink("report.json", filepath.Join(d, "link")) },
		"no list":     func(d string) error { return os.Remove(filepath.Join(d, certificate.SumsFile)) },
		"no ledger":   func(d string) error { return os.Remove(filepath.Join(d, certificate.LedgerFile)) },
		"an attempt gone": func(d string) error {
			return os.RemoveAll(filepath.Join(d, "attempts", "direct-unjailed", "T06-partial-line"))
		},
	} {
		copied := copyRun(t, dir)
		if err := alter(copied); err != nil {
			t.Fatal(err)
		}
		if len(problems(t, copied, time.Now())) == 0 {
			t.Errorf("%s: unnoticed", name)
		}
	}
}

// TestForgedVerdictIsNoticed: every digest is right, the verdict is not.
func TestForgedVerdictIsNoticed(t *testing.T) {
	dir := certifiedRun(t)
	r := reportOf(t, dir)
	i := slices.IndexFunc(r.Assertions, func(a reports.Assertion) bool { return a.Verdict == reports.Fail })
	r.Assertions[i].Verdict = reports.Pass
	r.Totals.Fail, r.Totals.Pass = r.Totals.Fail-1, r.Totals.Pass+1
	if err := reports.Write(dir, Page(dir, r)); err != nil {
		t.Fatal(err)
	}
	issue(t, dir)
	got := problems(t, dir, time.Now())
	if len(got) == 0 || !strings.HasPrefix(got[0], "judged again: ") {
		t.Errorf("got %q", got)
	}
}

func TestWhatIsBesideIsCompared(t *testing.T) {
	dir, other := certifiedRun(t), t.TempDir()
	verify := func(checkout string) []string {
		v, err := Verify(filepath.Join(dir, certificate.File), dir, Beside{Checkout: checkout}, 2, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return v.Problems
	}
	if got := verify(root); len(got) > 0 {
		t.Errorf("its own checkout: %q", got)
	}
	for _, folder := range []string{"fixtures/native", "contracts"} {
		if err := os.MkdirAll(filepath.Join(other, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(other, "contracts", "assertions.tsv"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	got := verify(other)
	if len(got) < 10 || got[len(got)-1] != "assertions.tsv: not the one that was certified" || !strings.HasPrefix(got[0], "fixture ") {
		t.Errorf("another checkout: %q", got)
	}
}

func TestGateOfARun(t *testing.T) {
	dir := certifiedRun(t)
	baseline := filepath.Join(dir, certificate.File)
	_, reasons, err := Gate(dir, baseline, true, 2, time.Now())
	if err != nil || len(reasons) != 2 || !strings.Contains(reasons[0], "not conforming") || !strings.Contains(reasons[1], "full certificate is required") {
		t.Errorf("got %q, %v", reasons, err)
	}
	if _, _, err := Gate(dir, filepath.Join(dir, reports.ReportFile), false, 2, time.Now()); !isUsage(err) {
		t.Errorf("a report as baseline: %v", err)
	}
}

func TestReportIsNotWrittenOverACertifiedOne(t *testing.T) {
	dir := certifiedRun(t)
	if _, err := Render(dir, ""); !isUsage(err) {
		t.Errorf("got %v, want usage", err)
	}
	if _, err := Render(dir, dir+"/."); !isUsage(err) {
		t.Errorf("got %v, want usage", err)
	}
	out := t.TempDir()
	if _, err := Render(dir, out); err != nil {
		t.Error(err)
	}
	was, err := os.ReadFile(filepath.Join(dir, reports.TAPFile))
	is, againErr := os.ReadFile(filepath.Join(out, reports.TAPFile))
	if err != nil || againErr != nil || !bytes.Equal(was, is) {
		t.Errorf("the same run gives another report: %v %v", err, againErr)
	}
}

func TestLauncherBinariesAreWhatItsFileNames(t *testing.T) {
	bin, here := t.TempDir(), t.TempDir()
	for _, path := range []string{filepath.Join(bin, "a"), filepath.Join(bin, "b"), filepath.Join(bin, "unnamed"), filepath.Join(here, "c.sh")} {
		if err := os.WriteFile(path, []byte(path), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f := launcherfile.File{Folder: here, Facade: map[string]launcherfile.Facade{"direct": {Command: []string{"{bin}/a", "--x={here}/c.sh", "{bin}/absent", "/proc"}}},
		Pairing: launcherfile.Pairing{Template: `{"path":"{bin}/b"}`}}
	got, err := launcherBinaries(f, bin)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"{bin}/a": "", "{bin}/b": "", "{here}/c.sh": ""}
	if fmt.Sprint(sortedKeys(got)) != fmt.Sprint(sortedKeys(want)) {
		t.Errorf("got %v", got)
	}
}

func sortedKeys(m map[string]string) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// contractSchema is a schema of the run folder.
func contractSchema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	content, err := contracts.Schema(name)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource(name, document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// TestRunFolderFollowsItsSchemas: what a run writes is what contracts says.
func TestRunFolderFollowsItsSchemas(t *testing.T) {
	dir := certifiedRun(t)
	attempt := filepath.Join("attempts", "direct-unjailed", "T06-partial-line", "000", "events.jsonl")
	for name, schema := range map[string]string{metaFile: "meta.v1", policyFile: "policy.v1", certificate.File: "certificate.v1", eventsFile: "run-events.v1", attempt: "events.v1"} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		documents := [][]byte{content}
		if strings.HasSuffix(name, ".jsonl") {
			documents = bytes.SplitAfter(bytes.TrimSuffix(content, []byte("\n")), []byte("\n"))
		}
		compiled := contractSchema(t, schema)
		for i, text := range documents {
			document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
			if err == nil {
				err = compiled.Validate(document)
			}
			if err != nil {
				t.Errorf("%s, document %d: %v", name, i, err)
			}
		}
	}
}

// TestRunEventsTellTheWholeRun: every script begins and ends, and what failed
// is in the stream.
func TestRunEventsTellTheWholeRun(t *testing.T) {
	dir := certifiedRun(t)
	f, err := os.Open(filepath.Join(dir, eventsFile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	count := map[string]int{}
	for r := runlog.NewReader(f); ; {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		count[e.Kind]++
	}
	var r reports.Report
	content, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err = errors.Join(err, json.Unmarshal(content, &r)); err != nil || len(r.Scripts) == 0 {
		t.Fatalf("report of %d scripts: %v", len(r.Scripts), err)
	}
	if n := len(r.Scripts); count[runlog.ScriptBegin] != n || count[runlog.ScriptEnd] != n || count[runlog.Finding] == 0 || count[runlog.RunEnd] != 1 || count[runlog.End] != 1 {
		t.Errorf("got %v", count)
	}
}
