package driver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"touchstone/conformance/evidence"
	"touchstone/conformance/launcherfile"
	"touchstone/conformance/scenario"
)

// The test binary is also the attempt process, as touchstone is.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "attempt" {
		if err := Run(os.Args[2]); err != nil {
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
		err = os.RemoveAll(filepath.Dir(c.Control))
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
	for _, name := range []string{"fixture.h", "fixture.c", "control.c", "signal_supervisor.c", "reach_canaries.c"} {
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
	return CompileFixtures(dir, sources, "test", []string{"meet", "signal_supervisor", "reach_canaries"})
})

func compiled(t *testing.T) (c Compiled, bin string) {
	t.Helper()
	c, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return c, filepath.Dir(c.Control)
}

// fake is a launcher file whose launcher takes the given steps.
func fake(t *testing.T, steps ...string) launcherfile.File {
	t.Helper()
	words := `"{bin}/fake", "{terminal_fd}", "{library}", "{bin}/control"`
	for _, s := range steps {
		words += fmt.Sprintf(", %q", s)
	}
	text := "version = 1\nname = \"fake\"\n[facade.direct]\ninvocation = \"run_json\"\ncommand = [" + words + "]\n" +
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
	err := Prepare(dir, s, f, Setup{Bin: bin, Library: c.Library[s.Fixture.Name], Control: c.Control})
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

func TestHonestLaunchIsRecordedWhole(t *testing.T) {
	a := attempted(t, meeting(), fake(t, "diagnostic=noise\n", "sleep-ms=60", "report={}\n", "close=report", "close=diagnostic", "packet={\"a\":1}\n", "exit=3"))
	wantExit(t, a, 3, 0)
	if string(a.ReportBytes()) != "{}\n" || string(a.DiagnosticBytes()) != "noise\n" {
		t.Errorf("got report %q, diagnostics %q", a.ReportBytes(), a.DiagnosticBytes())
	}
	packets := a.Packets()
	if len(packets) != 1 || string(packets[0].Bytes) != "{\"a\":1}\n" || len(packets[0].Body.Flags) != 0 {
		t.Fatalf("packets: %+v", packets)
	}
	if e := packets[0].Body.Ended; !e.Report || !e.Diagnostic {
		t.Errorf("the data endpoints had ended before the packet, got %+v", e)
	}
	exit, _ := a.Exit()
	if packets[0].Body.CredentialsPID != exit.Body.PID {
		t.Errorf("packet from %d, want %d", packets[0].Body.CredentialsPID, exit.Body.PID)
	}
	if got := leftovers(a); len(got) != 0 {
		t.Errorf("leftovers %q", got)
	}
	if p, ok := evidence.First[evidence.Producers](a); !ok || p.Body.Alive != 0 {
		t.Errorf("producers at the first byte: %+v", p)
	}
	if _, ended := a.Ended("report"); !ended || len(evidence.All[evidence.TerminalEOF](a)) != 1 {
		t.Error("an end is missing")
	}
	if peak := exit.Body.PeakRSSBytes; peak < 100<<10 || peak > 8<<20 || exit.Body.MaxRSSBytes < peak {
		t.Errorf("resident %d bytes of %d: the fake launcher is small", peak, exit.Body.MaxRSSBytes)
	}
}

func TestAPacketBeforeTheDataEndsIsSeenAsSuch(t *testing.T) {
	a := attempted(t, meeting(), fake(t, "report=x", "close=diagnostic", "packet=m", "sleep-ms=50", "close=report", "exit=0"))
	if p := a.Packets(); len(p) != 1 || p[0].Body.Ended.Report || !p[0].Body.Ended.Diagnostic {
		t.Errorf("got %+v, want diagnostics ended and the report not", p)
	}
}

func TestEveryPacketCountsAlsoOneOfZeroBytes(t *testing.T) {
	long := strings.Repeat("m", 70_000)
	a := attempted(t, meeting(), fake(t, "packet=one", "packet=", "packet="+long, "close=terminal", "exit=0"))
	var sizes []int
	for _, p := range a.Packets() {
		sizes = append(sizes, len(p.Bytes))
	}
	if !slices.Equal(sizes, []int{3, 0, 70_000}) {
		t.Errorf("packet sizes %d", sizes)
	}
	if len(evidence.All[evidence.TerminalEOF](a)) != 1 {
		t.Error("no end of the terminal endpoint")
	}
}

func TestNoPacketIsNoPacket(t *testing.T) {
	a := attempted(t, meeting(), fake(t, "exit=0"))
	if len(a.Packets()) != 0 || len(evidence.All[evidence.TerminalEOF](a)) != 1 {
		t.Errorf("got %d packets", len(a.Packets()))
	}
}

func TestStreamEndpointsArePolledAlike(t *testing.T) {
	s := meeting()
	s.Endpoints = scenario.Endpoints{Report: scenario.Stream, Diagnostic: scenario.Stream}
	a := attempted(t, s, fake(t, "report=x", "diagnostic=y", "close=report", "close=diagnostic", "packet=m", "exit=0"))
	if p := a.Packets(); string(a.ReportBytes()) != "x" || string(a.DiagnosticBytes()) != "y" || len(p) != 1 || !p[0].Body.Ended.Report || !p[0].Body.Ended.Diagnostic {
		t.Errorf("report %q diagnostics %q packets %+v", a.ReportBytes(), a.DiagnosticBytes(), p)
	}
}

func TestWhatALauncherLeavesIsListed(t *testing.T) {
	a := attempted(t, meeting(), fake(t, "orphan", "mount=/mnt", "group", "file=/dev/shm/left", "segment", "exit=0"))
	if got, want := leftovers(a), []string{"cgroup", "file", "ipc", "mount", "process"}; !slices.Equal(got, want) {
		t.Errorf("leftovers: got %q, want %q", got, want)
	}
	for _, folder := range a.Launch.Cgroups {
		if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("control group %s is still there: %v", folder, err)
		}
	}
	if len(a.Launch.Cgroups) == 0 {
		t.Error("no control group was made")
	}
}

func TestRendezvousPokesObservesAndContinues(t *testing.T) {
	for _, step := range []string{"producer", "producer-init"} {
		s := meeting()
		s.Fixture.Args, s.Fixture.PayloadFile = map[string]string{"word": "given"}, "payload.bin"
		s.Controls = []scenario.Rule{
			{Trigger: scenario.Trigger{Kind: scenario.AtRendezvous, N: 1}, Action: scenario.Action{Kind: scenario.DoPoke, Value: scenario.ValueSupervisorPID}},
			rendezvous(1, scenario.DoObserve, scenario.Producer),
			rendezvous(3, scenario.DoObserve, scenario.Supervisor),
		}
		a := attempted(t, s, fake(t, step, "publish", "close=report", "close=diagnostic", "packet=m", "exit=0"))
		exit, _ := a.Exit()
		if want := fmt.Sprintf("poked %d\nend given\n", exit.Body.PID); string(a.DiagnosticBytes()) != want {
			t.Errorf("%s: diagnostics %q, want %q", step, a.DiagnosticBytes(), want)
		}
		if string(a.ReportBytes()) != "abcpayload\n" {
			t.Errorf("%s: report %q", step, a.ReportBytes())
		}
		wantControls(t, a, "done", "done", "done")
		met := evidence.All[evidence.Rendezvous](a)
		if len(met) != 3 {
			t.Fatalf("%s: %d meetings", step, len(met))
		}
		for i, want := range []uint64{0, 3, 11} {
			if m := met[i].Body; m.Point != uint32(i+1) || m.CandidateBytes != want || m.Parked != (step == "producer-init") {
				t.Errorf("%s: meeting %d: %+v", step, i, m)
			}
		}
		o, _ := evidence.First[evidence.Observe](a)
		numbers := []int{}
		for _, d := range o.Body.Descriptors {
			numbers = append(numbers, d.Number)
		}
		if o.Body.Who != "producer" || !slices.Equal(numbers, []int{0, 1, 2, 77}) || o.Body.PPID != exit.Body.PID ||
			o.Body.Descriptors[1].Name != "diagnostic" || o.Body.Descriptors[1].Access != "w" || len(o.Body.UIDs) != 4 ||
			o.Body.Namespaces.Mount != o.Body.SupervisorNamespaces.Mount || o.Body.Threads != 1 {
			t.Errorf("%s: observed %+v", step, o.Body)
		}
	}
}

func TestProducerIsKilledAtAPoint(t *testing.T) {
	s := meeting()
	s.Controls = []scenario.Rule{rendezvous(2, scenario.DoKill, scenario.Producer)}
	a := attempted(t, s, fake(t, "producer", "publish", "exit=1"))
	wantExit(t, a, 1, 0)
	wantControls(t, a, "done")
	if string(a.ReportBytes()) != "abc" || !strings.Contains(string(a.DiagnosticBytes()), "producer signal 9") {
		t.Errorf("report %q diagnostics %q", a.ReportBytes(), a.DiagnosticBytes())
	}
	if met := evidence.All[evidence.Rendezvous](a); len(met) != 2 || met[1].Body.CandidateBytes != 3 {
		t.Errorf("meetings %+v", met)
	}
}

func TestSupervisorIsKilledAfterExactlySoManyBytes(t *testing.T) {
	s := meeting()
	s.Controls = []scenario.Rule{
		{Trigger: scenario.Trigger{Kind: scenario.AtBytes, Channel: "report", N: 5}, Action: scenario.Action{Kind: scenario.DoObserve, Who: "supervisor"}},
		{Trigger: scenario.Trigger{Kind: scenario.AtBytes, Channel: "report", N: 5}, Action: scenario.Action{Kind: scenario.DoKill, Who: "supervisor"}},
		{Trigger: scenario.Trigger{Kind: scenario.AtPacket}, Action: scenario.Action{Kind: scenario.DoCancel}},
	}
	a := attempted(t, s, fake(t, "report=0123456789", "hang"))
	wantExit(t, a, 0, 9)
	wantControls(t, a, "done", "done", "not-reached")
	first, _ := evidence.First[evidence.Bytes](a)
	if first.Body.Size != 5 || string(a.ReportBytes()) != "0123456789" {
		t.Errorf("first read %d bytes, report %q", first.Body.Size, a.ReportBytes())
	}
}

func TestTimedCancelAndSignals(t *testing.T) {
	s := meeting()
	s.Controls = []scenario.Rule{{Trigger: scenario.Trigger{Kind: scenario.AtTime, N: 150}, Action: scenario.Action{Kind: scenario.DoCancel}}}
	a := attempted(t, s, fake(t, "hang"))
	wantExit(t, a, 0, 15)
	if took, _ := a.Elapsed(); took < 150*time.Millisecond || took > 5*time.Second {
		t.Errorf("took %v, want a little over 150 ms", took)
	}
	if late := a.Lateness(); late <= 0 || late > 5*time.Second {
		t.Errorf("lateness %v: every timed wait ends a little late", late)
	}
}

func TestStoppedSupervisorIsContinuedAtALaterPoint(t *testing.T) {
	s := meeting()
	s.Controls = []scenario.Rule{rendezvous(1, scenario.DoStop, scenario.Supervisor), rendezvous(3, scenario.DoObserve, scenario.Supervisor),
		rendezvous(3, scenario.DoContinue, scenario.Supervisor)}
	a := attempted(t, s, fake(t, "producer", "publish", "exit=0"))
	wantExit(t, a, 0, 0)
	wantControls(t, a, "done", "done", "done")
	if o, ok := evidence.First[evidence.Observe](a); !ok || o.Body.State != "T" {
		t.Errorf("observed %+v, want a stopped supervisor", o.Body)
	}
}

func TestHeldProducerIsContinuedByALaterRule(t *testing.T) {
	s := meeting()
	s.Controls = []scenario.Rule{rendezvous(2, scenario.DoStop, scenario.Producer),
		{Trigger: scenario.Trigger{Kind: scenario.AtTime, N: 400}, Action: scenario.Action{Kind: scenario.DoContinue, Who: scenario.Producer}}}
	a := attempted(t, s, fake(t, "producer", "publish", "exit=0"))
	wantExit(t, a, 0, 0)
	wantControls(t, a, "done", "done")
	met := evidence.All[evidence.Rendezvous](a)
	if len(met) != 3 {
		t.Fatalf("%d meetings, want 3", len(met))
	}
	if at, _ := a.Since(met[2].Mono); at < 400*time.Millisecond {
		t.Errorf("point 3 came after %v, before the producer was continued", at)
	}
}

func TestPacedReaderTakesItsTime(t *testing.T) {
	s := meeting()
	s.Paces = []scenario.Pace{{Channel: "report", Bytes: 4096, EveryMS: 50}}
	s.Controls = []scenario.Rule{
		{Trigger: scenario.Trigger{Kind: scenario.AtSpawn}, Action: scenario.Action{Kind: scenario.DoPause, Channel: "diagnostic"}},
		{Trigger: scenario.Trigger{Kind: scenario.AtEOF, Channel: "report"}, Action: scenario.Action{Kind: scenario.DoResume, Channel: "diagnostic"}},
	}
	text := strings.Repeat("r", 16_384)
	a := attempted(t, s, fake(t, "diagnostic=d", "report="+text, "close=report", "sleep-ms=400", "exit=0"))
	reads := evidence.All[evidence.Bytes](a)
	if string(a.ReportBytes()) != text || string(a.DiagnosticBytes()) != "d" || len(reads) != 5 {
		t.Fatalf("%d reads, %d report bytes, diagnostics %q", len(reads), len(a.ReportBytes()), a.DiagnosticBytes())
	}
	if took := time.Duration(reads[3].Mono - reads[0].Mono); took < 150*time.Millisecond {
		t.Errorf("four intervals took %v, want at least three times 50 ms", took)
	}
	if reads[4].Body.Channel != "diagnostic" {
		t.Errorf("the paused reader read early: %+v", reads)
	}
}

func TestClosedEndpointIsGone(t *testing.T) {
	s := meeting()
	s.Controls = []scenario.Rule{{Trigger: scenario.Trigger{Kind: scenario.AtBytes, Channel: "diagnostic", N: 1}, Action: scenario.Action{Kind: scenario.DoClose, Channel: "report"}}}
	a := attempted(t, s, fake(t, "diagnostic=d", "sleep-ms=100", "report=x", "exit=0"))
	wantExit(t, a, 0, 13)
	if _, ended := a.Ended("report"); ended || len(a.ReportBytes()) != 0 {
		t.Errorf("report %q", a.ReportBytes())
	}
}

func TestHangIsEndedByTheWatchdog(t *testing.T) {
	s := meeting()
	s.HangMS = 300
	a := attempted(t, s, fake(t, "orphan", "report=x", "hang"))
	wantExit(t, a, 0, 9)
	w, ok := evidence.First[evidence.Watchdog](a)
	if !ok || w.Body.LimitMS != 300 || w.Body.Waiting != "exit" {
		t.Errorf("watchdog %+v", w)
	}
	if string(a.ReportBytes()) != "x" || len(leftovers(a)) != 0 {
		t.Errorf("report %q leftovers %q", a.ReportBytes(), leftovers(a))
	}
}

func TestSignalsFromBelowDoNotEndTheAttempt(t *testing.T) {
	a := attempted(t, meeting(), fake(t, "attack", "report=x", "attack", "packet=m", "exit=4"))
	wantExit(t, a, 4, 0)
	if string(a.ReportBytes()) != "x" || len(a.Packets()) != 1 {
		t.Errorf("report %q, %d packets", a.ReportBytes(), len(a.Packets()))
	}
}

func TestUnsupervisedProcessesAreRecorded(t *testing.T) {
	for _, kind := range []scenario.Kind{scenario.Reference, scenario.Control} {
		s := meeting()
		s.Kind = kind
		a := attempted(t, s, fake(t))
		wantExit(t, a, 0, 0)
		if string(a.Stderr()) != "poked 0\nend none\n" {
			t.Errorf("%s: stderr %q", kind, a.Stderr())
		}
		if kind == scenario.Control && string(a.File(candidateFile)) != "abc" {
			t.Errorf("candidate %q", a.File(candidateFile))
		}
		if len(a.Packets()) != 0 || a.Launch.AttemptID != "" {
			t.Errorf("%s: a terminal endpoint was made", kind)
		}
	}
}

func TestPositiveControlsReachWhatIsPlanted(t *testing.T) {
	s := meeting()
	s.Kind, s.Fixture = scenario.Control, scenario.Fixture{Name: "reach_canaries"}
	a := attempted(t, s, fake(t))
	if want := "probe connect-abstract ok\nprobe send-inet ok\nprobe shm-canary ok\n"; string(a.Stderr()) != want {
		t.Errorf("got %q, want %q", a.Stderr(), want)
	}
	s.Fixture = scenario.Fixture{Name: "signal_supervisor"}
	s.Controls = []scenario.Rule{{Trigger: scenario.Trigger{Kind: scenario.AtRendezvous, N: 1}, Action: scenario.Action{Kind: scenario.DoPoke, Value: scenario.ValueSupervisorPID}}}
	a = attempted(t, s, fake(t))
	for _, name := range []string{"pidfd-signal", "kill", "tgkill", "queue", "kill-init", "kill-all"} {
		if !strings.Contains(string(a.Stderr()), "probe "+name+" ok\n") {
			t.Errorf("%s did not work uncontained: %q", name, a.Stderr())
		}
	}
}

func TestDescriptorsAreExactlyThoseGiven(t *testing.T) {
	s := meeting()
	s.Cell.Profile, s.ExtraDescriptors = "jailed", 2
	s.Controls = []scenario.Rule{{Trigger: scenario.Trigger{Kind: scenario.AtBytes, Channel: "diagnostic", N: 1}, Action: scenario.Action{Kind: scenario.DoObserve, Who: "supervisor"}}}
	a := attempted(t, s, fake(t, "diagnostic=d", "sleep-ms=100", "exit=0"))
	o, ok := evidence.First[evidence.Observe](a)
	if !ok || len(o.Body.Descriptors) != len(a.Launch.Descriptors) || len(a.Launch.Descriptors) != 8 {
		t.Fatalf("given %+v, seen %+v", a.Launch.Descriptors, o.Body.Descriptors)
	}
	for _, g := range a.Launch.Descriptors {
		if !slices.ContainsFunc(o.Body.Descriptors, func(d evidence.Descriptor) bool {
			return d.Number == g.Number && d.Inode == g.Inode && d.Device == g.Device && d.Access == g.Access
		}) {
			t.Errorf("%+v is not among %+v", g, o.Body.Descriptors)
		}
	}
}

func TestAMissingLauncherIsAFaultNotAVerdict(t *testing.T) {
	needRoot(t)
	c, _ := compiled(t)
	dir := filepath.Join(t.TempDir(), "attempt")
	err := Prepare(dir, meeting(), fake(t), Setup{Bin: "/nowhere", Library: c.Library["meet"]})
	if err = errors.Join(err, Start(context.Background(), "/proc/self/exe", dir)); err != nil {
		t.Fatal(err)
	}
	a, err := evidence.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if f := a.Faults(); len(f) != 1 || f[0].Operation != "start" || !strings.Contains(f[0].Cause, "no such file") {
		t.Errorf("faults %+v", f)
	}
}

func TestACancelledAttemptLeavesNoRecordAndNoProcess(t *testing.T) {
	needRoot(t)
	c, bin := compiled(t)
	dir := filepath.Join(t.TempDir(), "attempt")
	if err := Prepare(dir, meeting(), fake(t, "hang"), Setup{Bin: bin, Library: c.Library["meet"]}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if err := Start(ctx, "/proc/self/exe", dir); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the end of the context", err)
	}
	if a, err := evidence.Load(dir); err == nil {
		t.Errorf("a whole record was loaded: %+v", a.Events)
	}
}

func TestRunOutsideItsNamespacesIsRefused(t *testing.T) {
	if err := Run(t.TempDir()); err == nil || !strings.Contains(err.Error(), "not started by the runner") {
		t.Errorf("got %v", err)
	}
}
