package supervisor_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"touchstone/reference/sinkwire"
)

// endpoint is how the host gives and reads an inherited sink.
type endpoint int

const (
	noSink endpoint = iota
	readSink
	closedSink  // its reader has gone before S starts
	stalledSink // it is not read before S has ended
)

// sinkNumber is S's number of the inherited sink.
const sinkNumber = "6"

// verification is the record's own.
type verification struct {
	Exit     *int              `json:"exit_status"`
	Signal   *int              `json:"signal"`
	Complete bool              `json:"complete"`
	Counts   map[string]*int64 `json:"counts"`
	SHA256   *string           `json:"sha256"`
	Version  *string           `json:"finalizer_version"`
}

// sinkEndpoint gives S the inherited sink, if there is one.
func (l launch) sinkEndpoint(t testing.TB, command *exec.Cmd) pipe {
	t.Helper()
	if l.sinkTo == noSink {
		return pipe{}
	}
	p := newPipe(t)
	command.ExtraFiles = append(command.ExtraFiles, p.write)
	command.Args = append(command.Args, "--report-sink-fd", sinkNumber)
	if l.sinkTo == closedSink {
		_ = p.read.Close() // nothing was read
	}
	return p
}

// streamFile is a file that the producer can read.
func streamFile(t testing.TB, content []byte) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(folder+"/stream", content, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Dir(folder), folder} {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return folder + "/stream"
}

// stream is a valid sink of exactly size bytes, most of it event texts.
func stream(t testing.TB, size int) []byte {
	t.Helper()
	make := func(pads ...int) []byte {
		var to bytes.Buffer
		w, err := sinkwire.NewWriter(&to, sinkwire.EngineColumns())
		for _, pad := range pads {
			if err == nil {
				err = w.Record('X', sinkwire.Integer(1), sinkwire.Text("log"), sinkwire.Text(strings.Repeat("x", pad)))
			}
		}
		if err == nil {
			err = w.Finish()
		}
		if err != nil {
			t.Fatal(err)
		}
		return to.Bytes()
	}
	const chunk = 1 << 19
	var pads []int
	for size-len(make(append(pads, 0, 0)...)) > 2*chunk {
		for range max(1, (size-len(make(pads...)))/chunk-2) {
			pads = append(pads, chunk-20)
		}
	}
	pads = append(pads, 0)
	missing := size - len(make(pads...))
	if missing < 0 {
		t.Fatalf("a sink of %d bytes is too short by %d", size, -missing)
	}
	pads[len(pads)-1] = missing
	got := make(pads...)
	if len(got) != size { // the count got one digit longer
		t.Fatalf("sink of %d bytes, want %d", len(got), size)
	}
	return got
}

// golden is one of the contract's streams.
func golden(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile("../../contracts/sink/" + name + ".ndjson")
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// logical is the digest of the bytes before the trailer.
func logical(b []byte) string {
	return digest(b[:bytes.LastIndexByte(b[:len(b)-1], '\n')+1])
}

// child finds the child of a process that runs a program, by its name. The
// kernel's list may miss one while another ends, so it is read again.
func child(t testing.TB, parent int, name string) int {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
		if err != nil {
			t.Fatal(err)
		}
		for _, list := range lists {
			text, _ := os.ReadFile(list) // a thread that has gone had none
			for _, pid := range strings.Fields(string(text)) {
				if path, err := os.Readlink("/proc/" + pid + "/exe"); err == nil && filepath.Base(path) == name {
					n, _ := strconv.Atoi(pid) // the kernel writes numbers
					return n
				}
			}
		}
	}
	t.Errorf("process %d has no child %s", parent, name)
	return -1
}

// signalChild returns a control that sends a signal to a child of S.
func signalChild(t testing.TB, name string, signal unix.Signal) func(*os.Process) {
	return func(s *os.Process) {
		if pid := child(t, s.Pid, name); pid > 0 {
			if err := unix.Kill(pid, signal); err != nil {
				t.Error(err)
			}
		}
	}
}

// verdict is what the finalizer's own end was: its exit, or its signal.
func (r result) verdict() string {
	switch v := r.record.Sink; {
	case v == nil:
		return "none"
	case v.Signal != nil:
		return fmt.Sprintf("signal %d", *v.Signal)
	case v.Exit == nil:
		return "unknown"
	default:
		return fmt.Sprintf("exit %d complete=%t", *v.Exit, v.Complete)
	}
}

// verdictIs holds the finalizer's end against the wanted one. On a machine so
// busy that its while is over before it has ended, it is killed.
func (r result) verdictIs(t testing.TB, want string) {
	t.Helper()
	if got := r.verdict(); got != want && (got != "signal 9" || r.elapsed < 750*time.Millisecond) {
		t.Errorf("finalizer: %s, want %s", got, want)
	}
}

// calm is how long an attempt takes here and now that does nothing.
func calm(t testing.TB) time.Duration {
	t.Helper()
	r := launch{actor: "report=900"}.run(t)
	r.wants(t, 0, "")
	return r.elapsed
}

// lifetime is a W that an attempt reaches only if it waits, and how long it may
// then take.
func lifetime(t testing.TB) (args []string, most time.Duration) {
	wall := time.Second + 4*calm(t)
	return []string{"--channel-wall-ms", strconv.FormatInt(wall.Milliseconds(), 10)}, wall + 3*time.Second
}

// sinkIs holds the sink's entry against a whole, delivered stream.
func (r result) sinkIs(t testing.TB, want []byte, written int64) {
	t.Helper()
	n, entry, v := int64(len(want)), r.record.Channels["sink"], r.record.Sink
	if entry.Observed != n || entry.Accepted != n || *entry.Written != written || !entry.Complete || entry.Truncated || !entry.Known {
		t.Errorf("sink %+v, want %d bytes, %d written", entry, n, written)
	}
	text := func(s *string) string {
		if s == nil {
			return "null"
		}
		return *s
	}
	external := "null"
	if written > 0 {
		external = digest(want)
	}
	if text(entry.SHA256) != external || text(entry.Approved) != digest(want) || text(entry.Logical) != logical(want) {
		t.Errorf("digests %s %s %s", text(entry.SHA256), text(entry.Approved), text(entry.Logical))
	}
	if r.verdict() != "exit 0 complete=true" || text(v.SHA256) != logical(want) || v.Version == nil || len(v.Counts) != 7 || v.Counts["X"] == nil {
		t.Errorf("verification %+v", v)
	}
}
