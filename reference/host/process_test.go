package host

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// real is the command of the real S around a strategy.
func real(t testing.TB, library string, more ...string) []string {
	bin := requireRoot(t)
	return append([]string{bin + "/refsup", "run_json", "--report-channel", "supervised/v1", "--terminal-status-fd", "{terminal_fd}",
		"--so", bin + "/" + library, "--ohlcv", bin + "/chart.csv"}, more...)
}

func TestRealSuccess(t *testing.T) {
	for name, l := range map[string]launch{
		"unjailed":   {command: real(t, "plain.so")},
		"jailed":     {command: real(t, "plain.so", "--profile", "jailed"), flags: []string{"--arena-bytes", "65536"}},
		"by grants":  {command: real(t, "plain.so"), flags: []string{"--grant-report-bytes=8000", "--grant-wall-ms", "20000"}},
		"by request": {command: real(t, "plain.so", "--report-max-bytes", "9000", "--channel-wall-ms=0", "--diagnostic-max-bytes", "100")},
	} {
		t.Run(name, func(t *testing.T) {
			l.flags = append(l.flags, "--diagnostics")
			folder := t.TempDir()
			l.folder, l.flags = folder, append(l.flags, folder+"/notes")
			r := l.run(t)
			r.wants(t, ExitAccepted, "accepted")
			report, err := os.ReadFile(folder + "/report.json")
			if err != nil || int64(len(report)) != r.disposition.Channels.Report.Bytes || digestOf(string(report)) != r.disposition.Channels.Report.SHA256 {
				t.Errorf("report of %d bytes, %v", len(report), err)
			}
			if r.disposition.Record["complete"] != true || r.disposition.Record["attempt_id"] != r.disposition.AttemptID {
				t.Errorf("record %.200v", r.disposition.Record)
			}
			if r.stderr != "" {
				t.Errorf("said %q", r.stderr)
			}
		})
	}
}

// TestRealFailures: S's own verified failure is the disposition, word for word.
func TestRealFailures(t *testing.T) {
	for name, c := range map[string]struct {
		l     launch
		cause string
	}{
		"usage": {launch{command: real(t, "plain.so", "--nope", "1")}, `rejected run_request_invalid{"option":"arguments"} supervisor`},
		"above the grant": {launch{command: real(t, "plain.so", "--report-max-bytes", "67108865")},
			`rejected run_request_invalid{"option":"arguments"} supervisor`},
		"policy": {launch{command: real(t, "plain.so"), flags: []string{"--spool-bytes", "10"}},
			`rejected run_isolation_unavailable{"reason":"policy"} supervisor`},
		"budget": {launch{command: real(t, "plain.so"), flags: []string{"--grant-report-bytes", "100"}},
			`rejected report_budget_exceeded{"cap_bytes":100,"channel":"json","requested_bytes":1,"used_bytes":100} supervisor`},
		"deadline": {launch{command: real(t, "hang.so", "--inputs", "{}", "--channel-wall-ms", "400")},
			`rejected run_deadline_exceeded{"stage":"run"} supervisor`},
	} {
		t.Run(name, func(t *testing.T) {
			r := c.l.run(t)
			r.wants(t, ExitRejected, c.cause)
			if r.disposition.Record["complete"] != false || strings.Count(r.stderr, "\n") != 1 {
				t.Errorf("record %.100v, said %q", r.disposition.Record, r.stderr)
			}
		})
	}
}

// TestCancellation: the caller's signal reaches S, and its record is awaited (T28.01).
func TestCancellation(t *testing.T) {
	for _, signal := range []os.Signal{unix.SIGTERM, unix.SIGINT} {
		folder := t.TempDir()
		l := launch{command: real(t, "hang.so"), folder: folder, flags: []string{"--diagnostics", folder + "/notes"}}
		l.after = func(host *os.Process, folder string) {
			awaitNotes(t, folder)
			if err := host.Signal(signal); err != nil {
				t.Error(err)
			}
		}
		r := l.run(t)
		r.wants(t, ExitRejected, `rejected run_aborted{} supervisor`)
		if !r.disposition.Cancelled || r.elapsed > 5*time.Second {
			t.Errorf("cancelled %t after %s", r.disposition.Cancelled, r.elapsed)
		}
	}
}

// given writes what the fake S is to send.
func given(t testing.TB, folder, name, content string) string {
	t.Helper()
	path := folder + "/given-" + name
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// honest is a fake S that delivers a sample as S would.
type honest struct {
	folder                string
	report, notes, packet string // files
	sample                sample
}

func newHonest(t testing.TB) honest {
	t.Helper()
	s := newSample(t, "{\"engine\":\"e\"}\n", "notes", "")
	put(s.record, "attempt_id", strings.Repeat("@", 32))
	folder := t.TempDir()
	return honest{folder, given(t, folder, "report", s.report), given(t, folder, "notes", s.diagnostic),
		given(t, folder, "packet", string(s.packet(t))), s}
}

func (h honest) words(after ...string) []string {
	return append([]string{"send=1:" + h.report, "send=2:" + h.notes, "close=1", "close=2"}, after...)
}

// altered writes the packet with one member changed.
func (h honest) altered(t testing.TB, path string, value any) string {
	t.Helper()
	put(h.sample.record, path, value)
	return "packet=" + given(t, h.folder, "altered", string(h.sample.packet(t)))
}

// TestFakeSupervisor: what no honest S sends is never accepted, and the local
// cause says what kind of thing it was (T19, T24, T27, T29.07).
func TestFakeSupervisor(t *testing.T) {
	for name, c := range map[string]struct {
		words func(h honest) []string
		exit  int
		cause string
		flags []string
	}{
		"honest":            {words: func(h honest) []string { return h.words("packet=" + h.packet) }, cause: "accepted"},
		"nothing":           {func(honest) []string { return []string{"exit=0"} }, 1, byIO, nil},
		"no packet":         {func(h honest) []string { return h.words() }, 1, byIO, nil},
		"no packet, exit 1": {func(h honest) []string { return h.words("exit=1") }, 1, byIO, nil},
		"terminal closed":   {func(h honest) []string { return h.words("close=3") }, 1, byIO, nil},
		"two packets":       {func(h honest) []string { return h.words("packet="+h.packet, "packet="+h.packet) }, 1, byProtocol, nil},
		"record and empty":  {func(h honest) []string { return h.words("packet="+h.packet, "empty") }, 1, byProtocol, nil},
		"empty packet":      {func(h honest) []string { return h.words("empty") }, 1, byProtocol, nil},
		"empty and record":  {func(h honest) []string { return h.words("empty", "packet="+h.packet) }, 1, byProtocol, nil},
		"too large": {func(h honest) []string {
			return h.words("packet=" + given(t, h.folder, "large", strings.Repeat("x", terminalBytes+1)))
		}, 1, byProtocol, nil},
		"cut short": {func(h honest) []string {
			return h.words("packet=" + given(t, h.folder, "short", string(h.sample.packet(t)[:9000])))
		}, 1, byProtocol, nil},
		"bytes after": {func(h honest) []string {
			return h.words("packet=" + given(t, h.folder, "more", string(h.sample.packet(t))+" "))
		}, 1, byProtocol, nil},
		"replayed":          {func(h honest) []string { return h.words(h.altered(t, "attempt_id", sampleID)) }, 1, byProtocol, nil},
		"digest":            {func(h honest) []string { return h.words(h.altered(t, "channels.report.sha256", digestOf("x"))) }, 1, byProtocol, nil},
		"count":             {func(h honest) []string { return h.words(h.altered(t, "channels.diagnostic.written_bytes", 4)) }, 1, byProtocol, nil},
		"further member":    {func(h honest) []string { return h.words(h.altered(t, "further", 1)) }, 1, byProtocol, nil},
		"report altered":    {func(h honest) []string { return append([]string{"fill=1:15", "send=2:" + h.notes}, "packet="+h.packet) }, 1, byProtocol, nil},
		"report longer":     {func(h honest) []string { return append([]string{"fill=1:1"}, h.words("packet="+h.packet)...) }, 1, byProtocol, nil},
		"exit disagrees":    {func(h honest) []string { return h.words("packet="+h.packet, "exit=1") }, 1, byProtocol, nil},
		"killed after":      {func(h honest) []string { return h.words("packet="+h.packet, "kill=9") }, 1, byProtocol, nil},
		"killed before":     {func(h honest) []string { return h.words("kill=9") }, 1, byIO, nil},
		"killed at once":    {func(honest) []string { return []string{"kill=9"} }, 1, byIO, nil},
		"killed mid-report": {func(honest) []string { return []string{"fill=1:100000", "kill=9"} }, 1, byIO, nil},
		"stopped":           {func(honest) []string { return []string{"fill=1:3", "stop"} }, 1, byDeadline, []string{"--grant-wall-ms=200", "--grant-stall-ms=100"}},
		"stopped after":     {func(h honest) []string { return h.words("packet="+h.packet, "stop") }, 1, byDeadline, []string{"--grant-wall-ms=200", "--grant-stall-ms=100"}},
		"orphan":            {func(h honest) []string { return h.words("orphan", "packet="+h.packet) }, 1, byProtocol, nil},
		"stray":             {func(h honest) []string { return h.words("stray", "packet="+h.packet) }, 1, byProtocol, nil},
		"orphan, killed":    {func(honest) []string { return []string{"orphan", "kill=9"} }, 1, byIO, nil},
		"report over":       {func(honest) []string { return []string{"fill=1:1000", "stop"} }, 1, byProtocol, []string{"--grant-report-bytes=999"}},
		"diagnostics over":  {func(honest) []string { return []string{"fill=2:1000000", "stop"} }, 1, byProtocol, []string{"--grant-diagnostic-bytes=10"}},
		"report at the cap": {func(honest) []string { return []string{"fill=1:999"} }, 1, byIO, []string{"--grant-report-bytes=999"}},
		"slow":              {func(h honest) []string { return append([]string{"trickle=2:100"}, "exit=3") }, 1, byIO, nil},
		"wrong limits":      {func(h honest) []string { return h.words("packet=" + h.packet) }, 1, byProtocol, []string{"--grant-wall-ms=5000"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHonest(t)
			r := launch{fake: c.words(h), flags: c.flags, folder: h.folder}.run(t)
			r.wants(t, c.exit, c.cause)
			if (r.disposition.Record != nil) != (c.cause == "accepted") {
				t.Errorf("a record that was not verified: %.100v", r.disposition.Record)
			}
		})
	}
}

// TestPrefixes: what had come is in the disposition, with S's own signal (T24.07).
func TestPrefixes(t *testing.T) {
	r := launch{fake: []string{"fill=1:70000", "fill=2:5", "kill=9"}}.run(t)
	r.wants(t, ExitRejected, byIO)
	d := r.disposition
	if d.Supervisor.Signal == nil || *d.Supervisor.Signal != 9 || d.Supervisor.Exit != nil {
		t.Errorf("supervisor %+v", d.Supervisor)
	}
	if d.Channels.Report.Bytes != 70000 || d.Channels.Report.SHA256 != digestOf(strings.Repeat("x", 70000)) ||
		d.Channels.Diagnostic.Bytes != 5 || !d.Channels.Report.Ended || d.Reaped.Files != 1 {
		t.Errorf("channels %+v, reaped %+v", d.Channels, d.Reaped)
	}
}

// TestWatch: the host waits for W+G+P from the spawn, no less and not much
// more, and for what was asked rather than what was granted (T28.05, T28.06).
func TestWatch(t *testing.T) {
	const slack = 1500 * time.Millisecond
	for name, c := range map[string]struct {
		flags []string
		want  time.Duration
	}{
		"granted":        {[]string{"--grant-wall-ms=300", "--grant-stall-ms=200"}, 1500 * time.Millisecond},
		"defaults bound": {[]string{"--grant-wall-ms=100", "--grant-stall-ms=9999999"}, 6100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := launch{fake: []string{"stop"}, flags: c.flags}.run(t)
			r.wants(t, ExitRejected, byDeadline)
			if r.elapsed < c.want || r.elapsed > c.want+slack {
				t.Errorf("after %s, want %s", r.elapsed, c.want)
			}
		})
	}
}

// TestStoppedCancellation: an S that does not answer a request to stop is not
// waited for until W.
func TestStoppedCancellation(t *testing.T) {
	folder := t.TempDir()
	r := launch{fake: []string{"number=" + folder + "/given-pid", "stop"}, folder: folder, flags: []string{"--grant-stall-ms=100"},
		after: func(host *os.Process, folder string) {
			awaitFile(t, folder+"/given-pid")
			if err := host.Signal(unix.SIGTERM); err != nil {
				t.Error(err)
			}
		}}.run(t)
	r.wants(t, ExitRejected, byDeadline)
	if !r.disposition.Cancelled || r.elapsed > 5*time.Second {
		t.Errorf("cancelled %t after %s", r.disposition.Cancelled, r.elapsed)
	}
}

// TestLateSuccess: a request to stop decides nothing by itself.
func TestLateSuccess(t *testing.T) {
	h := newHonest(t)
	r := launch{fake: append([]string{"number=" + h.folder + "/given-pid", "await"}, h.words("packet="+h.packet)...), folder: h.folder,
		after: func(host *os.Process, folder string) {
			pid, err := strconv.Atoi(awaitFile(t, folder+"/given-pid"))
			if err == nil {
				err = host.Signal(unix.SIGTERM)
			}
			if err != nil {
				t.Errorf("process %d: %v", pid, err)
			}
		}}.run(t)
	r.wants(t, ExitAccepted, "accepted")
}

// TestHostKilled: after a SIGKILL of the host, reap cleans up from the manifest
// alone: S is gone, its files are removed, and the disposition is uncertain.
func TestHostKilled(t *testing.T) {
	bin, folder := requireRoot(t), t.TempDir()
	command, _, _ := launch{fake: []string{"fill=1:70000", "number=" + folder + "/given-pid", "stop"}, folder: folder}.start(t)
	pid, err := strconv.Atoi(awaitFile(t, folder+"/given-pid"))
	if err != nil {
		t.Fatal(err)
	}
	manifest := folder + "/disposition.json.manifest"
	reap := func() int {
		reaper := exec.Command(bin+"/refhost", "reap", manifest)
		output, err := reaper.CombinedOutput()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		t.Logf("reap: %s", output)
		return reaper.ProcessState.ExitCode()
	}
	if exit := reap(); exit != ExitUsage {
		t.Errorf("reaped a running attempt: exit %d", exit)
	}
	s, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait() // killed
	if n, err := unix.Poll([]unix.PollFd{{Fd: int32(s), Events: unix.POLLIN}}, 10000); n != 1 || err != nil {
		t.Errorf("the stopped supervisor outlives its host: %d %v", n, err)
	}
	if exit := reap(); exit != 0 {
		t.Errorf("reap: exit %d", exit)
	}
	r := result{folder: folder}
	r.read(t)
	r.wants(t, 0, `uncertain report_channel_failed{"channel":"status","reason":"io"} host`)
	if n := r.disposition.Channels.Report.Bytes; n == 0 || n > 70000 || r.disposition.Reaped.Files != 1 {
		t.Errorf("report prefix of %d bytes, reaped %+v", n, r.disposition.Reaped)
	}
	if exit := reap(); exit != ExitUsage {
		t.Errorf("reaped twice: exit %d", exit)
	}
}

// TestUnwritable: an output that cannot be had is refused before anything
// starts; one that is lost on the way is no acceptance.
func TestUnwritable(t *testing.T) {
	h := newHonest(t)
	started := h.folder + "/given-pid"
	r := launch{fake: []string{"number=" + started}, folder: h.folder, report: h.folder + "/none/report.json"}.run(t)
	if _, err := os.Stat(started); r.exit != ExitUsage || r.content != nil || !errors.Is(err, os.ErrNotExist) ||
		!strings.Contains(r.stderr, "--report") {
		t.Errorf("exit %d, %q, started %v", r.exit, r.stderr, err)
	}
	r = launch{fake: append([]string{"number=" + started, "await"}, h.words("packet="+h.packet)...), folder: h.folder,
		after: func(host *os.Process, folder string) {
			awaitFile(t, started)
			given(t, folder, "other", "somebody else's")
			if err := os.Link(folder+"/given-other", folder+"/report.json"); err != nil {
				t.Error(err)
			}
			if err := host.Signal(unix.SIGTERM); err != nil {
				t.Error(err)
			}
		}}.run(t)
	r.wants(t, ExitRejected, `rejected report_channel_failed{"channel":"report","reason":"io"} host`)
}

// TestBadUse: one line, exit 64, nothing started and nothing made.
func TestBadUse(t *testing.T) {
	bin, folder := requireRoot(t), t.TempDir()
	good := launch{fake: []string{}}.arguments(bin, folder)
	if err := os.Mkdir(folder+"/spool", 0o700); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"nothing":          {nil, "command"},
		"no command":       {good[:8], "command"},
		"unknown flag":     {append([]string{"--nope", "1"}, good...), "--nope"},
		"twice":            {append([]string{"--report", "/x"}, good...), "--report"},
		"no report":        {good[2:], "--report"},
		"no value":         {[]string{"--report"}, "--report"},
		"zero grant":       {append([]string{"--grant-wall-ms", "0"}, good...), "--grant-wall-ms"},
		"signed grant":     {append([]string{"--grant-wall-ms", "+1"}, good...), "--grant-wall-ms"},
		"huge grant":       {append([]string{"--grant-report-bytes", "9007199254740992"}, good...), "--grant-report-bytes"},
		"empty name":       {append([]string{"--sink="}, good...), "--sink"},
		"facade":           {append([]string{"--invocation", "shell"}, good...), "--invocation"},
		"no spool":         {append([]string{"--report", folder + "/r", "--disposition", folder + "/d", "--pairing", bin + "/pairing.json", "--spool", folder + "/none"}, good[8:]...), "--spool"},
		"same name":        {append([]string{"--diagnostics", folder + "/report.json"}, good...), "--diagnostics"},
		"taken":            {append([]string{"--diagnostics", bin + "/chart.csv"}, good...), "--diagnostics"},
		"sink unused":      {append([]string{"--sink", folder + "/sink"}, good...), "--sink"},
		"both sinks":       {append([]string{"--sink", folder + "/sink", "--named-sink", folder + "/other"}, good...), "--named-sink"},
		"no sink":          {append(good[:len(good):len(good)], "{sink_fd}"), "{sink_fd}"},
		"placeholder":      {append(good[:len(good):len(good)], "{nope"), "{nope"},
		"program":          {append(good[:9:9], "/no/such/program"), "/no/such/program"},
		"reap nothing":     {[]string{"reap"}, "manifest"},
		"reap no manifest": {[]string{"reap", bin + "/chart.csv"}, "chart.csv"},
	} {
		output, err := exec.Command(bin+"/refhost", c.args...).CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != ExitUsage || strings.Count(string(output), "\n") != 1 || !strings.Contains(string(output), c.says) {
			t.Errorf("%s: %v, %q", name, err, output)
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1 {
		t.Errorf("made: %v %v", entries, err)
	}
}

// TestRepeated: many at once, half of them refused, every one decided and clean.
// The number of rounds is small here; TOUCHSTONE_ROUNDS sets another.
func TestRepeated(t *testing.T) {
	rounds := 3
	if n, err := strconv.Atoi(os.Getenv("TOUCHSTONE_ROUNDS")); err == nil {
		rounds = n
	}
	for worker := range 4 {
		t.Run(fmt.Sprint(worker), func(t *testing.T) {
			t.Parallel()
			for range rounds {
				launch{command: real(t, "plain.so")}.run(t).wants(t, ExitAccepted, "accepted")
				launch{command: real(t, "plain.so"), flags: []string{"--grant-report-bytes", "100"}}.run(t).wants(t, ExitRejected,
					`rejected report_budget_exceeded{"cap_bytes":100,"channel":"json","requested_bytes":1,"used_bytes":100} supervisor`)
			}
		})
	}
}
