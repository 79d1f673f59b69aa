package finalizer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"touchstone/reference/sinkwire"
)

// program is the finalizer as built.
var program string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		folder, err := os.MkdirTemp("", "reffinal")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(folder)
		program = filepath.Join(folder, "reffinal")
		build := exec.Command("go", "build", "-o", program, "../cmd/reffinal")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if said, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build: %v: %s\n", err, said)
			return 1
		}
		return m.Run()
	}())
}

// command is one run of the finalizer.
type command struct {
	args   []string
	stdin  []byte
	input  *os.File                        // instead of stdin
	stdout *os.File                        // instead of capturing it
	extra  []*os.File                      // 3 and on
	prefix []string                        // a command before the program
	feed   func(w *os.File, pid int) error // writes stdin instead
}

// ended is what came of it.
type ended struct {
	exit           int
	stdout, stderr []byte
}

// finalize runs the finalizer to its end. A run of more than a minute hangs: it
// is killed and fails the test.
func finalize(t *testing.T, r command) ended {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	words := append(append(r.prefix, program), r.args...)
	c := exec.CommandContext(ctx, words[0], words[1:]...)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr, c.ExtraFiles = &stdout, &stderr, r.extra
	if r.stdout != nil {
		c.Stdout = r.stdout
	}
	if r.input != nil {
		c.Stdin = r.input
	}
	feed := r.feed
	if feed == nil {
		feed = func(w *os.File, _ int) error { _, err := w.Write(r.stdin); return err }
	}
	var writer *os.File
	if r.input == nil {
		reader, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Close()
		c.Stdin, writer = reader, w
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if writer != nil {
		c.Stdin.(*os.File).Close() // or a finalizer that stops reading would not be noticed
		if err := errors.Join(feed(writer, c.Process.Pid), writer.Close()); err != nil && !errors.Is(err, unix.EPIPE) {
			t.Errorf("feed: %v", err)
		}
	}
	err := c.Wait()
	if status := c.ProcessState; !status.Exited() || ctx.Err() != nil {
		t.Fatalf("reffinal %q: %v, %v, stderr %s", r.args, err, ctx.Err(), stderr.Bytes())
	}
	return ended{exit: c.ProcessState.ExitCode(), stdout: stdout.Bytes(), stderr: stderr.Bytes()}
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// wantReceipt checks exit and receipt: the members that every receipt has, in
// order, by their bytes.
func wantReceipt(t *testing.T, got ended, line []byte, exit int, reason string, sinkBytes int64, capBytes string) {
	t.Helper()
	if got.exit != exit {
		t.Errorf("exit %d, want %d; stderr %s", got.exit, exit, got.stderr)
	}
	want := fmt.Sprintf(`{"receipt":"touchstone-finalizer","version":1,"finalizer_version":"1.0.0","complete":false,`+
		`"reason":%q,"sink_bytes":%d,"cap_bytes":%s,"counts":null,"sha256":null,"field":null}`+"\n", reason, sinkBytes, capBytes)
	if exit == 0 {
		want = fmt.Sprintf(`{"receipt":"touchstone-finalizer","version":1,"finalizer_version":"1.0.0","complete":true,`+
			`"reason":null,"sink_bytes":%d,"cap_bytes":%s,"counts":{"E":3,"T":1,"O":3,"V":3,"K":3,"X":2,"H":1},`+
			`"sha256":"0209b7ea0d875a158bbf467b729d927dee7a433dd204ca9876d1ad767bd0a090","field":null}`+"\n", sinkBytes, capBytes)
	}
	if string(line) != want {
		t.Errorf("receipt %s, want %s", line, want)
	}
	if !json.Valid(line) {
		t.Errorf("the receipt is not JSON: %s", line)
	}
}

// memory returns an empty file without a name, with these seals.
func memory(t *testing.T, seals int) *os.File {
	t.Helper()
	fd, err := unix.MemfdCreate("sink", unix.MFD_ALLOW_SEALING|unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "memory")
	t.Cleanup(func() { f.Close() })
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
		t.Fatal(err)
	}
	return f
}

// content returns all bytes of a file, from its beginning.
func content(t *testing.T, f *os.File) []byte {
	t.Helper()
	all, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<40))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// mode is one way to retain: how it is asked for, and what is there afterwards.
type mode struct {
	name    string
	prepare func(t *testing.T) (r command, retained func() ([]byte, bool))
}

var modes = []mode{
	{"file", func(t *testing.T) (command, func() ([]byte, bool)) {
		folder := t.TempDir()
		target := filepath.Join(folder, "target")
		if err := os.WriteFile(target, []byte("old"), 0o644); err != nil {
			t.Fatal(err)
		}
		return command{args: []string{"--out", target}}, func() ([]byte, bool) {
			bytes, err := os.ReadFile(target)
			entries, listed := os.ReadDir(folder)
			if listed != nil || err == nil && len(entries) != 1 || err != nil && len(entries) != 0 {
				t.Errorf("the folder holds %v, %v beside the target", entries, listed)
			}
			return bytes, err == nil
		}
	}},
	{"inherited", func(t *testing.T) (command, func() ([]byte, bool)) {
		f := memory(t, 0)
		if _, err := f.WriteString("old"); err != nil {
			t.Fatal(err)
		}
		return command{args: []string{"--out-fd", "3"}, extra: []*os.File{f}}, func() ([]byte, bool) {
			bytes := content(t, f)
			return bytes, len(bytes) > 0
		}
	}},
}

// TestFinalizerVerdicts: every verdict on the bytes, at every cap that matters,
// in both modes that retain.
func TestFinalizerVerdicts(t *testing.T) {
	streams := goldenStreams(t)
	whole := streams["populated"]
	size := int64(len(whole))
	for _, c := range []struct {
		stream   string
		capBytes int64 // -1: none
		exit     int
		reason   string
		read     int64
	}{
		{"populated", -1, 0, "", size}, {"populated", size, 0, "", size}, {"populated", size + 1, 0, "", size},
		{"populated", 1<<53 - 2, 0, "", size}, {"populated", size - 1, 8, "sink_exhausted", size},
		{"populated", 1, 8, "sink_exhausted", 2}, {"populated", 0, 8, "sink_exhausted", 1},
		{"empty", -1, 6, "incomplete", 0}, {"empty", 0, 6, "incomplete", 0},
		{"no-trailer", -1, 6, "incomplete", int64(len(streams["no-trailer"]))},
		{"altered-digest", -1, 4, "mismatch", size}, {"altered-counts", size, 4, "mismatch", size},
		{"after-trailer", -1, 4, "mismatch", size + 1}, {"after-trailer", size, 8, "sink_exhausted", size + 1},
		{"long-line-over", -1, 3, "grammar", int64(len(streams["long-line-over"]))},
		{"long-line-over", 4096, 8, "sink_exhausted", 4097},
	} {
		for _, m := range modes {
			t.Run(fmt.Sprintf("%s/%s/%d", m.name, c.stream, c.capBytes), func(t *testing.T) {
				r, retained := m.prepare(t)
				capBytes := "null"
				if c.capBytes >= 0 {
					capBytes = number(c.capBytes)
					r.args = append(r.args, "--max-bytes="+capBytes)
				}
				r.stdin = streams[c.stream]
				got := finalize(t, r)
				wantReceipt(t, got, got.stdout, c.exit, c.reason, c.read, capBytes)
				bytesKept, found := retained()
				if c.exit == 0 && !bytes.Equal(bytesKept, whole) || found != (c.exit == 0) {
					t.Errorf("retained %d bytes, found %t", len(bytesKept), found)
				}
				if (len(got.stderr) > 0) != (c.exit != 0) {
					t.Errorf("diagnostics %q beside exit %d", got.stderr, c.exit)
				}
			})
		}
	}
}

// TestFinalizerStream: stdout gets what is within the cap, never the probe.
func TestFinalizerStream(t *testing.T) {
	whole := goldenStreams(t)["populated"]
	size := int64(len(whole))
	for _, c := range []struct {
		capBytes, exit int64
		reason         string
		forwarded      int64
	}{{size, 0, "", size}, {size - 1, 8, "sink_exhausted", size - 1}, {1, 8, "sink_exhausted", 1}} {
		got := finalize(t, command{args: []string{"--out", "-", "--max-bytes", number(c.capBytes)}, stdin: whole})
		read := c.forwarded
		if c.exit != 0 {
			read++
		}
		wantReceipt(t, got, got.stderr, int(c.exit), c.reason, read, number(c.capBytes))
		if !bytes.Equal(got.stdout, whole[:c.forwarded]) {
			t.Errorf("cap %d: %d bytes forwarded, want %d", c.capBytes, len(got.stdout), c.forwarded)
		}
	}
	receipt := memory(t, 0)
	got := finalize(t, command{args: []string{"--out=-", "--max-bytes=" + number(size), "--receipt-fd=3"}, stdin: whole[:100],
		extra: []*os.File{receipt}})
	wantReceipt(t, got, content(t, receipt), 6, "incomplete", 100, number(size))
}

// TestFinalizerReadsNoMore: with a file as stdin its position shows what was
// read: the cap and the probe byte.
func TestFinalizerReadsNoMore(t *testing.T) {
	input := memory(t, 0)
	if _, err := input.Write(bytes.Repeat(goldenStreams(t)["populated"], 1000)); err != nil {
		t.Fatal(err)
	}
	for _, capBytes := range []int64{0, 1, 4096, chunkBytes - 1, chunkBytes, chunkBytes + 1, 1_000_000} {
		if _, err := input.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		target := memory(t, 0)
		got := finalize(t, command{args: []string{"--out-fd=3", "--max-bytes", number(capBytes)}, input: input, extra: []*os.File{target}})
		wantReceipt(t, got, got.stdout, 8, "sink_exhausted", capBytes+1, number(capBytes))
		if at, err := input.Seek(0, io.SeekCurrent); err != nil || at != capBytes+1 {
			t.Errorf("cap %d: read %d bytes, %v", capBytes, at, err)
		}
	}
}

// TestFinalizerMemory: a long stream of long lines in little memory.
func TestFinalizerMemory(t *testing.T) {
	var text bytes.Buffer
	w, err := sinkwire.NewWriter(&text, sinkwire.EngineColumns())
	for i := int64(0); err == nil && i < 12; i++ {
		err = w.Record('X', sinkwire.Integer(i), sinkwire.Text("log"), sinkwire.Text(string(bytes.Repeat([]byte("text "), 200_000))))
	}
	if err = errors.Join(err, w.Finish()); err != nil {
		t.Fatal(err)
	}
	peak := 0
	got := finalize(t, command{args: []string{"--out-fd=3", "--max-bytes=100000000"}, extra: []*os.File{memory(t, 0)},
		feed: func(w *os.File, pid int) error {
			_, err := w.Write(text.Bytes())
			status, read := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // it waits for EOF
			_, after, _ := bytes.Cut(status, []byte("VmHWM:"))
			_, scanned := fmt.Sscan(string(after), &peak)
			return errors.Join(err, read, scanned)
		}})
	if got.exit != 0 || peak == 0 || peak > 16<<10 {
		t.Errorf("exit %d, peak of %d KiB, want 0 and at most 16 MiB", got.exit, peak)
	}
	t.Logf("peak of %d KiB", peak)
}
