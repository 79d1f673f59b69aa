package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// hosted is one run in which this test is the target's real parent, as a
// host is.
type hosted struct {
	setting
	target   *exec.Cmd
	attach   *exec.Cmd
	log      string
	said     bytes.Buffer // of the target
	attached bytes.Buffer // of attach
}

// start starts the stub and attach. Both are killed when ctx ends.
func (s setting) start(t *testing.T, ctx context.Context) *hosted {
	t.Helper()
	h := &hosted{setting: s, log: filepath.Join(t.TempDir(), "log")}
	h.target = exec.CommandContext(ctx, target("faultinject"), append([]string{"stub", "--"}, s.argv...)...)
	h.target.Stdout, h.target.Stderr, h.target.WaitDelay = s.out, &h.said, time.Second
	if err := h.target.Start(); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"attach", "--log", h.log, "--pid", fmt.Sprint(h.target.Process.Pid)}, s.options...)
	for _, r := range s.rules {
		args = append(args, "-e", r)
	}
	h.attach = exec.CommandContext(ctx, target("faultinject"), args...)
	h.attach.Stderr, h.attach.ExtraFiles, h.attach.WaitDelay = &h.attached, s.extra, time.Second
	if err := h.attach.Start(); err != nil {
		t.Fatal(err)
	}
	return h
}

// wait waits for both and returns attach's outcome and the target's status as
// its parent sees it.
func (h *hosted) wait(t *testing.T) (outcome, *os.ProcessState) {
	t.Helper()
	for _, cmd := range []*exec.Cmd{h.target, h.attach} {
		var exit *exec.ExitError
		if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
			t.Fatalf("wait for %v: %v\n%s%s", cmd.Args, err, h.said.String(), h.attached.String())
		}
	}
	o := outcome{t: t, code: h.attach.ProcessState.ExitCode(), stderr: h.said.String() + h.attached.String(), lines: readLog(t, h.log)}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%v\n%s", h.attach.Args, o.stderr)
		}
	})
	return o, h.target.ProcessState
}

// TestAttachKeepsTheParent: the host sees the true status, and the name of an
// object comes from a descriptor that only attach inherits.
func TestAttachKeepsTheParent(t *testing.T) {
	needTracing(t)
	for _, mode := range []string{"auto", "full", "filter"} {
		ctx, cancel := context.WithTimeout(context.Background(), deadline)
		r, w := pipe(t)
		h := setting{rules: []string{"rule a: on %write fd R ; at bytes 613 ; do kill"},
			options: []string{"--fd", "R=@3:w", "--mode", mode}, extra: []*os.File{r},
			argv: []string{target("send_pattern"), "write", "1000", "300"}, out: w}.start(t, ctx)
		w.Close()
		got := drained(r)
		o, state := h.wait(t)
		o.exits(0)
		status := state.Sys().(interface{ Signal() unix.Signal })
		if n := len(got()); n != 613 || status.Signal() != unix.SIGKILL {
			t.Errorf("%s: got %d bytes and %v, want 613 and the kill", mode, n, state)
		}
		if l := o.one("a", "realised"); l.FD.Type != "pipe" || l.FD.Dir != "w" {
			t.Errorf("%s: evidence: got %+v", mode, l)
		}
		cancel()
	}
}

func TestAttachRefusesStrangers(t *testing.T) {
	needTracing(t)
	out, err := exec.Command(target("faultinject"), "attach", "--pid", fmt.Sprint(os.Getpid())).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 64 || !strings.Contains(string(out), "not a stub") {
		t.Errorf("got %v, %s", err, out)
	}
}

// launch runs the small Go supervisor, with its untrusted program and its
// verifier, and returns what they wrote.
func launch(t *testing.T, mode string, rules ...string) (outcome, *os.ProcessState, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	// A copy is another file, and so another role.
	image, err := os.ReadFile(target("go_launcher"))
	if err != nil {
		t.Fatal(err)
	}
	verifier := filepath.Join(t.TempDir(), "verifier")
	if err := os.WriteFile(verifier, image, 0o755); err != nil {
		t.Fatal(err)
	}
	r, w := pipe(t)
	h := setting{rules: rules, options: []string{"--fd", "R=@3:w", "--mode", mode, "--role-v", verifier},
		extra: []*os.File{r}, argv: []string{target("go_launcher"), target("untrusted"), verifier}, out: w}.start(t, ctx)
	w.Close()
	got := drained(r)
	o, state := h.wait(t)
	return o, state, string(got())
}

// TestUntrustedRunsAsWithoutUs: what the untrusted program sees of us is
// nothing in full mode, and one inherited filter in ip mode, while the rules
// work on its supervisor.
func TestUntrustedRunsAsWithoutUs(t *testing.T) {
	needTracing(t)
	for _, c := range []struct{ mode, used, seen string }{ // rule a cuts S, rule b fails V
		{"auto", "ip", "TracerPid:=0 NoNewPrivs:=0 Seccomp:=2 Seccomp_filters:=1 uid=65534 write=0 fork=0 traceme=0"},
		{"full", "full", "TracerPid:=0 NoNewPrivs:=0 Seccomp:=0 Seccomp_filters:=0 uid=65534 write=0 fork=0 traceme=0"},
	} {
		o, state, got := launch(t, c.mode, "rule a: on %write fd R ; do short 3",
			"rule b: on %write fd R role V ; do errno EIO")
		o.says(c.seen)
		if start := o.lines[0]; start.Mode != c.used {
			t.Errorf("%s: mode %q, want %q", c.mode, start.Mode, c.used)
		}
		o.exits(0).says("verifier: exit status 3")
		if got != "first half\nu" || state.ExitCode() != 5 {
			t.Errorf("%s: got %q and %v", c.mode, got, state)
		}
		if a, b := o.one("a", "realised"), o.one("b", "realised"); a.Role != "S" || b.Role != "V" {
			t.Errorf("%s: roles: got %s and %s, want S and V", c.mode, a.Role, b.Role)
		}
	}
}

// TestRoles: rules keep to S and V unless they ask for U, and say so when
// only the role spoke against a call.
func TestRoles(t *testing.T) {
	needTracing(t)
	o, _, got := launch(t, "filter", "rule a: on write fd R role U ; do errno EIO")
	o.exits(0).says("write=5")
	if l := o.one("a", "realised"); l.Role != "U" || got != "first half\nverified\nsecond half\n" {
		t.Errorf("got %q, %+v", got, l)
	}
	o, _, got = launch(t, "filter", "rule a: on write fd R role V ; at call 2 ; do errno EIO",
		"rule b: on fsync,write fd R role V arg2==1 ; do mark")
	o.exits(3).says("rule a: never fired: 1 calls seen", "rule b: never fired: 1 calls, all by another role")
	if got != "first half\nuverified\nsecond half\n" {
		t.Errorf("got %q", got)
	}
	if o, _, _ := launch(t, "full", "rule a: on write fd R role U ; do errno EIO"); o.code != 64 || !strings.Contains(o.stderr, "only in mode filter") {
		t.Errorf("role U in mode full: exit %d, %s", o.code, o.stderr)
	}
}

// TestKillUntrusted: a rule on the supervisor's call can kill the program
// that runs free of the tracer. The shell is the supervisor, cat the program;
// its answer shows that it runs.
func TestKillUntrusted(t *testing.T) {
	needTracing(t)
	const script = `mkfifo "$0/in" "$0/out"; cat <"$0/in" >"$0/out" & exec 3>"$0/in" 4<"$0/out"
echo ready >&3; read -r answer <&4; echo "$answer"; wait $!; echo ended $?`
	for _, mode := range []string{"filter", "full"} {
		out, read := fileOut(t)
		o := setting{rules: []string{"rule a: on write fd O ; do kill U"}, options: []string{"--fd", "O=@1", "--mode", mode, "--pass-status"},
			argv: []string{"/bin/sh", "-c", script, t.TempDir()}, out: out}.run(t)
		o.exits(0).one("a", "realised")
		if got := string(read()); got != "ready\nended 137\n" {
			t.Errorf("%s: got %q", mode, got)
		}
	}
}

// TestJailedLauncher: a supervisor that makes namespaces, drops ids and keeps
// a seccomp listener works as without us, and its report is injected.
func TestJailedLauncher(t *testing.T) {
	needTracing(t)
	for _, mode := range []string{"filter", "full"} {
		out, read := fileOut(t)
		o := setting{rules: []string{"rule a: on write fd R ; do short 4"}, options: []string{"--fd", "R=@1", "--mode", mode},
			argv: []string{target("launcher"), target("untrusted")}, out: out}.run(t)
		o.exits(0).says("shorts=1", "uid=65534 write=0 fork=1 traceme=")
		if untraced := strings.Contains(o.stderr, "TracerPid:=0"); untraced != (mode == "full") {
			t.Errorf("%s: untraced %v", mode, untraced)
		}
		if got := string(read()); got != "u0123456789" {
			t.Errorf("%s: got %q", mode, got)
		}
		if l := o.one("a", "realised"); l.Role != "S" || number(l.Returned) != 4 {
			t.Errorf("%s: evidence: got %+v", mode, l)
		}
	}
}

// guarded says whether there is a guard of a log by now.
func guarded(t *testing.T, log string) bool {
	t.Helper()
	commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(commands, func(path string) bool {
		text, _ := os.ReadFile(path) // of one that has ended: nothing
		return string(text) == strings.Join([]string{"faultinject", guardWord, log, ""}, "\x00")
	})
}

// TestTracerKilled: nothing survives the tracer half injected, and the guard
// says what happened.
func TestTracerKilled(t *testing.T) {
	needTracing(t)
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	r, w := pipe(t)
	h := setting{rules: []string{"rule a: on write fd R ; at call 2 ; do hold never max 1h"}, options: []string{"--fd", "R=@3:w"},
		extra: []*os.File{r}, argv: []string{target("send_pattern"), "write", "1000", "300"}, out: w}.start(t, ctx)
	w.Close()
	first := make([]byte, 300)
	if _, err := r.Read(first); err != nil {
		t.Fatal(err)
	}
	until(t, "evidence of the hold", func() bool {
		return len((outcome{t: t, lines: readLog(t, h.log)}).decisions("a", "realised")) == 1
	})
	until(t, "the guard", func() bool { return guarded(t, h.log) }) // it starts beside the target
	if err := h.attach.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	got := drained(r)
	_, state := h.wait(t)
	if status := state.Sys().(interface{ Signal() unix.Signal }); status.Signal() != unix.SIGKILL || len(got()) != 0 {
		t.Errorf("target: got %v, want it killed at its second write", state)
	}
	until(t, "the guard's line", func() bool {
		lines := readLog(t, h.log)
		return len(lines) > 0 && lines[len(lines)-1].Kind == "tracer-lost"
	})
}
