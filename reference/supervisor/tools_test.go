package supervisor_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestToolFailures: a tool's own failure keeps the shell's exit (T16.06, T16.07,
// T16.08, T16.10), and so does the producer's.
func TestToolFailures(t *testing.T) {
	for _, c := range []struct {
		name         string
		build        build
		actor, cause string
		exit         int
		stage        string
	}{
		{"transpiler", build{transpiler: "err=5 status=1"}, "", `run_producer_failed{"exit_status":1,"reason":"exit"}`, 5, "prepare"},
		{"transpiler signal", build{transpiler: "err=5 signal=11"}, "", `run_producer_failed{"reason":"signal","signal":11}`, 5, "prepare"},
		{"compiler", build{compiler: "out=5 status=3"}, "", `run_producer_failed{"exit_status":3,"reason":"exit"}`, 3, "compile"},
		{"binder", build{binder: "err=5 status=2"}, "", `run_producer_failed{"exit_status":2,"reason":"exit"}`, 3, "compile"},
		{"producer", build{}, "err=5 status=7", `run_producer_failed{"exit_status":7,"reason":"exit"}`, 4, "finalize"},
		{"real compiler", build{real: true, code: "int x(;\n"}, "", `run_producer_failed{"exit_status":1,"reason":"exit"}`, 3, "compile"},
		{"real binder", build{real: true, code: "int x;\n"}, "", `run_producer_failed{"exit_status":1,"reason":"exit"}`, 3, "compile"},
		{"real transpiler", build{real: true, strategy: "strategy 1\n"}, "", `run_producer_failed{"exit_status":1,"reason":"exit"}`, 5, "prepare"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := launch{build: &c.build, actor: c.actor}.mounted(t).run(t)
			r.wants(t, c.exit, c.cause)
			if stage := r.record.Producer.Stage; stage == nil || *stage != c.stage {
				t.Errorf("stage %v, want %s", stage, c.stage)
			}
			whole := !strings.HasSuffix(c.name, "signal")
			if len(r.diagnostics) < 5 || r.record.Channels["diagnostic"].Complete != whole || r.record.ExitClass != "producer_failure" {
				t.Errorf("class %s, diagnostics %q, %+v", r.record.ExitClass, r.diagnostics, r.record.Channels["diagnostic"])
			}
		})
	}
}

// TestOneDiagnosticBudget: every stage writes against the same D, and a refusal
// of it wins over a tool's own failure (T16.01 to T16.05, T16.09).
func TestOneDiagnosticBudget(t *testing.T) {
	const over = `diagnostic_budget_exceeded{"cap_bytes":4000,"requested_bytes":1,"used_bytes":4000}`
	for _, c := range []struct {
		name  string
		build build
		actor string
		exit  int
		cause string
	}{
		{"all exact", build{transpiler: "err=1000", compiler: "out=1000", binder: "err=1000"}, "err=1000 report=900", 0, ""},
		{"transpiler", build{transpiler: "err=4001"}, "report=900", 4, over},
		{"compiler", build{compiler: "out=900000000"}, "report=900", 4, over},
		{"binder", build{binder: "err=5000"}, "report=900", 4, over},
		{"compiler and producer", build{compiler: "out=2000"}, "err=2001 report=900", 4, over},
		{"failing compiler", build{compiler: "err=4001 status=1"}, "", 4, over},
		{"failing transpiler, far over", build{transpiler: "out=60000 status=1"}, "", 4, over},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := launch{build: &c.build, actor: c.actor, env: []string{"PINEFORGE_DIAGNOSTIC_MAX_BYTES=4000"}}.mounted(t).run(t)
			r.wants(t, c.exit, c.cause)
			if want := map[int]int64{0: 4000, 4: 4001}[c.exit]; r.record.Channels["diagnostic"].Observed != want || len(r.diagnostics) != 4000 {
				t.Errorf("%d bytes, %+v", len(r.diagnostics), r.record.Channels["diagnostic"])
			}
		})
	}
}

// TestToolHelpers: a tool may fork, what it leaves behind ends with its stage,
// and the producer may not fork all the same (T22.23, T22.24).
func TestToolHelpers(t *testing.T) {
	r := launch{build: &build{transpiler: "fork", compiler: "fork leave err=3", binder: "leave"}, actor: "report=900"}.mounted(t).run(t)
	r.wants(t, 0, "")
	if string(r.diagnostics) != "ttt" || r.elapsed > 10*time.Second {
		t.Errorf("diagnostics %q after %s", r.diagnostics, r.elapsed)
	}
	r = launch{build: &build{}, actor: "report=900", env: []string{"PINEFORGE_PROFILE=jailed"}}.mounted(t).run(t)
	r.wants(t, 0, "")
	r = launch{build: &build{}, actor: fmt.Sprintf("call=%d report=900", unix.SYS_CLONE)}.mounted(t).run(t)
	r.wants(t, 4, `run_process_refused{"operation":"clone"}`)
}

// TestRefusedAfterTools: a producer that cannot be started is no wait result.
func TestRefusedAfterTools(t *testing.T) {
	r := launch{build: &build{}, producer: "/nowhere/producer"}.mounted(t).run(t)
	r.wants(t, 4, `run_isolation_unavailable{"reason":"policy"}`)
	if p := r.record.Producer; p.Stage == nil || *p.Stage != "compile" || p.Exit != nil || p.Signal != nil {
		t.Errorf("producer %+v", p)
	}
}

// TestToolMemory: a tool's memory is bounded where the pairing says so. What dies
// of it is the compiler's own helper, so the failure is the compiler's.
func TestToolMemory(t *testing.T) {
	r := launch{build: &build{real: true, code: code, memory: 24 << 20}}.mounted(t).run(t)
	r.wants(t, 3, `run_producer_failed{"exit_status":1,"reason":"exit"}`)
	if !strings.Contains(string(r.diagnostics), "Killed") {
		t.Errorf("diagnostics %q", r.diagnostics)
	}
}

// TestToolDeadlines: the lifetime ends a tool, with the stage of S's own state,
// and so does a host that does not read (T21, T20).
func TestToolDeadlines(t *testing.T) {
	// A loaded machine takes its time to start four domains; the lifetime must be longer.
	calm := launch{build: &build{}, actor: "report=900"}.mounted(t).run(t).elapsed
	wall := 500*time.Millisecond + 3*calm
	for stage, b := range map[string]build{"prepare": {transpiler: "spin"}, "compile": {compiler: "fork leave stubborn spin"}} {
		r := launch{build: &b, env: []string{fmt.Sprintf("PINEFORGE_CHANNEL_WALL_MS=%d", wall.Milliseconds())}}.mounted(t).run(t)
		r.wants(t, 4, fmt.Sprintf(`run_deadline_exceeded{"stage":%q}`, stage))
		if at := r.record.Producer.Stage; at == nil || *at != stage || r.elapsed > wall+3*time.Second || len(r.report) > 0 {
			t.Errorf("%s: stage %v after %s, report %q", stage, at, r.elapsed, r.report)
		}
	}
	for _, words := range []string{"out=1000000", "out=66000 status=1"} {
		r := launch{build: &build{compiler: words}, stopNotes: true, env: []string{"PINEFORGE_CHANNEL_STALL_MS=300"}}.mounted(t).run(t)
		r.wants(t, 4, `report_channel_failed{"channel":"diagnostic","reason":"deadline"}`)
		if r.elapsed > wall+3*time.Second {
			t.Errorf("%s: %s", words, r.elapsed)
		}
	}
}

// TestCancellationInTools: the host's signal ends a tool (T28.07).
func TestCancellationInTools(t *testing.T) {
	for _, b := range []build{{transpiler: "err=1 spin"}, {compiler: "err=1 stubborn spin"}, {binder: "err=1 leave spin"}} {
		var asked time.Time
		r := launch{build: &b, atFirstNote: func(s *os.Process) {
			asked = time.Now()
			if err := s.Signal(unix.SIGTERM); err != nil {
				t.Error(err)
			}
		}}.mounted(t).run(t)
		r.wants(t, 4, "run_aborted{}")
		if took := time.Since(asked); r.record.ExitClass != "aborted" || took > 4*time.Second {
			t.Errorf("class %s, %s after the request", r.record.ExitClass, took)
		}
	}
}

// TestBuiltLink: only a file that the tools made is given to the producer, not
// what a name of theirs leads to.
func TestBuiltLink(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("not a library"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := launch{build: &build{compiler: "link=" + secret}, actor: "show=/touchstone-work/strategy.so report=900"}.mounted(t).run(t)
	r.wants(t, 0, "")
	if string(r.diagnostics) != "no file\n" {
		t.Errorf("the producer saw %q", r.diagnostics)
	}
}

// TestToolsSeeNothingPrivate: no variable of the caller's, and none of S's (T16.11).
func TestToolsSeeNothingPrivate(t *testing.T) {
	r := launch{build: &build{compiler: "say=TOUCHSTONE_LAUNCH_FD say=PINEFORGE_REPORT_CHANNEL say=OWN say=LANG"}, actor: "report=900",
		env: []string{"OWN=1", "TOUCHSTONE_CANDIDATE_FD=9", "TOUCHSTONE_PAIRING=/none"}}.mounted(t).run(t)
	r.wants(t, 0, "")
	if string(r.diagnostics) != "-\n-\n-\nC\n" {
		t.Errorf("diagnostics %q", r.diagnostics)
	}
}

// TestKilledInTools: what is left of tools goes with S, their folder included.
func TestKilledInTools(t *testing.T) {
	spool := t.TempDir()
	watch := must(unix.InotifyInit1(unix.IN_CLOEXEC))(t)
	defer func() { _ = unix.Close(watch) }() // nothing is left in it
	must(unix.InotifyAddWatch(watch, spool, unix.IN_DELETE))(t)
	r := launch{build: &build{compiler: "leave err=1 spin"}, spoolAt: spool, atFirstNote: func(s *os.Process) {
		if err := s.Kill(); err != nil {
			t.Error(err)
		}
	}}.mounted(t).run(t)
	if string(r.diagnostics) != "t" || len(r.packets) > 0 {
		t.Errorf("diagnostics %q, %d packets", r.diagnostics, len(r.packets))
	}
	ready := []unix.PollFd{{Fd: int32(watch), Events: unix.POLLIN}}
	if n, err := unix.Poll(ready, 10_000); n != 1 || err != nil {
		t.Fatalf("the folder was not removed: %v", err)
	}
	if left := must(filepath.Glob(spool + "/.work.*"))(t); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
