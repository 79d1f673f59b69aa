package jail

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const programsVariable = "JAIL_TEST_PROGRAMS"

// toRemove is the folder that this process has made.
var toRemove string

// programs are compiled once per run.
type programs struct{ folder string }

var compiled = sync.OnceValues(func() (programs, error) {
	if folder := os.Getenv(programsVariable); folder != "" {
		return programs{folder}, nil // of the test process that started this one
	}
	folder, err := os.MkdirTemp("", "jail-test-")
	if err != nil {
		return programs{}, err
	}
	toRemove = folder
	sources, err := filepath.Glob("launcher/*.c")
	if err != nil {
		return programs{}, err
	}
	p := programs{folder}
	if err := compile(p.path("launcher"), sources...); err != nil {
		return p, err
	}
	probes, err := filepath.Glob("testdata/*.c")
	for _, probe := range probes {
		name := strings.TrimSuffix(filepath.Base(probe), ".c")
		if err := compile(p.path(name), probe); err != nil {
			return p, err
		}
	}
	return p, err
})

func (p programs) path(name string) string { return filepath.Join(p.folder, name) }

func compile(target string, sources ...string) error {
	arguments := append([]string{"-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-static", "-o", target}, sources...)
	output, err := exec.Command("gcc", arguments...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("compile %s: %w\n%s", target, err, output)
	}
	return nil
}

func TestMain(m *testing.M) {
	code := m.Run()
	if toRemove != "" {
		_ = os.RemoveAll(toRemove) // the system's temporary folder anyway
	}
	os.Exit(code)
}

// again returns a command that runs one test of this program in a process of
// its own, under the named variable and with the same compiled programs.
func again(t *testing.T, test, variable string, through ...string) *exec.Cmd {
	t.Helper()
	requireRoot(t)
	p, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	words := append(through, os.Args[0], "-test.run=^"+test+"$")
	command := exec.Command(words[0], words[1:]...)
	command.Env = append(os.Environ(), variable+"=1", programsVariable+"="+p.folder)
	return command
}

// bench is one domain's surroundings in a test.
type bench struct {
	spec   Spec
	output int // read end of the producer's fd 1 and 2
}

func requireRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("not run: needs root")
	}
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("not run: needs gcc")
	}
}

// newBench returns a spec for one of the programs, its output on a pipe.
func newBench(t testing.TB, program string, arguments ...string) *bench {
	t.Helper()
	requireRoot(t)
	p, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, fd := range []int{pipe[0], pipe[1], null} {
			_ = unix.Close(fd) // a test's own; the write end may be closed already
		}
	})
	return &bench{output: pipe[0], spec: Spec{
		Helper: p.path("launcher"), UID: 200001, Exe: p.path(program),
		Argv: append([]string{program}, arguments...), Env: []string{"LANG=C"},
		FDs:          map[int]int{0: null, 1: pipe[1], 2: pipe[1]},
		ScratchBytes: 1 << 20, ScratchFiles: 16, Deadline: time.Now().Add(20 * time.Second),
	}}
}

// start returns an attested domain that is closed with the test.
func (b *bench) start(t testing.TB) *Domain {
	t.Helper()
	d, err := Start(b.spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := d.Attest(); err != nil {
		t.Fatal(err)
	}
	return d
}

// finish waits for the producer, then ends the domain and proves it empty.
func finish(t testing.TB, d *Domain) Status {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	if err := waitFor(d.Producer.FD, unix.POLLIN, deadline); err != nil {
		t.Fatalf("producer: %v", err)
	}
	status, done, err := d.ReapProducer()
	if err != nil || !done {
		t.Fatalf("reap producer: %v %v", done, err)
	}
	if err := d.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := waitFor(d.Init.FD, unix.POLLIN, deadline); err != nil {
		t.Fatalf("init: %v", err)
	}
	if done, err := d.ReapInit(); err != nil || !done {
		t.Fatalf("reap init: %v %v", done, err)
	}
	return status
}

// read returns what is in the pipe, at most 64 KiB.
func (b *bench) read(t testing.TB) string {
	t.Helper()
	if err := unix.SetNonblock(b.output, true); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 1<<16)
	n, err := unix.Read(b.output, buffer)
	if err != nil && err != unix.EAGAIN {
		t.Fatal(err)
	}
	return string(buffer[:max(n, 0)])
}
