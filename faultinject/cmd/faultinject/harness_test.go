package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// exactness is how often the tests of exactness repeat; scripts/exactness
// asks for 200.
var exactness = flag.Int("exactness", 8, "repetitions of each test of exactness")

// built is where the command and the targets lie.
var built string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "faultinject-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir) // only our own files
	built = dir
	if err := os.Chmod(dir, 0o755); err != nil { // user 65534 runs targets too
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// build compiles the command and every target.
func build(dir string) error {
	sources, err := filepath.Glob("../../testdata/*.c")
	if err != nil || len(sources) == 0 {
		return fmt.Errorf("list targets: %d found: %w", len(sources), err)
	}
	work := [][]string{{"go", "build", "-o", dir + "/faultinject", "."}}
	for _, source := range sources {
		name := strings.TrimSuffix(filepath.Base(source), ".c")
		work = append(work, []string{"gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-static", "-pthread",
			"-o", filepath.Join(dir, name), source})
	}
	for _, name := range []string{"writers", "edge", "launcher", "send", "receive", "store", "events", "tick"} {
		work = append(work, []string{"go", "build", "-o", dir + "/go_" + name, "../../testdata/go/" + name})
	}
	for _, argv := range work {
		cmd := exec.Command(argv[0], argv[1:]...)
		if strings.Contains(argv[len(argv)-1], "testdata/go") {
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w\n%s", argv, err, out)
		}
	}
	return nil
}

// target returns a compiled target or the command.
func target(name string) string { return filepath.Join(built, name) }

// twins runs a test on the C target and on its twin in Go.
func twins(t *testing.T, c, goTwin string, test func(t *testing.T, target string)) {
	needTracing(t)
	t.Run("c", func(t *testing.T) { test(t, target(c)) })
	t.Run("go", func(t *testing.T) { test(t, target(goTwin)) })
}

// needTracing reports the test as not run where the kernel forbids tracing.
func needTracing(t *testing.T) {
	t.Helper()
	out, err := exec.Command(target("faultinject"), "run", "--", "/bin/true").CombinedOutput()
	if err != nil {
		if os.Getuid() == 0 && !strings.Contains(string(out), "not permitted") {
			t.Fatalf("trace /bin/true: %v\n%s", err, out)
		}
		t.Skipf("not run: needs ptrace and seccomp rights: %s", bytes.TrimSpace(out))
	}
}

// line is one line of evidence.
type line struct {
	Kind, State, Rule, Action, Effect, Role, Call, What, Text, Mode string
	Restarted                                                       uint64
	Seq, Ordinal                                                    uint64
	PID                                                             int `json:"pid"`
	FD                                                              struct {
		FD, Dev, Ino uint64
		Type, Dir    string
	}
	BytesBefore                           int64 `json:"bytes_before"`
	Requested, Given, Returned, Delivered *int64
	HeldNs                                int64 `json:"held_ns"`
	Exit, Signal, Code                    *int
	Rules                                 []struct {
		ID                    string
		Seen, Fired, Refunded uint64
		Delivered             uint64
		AsAsked               bool `json:"as_asked"`
		Why                   string
	}
}

// outcome is what one run of the command has shown.
type outcome struct {
	t      *testing.T
	code   int
	stderr string
	lines  []line
}

// deadline bounds one run: a run that hangs is killed, with its targets.
const deadline = 30 * time.Second

// setting is one run of the command. Out and In are the target's descriptors
// 1 and 0; nil is a file that is thrown away.
type setting struct {
	rules   []string
	options []string
	argv    []string
	out, in *os.File
	extra   []*os.File
	user    uint32 // 0 for ours
	log     string // path of the evidence, chosen where it is ""
}

func (s setting) run(t *testing.T) outcome {
	t.Helper()
	log := s.log
	if log == "" {
		log = filepath.Join(t.TempDir(), "log")
	}
	args := append([]string{"run", "--log", log}, s.options...)
	for _, r := range s.rules {
		args = append(args, "-e", r)
	}
	args = append(append(args, "--"), s.argv...)
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, target("faultinject"), args...)
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stdin, cmd.Stderr, cmd.ExtraFiles = s.out, s.in, &stderr, s.extra
	cmd.WaitDelay = time.Second
	if s.user != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: s.user, Gid: s.user}}
		// The log lies in a folder of ours: it is not written.
		cmd.Args = append(append([]string{}, cmd.Args[:2]...), cmd.Args[4:]...)
	}
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("%v: over %s\n%s", args, deadline, stderr.String())
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		t.Fatal(err)
	}
	o := outcome{t: t, code: cmd.ProcessState.ExitCode(), stderr: stderr.String(), lines: readLog(t, log)}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%v: exit %d\n%s", args, o.code, o.stderr)
		}
	})
	return o
}

func readLog(t *testing.T, path string) []line {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var out []line
	for part := range bytes.Lines(text) {
		var l line
		if err := json.Unmarshal(part, &l, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Fatalf("log line %d: %v\n%s", len(out), err, part)
		}
		if l.Kind != "tracer-lost" && l.Seq != uint64(len(out)) {
			t.Fatalf("log line %d: seq %d", len(out), l.Seq)
		}
		out = append(out, l)
	}
	return out
}

// code checks the exit of the command.
func (o outcome) exits(want int) outcome {
	o.t.Helper()
	if o.code != want {
		o.t.Errorf("exit: got %d, want %d", o.code, want)
	}
	return o
}

// says checks that the target or the command printed each text.
func (o outcome) says(wants ...string) outcome {
	o.t.Helper()
	for _, want := range wants {
		if !strings.Contains(o.stderr, want) {
			o.t.Errorf("stderr: got %q, want %q", o.stderr, want)
		}
	}
	return o
}

// decisions returns the lines of one rule in one state.
func (o outcome) decisions(rule, state string) []line {
	var out []line
	for _, l := range o.lines {
		if l.Kind == "decision" && l.Rule == rule && l.State == state {
			out = append(out, l)
		}
	}
	return out
}

// one returns the only line of a rule in a state.
func (o outcome) one(rule, state string) line {
	o.t.Helper()
	found := o.decisions(rule, state)
	if len(found) != 1 {
		o.t.Fatalf("rule %s: got %d lines %s, want 1\n%s", rule, len(found), state, o.stderr)
	}
	return found[0]
}

func (o outcome) notes(what string) []line {
	var out []line
	for _, l := range o.lines {
		if l.Kind == "note" && l.What == what {
			out = append(out, l)
		}
	}
	return out
}

// final returns the last line, which must be the verdict.
func (o outcome) final() line {
	o.t.Helper()
	if len(o.lines) == 0 || o.lines[len(o.lines)-1].Kind != "final" {
		o.t.Fatalf("log has no final line\n%s", o.stderr)
	}
	return o.lines[len(o.lines)-1]
}

func number(p *int64) int64 {
	if p == nil {
		return -1 << 60
	}
	return *p
}

// fileOut returns a fresh file for a target's output, and how to read it.
func fileOut(t *testing.T) (*os.File, func() []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, func() []byte {
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
}

// pattern returns the first n bytes that targets send.
func pattern(n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(i*7 + i/251)
	}
	return out
}

// drained reads a stream to its end, in the background.
func drained(f *os.File) func() []byte {
	got := make(chan []byte, 1)
	go func() {
		var b bytes.Buffer
		b.ReadFrom(f) // an error shows as missing bytes
		got <- b.Bytes()
	}()
	return func() []byte { return <-got }
}
