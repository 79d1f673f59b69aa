package supervisor_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"touchstone/reference/finalizer"
	"touchstone/reference/sinkwire"
)

// shim is a finalizer that does what a shell script says. Its 0 is the relay,
// 3 the retained file, 4 the receipt.
func shim(t testing.TB, script string) string {
	t.Helper()
	path := t.TempDir() + "/shim"
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// receipt is the word of a finalizer that is content with n bytes, and with what
// stands before the trailer.
func receipt(n int64, before []byte) string {
	r := finalizer.Receipt{FinalizerVersion: "shim", Complete: true, SinkBytes: n, CapBytes: new(int64(5000)), Counts: sinkwire.Counts{}, SHA256: sha256.Sum256(before)}
	return "printf '%s\\n' '" + strings.TrimSuffix(string(r.Append(nil)), "\n") + "' >&4"
}

// TestUntrueFinalizers: what a finalizer does and says is held against its own
// exit and against what S gave it (T12.08, T12.15, T20.05, T29.03).
func TestUntrueFinalizers(t *testing.T) {
	const (
		fault  = "harness_internal_error{}"
		closed = `report_sink_failed{"reason":"sink_peer_closed"}`
		io     = `report_sink_failed{"reason":"sink_io"}`
		over   = `report_sink_failed{"cap_bytes":5000,"reason":"sink_exhausted","sink_bytes":5001}`
	)
	short, long, most := stream(t, 5000), stream(t, 400000), 2*time.Second+6*calm(t)
	before := short[:bytes.LastIndexByte(short[:len(short)-1], '\n')+1]
	for _, c := range []struct {
		name, script, cause, verdict string
		long                         bool
	}{
		{"content", "cat >&3; " + receipt(5000, before), "", "exit 0 complete=true", false},
		{"keeps nothing", "cat >/dev/null; " + receipt(5000, before), io, "exit 0 complete=true", false},
		{"another digest", "cat >&3; " + receipt(5000, short), fault, "exit 0 complete=false", false},
		{"counts less", "cat >&3; " + receipt(4999, before), fault, "exit 0 complete=false", false},
		{"says nothing", "cat >&3", fault, "exit 0 complete=false", false},
		{"complete and exit 4", "cat >&3; " + receipt(5000, before) + "; exit 4", fault, "exit 4 complete=false", false},
		{"usage", "exec cat >/dev/null; exit 2", fault, "exit 0 complete=false", false},
		{"exhausted by itself", "cat >/dev/null; exit 8", fault, "exit 8 complete=false", false},
		{"I/O", "cat >/dev/null; exit 5", io, "exit 5 complete=false", false},
		{"late", "cat >/dev/null; exit 7", io, "exit 7 complete=false", false},
		{"floods the receipt", "cat >/dev/null; exec yes >&4", fault, "", false},
		{"floods its diagnostics", "yes >&2", `diagnostic_budget_exceeded{"cap_bytes":3000,"requested_bytes":1,"used_bytes":3000}`, "", false},
		{"closes its input", "exec 0<&-; exec sleep 60", closed, "signal 9", true},
		{"closes its input and ends 5", "exec 0<&-; exit 5", io, "exit 5 complete=false", true},
		{"ends early", "head -c 100 >/dev/null; exit 0", closed, "exit 0 complete=false", true},
		{"dies", "head -c 100 >/dev/null; kill -9 $$", closed, "signal 9", true},
		{"dies at the end", "cat >/dev/null; kill -9 $$", closed, "signal 9", false},
		{"dies after an overflow", "head -c 5001 >/dev/null; kill -9 $$", over, "signal 9", true},
		{"ends 5 after an overflow", "head -c 5001 >/dev/null; exit 5", over, "exit 5 complete=false", true},
		{"hangs after an overflow", "cat >/dev/null; exec sleep 60", over, "signal 9", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := launch{actor: "sink end summary=900", sinkTo: readSink, finalizer: shim(t, c.script), stream: short,
				args: []string{"--diagnostic-max-bytes", "3000"}, planned: 5000}
			if c.long {
				l.stream = long
				if c.cause != over {
					l.planned = 0
				}
			}
			r := l.run(t)
			exit := 1
			if c.cause == "" {
				exit = 0
			}
			r.wants(t, exit, c.cause)
			if c.verdict != "" { // without one, it is killed while it ends by itself
				r.verdictIs(t, c.verdict)
			}
			if v := r.record.Sink; exit != 0 && !v.Complete && (v.SHA256 != nil || v.Counts["E"] != nil) {
				t.Errorf("verification %+v", v)
			}
			if exit != 0 && len(r.sink) > 0 || r.elapsed > most {
				t.Errorf("%d bytes of a refused sink, %s", len(r.sink), r.elapsed)
			}
		})
	}
}

// afterStop has the producer, which stops itself after its first diagnostic
// byte, go on once do has been done.
func afterStop(t testing.TB, do func(s *os.Process)) func(*os.Process) {
	return func(s *os.Process) {
		do(s)
		producer := child(t, s.Pid, "actor")
		for deadline := time.Now().Add(10 * time.Second); producer > 0; time.Sleep(time.Millisecond) {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", producer))
			if _, rest, _ := strings.Cut(string(text), ") "); strings.HasPrefix(rest, "T") {
				break
			}
			if err != nil || time.Now().After(deadline) {
				t.Errorf("the producer does not stop: %v", err)
				return
			}
		}
		if err := unix.Kill(producer, unix.SIGCONT); err != nil {
			t.Error(err)
		}
	}
}

// TestStoppedFinalizer: W ends it, in the stage that the sink is in; S holds no
// more than its queue; its own overflow evidence stands (T12.08, T21.01 to
// T21.07).
func TestStoppedFinalizer(t *testing.T) {
	wall, most := lifetime(t)
	for _, c := range []struct {
		name, actor, cause string
		planned, observed  int64 // observed at most: pipe, queue, and one read that the stop came too late for
	}{
		{"run", "err=1 signal=19 sink end summary=900", `run_deadline_exceeded{"stage":"run"}`, 0, 3 * 65536},
		{"finalize", "err=1 signal=19 sink=60000 end summary=900", `run_deadline_exceeded{"stage":"finalize"}`, 0, 60000},
		{"candidate waits", "err=1 signal=19 sink summary=900", `run_deadline_exceeded{"stage":"run"}`, 0, 3 * 65536},
		{"overflow", "err=1 signal=19 sink end summary=900", `report_sink_failed{"cap_bytes":60000,"reason":"sink_exhausted","sink_bytes":60001}`, 60000, 60001},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := launch{actor: c.actor, sinkTo: readSink, stream: stream(t, 1000000), args: wall, planned: c.planned,
				atFirstNote: afterStop(t, signalChild(t, "reffinal", unix.SIGSTOP))}.run(t)
			r.wants(t, 1, c.cause)
			if v := r.record.Sink; r.verdict() != "signal 9" || v.Complete || v.SHA256 != nil || v.Counts["E"] != nil || v.Version != nil {
				t.Errorf("verification %+v", v)
			}
			entry := r.record.Channels["sink"]
			if entry.Observed == 0 || entry.Observed > c.observed || entry.Complete || entry.Logical != nil || entry.Approved == nil {
				t.Errorf("sink %+v", entry)
			}
			if r.elapsed > most {
				t.Errorf("took %s", r.elapsed)
			}
		})
	}
}

// TestKilledFinalizer: while bytes are relayed, and at the end (T20.05).
func TestKilledFinalizer(t *testing.T) {
	for _, actor := range []string{"hold err=1 spin", "sink=100000 err=1 spin"} {
		r := launch{actor: actor, sinkTo: readSink, stream: stream(t, 1000000),
			atFirstNote: signalChild(t, "reffinal", unix.SIGKILL)}.run(t)
		r.wants(t, 1, `report_sink_failed{"reason":"sink_peer_closed"}`)
		if r.verdict() != "signal 9" || len(r.sink) > 0 {
			t.Errorf("finalizer: %s, %d bytes of the sink", r.verdict(), len(r.sink))
		}
	}
}

// TestKilledProducer: its signal is the cause, wherever the sink stood
// (T23.02, T23.03, T23.07).
func TestKilledProducer(t *testing.T) {
	for actor, c := range map[string]struct {
		verdict string
		known   bool
	}{
		"sink=100000 err=1 spin":          {"exit 6 complete=false", false},
		"sink err=1 spin":                 {"exit 0 complete=true", true},
		"sink end err=1 spin":             {"exit 0 complete=true", true},
		"sink=100000 end err=1 spin":      {"exit 6 complete=false", false},
		"sink end summary=900 err=1 spin": {"exit 0 complete=true", true},
	} {
		r := launch{actor: actor, sinkTo: readSink, stream: stream(t, 300000),
			atFirstNote: signalChild(t, "actor", unix.SIGKILL)}.run(t)
		r.wants(t, 1, `run_producer_failed{"reason":"signal","signal":9}`)
		r.verdictIs(t, c.verdict)
		if r.verdict() == c.verdict && r.record.Channels["sink"].Known != c.known || len(r.sink) > 0 {
			t.Errorf("%s: finalizer %s, sink %+v, %d bytes", actor, r.verdict(), r.record.Channels["sink"], len(r.sink))
		}
	}
}

// TestSinkEndpoint: a reader that has gone, and one that waits (T20.01, T20.02,
// T20.07).
func TestSinkEndpoint(t *testing.T) {
	sink, most := stream(t, 300000), 2*time.Second+4*calm(t)
	for _, c := range []struct {
		to    endpoint
		cause string
	}{{closedSink, `report_sink_failed{"reason":"sink_peer_closed"}`}, {stalledSink, `report_channel_failed{"channel":"sink","reason":"deadline"}`}} {
		r := launch{actor: "sink end summary=900", sinkTo: c.to, stream: sink, args: []string{"--channel-stall-ms", "400"}}.run(t)
		r.wants(t, 1, c.cause)
		entry := r.record.Channels["sink"]
		if len(r.report) > 0 || *entry.Written != int64(len(r.sink)) || entry.Complete || !entry.Truncated {
			t.Errorf("%d report bytes, sink %+v, %d bytes", len(r.report), entry, len(r.sink))
		}
		if c.to == stalledSink && (string(r.sink) != string(sink[:len(r.sink)]) || r.elapsed < 400*time.Millisecond || r.elapsed > most) {
			t.Errorf("%d sink bytes after %s", len(r.sink), r.elapsed)
		}
	}
}

// TestNamedSinkFails: nothing is left of a refused attempt, an old target goes
// unless the refusal came before the producer (T35.21, T35.23).
func TestNamedSinkFails(t *testing.T) {
	wall, _ := lifetime(t)
	for name, c := range map[string]struct {
		actor string
		args  []string
		left  string
	}{
		"fragment":      {"sink=100 end summary=900", nil, ""},
		"bad candidate": {"sink end report=900", nil, ""},
		"exit":          {"sink end summary=900 status=3", nil, ""},
		"W":             {"sink end spin", wall, ""},
		"overflow":      {"sink end summary=900", []string{"--report-max-bytes", "100000"}, ""},
		"usage":         {"sink end summary=900", []string{"--nope=1"}, "out"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			if err := os.WriteFile(folder+"/out", []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			r := launch{actor: c.actor, stream: stream(t, 200000), args: append(c.args, "--report-sink", folder+"/out")}.run(t)
			if left := names(t, folder); r.exit == 0 || left != c.left {
				t.Errorf("exit %d, %s, folder holds %q", r.exit, r.cause(), left)
			}
		})
	}
}

// TestNamedSinkTaken: a name that can no longer be given is a failure of the
// storage, and what was to get it is gone (T26.04).
func TestNamedSinkTaken(t *testing.T) {
	folder := t.TempDir()
	r := launch{actor: "err=1 signal=19 sink end summary=900", stream: stream(t, 200000), args: []string{"--report-sink", folder + "/out"},
		atFirstNote: afterStop(t, func(*os.Process) {
			if err := os.MkdirAll(folder+"/out/in", 0o700); err != nil {
				t.Error(err)
			}
		})}.run(t)
	r.wants(t, 1, `report_sink_failed{"reason":"sink_io"}`)
	if left := names(t, folder); left != "out" || len(r.report) != 900 || *r.record.Channels["sink"].Written != 0 {
		t.Errorf("folder holds %q, %d report bytes, sink %+v", left, len(r.report), r.record.Channels["sink"])
	}
}

// TestNamedSinkForged: what gets the caller's name is the file that was
// verified, whoever can write in its folder (C-45).
func TestNamedSinkForged(t *testing.T) {
	folder := t.TempDir()
	r := launch{actor: "err=1 signal=19 sink end summary=900", stream: stream(t, 200000), args: []string{"--report-sink", folder + "/out"},
		atFirstNote: afterStop(t, func(*os.Process) {
			private := folder + "/" + names(t, folder)
			if err := errors.Join(os.Remove(private), os.WriteFile(private, []byte("FORGED"), 0o600)); err != nil {
				t.Error(err)
			}
		})}.run(t)
	r.wants(t, 1, `report_sink_failed{"reason":"sink_io"}`)
	if left := names(t, folder); left != "" {
		t.Errorf("folder holds %q", left)
	}
}

// TestDeafProducer: one that takes no descriptors has harmed itself; that is no
// fault of S (T10, R11).
func TestDeafProducer(t *testing.T) {
	r := launch{actor: "deaf sink end snapshot report=900", stream: stream(t, 2000)}.run(t)
	r.wants(t, 1, `run_producer_failed{"exit_status":1,"reason":"exit"}`)
}

// TestNamedSinkSeen: until the report is delivered nothing has the name, and
// then all of it has (T35.22).
func TestNamedSinkSeen(t *testing.T) {
	folder := t.TempDir()
	r := launch{actor: "sink end summary=1000000", stream: stream(t, 200000), stopReads: true,
		args: []string{"--report-sink", folder + "/out", "--channel-stall-ms", "300"}}.run(t)
	r.wants(t, 1, `report_channel_failed{"channel":"report","reason":"deadline"}`)
	if left := names(t, folder); left != "" || *r.record.Channels["sink"].Written != 0 {
		t.Errorf("folder holds %q, sink %+v", left, r.record.Channels["sink"])
	}
}

// TestCancelledSink: the host's wish is the cause in every phase (T28.01).
func TestCancelledSink(t *testing.T) {
	folder, most := t.TempDir(), 2*time.Second+6*calm(t)
	for _, actor := range []string{"sink=100000 err=1 stubborn spin", "sink end err=1 spin", "sink end summary=900 err=1 spin"} {
		r := launch{actor: actor, stream: stream(t, 300000), args: []string{"--report-sink", folder + "/out"},
			atFirstNote: func(s *os.Process) {
				if err := s.Signal(unix.SIGTERM); err != nil {
					t.Error(err)
				}
			}}.run(t)
		r.wants(t, 1, "run_aborted{}")
		if left := names(t, folder); left != "" || r.elapsed > most {
			t.Errorf("%s: folder holds %q after %s", actor, left, r.elapsed)
		}
	}
}

// TestSinkRepeated: where timing decides, it must not decide the outcome. The
// number of rounds is small here; TOUCHSTONE_ROUNDS sets another.
func TestSinkRepeated(t *testing.T) {
	sink := stream(t, 300000)
	for range rounds(t) {
		r := launch{actor: "sink end snapshot report=9000", stream: sink}.run(t)
		r.wants(t, 0, "")
		r = launch{actor: "sink end summary=900", stream: sink, sinkTo: readSink}.run(t)
		r.wants(t, 0, "")
		r = launch{actor: "sink=250000 signal=9", stream: sink}.run(t)
		r.wants(t, 1, `run_producer_failed{"reason":"signal","signal":9}`)
		r = launch{actor: "sink=250000 end summary=900", stream: sink, sinkTo: readSink}.run(t)
		r.wants(t, 1, `report_channel_failed{"channel":"sink","reason":"protocol"}`)
		r = launch{actor: "sink end summary=900 status=3", stream: sink, sinkTo: readSink}.run(t)
		r.wants(t, 1, `run_producer_failed{"exit_status":3,"reason":"exit"}`)
		r = launch{actor: "sink end summary=900", stream: sink, sinkTo: readSink, planned: 100000}.run(t)
		r.wants(t, 1, `report_sink_failed{"cap_bytes":100000,"reason":"sink_exhausted","sink_bytes":100001}`)
		r.verdictIs(t, "exit 8 complete=false")
	}
}
