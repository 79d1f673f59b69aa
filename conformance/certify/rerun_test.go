package certify

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"touchstone/conformance/launcherfile"
	"touchstone/conformance/oracle"
	"touchstone/reports"
)

func writtenReport(t *testing.T, r reports.Report) string {
	t.Helper()
	dir := t.TempDir()
	text, err := reports.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, reports.ReportFile), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestUnpassedJobs: by the script's own verdict in the cell, whatever the
// assertion is elsewhere; also of a report that tells no such verdict.
func TestUnpassedJobs(t *testing.T) {
	const job = "T14-made-up direct/unjailed"
	for name, c := range map[string]struct {
		r      reports.Report
		notRun bool
		want   bool
	}{
		"a failure":          {tallyOf(t, nil, 0, finding("T14.01", oracle.Fail, "")), false, true},
		"broken":             {tallyOf(t, nil, 0, finding("T14.01", oracle.Broken, "x")), false, true},
		"a leak":             {tallyOf(t, nil, 1, finding("T14.01", oracle.Pass, "")), false, true},
		"a pass":             {tallyOf(t, nil, 0, finding("T14.01", oracle.Pass, "")), true, false},
		"a declared gap":     {tallyOf(t, []launcherfile.Gap{gap("T14.01", "2099-01-01")}, 0, finding("T14.01", oracle.Fail, "")), false, false},
		"a gap that is gone": {tallyOf(t, []launcherfile.Gap{gap("T14.01", "2099-01-01")}, 0, finding("T14.01", oracle.Pass, "")), false, true},
		"not run":            {tallyOf(t, nil, 0, finding("T14.01", oracle.NotRun, "x")), false, false},
		"not run, wanted":    {tallyOf(t, nil, 0, finding("T14.01", oracle.NotRun, "x")), true, true},
	} {
		dir := writtenReport(t, c.r)
		for _, path := range []string{dir, filepath.Join(dir, reports.ReportFile)} {
			request, err := Unpassed(path, "x", c.notRun)
			if err != nil || slices.Contains(request.Only, job) != c.want {
				t.Errorf("%s: got %+v, %v", name, request, err)
			}
		}
	}
	old := tallyOf(t, nil, 0, finding("T14.01", oracle.Fail, ""))
	old.Scripts[0].Verdict, old.Scripts[0].Capsule = "", ""
	if request, err := Unpassed(writtenReport(t, old), "x", false); err != nil || len(request.Only) != 1 {
		t.Errorf("a report without verdicts of scripts: %+v, %v", request, err)
	}
	if _, err := Unpassed(writtenReport(t, old), "", false); !isUsage(err) {
		t.Errorf("no launcher known: %v", err)
	}
	if _, err := Unpassed(t.TempDir(), "x", false); !isUsage(err) {
		t.Errorf("no report: %v", err)
	}
}

// TestOnlyTheNamedJobsRun: of all scripts and cells that the rest selects.
func TestOnlyTheNamedJobsRun(t *testing.T) {
	request := Request{Launcher: "reference", Tests: []string{"T06-partial-line", "T07-close-fd-1"}, Only: []string{"T06-partial-line direct/jailed"}}
	s, err := Select(root, request)
	if err != nil || len(s.jobs) != 1 || s.jobs[0].cell.Profile != "jailed" || s.jobs[0].script.Name != "T06-partial-line" {
		t.Errorf("got %v, %v", s.jobs, err)
	}
	request.Only = []string{"T06-partial-line direct/nowhere"}
	if _, err := Select(root, request); !isUsage(err) {
		t.Errorf("no such job: %v", err)
	}
}
