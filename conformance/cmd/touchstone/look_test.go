package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var howToLook = regexp.MustCompile(`stands still .*: gdb (.*)$`)

// naiveCapsule is a capsule of a launcher that must fail, with the program that
// made it.
func naiveCapsule(t *testing.T) (program, capsule string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("not run: attempts need root")
	}
	program, err := filepath.Abs("../../../.build/bin/touchstone")
	if err != nil {
		t.Fatal(err)
	}
	run := filepath.Join(t.TempDir(), "run")
	c := exec.Command(program, "certify", "--launcher", "naive-exec", "--tests", "T06-partial-line", "--profile", "unjailed", "--out", run, "-q")
	if said, err := c.CombinedOutput(); c.ProcessState == nil || c.ProcessState.ExitCode() != 1 {
		t.Fatalf("%v: %s", err, said)
	}
	return program, filepath.Join(run, "capsules", "direct-unjailed", "T06-partial-line.txtar")
}

// TestDebuggerAtTheStart: S before its program, U in its constructor; the
// command that is printed attaches, and once it has left the attempt goes on
// and fails as it did.
func TestDebuggerAtTheStart(t *testing.T) {
	if _, err := exec.LookPath("gdb"); err != nil {
		t.Skip("not run: gdb is not installed")
	}
	program, capsule := naiveCapsule(t)
	for who, want := range map[string]string{"S": "naive-exec", "U": "producer"} {
		c := exec.Command(program, "repro", capsule, "--gdb", who)
		stderr, err := c.StderrPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		lines := bufio.NewScanner(io.TeeReader(stderr, &said))
		for lines.Scan() {
			if match := howToLook.FindStringSubmatch(lines.Text()); match != nil {
				gdb := exec.Command("sh", "-c", "exec gdb -batch "+match[1]+" -ex 'info proc exe'")
				shown, err := gdb.CombinedOutput()
				if err != nil || !strings.Contains(string(shown), want) {
					t.Errorf("%s: gdb: %v: %s", who, err, shown)
				}
			}
		}
		if err := c.Wait(); c.ProcessState.ExitCode() != 1 || firstLook(said.String()) == "" {
			t.Errorf("%s: %v: %s", who, err, said.String())
		}
	}
}

func firstLook(said string) string {
	for line := range strings.Lines(said) {
		if line = strings.TrimSuffix(line, "\n"); howToLook.MatchString(line) {
			return line
		}
	}
	return ""
}

// TestSystemCallsBesideTheEvidence: of the launcher from its exec on, and of
// what it starts.
func TestSystemCallsBesideTheEvidence(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("not run: strace is not installed")
	}
	program, capsule := naiveCapsule(t)
	kept := filepath.Join(t.TempDir(), "kept")
	c := exec.Command(program, "repro", capsule, "--strace", "--keep", "--out", kept, "-q")
	said, err := c.CombinedOutput()
	if c.ProcessState == nil || c.ProcessState.ExitCode() != 1 {
		t.Fatalf("%v: %s", err, said)
	}
	traced, err := os.ReadFile(filepath.Join(kept, "attempts", "direct-unjailed", "T06-partial-line", "000", straceFile))
	for _, want := range []string{"execve(", "naive-exec", "strategy.so", "+++ exited with"} {
		if err != nil || !strings.Contains(string(traced), want) {
			t.Errorf("no %q in the calls: %v", want, err)
		}
	}
	if _, err := os.Stat(filepath.Join(kept, "attempts", "direct-unjailed", "T06-partial-line", "000", "strategy.so")); err != nil {
		t.Errorf("the library is not kept: %v", err)
	}
	_, scratch, _ := strings.Cut(string(said), "scratch  ")
	scratch, _, _ = strings.Cut(scratch, "\n")
	if compiled, err := filepath.Glob(filepath.Join(scratch, "fixtures", "*.so")); scratch == "" || err != nil || len(compiled) == 0 {
		t.Fatalf("no compiled fixture in the scratch that it names: %s", said)
	}
	if err := os.RemoveAll(scratch); err != nil {
		t.Error(err)
	}
}

// TestMissingToolIsOneLine: gdb and strace are asked for before anything runs.
func TestMissingToolIsOneLine(t *testing.T) {
	program, capsule := naiveCapsule(t)
	for _, flags := range [][]string{{"--gdb", "S"}, {"--strace", "--keep"}, {"--gdb", "S", "--strace", "--keep"}} {
		c := exec.Command(program, append([]string{"repro", capsule}, flags...)...)
		c.Env = []string{"PATH=/nowhere"}
		said, _ := c.CombinedOutput()
		lines := strings.Split(strings.TrimSpace(string(said)), "\n")
		if c.ProcessState.ExitCode() != 64 || !strings.HasPrefix(lines[len(lines)-1], "touchstone: usage: --gdb and --strace") &&
			!strings.Contains(lines[len(lines)-1], "is not installed; install it") {
			t.Errorf("%q: %s", flags, said)
		}
	}
}
