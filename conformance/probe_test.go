package conformance

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"touchstone/conformance/certify"
	"touchstone/conformance/evidence"
	"touchstone/conformance/oracle"
	"touchstone/conformance/scenario"
	"touchstone/conformance/script"
)

// TestAProbeWaitsForNothingThatHangs: a launcher that never ends fails what it
// is asked for in one attempt, which is ended long before the limit of a
// launcher that may be sound.
func TestAProbeWaitsForNothingThatHangs(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	selection, err := certify.Select(root, certify.Request{Launcher: "naive-exec"})
	if err != nil {
		t.Fatal(err)
	}
	bench := openBench(t, root, selection)
	subject := selection.Scripts[slices.IndexFunc(selection.Scripts, func(s script.Script) bool { return s.Name == "T06-partial-line" })]
	cell := selection.Jobs()[subject.Name][0]
	wanted := []string{"T6.02"}
	usual, took, err := bench.Measure(subject, cell, wanted)
	if err != nil || len(usual.Attempts) != 1 || len(took) != 1 {
		t.Fatalf("%d attempts, %d durations, want one of the two that the script has (%v)", len(usual.Attempts), len(took), err)
	}
	result, cut, err := hanging(t, bench).Probe(subject, cell, certify.Probe{Sound: took, Wanted: func() []string { return wanted }, Heard: func(f script.Finding) {
		if f.Verdict == oracle.Fail {
			wanted = slices.DeleteFunc(wanted, func(id string) bool { return id == f.ID })
		}
	}})
	if err != nil || !cut || len(wanted) > 0 || len(result.Attempts) != 1 {
		t.Fatalf("cut %t, %v left open after %d attempts (%v)", cut, wanted, len(result.Attempts), err)
	}
	a, err := evidence.Load(result.Attempts[0])
	if err != nil {
		t.Fatal(err)
	}
	w, hung := evidence.First[evidence.Watchdog](a)
	soon := scenario.DefaultStallMS + scenario.StopGraceMS
	if !hung || w.Body.LimitMS < soon || w.Body.LimitMS >= a.Scenario.HangLimit(0) {
		t.Errorf("watchdog %+v, want it after %d ms and before %d", w.Body, soon, a.Scenario.HangLimit(0))
	}
}

// hanging is a bench of the same launcher with a program that never ends.
func hanging(t *testing.T, bench *certify.Bench) *certify.Bench {
	t.Helper()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "naive-exec"), []byte("#!/bin/sh\nexec tail -f /dev/null\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	other, err := bench.With(t.Context(), bin, filepath.Join(t.TempDir(), "run"))
	if err != nil {
		t.Fatal(err)
	}
	return other
}
