package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"

	"touchstone/conformance/certify"
	"touchstone/conformance/oracle"
	"touchstone/conformance/scenario"
	"touchstone/conformance/script"
)

// TestContract runs every script against the reference, each in its cells. A
// -run pattern that names no script fails: a misspelt test is no passed test.
func TestContract(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	selection, err := certify.Select(root, certify.Request{Launcher: "reference"})
	if err != nil {
		t.Fatal(err)
	}
	bench := openBench(t, root, selection)
	jobs := selection.Jobs()
	var ran atomic.Int64
	for _, s := range selection.Scripts {
		t.Run(s.Name, func(t *testing.T) {
			ran.Add(1)
			for _, cell := range jobs[s.Name] {
				t.Run(cell.Facade+"-"+cell.Profile, func(t *testing.T) { judge(t, bench, s, cell) })
			}
		})
	}
	if ran.Load() == 0 {
		t.Fatal("no script matches the -run pattern")
	}
}

func openBench(t *testing.T, root string, selection certify.Selection) *certify.Bench {
	t.Helper()
	if os.Geteuid() == 0 {
		build := exec.Command(filepath.Join(root, "scripts", "build"))
		if said, err := build.CombinedOutput(); err != nil {
			t.Fatalf("scripts/build: %v\n%s", err, said)
		}
	}
	bin := filepath.Join(root, ".build", "bin")
	bench, err := certify.Open(context.Background(), selection, certify.Place{
		Root: root, Bin: bin, Exe: filepath.Join(bin, "touchstone-attempt"), Run: runFolder(t),
	})
	var lacking *certify.NotRunError
	if errors.As(err, &lacking) {
		t.Skip(lacking)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bench.Close(); err != nil {
			t.Error(err)
		}
	})
	return bench
}

// runFolder is kept when a test failed, for its evidence.
func runFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "touchstone-evidence-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if os.Remove(dir) == nil {
			return // nothing was run
		}
		if t.Failed() {
			t.Log("evidence in", dir)
			return
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func judge(t *testing.T, bench *certify.Bench, s script.Script, cell scenario.Cell) {
	result, err := bench.Perform(s, cell)
	if err != nil {
		t.Fatal(err)
	}
	lacking := ""
	for _, f := range result.Findings {
		switch f.Verdict {
		case oracle.Pass:
		case oracle.NotRun:
			lacking = fmt.Sprintf("%s not run: %s", f.ID, f.Reason)
			t.Log(lacking)
		case oracle.Broken:
			t.Errorf("%s broken, line %d: %s (%s)", f.ID, f.Line, f.Reason, f.Attempt)
		default:
			t.Errorf("%s %s, line %d: saw %s, wanted %s (%s)", f.ID, f.Rule, f.Line, f.Seen, f.Wanted, f.Attempt)
		}
	}
	for _, leak := range result.Leaks {
		t.Errorf("left behind: %s (%s)", leak.What, leak.Attempt)
	}
	if lacking != "" && !t.Failed() {
		t.Skip(lacking)
	}
}
