package driver

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"touchstone/conformance/evidence"
	"touchstone/conformance/launcherfile"
)

// injector is faultinject's command, compiled once.
var injector = sync.OnceValues(func() (string, error) {
	c, err := built()
	if err != nil {
		return "", err
	}
	path := filepath.Join(filepath.Dir(c.Tool), "faultinject")
	out, err := exec.Command("go", "build", "-o", path, "touchstone/faultinject/cmd/faultinject").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// faulted runs one attempt with faults, hanging for at most so many ms.
func faulted(t *testing.T, f launcherfile.File, hang uint64, lines ...string) *evidence.Attempt {
	t.Helper()
	needRoot(t)
	c, bin := compiled(t)
	program, err := injector()
	if err != nil {
		t.Fatal(err)
	}
	s := meeting()
	s.Faults, s.HangMS = lines, hang
	dir := filepath.Join(t.TempDir(), "attempt")
	if err := Prepare(dir, s, f, Setup{Bin: bin, Library: c.Library[s.Fixture.Name], Control: c.Control[""], Injector: program}); err != nil {
		t.Fatal(err)
	}
	if err := Start(t.Context(), "/proc/self/exe", dir); err != nil {
		t.Fatal(err)
	}
	a, err := evidence.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestAFaultIsDoneAndShown: the launcher stays our child and ends as always, the
// log shows the fault, the producer runs untraced, nothing is left.
func TestAFaultIsDoneAndShown(t *testing.T) {
	a := faulted(t, fake(t, "report=0123456789", "producer", "publish", "exit=7"), 20_000, "rule f: on %write fd report ; do short 3")
	exit, _ := a.Exit()
	if exit.Body.Status == nil || *exit.Body.Status != 7 || !strings.HasPrefix(string(a.ReportBytes()), "0123456789") {
		t.Errorf("exit %+v, report %q", exit.Body, a.ReportBytes())
	}
	end, ended := evidence.First[evidence.Injection](a)
	if log := string(a.File(evidence.FaultLogFile)); !ended || end.Body.Status == nil || *end.Body.Status != 0 ||
		!strings.Contains(log, `"given":3,"returned":3`) || !strings.Contains(log, `"kind":"final"`) {
		t.Errorf("ended %t %+v\n%s", ended, end.Body, log)
	}
	seen := evidence.All[evidence.ProducerTracer](a)
	if len(seen) == 0 || seen[0].Body.Tracer != 0 {
		t.Errorf("tracers of producers: %+v", seen)
	}
	for _, l := range leftovers(a) {
		t.Errorf("left: %s", l)
	}
}

// TestAHangIsTheLaunchersOwn: the watchdog kills what hangs, and lets the tracer
// tell what it did.
func TestAHangIsTheLaunchersOwn(t *testing.T) {
	a := faulted(t, fake(t, "report=0123456789", "hang"), 2000, "rule f: on %write fd report ; do short 3")
	_, hung := evidence.First[evidence.Watchdog](a)
	if !hung || len(a.Faults()) > 0 || !strings.Contains(string(a.File(evidence.FaultLogFile)), `"kind":"final"`) {
		t.Errorf("hung %t, faults %+v\n%s", hung, a.Faults(), a.File(evidence.FaultLogFile))
	}
}

// TestATracerThatFailsIsTold: the launcher never runs untraced.
func TestATracerThatFailsIsTold(t *testing.T) {
	a := faulted(t, fake(t, "report=x", "exit=0"), 20_000, "no rule at all")
	end, _ := evidence.First[evidence.Injection](a)
	exit, _ := a.Exit()
	if end.Body.Status == nil || *end.Body.Status != 64 || end.Body.Said == "" || exit.Body.Signal == nil || len(a.ReportBytes()) > 0 {
		t.Errorf("injection %+v, exit %+v, report %q", end.Body, exit.Body, a.ReportBytes())
	}
}
