package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json"

	"touchstone/faultinject/sweep"
)

// sweepCopy sweeps the copying program over a file of n bytes.
func sweepCopy(t *testing.T, n int, options ...string) (sweep.Report, int) {
	t.Helper()
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	if err := os.WriteFile(from, pattern(n), 0o644); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"sweep", "--json", "--on", "%read,%write,%sync,%close", "--check", "cmp -s " + from + " " + to,
		"--reset", "rm -f " + to}, options...)
	cmd := exec.Command(target("faultinject"), append(args, "--", target("copy_file"), from, to)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var report sweep.Report
	if json.Unmarshal(out, &report) != nil {
		t.Fatalf("sweep: %v\n%s%s", err, out, stderr.String())
	}
	return report, cmd.ProcessState.ExitCode()
}

// TestSweepFindsTheBug: every call is tried with every fault, the sweep ends
// by itself, and it names the one write whose failure the program hides.
func TestSweepFindsTheBug(t *testing.T) {
	needTracing(t)
	report, code := sweepCopy(t, 2500)
	// 2500 bytes by a buffer of 1000: reads 1000, 1000, 500 and the end;
	// writes 1000, 1000, 500. The read at the end cannot be short.
	for class, want := range map[string]uint64{"%read": 4, "%write": 3, "%sync": 1, "%close": 2} {
		if got := report.Calls[class]; got != want {
			t.Errorf("%s: got %d calls, want %d", class, got, want)
		}
	}
	tried := map[string]int{}
	for _, p := range report.Points {
		tried[p.Class+" "+p.Fault]++
	}
	for point, want := range map[string]int{"%read EIO": 4, "%read zero": 4, "%read short": 3, "%write EIO": 3, "%write ENOSPC": 3,
		"%write EINTR": 3, "%write short": 3, "%write zero": 3, "%close EIO": 2, "%sync ENOSPC": 1, "%close short": 0} {
		if tried[point] != want {
			t.Errorf("%s: tried %d calls, want %d", point, tried[point], want)
		}
	}
	wrong := report.Wrong()
	if code != 3 || len(wrong) != 1 || len(wrong[0]) != 2 {
		t.Fatalf("exit %d, wrong: got %+v, want one call", code, wrong)
	}
	for i, fault := range []string{"EIO", "ENOSPC"} {
		p := wrong[0][i]
		if p.Call != "write" || p.Ordinal != 3 || p.Fault != fault || p.Verdict != sweep.FalseSuccess || filepath.Base(p.Object) != "to" {
			t.Errorf("got %+v, want write 3 with %s", p, fault)
		}
	}
}

// TestSweepWithoutTheBug: an empty file has nothing to lose in the last
// flush, so the same sweep finds nothing.
func TestSweepWithoutTheBug(t *testing.T) {
	needTracing(t)
	report, code := sweepCopy(t, 0)
	if wrong := report.Wrong(); code != 0 || len(wrong) != 0 || len(report.Points) == 0 {
		t.Errorf("exit %d, %d points, wrong: %+v", code, len(report.Points), wrong)
	}
}

// TestSweepNeedsABaseline: where the check fails without faults, nothing can
// be told.
func TestSweepNeedsABaseline(t *testing.T) {
	needTracing(t)
	out, err := exec.Command(target("faultinject"), "sweep", "--check", "false", "--", "/bin/true").CombinedOutput()
	if code := err.(*exec.ExitError).ExitCode(); code != 64 || !bytes.Contains(out, []byte("fails without faults")) {
		t.Errorf("exit %d, %s", code, out)
	}
}
