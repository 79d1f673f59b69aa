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

// TestRealSinks: whichever way a sink goes, what the host accepts is what it counted.
func TestRealSinks(t *testing.T) {
	for name, c := range map[string]struct {
		flag, option, value string
	}{
		"internal": {}, "stream": {"--sink", "--report-sink-fd", "{sink_fd}"}, "named": {"--named-sink", "--report-sink", "{named_sink}"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			l := launch{folder: folder, command: real(t, "sink.so")}
			if c.flag != "" {
				l.command, l.flags = append(l.command, c.option, c.value), []string{c.flag, folder + "/sink"}
			}
			r := l.run(t)
			r.wants(t, ExitAccepted, "accepted")
			sink, err := os.ReadFile(folder + "/sink")
			if c.flag == "" {
				if !errors.Is(err, os.ErrNotExist) || r.disposition.Channels.Sink != nil || r.disposition.Record["sink_verification"] == nil {
					t.Errorf("sink of %d bytes, %v, channel %+v", len(sink), err, r.disposition.Channels.Sink)
				}
				return
			}
			if err != nil || len(sink) == 0 || digestOf(string(sink)) != r.disposition.Channels.Sink.SHA256 {
				t.Errorf("sink of %d bytes, %v, channel %+v", len(sink), err, r.disposition.Channels.Sink)
			}
			l = launch{command: l.command, flags: append(l.flags, "--planned-sink-bytes", fmt.Sprint(len(sink)-1)), folder: t.TempDir()}
			l.flags[1] = l.folder + "/sink"
			r = l.run(t)
			r.wants(t, ExitRejected, fmt.Sprintf(`rejected report_sink_failed{"cap_bytes":%d,"reason":"sink_exhausted","sink_bytes":%d} supervisor`,
				len(sink)-1, len(sink)))
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
		"deadline": {launch{command: real(t, "hang.so", "--inputs", "{}", "--channel-wall-ms", "4000")},
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
		if !r.disposition.Cancelled || r.wall() > 10*time.Second { // far below W
			t.Errorf("cancelled %t after %s", r.disposition.Cancelled, r.wall())
		}
	}
}

// TestPrefixes: what had come is in the disposition, with S's own signal (T24.07).
func TestPrefixes(t *testing.T) {
	// More than a pipe holds, turn and turn about: no channel is read after another (T1.81).
	r := launch{fake: []string{"fill=1:70000", "fill=2:200000", "fill=1:100000", "fill=2:5", "kill=9"}}.run(t)
	r.wants(t, ExitRejected, byIO)
	d := r.disposition
	if d.Supervisor.Signal == nil || *d.Supervisor.Signal != 9 || d.Supervisor.Exit != nil {
		t.Errorf("supervisor %+v", d.Supervisor)
	}
	if d.Channels.Report.Bytes != 170000 || d.Channels.Report.SHA256 != digestOf(strings.Repeat("x", 170000)) ||
		d.Channels.Diagnostic.Bytes != 200005 || !d.Channels.Report.Ended || d.Reaped.Files != 1 {
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
			if r.elapsed < c.want || r.wall() < c.want || r.wall() > c.want+slack {
				t.Errorf("after %s, want %s", r.wall(), c.want)
			}
		})
	}
}

// TestStoppedCancellation: an S that does not answer a request to stop is not
// waited for until W.
func TestStoppedCancellation(t *testing.T) {
	folder, begin, asked := t.TempDir(), time.Now(), time.Duration(0)
	r := launch{fake: []string{"number=" + folder + "/given-pid", "stop"}, folder: folder, flags: []string{"--grant-stall-ms=100"},
		after: func(host *os.Process, folder string) {
			awaitFile(t, folder+"/given-pid")
			asked = time.Since(begin)
			if err := host.Signal(unix.SIGTERM); err != nil {
				t.Error(err)
			}
		}}.run(t)
	r.wants(t, ExitRejected, byDeadline)
	if most := asked + 1200*time.Millisecond + 1500*time.Millisecond; !r.disposition.Cancelled || r.wall() > most { // 2P+G, slack
		t.Errorf("cancelled %t after %s, want at most %s", r.disposition.Cancelled, r.wall(), most)
	}
}

// TestLateSuccess: a request to stop decides nothing by itself.
func TestLateSuccess(t *testing.T) {
	h := newHonest(t, "")
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

// TestUnwritable: an output that cannot be had is refused before anything
// starts; one that is lost on the way is no acceptance.
func TestUnwritable(t *testing.T) {
	h := newHonest(t, "")
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
	if content, err := os.ReadFile(h.folder + "/report.json"); err != nil || string(content) != "somebody else's" {
		t.Errorf("somebody else's file: %q, %v", content, err)
	}
	if err := os.Remove(h.folder + "/report.json"); err != nil {
		t.Fatal(err)
	}
	r.wants(t, ExitRejected, `rejected report_channel_failed{"channel":"report","reason":"io"} host`)
}

// TestCannotStart: a command that the kernel refuses is an attempt like any other.
func TestCannotStart(t *testing.T) {
	folder := t.TempDir()
	program := given(t, folder, "program", "no program at all")
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	r := launch{command: []string{program}, folder: folder}.run(t)
	r.wants(t, ExitRejected, byIO)
	if d := r.disposition; d.Supervisor.Exit != nil || d.Supervisor.Signal != nil || !strings.Contains(strings.Join(d.Findings, " "), program) {
		t.Errorf("supervisor %+v, findings %q", d.Supervisor, d.Findings)
	}
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
