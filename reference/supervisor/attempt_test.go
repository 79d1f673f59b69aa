package supervisor_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func ordinary(uid uint32) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
}

func TestSuccess(t *testing.T) {
	for _, jailed := range []bool{false, true} {
		t.Run(fmt.Sprintf("jailed=%t", jailed), func(t *testing.T) {
			r := launch{actor: "out=3 report=100000 close err=4", jailed: jailed}.run(t)
			r.wants(t, 0, "")
			if string(r.diagnostics) != "xxxxxxx" || len(r.report) != 100000 || r.record.AttemptID != attemptID {
				t.Errorf("got %d report bytes, diagnostics %q, attempt %s", len(r.report), r.diagnostics, r.record.AttemptID)
			}
			if r.record.Charged != 100000 || !r.record.Channels["diagnostic"].Complete {
				t.Errorf("charged %d, diagnostic %+v", r.record.Charged, r.record.Channels["diagnostic"])
			}
		})
	}
}

// TestCauses: what the producer does, and the one cause that follows.
func TestCauses(t *testing.T) {
	const protocol = `report_channel_failed{"channel":"candidate","reason":"protocol"}`
	for _, c := range []struct {
		name, actor string
		args        []string
		exit        int
		cause       string
	}{
		{"D exact", "err=4096 report=9000", []string{"--diagnostic-max-bytes", "4096"}, 0, ""},
		{"D and one", "err=4097 report=9000", []string{"--diagnostic-max-bytes", "4096"}, 1,
			`diagnostic_budget_exceeded{"cap_bytes":4096,"requested_bytes":1,"used_bytes":4096}`},
		{"D flood", "stubborn err=4000000000", []string{"--diagnostic-max-bytes", "1000"}, 1,
			`diagnostic_budget_exceeded{"cap_bytes":1000,"requested_bytes":1,"used_bytes":1000}`},
		{"R exact", "report=9000", []string{"--report-max-bytes", "9000"}, 0, ""},
		{"R less one", "report=9000", []string{"--report-max-bytes", "8999"}, 1,
			`report_budget_exceeded{"cap_bytes":8999,"channel":"json","requested_bytes":1,"used_bytes":8999}`},
		{"failure over R", "claim=3000 status=1", []string{"--report-max-bytes", "1000"}, 1,
			`report_budget_exceeded{"cap_bytes":1000,"channel":"json","requested_bytes":1,"used_bytes":1000}`},
		{"empty", "close", nil, 1, protocol},
		{"prefix", `text={"engine":`, nil, 1, protocol},
		{"no LF", `text={"engine":"pineforge"}`, nil, 1, protocol},
		{"second LF", "report=900 lf", nil, 1, protocol},
		{"two values", "report=900 report=900", nil, 1, protocol},
		{"wrong shape", `text={"engine":"pineforge","capabilities":{}} lf`, nil, 1, protocol},
		{"unknown code", `text={"engine":"p","error":"e","code":"no_such_code","args":{}} lf status=1`, nil, 1, protocol},
		{"wrong args", `text={"engine":"p","error":"e","code":"run_aborted","args":{"a":1}} lf status=1`, nil, 1, protocol},
		{"malformed and exit", `text={"a":01} lf status=3`, nil, 1, protocol},
		{"exit 7", "out=3 status=7", nil, 1, `run_producer_failed{"exit_status":7,"reason":"exit"}`},
		{"exit after report", "report=900 status=3", nil, 1, `run_producer_failed{"exit_status":3,"reason":"exit"}`},
		{"signal", "report=900 signal=11", nil, 1, `run_producer_failed{"reason":"signal","signal":11}`},
		{"fragment and signal", `text={"engine" signal=9`, nil, 1, `run_producer_failed{"reason":"signal","signal":9}`},
		{"claim", "claim=1 status=1", nil, 1, `run_producer_failed{"reason":"claim"}`},
		{"claim and exit 0", "claim=1", nil, 1, `run_producer_failed{"reason":"claim"}`},
		{"claim and signal", "claim=1 signal=15", nil, 1, `run_producer_failed{"reason":"claim"}`},
		{"legacy claim", "legacy status=1", nil, 1, `run_producer_failed{"reason":"claim"}`},
		{"fork", fmt.Sprintf("report=900 call=%d", unix.SYS_FORK), nil, 1, `run_process_refused{"operation":"fork"}`},
		{"vfork", fmt.Sprintf("report=900 call=%d", unix.SYS_VFORK), nil, 1, `run_process_refused{"operation":"vfork"}`},
		{"clone", fmt.Sprintf("report=900 call=%d", unix.SYS_CLONE), nil, 1, `run_process_refused{"operation":"clone"}`},
		{"clone3", fmt.Sprintf("report=900 call=%d", unix.SYS_CLONE3), nil, 1, `run_process_refused{"operation":"clone3"}`},
		{"W", "stubborn spin", []string{"--channel-wall-ms", "2000"}, 1, `run_deadline_exceeded{"stage":"run"}`},
		{"W, stopped", "signal=19", []string{"--channel-wall-ms", "2000"}, 1, `run_deadline_exceeded{"stage":"run"}`},
		{"full and closed", "report=900 close spin", []string{"--channel-wall-ms", "2000"}, 1, `run_deadline_exceeded{"stage":"run"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := launch{actor: c.actor, args: c.args}.run(t)
			r.wants(t, c.exit, c.cause)
			if c.exit == 0 {
				return
			}
			if len(r.report) > 0 && (!bytes.Contains(r.report, []byte(`"error":`)) || bytes.Count(r.report, []byte("\n")) != 1) {
				t.Errorf("report is no failure document: %.200q", r.report)
			}
			if strings.HasPrefix(c.cause, "run_deadline") && len(r.report) > 0 {
				t.Errorf("%d report bytes after the lifetime", len(r.report))
			}
		})
	}
}

// TestClaims: what is kept of a producer's own failure (T25.18 to T25.20, T10.03).
func TestClaims(t *testing.T) {
	frame := len(`{"field":"","reason":"nonfinite"}`)
	for size, omitted := range map[int]bool{8192: false, 8193: true} {
		r := launch{actor: fmt.Sprintf("claim=%d status=1", size-frame)}.run(t)
		r.wants(t, 1, `run_producer_failed{"reason":"claim"}`)
		claim := r.record.Producer.Failure
		if r.record.Producer.Omitted != omitted || (claim == nil) != omitted {
			t.Errorf("args of %d bytes: omitted %t, claim %v", size, r.record.Producer.Omitted, claim)
		}
		if !bytes.Contains(r.report, []byte("report_result_invalid")) {
			t.Errorf("the producer's document was not relayed: %.100q", r.report)
		}
	}
}

// TestBudgetCounters: the probe is seen, and nothing more (T14.03, T11.09).
func TestBudgetCounters(t *testing.T) {
	r := launch{actor: "err=1000000", args: []string{"--diagnostic-max-bytes", "1000"}}.run(t)
	d := r.record.Channels["diagnostic"]
	if d.Observed != 1001 || d.Accepted != 1000 || !d.Truncated || d.Complete || d.Known {
		t.Errorf("diagnostic %+v", d)
	}
	r = launch{actor: "report=5000", args: []string{"--report-max-bytes", "4999"}}.run(t)
	c := r.record.Channels["candidate"]
	if c.Observed != 5000 || c.Accepted != 4999 || !c.Truncated || c.Complete || c.Known || c.Written != nil || len(r.report) != 0 {
		t.Errorf("candidate %+v, %d report bytes", c, len(r.report))
	}
}

// TestStalledReport: P, not W, and the bytes that the kernel took (T18.01, T18.05).
func TestStalledReport(t *testing.T) {
	r := launch{actor: "report=1000000", args: []string{"--channel-stall-ms", "400"}, stopReads: true}.run(t)
	r.wants(t, 1, `report_channel_failed{"channel":"report","reason":"deadline"}`)
	if r.elapsed < 400*time.Millisecond || r.elapsed > 2*time.Second {
		t.Errorf("took %s with P of 400 ms", r.elapsed)
	}
	if entry := r.record.Channels["report"]; entry.Complete || !entry.Truncated || len(r.report) == 0 {
		t.Errorf("report %+v, %d bytes", entry, len(r.report))
	}
}

// TestStalledDiagnostics: the same for the diagnostics, while the producer runs (T20.04).
func TestStalledDiagnostics(t *testing.T) {
	r := launch{actor: "err=1000000 report=900", args: []string{"--channel-stall-ms", "400"}, stopNotes: true}.run(t)
	r.wants(t, 1, `report_channel_failed{"channel":"diagnostic","reason":"deadline"}`)
	if entry := r.record.Channels["diagnostic"]; entry.Complete || !entry.Truncated || len(r.diagnostics) == 0 {
		t.Errorf("diagnostic %+v, %d bytes", entry, len(r.diagnostics))
	}
}

// TestClosedReport: a reader that has gone is told from one that waits (T19.05).
func TestClosedReport(t *testing.T) {
	r := launch{actor: "report=900", closeRead: true}.run(t)
	r.wants(t, 1, `report_channel_failed{"channel":"report","reason":"peer_closed"}`)
}

// TestLegacy: without negotiation S is the producer, byte for byte, and a knob
// of supervision is an error (T36.09, T2.17).
func TestLegacy(t *testing.T) {
	folder := requireRoot(t)
	supervised := launch{actor: "report=70000"}.run(t)
	legacy := func(more ...string) (string, int) {
		l := launch{actor: "report=70000"}
		command := exec.Command(folder+"/refsup", append(append([]string{"run_json"}, l.arguments(folder)[5:]...), more...)...)
		command.Env = []string{"TOUCHSTONE_PRODUCER=" + folder + "/actor", "TOUCHSTONE_CANDIDATE_FD=9"}
		output, err := command.Output()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return string(output), command.ProcessState.ExitCode()
	}
	if output, exit := legacy("--profile", "jailed"); exit != 0 || output != string(supervised.report) {
		t.Errorf("exit %d, %d bytes, supervised %d bytes", exit, len(output), len(supervised.report))
	}
	if output, exit := legacy("--channel-wall-ms", "9"); exit != 2 || !strings.Contains(output, "run_request_invalid") {
		t.Errorf("a knob: exit %d, %q", exit, output)
	}
}

// TestCancellation: the host's signal is the cause, whatever the producer does (T28.01).
func TestCancellation(t *testing.T) {
	for _, actor := range []string{"spin", "stubborn spin"} {
		r := launch{actor: "err=1 " + actor, atFirstNote: func(s *os.Process) {
			if err := s.Signal(unix.SIGTERM); err != nil {
				t.Error(err)
			}
		}}.run(t)
		r.wants(t, 1, "run_aborted{}")
		if r.record.ExitClass != "aborted" || r.elapsed > 3*time.Second {
			t.Errorf("class %s after %s", r.record.ExitClass, r.elapsed)
		}
	}
}

// TestFullTerminal: a record that cannot be sent is no success (T19.03).
func TestFullTerminal(t *testing.T) {
	r := launch{actor: "report=900", fillM: true, args: []string{"--channel-stall-ms", "300"}}.run(t)
	if r.exit == 0 || len(r.packets) != 0 || r.elapsed > 3*time.Second {
		t.Errorf("exit %d with %d packets after %s", r.exit, len(r.packets), r.elapsed)
	}
}

// TestRefusals: nothing starts, and the record says why where it can.
func TestRefusals(t *testing.T) {
	const usage = `run_request_invalid{"option":"arguments"}`
	const policy = `run_isolation_unavailable{"reason":"policy"}`
	grants := func(old, replacement string) string {
		return strings.Replace(defaultGrants, old, replacement, 1)
	}
	for _, c := range []struct {
		name  string
		l     launch
		exit  int
		cause string
	}{
		{"version", launch{args: []string{"--report-channel=supervised/v2"}}, 2, usage},
		{"unknown flag", launch{args: []string{"--nope", "1"}}, 2, usage},
		{"help", launch{args: []string{"--help"}}, 2, usage},
		{"sign", launch{args: []string{"--channel-wall-ms", "+1"}}, 2, usage},
		{"empty variable", launch{env: []string{"PINEFORGE_REPORT_MAX_BYTES="}}, 2, usage},
		{"above grant", launch{args: []string{"--report-max-bytes", "67108865"}}, 2, usage},
		{"reserved terminal", launch{terminal: "5"}, 2, "0 packets"},
		{"mode", launch{args: []string{"--report-mode", "STREAMED"}}, 1,
			`report_mode_unsupported{"contract":"pineforge-report/v1","mode":"STREAMED"}`},
		{"jailed path sink", launch{jailed: true, args: []string{"--report-sink", "/tmp/x"}}, 2, usage},
		{"path sink in no folder", launch{args: []string{"--report-sink", "/nowhere/x"}}, 2, usage},
		{"no finalizer", launch{finalizer: "/nowhere/finalizer"}, 1, policy},
		{"no grant", launch{grants: grants(`"report_bytes":67108864`, `"report_bytes":0`)}, 1, policy},
		{"bad descriptor", launch{grants: `"nope":1`}, 1, policy},
		{"small spool", launch{spool: 1000}, 1, policy},
		{"ordinary user", launch{user: 12345}, 1, policy},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.l.actor = "out=5 report=900"
			r := c.l.run(t)
			if r.exit != c.exit || r.cause() != c.cause {
				t.Errorf("got exit %d, %s\nwant exit %d, %s", r.exit, r.cause(), c.exit, c.cause)
			}
			if len(r.diagnostics) > 0 {
				t.Errorf("the producer ran: %q", r.diagnostics)
			}
			if r.record.Producer.Stage != nil {
				t.Errorf("stage %s of a producer that never started", *r.record.Producer.Stage)
			}
		})
	}
}

// TestMemory: S holds queues, not documents (R09).
func TestMemory(t *testing.T) {
	const size = 64 << 20
	r := launch{actor: fmt.Sprintf("report=%d", size)}.run(t)
	r.wants(t, 0, "")
	t.Logf("64 MiB report: %s, %.0f MB/s, CPU of all its processes %s, S peak %d KiB",
		r.elapsed, size/r.elapsed.Seconds()/1e6, r.cpu, r.maxRSS)
	if r.maxRSS == 0 || r.maxRSS > 24<<10 {
		t.Errorf("S peak %d KiB, want at most 24 MiB", r.maxRSS)
	}
}

// rounds is how often a repeated test repeats.
func rounds(t testing.TB) int {
	t.Helper()
	n, err := strconv.Atoi(cmp.Or(os.Getenv("TOUCHSTONE_ROUNDS"), "5"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestRepeated: the same attempt, many at once, is the same outcome. The number
// of rounds is small here; TOUCHSTONE_ROUNDS sets another.
func TestRepeated(t *testing.T) {
	for worker := range 4 {
		t.Run(strconv.Itoa(worker), func(t *testing.T) {
			t.Parallel()
			for range rounds(t) {
				r := launch{actor: "err=10 report=90000", env: []string{"TOUCHSTONE_EXPLAIN=1"}}.run(t)
				r.wants(t, 0, "")
				if r.exit != 0 {
					t.Fatalf("diagnostics %q", r.diagnostics)
				}
				r = launch{actor: fmt.Sprintf("call=%d report=900", unix.SYS_CLONE)}.run(t)
				r.wants(t, 1, `run_process_refused{"operation":"clone"}`)
				r = launch{actor: "text={ signal=9"}.run(t)
				r.wants(t, 1, `run_producer_failed{"reason":"signal","signal":9}`)
			}
		})
	}
}
