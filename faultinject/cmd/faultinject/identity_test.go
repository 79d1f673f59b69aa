package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestIdentity: a name means an object, not a number, however its descriptors
// come and go; and a binding by dev:ino, by path and by memfd name are one.
func TestIdentity(t *testing.T) {
	needTracing(t)
	for _, c := range []struct{ bind, rule, failed string }{
		{"by-path A", "on write fd F ; do errno EIO ; times inf", "AAAA"},
		{"by-path B", "on write fd F ; do errno EIO ; times inf", "BB"},
		{"by-inode A", "on write fd F ; do errno EIO ; times inf", "AAAA"},
		{"memfd", "on write fd F ; do errno EIO ; times inf", "M"},
		{"by-path A", "on write fd F ; at call 3 ; do errno EIO", "A"},
		{"by-path A", "on write fd F ; at bytes 2 ; do errno EIO ; times 2", "AA"},
		{"by-path A", "on write arg0>2 ; at call 2 ; do errno EIO ; times inf ; scope fd", "ABAA"},
	} {
		t.Run(c.bind+" "+c.rule, func(t *testing.T) {
			dir := t.TempDir()
			var s setting
			switch c.bind {
			case "memfd":
				s.rules = []string{"bind F: memfd scratch"}
			case "by-inode A":
				f, err := os.Create(filepath.Join(dir, "A"))
				if err != nil {
					t.Fatal(err)
				}
				var st unix.Stat_t
				if err := unix.Fstat(int(f.Fd()), &st); err != nil {
					t.Fatal(err)
				}
				f.Close()
				s.options = []string{"--fd", fmt.Sprintf("F=%d:%d:w", st.Dev, st.Ino)}
			default:
				s.rules = []string{"bind F: path " + dir + "/" + c.bind[len("by-path "):]}
			}
			s.rules = append(s.rules, "rule a: "+c.rule)
			s.argv = []string{target("renumber"), dir}
			o := s.run(t).exits(0)
			if want := c.failed + "\n"; o.stderr != want {
				t.Errorf("failed writes: got %q, want %q", o.stderr, want)
			}
			a, _ := os.ReadFile(filepath.Join(dir, "A"))
			b, _ := os.ReadFile(filepath.Join(dir, "B"))
			failed := 0
			for _, l := range c.failed {
				if l != 'M' {
					failed++
				}
			}
			if len(a)+len(b) != 6-failed {
				t.Errorf("files: got %d and %d bytes, want %d together", len(a), len(b), 6-failed)
			}
		})
	}
}

// TestDirection: both ends of a pipe are one inode; the direction tells them
// apart.
func TestDirection(t *testing.T) {
	needTracing(t)
	for _, c := range []struct {
		dir  string
		code int
	}{{"w", 0}, {"any", 0}, {"r", 3}} {
		r, w := pipe(t)
		setting{rules: []string{"rule a: on write fd P ; do mark"}, options: []string{"--fd", "P=@3:" + c.dir},
			extra: []*os.File{r}, argv: []string{target("send_pattern"), "write", "10", "10"}, out: w}.run(t).exits(c.code)
	}
}

// TestAnonymousInodesAreRefused: every eventfd is the same inode.
func TestAnonymousInodesAreRefused(t *testing.T) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "eventfd")
	defer f.Close()
	setting{options: []string{"--fd", "E=@3"}, extra: []*os.File{f}, argv: []string{"/bin/true"}}.run(t).
		exits(64).says("anonymous inode")
}

// TestRuleFiles: text and JSON are one language.
func TestRuleFiles(t *testing.T) {
	needTracing(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"rules":      "# the second write\nrule a: on write fd O ; at call 2 ; do errno EIO\n",
		"rules.json": `{"rules":[{"id":"a","on":{"calls":["write"],"fd":"O"},"at":{"call":2},"do":{"action":"errno","errno":"EIO"}}]}`,
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		out, read := fileOut(t)
		setting{options: []string{"-f", path, "--fd", "O=@1"}, argv: []string{target("spawn_tree")}, out: out}.run(t).
			exits(0).says("failed=thread")
		if got := string(read()); got != "mfve" {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// TestScript: the role S of a script is its interpreter's.
func TestScript(t *testing.T) {
	needTracing(t)
	path := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho one\necho two\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	out, read := fileOut(t)
	o := setting{rules: []string{"rule a: on write fd O ; at call 2 ; do errno EIO"}, options: []string{"--fd", "O=@1"},
		argv: []string{path}, out: out}.run(t)
	if o.exits(0).one("a", "realised").Role != "S" || string(read()) != "one\n" {
		t.Errorf("got %q", read())
	}
}

// TestBytePositions: errors and cuts at a byte, and rules that follow one
// another through a byte count.
func TestBytePositions(t *testing.T) {
	needTracing(t)
	for _, c := range []struct {
		rules []string
		says  string
		bytes int
		exit  int
	}{
		{[]string{"rule a: on write fd O ; at bytes 450 ; do errno ENOSPC"}, "sent=450 short=1 eintr=0 zero=0 errno=28", 450, 1},
		{[]string{"rule a: on write fd O ; at bytes 600 ; do errno ENOSPC"}, "sent=600 short=0 eintr=0 zero=0 errno=28", 600, 1},
		{[]string{"rule a: on write fd O ; at bytes 450 ; do clamp"}, "sent=1000 short=1", 1000, 0},
		{[]string{"rule a: on write fd O ; at bytes 0 ; do errno EIO"}, "sent=0 short=0 eintr=0 zero=0 errno=5", 0, 1},
		{[]string{"rule last: on write fd O ; at bytes 1000 ; do mark", "rule a: on write arg0==2 ; at call 1 after last ; do errno EIO"},
			"", 1000, 0},
	} {
		out, read := fileOut(t)
		o := setting{rules: c.rules, options: []string{"--fd", "O=@1"}, argv: []string{target("send_pattern"), "write", "1000", "300"}, out: out}.run(t)
		o.exits(0).says(c.says).one("a", "realised")
		if got := len(read()); got != c.bytes || *o.final().Exit != c.exit {
			t.Errorf("%v: got %d bytes and exit %d, want %d and %d", c.rules, got, *o.final().Exit, c.bytes, c.exit)
		}
	}
}

// TestEndIsSeen: when the target closes the last descriptor of a pipe, its
// reader sees the end, although the close was made to fail and the target
// and its tracer live on.
func TestEndIsSeen(t *testing.T) {
	needTracing(t)
	r, w := pipe(t)
	in, hold := pipe(t) // the target ends when this ends
	done := make(chan outcome, 1)
	go func() {
		done <- setting{rules: []string{"rule a: on close,dup2,dup3 arg0==1 ; do errno EIO ; effect after"},
			argv: []string{"/bin/sh", "-c", "echo x; exec 1>&-; read -r line; exit 7"}, options: []string{"--pass-status"}, in: in, out: w}.run(t)
	}()
	buffer := make([]byte, 10)
	if n, err := r.Read(buffer); n != 2 || err != nil {
		t.Fatalf("got %d bytes, %v", n, err)
	}
	until(t, "the command's start", func() bool { return len(processes(t, target("faultinject"))) > 0 })
	w.Close()
	if n, err := r.Read(buffer); n != 0 || err == nil {
		t.Errorf("got %d bytes, %v, want the end", n, err)
	}
	hold.Close()
	o := <-done
	o.exits(7)
	if l := o.one("a", "realised"); number(l.Delivered) != -5 || number(l.Returned) != 0 {
		t.Errorf("evidence: got %+v", l)
	}
}
