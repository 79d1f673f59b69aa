package driver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

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
	if read := exit.Body.ReadBytes; read < 100 || read > 1<<20 {
		t.Errorf("read %d bytes: the fake launcher reads its libraries' heads and little more", read)
	}
	if peak := exit.Body.PeakRSSBytes; peak < 100<<10 || peak > 8<<20 || exit.Body.MaxRSSBytes < peak {
		t.Errorf("resident %d bytes of %d: the fake launcher is small", peak, exit.Body.MaxRSSBytes)
	}
}

// TestALauncherIsNotToldWhichTestItIsIn: a launcher that knew could behave for
// one test only.
func TestALauncherIsNotToldWhichTestItIsIn(t *testing.T) {
	s := meeting()
	s.Test, s.Script, s.Fixture.PayloadFile = "T23", "T23-marigold", "payload.bin"
	var steps []string
	for _, name := range []string{"cmdline", "environ", "mountinfo", "cgroup", "maps"} {
		steps = append(steps, "show=/proc/self/"+name)
	}
	a := attempted(t, s, fake(t, append(steps, "show=/proc/1/cmdline", "show=/proc/mounts", "exit=0")...))
	wantExit(t, a, 0, 0)
	told := slices.Concat(a.Launch.Argv, a.Launch.Environment, []string{a.Launch.Document, a.Launch.Pairing, a.Launch.Library, string(a.DiagnosticBytes())})
	for _, text := range told {
		for _, word := range []string{"T23", "marigold", "meet"} {
			if strings.Contains(text, word) {
				t.Errorf("%q holds %q", text, word)
			}
		}
	}
	if !strings.Contains(string(a.DiagnosticBytes()), filepath.Dir(a.Launch.Library)+"/spool") {
		t.Error("nothing was shown")
	}
}

// TestTheProducersOwnEndIsSeen: by the kernel, whatever its parent says of it.
func TestTheProducersOwnEndIsSeen(t *testing.T) {
	var name unix.Utsname
	major, minor := 0, 0
	if err := unix.Uname(&name); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(unix.ByteSliceToString(name.Release[:]), "%d.%d", &major, &minor); err != nil || major*100+minor < 615 {
		t.Skipf("not run: needs a kernel with PIDFD_INFO_EXIT, 6.15 (%v)", err)
	}
	s := meeting()
	for _, kill := range []bool{false, true} {
		s.Controls = nil
		if kill {
			s.Controls = []scenario.Rule{rendezvous(1, scenario.DoKill, scenario.Producer)}
		}
		ends := evidence.All[evidence.ProducerExit](attempted(t, s, fake(t, "producer", "exit=0")))
		if len(ends) != 1 || (kill && (ends[0].Body.Signal == nil || *ends[0].Body.Signal != 9)) ||
			(!kill && (ends[0].Body.Status == nil || *ends[0].Body.Status != 0)) {
			t.Errorf("killed %t: got %+v", kill, ends)
		}
	}
}

func TestAPacketBeforeTheDataEndsIsSeenAsSuch(t *testing.T) {
	s := meeting() // the report stays open until the packet has been seen
	s.Controls = []scenario.Rule{{Trigger: scenario.Trigger{Kind: scenario.AtPacket}, Action: scenario.Action{Kind: scenario.DoCancel}}}
	a := attempted(t, s, fake(t, "report=x", "close=diagnostic", "packet=m", "hang"))
	wantExit(t, a, 0, 15)
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
	a := attempted(t, meeting(), fake(t, "orphan", "mount=/mnt", "group", "file=/dev/shm/left", "segment",
		"file=/tmp/left", "file=/var/tmp/left", "file=/run/left", "queue=/left", "exit=0"))
	if got, want := leftovers(a), []string{"cgroup", "file", "file", "file", "file", "file", "ipc", "mount", "process"}; !slices.Equal(got, want) {
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
	if err := Run(); err == nil || !strings.Contains(err.Error(), "not started by the runner") {
		t.Errorf("got %v", err)
	}
}

func TestEveryKindOfEndpointIsMade(t *testing.T) {
	for _, e := range []scenario.Endpoints{
		{Report: scenario.File, Terminal: scenario.Datagram}, {Report: scenario.Reading, Diagnostic: scenario.Stream},
		{Report: scenario.Closed, Diagnostic: scenario.Datagram, Terminal: scenario.Closed}, {Report: scenario.Shut, Terminal: scenario.Shut},
		{Diagnostic: "same:report", Terminal: scenario.TCP}, {Diagnostic: "reopened:report", Terminal: scenario.Listening},
		{Report: scenario.Stream, Diagnostic: "peer:report", Terminal: scenario.Unconnected}, {Terminal: "same:diagnostic", Sink: scenario.Pipe, Phase: "same:sink"},
		{Report: scenario.Seqpacket, Diagnostic: scenario.Device, Terminal: scenario.Pipe},
	} {
		s := meeting()
		s.Endpoints = e
		s.Endpoints.Numbers = map[string]int{"terminal": 900}
		a := attempted(t, s, fake(t, "sleep-ms=1", "exit=0"))
		for _, d := range a.Launch.Descriptors {
			if kind := e.Kind(d.Name); d.Name != "stdin" && d.Name != "launch" && !strings.Contains(kind, ":") && d.Kind != kind {
				t.Errorf("%+v: given %+v", e, d)
			}
			if d.Name == "terminal" && d.Number != 900 {
				t.Errorf("%+v: the terminal is at %d", e, d.Number)
			}
		}
	}
}

func TestBytesOfUnusualEndpointsAreRecorded(t *testing.T) {
	s := meeting()
	s.Endpoints = scenario.Endpoints{Report: scenario.File, Diagnostic: scenario.Datagram, Terminal: scenario.Stream}
	a := attempted(t, s, fake(t, "report=r", "diagnostic=d", "packet=p", "exit=0"))
	got := string(a.ReportBytes()) + string(a.DiagnosticBytes()) + string(a.File(evidence.ChannelFile("terminal")))
	if got != "rdp" || len(a.Packets()) > 0 {
		t.Errorf("recorded %q, %d packets", got, len(a.Packets()))
	}
}

func TestAliasesAreOneChannel(t *testing.T) {
	for _, relation := range []string{"same:report", "reopened:report"} {
		s := meeting()
		s.Endpoints.Diagnostic = relation
		a := attempted(t, s, fake(t, "report=r", "diagnostic=d", "exit=0"))
		if string(a.ReportBytes()) != "rd" || len(a.DiagnosticBytes()) > 0 {
			t.Errorf("%s: report %q, diagnostic %q", relation, a.ReportBytes(), a.DiagnosticBytes())
		}
	}
	s := meeting()
	s.Endpoints = scenario.Endpoints{Report: scenario.Stream, Diagnostic: "peer:report"}
	if a := attempted(t, s, fake(t, "report=r", "exit=0")); len(a.ReportBytes()) > 0 || a.Launch.Descriptors[1].Inode == a.Launch.Descriptors[3].Inode {
		t.Errorf("report %q, given %+v", a.ReportBytes(), a.Launch.Descriptors)
	}
}

// TestDevicesAreTheMachines: no launcher takes them away from everybody else.
func TestDevicesAreTheMachines(t *testing.T) {
	if err := os.WriteFile("/dev/touchstone-test", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	defer os.Remove("/dev/touchstone-test")
	if a := attempted(t, meeting(), fake(t, "remove=/dev/touchstone-test", "exit=0")); string(a.DiagnosticBytes()) != "remove EROFS" {
		t.Errorf("%q", a.DiagnosticBytes())
	}
	if _, err := os.Stat("/dev/touchstone-test"); err != nil {
		t.Error(err)
	}
}

func TestALauncherIsStartedWithoutWhatIsSaid(t *testing.T) {
	for what, wanted := range map[string]string{
		"":               "namespace ok, filter ok, privilege ok, descriptor ok",
		"namespaces":     "namespace EPERM, filter ok, privilege ok, descriptor ok",
		"filters":        "namespace ok, filter ENOSYS, privilege ok, descriptor ok",
		"privilege":      "namespace EPERM, filter ok, privilege EPERM, descriptor ok",
		"descriptors=99": "namespace ok, filter ok, privilege ok, descriptor EINVAL",
	} {
		s := meeting()
		s.Deprived = what
		if a := attempted(t, s, fake(t, "try", "exit=0")); string(a.DiagnosticBytes()) != wanted {
			t.Errorf("%s: %q", what, a.DiagnosticBytes())
		}
	}
}
