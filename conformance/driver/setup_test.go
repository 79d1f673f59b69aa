package driver

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"touchstone/conformance/evidence"
	"touchstone/conformance/launcherfile"
	"touchstone/conformance/scenario"
)

// The test binary is also the attempt process, as touchstone-attempt is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == DepriveWord {
		fmt.Fprintln(os.Stderr, Deprive(os.Args[2:]))
		os.Exit(70)
	}
	if os.Getenv(groupVariable) != "" {
		if err := Run(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) == 3 && os.Args[1] == "start" {
		startOnly(os.Args[2])
		os.Exit(0)
	}
	code := m.Run()
	if c, err := built(); err == nil {
		err = os.RemoveAll(filepath.Dir(c.Tool))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("not run: needs root")
	}
}

// built are the fake launcher and the fixtures, compiled once for all tests.
var built = sync.OnceValues(func() (Compiled, error) {
	dir, err := os.MkdirTemp("", "driver-test-")
	if err != nil {
		return Compiled{}, err
	}
	sources := filepath.Join(dir, "native")
	if err := os.CopyFS(sources, os.DirFS("testdata")); err != nil {
		return Compiled{}, err
	}
	for _, name := range []string{"fixture.h", "fixture.c", "control.c", "tool.c", "finalizer.c", "signal_supervisor.c", "reach_canaries.c"} {
		text, err := os.ReadFile(filepath.Join("../../fixtures/native", name))
		if err != nil {
			return Compiled{}, err
		}
		if err := os.WriteFile(filepath.Join(sources, name), text, 0o644); err != nil {
			return Compiled{}, err
		}
	}
	out, err := exec.Command("gcc", "-Wall", "-Wextra", "-Werror", "-o", filepath.Join(dir, "fake"), "testdata/fake.c").CombinedOutput()
	if err != nil {
		return Compiled{}, fmt.Errorf("%w: %s", err, out)
	}
	return CompileFixtures(dir, "", sources, "test", []string{"meet", "signal_supervisor", "reach_canaries", "meet"})
})

func compiled(t *testing.T) (c Compiled, bin string) {
	t.Helper()
	c, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return c, filepath.Dir(c.Tool)
}

// fake is a launcher file whose launcher takes the given steps.
func fake(t *testing.T, steps ...string) launcherfile.File {
	t.Helper()
	words := `"{bin}/fake", "{terminal_fd}", "{library}", "{bin}/control"`
	for _, s := range steps {
		words += fmt.Sprintf(", %q", s)
	}
	text := "version = 1\nname = \"fake\"\n[facade.direct]\ninvocation = \"run_json\"\ncommand = [" + words + "]\n" +
		"[facade.direct.options]\nsink_fd = [\"{value}\"]\nphase_fd = [\"{value}\"]\n" +
		"[profile.unjailed]\n[profile.jailed]\n[[profile.jailed.descriptor]]\nnumber = 5\nkind = \"memfd\"\nbytes = 8192\n" +
		"[producer]\nabi = \"test\"\ncandidate = \"env:CANDIDATE\"\n[cancel]\nsignal = \"TERM\"\n" +
		"[reference]\ncommand = [\"{bin}/control\", \"{library}\"]\n" +
		"[launch]\ndescriptor_variable = \"LAUNCH\"\ndocument = '{\"id\":\"{attempt_id}\"}'\n[tolerance]\nslack_ms = 500\n"
	f, err := launcherfile.Parse("fake.toml", "/", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func meeting() scenario.Scenario {
	return scenario.Scenario{Version: 1, Test: "T23", Script: "T23-test", Kind: scenario.Launch, HangMS: 20_000,
		Cell: scenario.Cell{Facade: "direct", Profile: "unjailed"}, Fixture: scenario.Fixture{Name: "meet"}}
}

// attempted runs one attempt and loads its evidence.
func attempted(t *testing.T, s scenario.Scenario, f launcherfile.File) *evidence.Attempt {
	t.Helper()
	needRoot(t)
	c, bin := compiled(t)
	dir := filepath.Join(t.TempDir(), "attempt")
	err := Prepare(dir, s, f, Setup{Bin: bin, Library: c.Library[s.Fixture.Name], Control: c.Control[""]})
	if err == nil && s.Fixture.PayloadFile != "" {
		err = os.WriteFile(filepath.Join(dir, s.Fixture.PayloadFile), []byte("payload\n"), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := Start(context.Background(), "/proc/self/exe", dir); err != nil {
		t.Fatal(err)
	}
	a, err := evidence.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Tampered) > 0 {
		t.Errorf("tampered: %q", a.Tampered)
	}
	for _, f := range a.Faults() {
		t.Errorf("fault: %s: %s", f.Operation, f.Cause)
	}
	if t.Failed() {
		text, _ := os.ReadFile(filepath.Join(dir, evidence.EventsFile))
		t.Logf("%s", text)
	}
	return a
}

func wantExit(t *testing.T, a *evidence.Attempt, status, signal int) {
	t.Helper()
	exit, ok := a.Exit()
	switch {
	case !ok:
		t.Fatal("no exit was recorded")
	case signal == 0 && (exit.Body.Status == nil || *exit.Body.Status != status):
		t.Errorf("exit: got %+v, want status %d", exit.Body, status)
	case signal != 0 && (exit.Body.Signal == nil || *exit.Body.Signal != signal):
		t.Errorf("exit: got %+v, want signal %d", exit.Body, signal)
	}
}

func leftovers(a *evidence.Attempt) (kinds []string) {
	for _, l := range evidence.All[evidence.Leftover](a) {
		kinds = append(kinds, l.Body.What)
	}
	slices.Sort(kinds)
	return kinds
}

func rendezvous(n uint64, kind, who string) scenario.Rule {
	return scenario.Rule{Trigger: scenario.Trigger{Kind: scenario.AtRendezvous, N: n}, Action: scenario.Action{Kind: kind, Who: who}}
}

func wantControls(t *testing.T, a *evidence.Attempt, results ...string) {
	t.Helper()
	var got []string
	for _, c := range evidence.All[evidence.Control](a) {
		got = append(got, c.Body.Result)
	}
	if !slices.Equal(got, results) {
		t.Errorf("controls: got %q, want %q: %+v", got, results, evidence.All[evidence.Control](a))
	}
}
