package finalizer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFinalizerUsage: what is refused before anything is touched.
func TestFinalizerUsage(t *testing.T) {
	target := filepath.Join(t.TempDir(), "target")
	if err := os.WriteFile(target, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{
		"", "--max-bytes 1", "--out", "--out -", "--out - --max-bytes 0", "--out=- --max-bytes=00", "--out - --max-bytes -1",
		"--out T --max-bytes +1", "--out T --max-bytes 1.0", "--out T --max-bytes 0x10", "--out T --max-bytes=", "--out T --max-bytes 1_0",
		"--out T --max-bytes 9007199254740991", "--out T --max-bytes 99999999999999999999", "--out T --max-bytes 1 --max-bytes 1",
		"--out T --out T", "--out T --out-fd 3", "--out-fd 2", "--out-fd x", "--out-fd 2147483648", "--out T --receipt-fd 0",
		"--out - --max-bytes 1 --receipt-fd 1", "--out T --receipt-fd -1", "--out T --receipt-fd 2147483648", "--out T --bogus",
		"--out T more", "--help", "--out=", "--out .", "--out ..", "--out T/", "--out T/..",
	} {
		args := strings.Fields(strings.ReplaceAll(words, "T", target))
		got := finalize(t, command{args: args, stdin: []byte("x")})
		line := got.stdout
		if len(line) == 0 { // stdout is the stream, or could be
			line = got.stderr
		}
		if got.exit != 2 || !bytes.HasPrefix(line, []byte(`{"receipt":"touchstone-finalizer","version":1,"finalizer_version":"1.0.0",`+
			`"complete":false,"reason":"usage","sink_bytes":0,`)) || bytes.Count(line, []byte("\n")) != 1 {
			t.Errorf("%q: exit %d, receipt %s", words, got.exit, line)
		}
		if old, err := os.ReadFile(target); err != nil || string(old) != "old" {
			t.Errorf("%q: the old target is %q, %v", words, old, err)
		}
	}
}

// TestFinalizerOneDescriptorForBoth: the receipt would end in the artifact.
func TestFinalizerOneDescriptorForBoth(t *testing.T) {
	f := memory(t, 0)
	got := finalize(t, command{args: []string{"--out-fd=3", "--receipt-fd=3"}, extra: []*os.File{f}})
	if got.exit != 2 || !bytes.Contains(content(t, f), []byte(`"reason":"usage"`)) {
		t.Errorf("exit %d, file %q", got.exit, content(t, f))
	}
}

// TestFinalizerOpenFails: targets and receipts that cannot be.
func TestFinalizerOpenFails(t *testing.T) {
	folder := t.TempDir()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer errors.Join(reader.Close(), writer.Close())
	readOnly, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer readOnly.Close()
	for name, r := range map[string]command{
		"folder as target":       {args: []string{"--out", folder}},
		"folder missing":         {args: []string{"--out", folder + "/missing/target"}},
		"file as folder":         {args: []string{"--out", program + "/target"}},
		"inherited is missing":   {args: []string{"--out-fd=77"}},
		"inherited is a pipe":    {args: []string{"--out-fd=3"}, extra: []*os.File{writer}},
		"inherited is a device":  {args: []string{"--out-fd=3"}, extra: []*os.File{readOnly}},
		"inherited is sealed":    {args: []string{"--out-fd=3"}, extra: []*os.File{memory(t, unix.F_SEAL_WRITE)}},
		"sealed against growing": {args: []string{"--out-fd=3"}, extra: []*os.File{memory(t, unix.F_SEAL_GROW)}},
	} {
		r.stdin = []byte("x")
		got := finalize(t, r)
		if got.exit != 5 || !bytes.Contains(got.stdout, []byte(`"complete":false,"reason":"io",`)) {
			t.Errorf("%s: exit %d, receipt %s, stderr %s", name, got.exit, got.stdout, got.stderr)
		}
	}
	target := filepath.Join(folder, "target")
	got := finalize(t, command{args: []string{"--out", target, "--receipt-fd=77"}, stdin: []byte("x")})
	if _, err := os.Stat(target); got.exit != 5 || !os.IsNotExist(err) {
		t.Errorf("no receipt descriptor: exit %d, target %v", got.exit, err)
	}
}

// TestFinalizerReceiptFails: without a receipt nothing is complete, and the
// exit says so whatever it was before.
func TestFinalizerReceiptFails(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	reader, closed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer closed.Close()
	reader.Close()
	whole := goldenStreams(t)["populated"]
	for _, receipt := range []*os.File{full, closed} {
		for _, capBytes := range []string{"100000", "0", "1317"} {
			folder := t.TempDir()
			got := finalize(t, command{args: []string{"--out", folder + "/target", "--receipt-fd=3", "--max-bytes", capBytes},
				stdin: whole, extra: []*os.File{receipt}})
			if left, err := os.ReadDir(folder); got.exit != 5 || err != nil || len(left) != 0 {
				t.Errorf("cap %s: exit %d, left %v %v", capBytes, got.exit, left, err)
			}
		}
	}
	got := finalize(t, command{args: []string{"--out=-", "--max-bytes=1", "--receipt-fd=3"}, stdin: whole, extra: []*os.File{full}})
	if got.exit != 5 || string(got.stdout) != "{" {
		t.Errorf("stream: exit %d, stdout %q", got.exit, got.stdout)
	}
}

// TestFinalizerCleanupFails: what was retained cannot be removed, so the exit
// is no longer the verdict's.
func TestFinalizerCleanupFails(t *testing.T) {
	whole := goldenStreams(t)["populated"]
	for _, capBytes := range []string{"1317", "100000"} {
		got := finalize(t, command{args: []string{"--out-fd=3", "--max-bytes", capBytes}, stdin: whole[:len(whole)-1],
			extra: []*os.File{memory(t, unix.F_SEAL_SHRINK)}})
		wantReceipt(t, got, got.stdout, 5, "io", 1317, capBytes) // instead of 6
	}
	got := finalize(t, command{args: []string{"--out-fd=3", "--max-bytes=10"}, stdin: whole, extra: []*os.File{memory(t, unix.F_SEAL_SHRINK)}})
	wantReceipt(t, got, got.stdout, 5, "io", 11, "10") // instead of 8

	folder := t.TempDir()
	got = finalize(t, command{args: []string{"--out", folder + "/target", "--max-bytes=200000"}, feed: func(w *os.File, _ int) error {
		_, err := w.Write(make([]byte, 100_000)) // more than a pipe holds: the temporary is there
		return errors.Join(err, removeAll(folder))
	}})
	wantReceipt(t, got, got.stdout, 5, "io", 100_000, "200000")
}

// removeAll empties a folder.
func removeAll(folder string) error {
	entries, err := os.ReadDir(folder)
	if err == nil && len(entries) == 0 {
		err = errors.New("nothing to remove")
	}
	for _, entry := range entries {
		err = errors.Join(err, os.Remove(filepath.Join(folder, entry.Name())))
	}
	return err
}

// TestFinalizerRenameFails: late, and nothing is left.
func TestFinalizerRenameFails(t *testing.T) {
	whole := goldenStreams(t)["long-line-exact"]
	folder := t.TempDir()
	target := filepath.Join(folder, "target")
	got := finalize(t, command{args: []string{"--out", target}, feed: func(w *os.File, _ int) error {
		_, err := w.Write(whole)
		return errors.Join(err, os.Mkdir(target, 0o755)) // a file cannot replace it
	}})
	wantReceipt(t, got, got.stdout, 7, "late", int64(len(whole)), "null")
	if left, err := os.ReadDir(folder); err != nil || len(left) != 1 || !left[0].IsDir() {
		t.Errorf("left %v, %v", left, err)
	}
}

// TestFinalizerPeerCloses: a reader that goes is EPIPE, never a signal.
func TestFinalizerPeerCloses(t *testing.T) {
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	reader.Close()
	got := finalize(t, command{args: []string{"--out=-", "--max-bytes=10000"}, stdin: []byte("x"), stdout: writer})
	wantReceipt(t, got, got.stderr, 5, "io", 1, "10000")
}

// TestFinalizerNonblocking: nonblocking descriptors in small portions give the
// same bytes.
func TestFinalizerNonblocking(t *testing.T) {
	whole := goldenStreams(t)["long-line-exact"]
	input, feed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	drain, output, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*os.File{input, output} {
		if err := unix.SetNonblock(int(f.Fd()), true); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := unix.FcntlInt(output.Fd(), unix.F_SETPIPE_SZ, 4096); err != nil {
		t.Fatal(err)
	}
	fed, drained := make(chan error, 1), make(chan []byte, 1)
	go func() {
		var err error
		for rest := whole; err == nil && len(rest) > 0; {
			n := min(len(rest), 1000)
			_, err = feed.Write(rest[:n])
			rest = rest[n:]
		}
		fed <- errors.Join(err, feed.Close())
	}()
	go func() {
		got, _ := io.ReadAll(drain) // compared below
		drained <- got
	}()
	got := finalize(t, command{args: []string{"--out=-", "--max-bytes", number(int64(len(whole)))}, input: input, stdout: output})
	errs := errors.Join(input.Close(), output.Close(), <-fed)
	if bytesGot := <-drained; got.exit != 0 || errs != nil || !bytes.Equal(bytesGot, whole) {
		t.Errorf("exit %d, %d bytes of %d, %v, stderr %s", got.exit, len(bytesGot), len(whole), errs, got.stderr)
	}
	drain.Close()
}

// TestFinalizerInjected makes one system call fail or end early: the nth of its
// kind that a calm run makes on the wanted file. The finalizer makes all its
// calls on one thread, as strace counts them.
func TestFinalizerInjected(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("not run: needs strace")
	}
	whole := goldenStreams(t)["populated"]
	size := int64(len(whole))
	for _, c := range []struct {
		call, on string // the first such call whose trace has this
		fault    string
		exit     int
		reason   string
		read     int64
	}{
		{"read", "read(0", "error=EINTR", 0, "", size},
		{"read", "read(0", "error=EAGAIN", 0, "", size},
		{"read", "read(0", "error=EIO", 5, "io", 0},
		{"pwrite64", ".reffinal-", "error=EINTR", 0, "", size},
		{"pwrite64", ".reffinal-", "error=EAGAIN", 0, "", size},
		{"pwrite64", ".reffinal-", "error=ENOSPC", 5, "io", size},
		{"pwrite64", ".reffinal-", "retval=0", 5, "io", size},
		{"fsync", ".reffinal-", "error=EINTR", 0, "", size},
		{"fsync", ".reffinal-", "error=EIO", 5, "io", size},
		{"fsync", "/001>", "error=EIO", 7, "late", size}, // the folder
		{"renameat", ".reffinal-", "error=EIO", 7, "late", size},
		{"unlinkat", "target", "error=EACCES", 5, "io", 0},
		{"close", ".reffinal-", "error=EIO", 7, "late", size},
		{"close", ".reffinal-", "error=EINTR", 7, "late", size},
		{"write", "write(1", "error=EINTR", 0, "", size},
		{"write", "write(1", "error=EAGAIN", 0, "", size},
	} {
		t.Run(c.call+" "+c.fault, func(t *testing.T) {
			folder, trace := t.TempDir(), filepath.Join(t.TempDir(), "trace")
			traced := func(more ...string) ended {
				prefix := append([]string{strace, "-f", "-y", "-o", trace, "-e", "trace=" + c.call}, more...)
				return finalize(t, command{args: []string{"--out", folder + "/target"}, stdin: whole, prefix: prefix})
			}
			traced()
			nth := position(t, trace, c.on)
			got := traced("-e", fmt.Sprintf("inject=%s:%s:when=%d", c.call, c.fault, nth))
			wantInjected(t, trace, c.on)
			wantReceipt(t, got, got.stdout, c.exit, c.reason, c.read, "null")
			left, err := os.ReadDir(folder)
			if want := map[bool]int{true: 1, false: 0}[c.exit == 0 || c.call == "unlinkat"]; err != nil || len(left) != want {
				t.Errorf("left %v, %v, want %d files", left, err, want)
			}
		})
	}
}

// TestFinalizerInjectedElsewhere: the late failures of the other two modes.
func TestFinalizerInjectedElsewhere(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("not run: needs strace")
	}
	whole := goldenStreams(t)["populated"]
	for _, c := range []struct {
		call, on, args, fault string
		exit                  int
		reason                string
	}{
		{"close", "close(1", "--out=- --receipt-fd=3", "error=EIO", 7, "late"},
		{"write", "write(1", "--out=- --receipt-fd=3", "retval=0", 5, "io"},
		{"write", "write(1", "--out=- --receipt-fd=3", "error=EINTR", 0, ""},
		{"fsync", "fsync(4", "--out-fd=4 --receipt-fd=3", "error=EIO", 5, "io"},
		{"close", "close(4", "--out-fd=4 --receipt-fd=3", "error=EIO", 7, "late"},
		{"pwrite64", "pwrite64(4", "--out-fd=4 --receipt-fd=3", "error=EDQUOT", 5, "io"},
		{"ftruncate", "ftruncate(4", "--out-fd=4 --receipt-fd=3", "error=EIO", 5, "io"},
	} {
		t.Run(c.call+" "+c.fault, func(t *testing.T) {
			trace := filepath.Join(t.TempDir(), "trace")
			traced := func(more ...string) (ended, *os.File) {
				receipt, retained := memory(t, 0), memory(t, 0)
				if _, err := retained.WriteString("old"); err != nil {
					t.Fatal(err)
				}
				prefix := append([]string{strace, "-f", "-y", "-o", trace, "-e", "trace=" + c.call}, more...)
				return finalize(t, command{args: append(strings.Fields(c.args), "--max-bytes=1318"), stdin: whole, prefix: prefix,
					extra: []*os.File{receipt, retained}}), receipt
			}
			traced()
			got, receipt := traced("-e", fmt.Sprintf("inject=%s:%s:when=%d", c.call, c.fault, position(t, trace, c.on)))
			wantInjected(t, trace, c.on)
			read := int64(1318)
			if c.call == "ftruncate" {
				read = 0
			}
			wantReceipt(t, got, content(t, receipt), c.exit, c.reason, read, "1318")
		})
	}
}

// position returns which of its thread's calls is the first on a file, from 1.
func position(t *testing.T, trace, on string) int {
	t.Helper()
	seen := map[string]int{}
	for _, c := range calls(t, trace) {
		if seen[c.thread]++; strings.Contains(c.text, on) {
			return seen[c.thread]
		}
	}
	t.Fatalf("no call on %s: %v", on, calls(t, trace))
	return 0
}

func wantInjected(t *testing.T, trace, on string) {
	t.Helper()
	for _, c := range calls(t, trace) {
		if strings.Contains(c.text, "(INJECTED)") && strings.Contains(c.text, on) {
			return
		}
	}
	t.Errorf("no call on %s was injected: %v", on, calls(t, trace))
}

// call is one call of a trace, its two lines joined where another came between.
type call struct{ thread, text string }

func calls(t *testing.T, trace string) []call {
	t.Helper()
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	var all []call
	last := map[string]int{} // of each thread
	for line := range strings.Lines(string(text)) {
		thread, text, _ := strings.Cut(line, " ")
		text = strings.TrimSpace(text)
		switch {
		case strings.HasPrefix(text, "+++") || strings.HasPrefix(text, "---"): // an exit or a signal
		case strings.HasPrefix(text, "<..."):
			all[last[thread]].text += text
		default:
			last[thread] = len(all)
			all = append(all, call{thread, text})
		}
	}
	return all
}
