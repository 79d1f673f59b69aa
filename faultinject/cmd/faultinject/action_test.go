package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// pair returns two connected sockets as files.
func pair(t *testing.T, kind int) (ours, theirs *os.File) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs = os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
	t.Cleanup(func() { ours.Close(); theirs.Close() })
	return ours, theirs
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

// TestShortWrites cuts one call of every kind: the target sees the short
// transfer, its memory stays as it was, and no byte is lost.
func TestShortWrites(t *testing.T) {
	twins(t, "send_pattern", "go_send", func(t *testing.T, program string) {
		for _, c := range []struct {
			call string
			cut  int64
		}{{"write", 1}, {"write", 299}, {"pwrite64", 7}, {"writev", 1}, {"writev", 100}, {"writev", 150},
			{"pwritev", 250}, {"sendto", 7}, {"sendmsg", 120}, {"sendmsg", 200}} {
			t.Run(fmt.Sprintf("%s-%d", c.call, c.cut), func(t *testing.T) {
				out, read := fileOut(t)
				if c.call[0] == 's' {
					ours, theirs := pair(t, unix.SOCK_STREAM)
					out, read = theirs, drained(ours)
				}
				o := setting{rules: []string{fmt.Sprintf("rule a: on %s fd O ; at call 2 ; do short %d", c.call, c.cut)},
					options: []string{"--fd", "O=@1"}, argv: []string{program, c.call, "1000", "300"}, out: out}.run(t)
				out.Close()
				o.exits(0).says("sent=1000 short=1 eintr=0 zero=0 errno=0 damaged=0")
				if got := read(); !bytes.Equal(got, pattern(1000)) {
					t.Errorf("output: got %d bytes that differ from the pattern", len(got))
				}
				planned, l := o.one("a", "planned"), o.one("a", "realised")
				if l.Ordinal != 2 || number(l.Requested) != 300 || number(l.Given) != c.cut || number(l.Returned) != c.cut ||
					number(l.Delivered) != c.cut || planned.Returned != nil || l.FD.FD != 1 || l.FD.Ino == 0 || l.Call != c.call {
					t.Errorf("evidence: got %+v", l)
				}
			})
		}
	})
}

func TestShortReads(t *testing.T) {
	twins(t, "receive_pattern", "go_receive", func(t *testing.T, program string) {
		for _, call := range []string{"read", "pread64", "readv", "preadv", "recvfrom", "recvmsg"} {
			t.Run(call, func(t *testing.T) {
				var in *os.File
				if call[:4] == "recv" {
					ours, theirs := pair(t, unix.SOCK_STREAM)
					if _, err := ours.Write(pattern(5000)); err != nil {
						t.Fatal(err)
					}
					ours.Close()
					in = theirs
				} else {
					path := filepath.Join(t.TempDir(), "in")
					if err := os.WriteFile(path, pattern(5000), 0o644); err != nil {
						t.Fatal(err)
					}
					f, err := os.Open(path)
					if err != nil {
						t.Fatal(err)
					}
					defer f.Close()
					in = f
				}
				o := setting{rules: []string{"rule a: on %read fd I ; at call 3 ; do short 33"}, options: []string{"--fd", "I=@0"},
					argv: []string{program, call}, in: in}.run(t)
				o.exits(0).says("received=5000 short=1 eintr=0 wrong=0 errno=0")
				if l := o.one("a", "realised"); l.Ordinal != 3 || number(l.Returned) != 33 || l.Call != call {
					t.Errorf("evidence: got %+v", l)
				}
			})
		}
	})
}

// TestShortOnMessages: a socket that keeps messages whole is never cut, and a
// rule that asks for it has not fired.
func TestShortOnMessages(t *testing.T) {
	twins(t, "send_pattern", "go_send", func(t *testing.T, program string) {
		ours, theirs := pair(t, unix.SOCK_SEQPACKET)
		o := setting{rules: []string{"rule a: on sendmsg ; do short 7"},
			argv: []string{program, "sendmsg", "600", "300"}, out: theirs}.run(t)
		o.exits(3).says("short=0", "the action did not fit 2 calls")
		got := make([]byte, 1000)
		if n, err := ours.Read(got); err != nil || n != 300 {
			t.Errorf("first message: got %d bytes, %v, want 300", n, err)
		}
	})
}

// TestReplacedResults gives each result to one call, and the twin rule for a
// call that never comes gives exit 3.
func TestReplacedResults(t *testing.T) {
	twins(t, "send_pattern", "go_send", func(t *testing.T, program string) {
		for _, c := range []struct {
			do, says         string
			exit             int // of the target
			delivered, bytes int64
		}{
			{"errno EIO", "sent=300 short=0 eintr=0 zero=0 errno=5", 1, -5, 300},
			{"errno EBADF", "errno=9", 1, -9, 300},
			{"errno EINTR", "sent=1000 short=0 eintr=1 zero=0 errno=0", 0, -4, 1000},
			{"errno EINTR storm 40", "sent=1000 short=0 eintr=40 zero=0 errno=0", 0, -4, 1000},
			{"ret 0", "sent=1000 short=0 eintr=0 zero=1 errno=0", 0, 0, 1000},
			{"errno EIO ; effect after", "sent=300 short=0 eintr=0 zero=0 errno=5", 1, -5, 600},
		} {
			t.Run(c.do, func(t *testing.T) {
				out, read := fileOut(t)
				o := setting{rules: []string{"rule a: on %write fd O ; at call 2 ; do " + c.do, "rule b: on fsync ; do errno EIO"},
					options: []string{"--fd", "O=@1"}, argv: []string{program, "write", "1000", "300"}, out: out}.run(t)
				o.exits(3).says(c.says, "rule b: never fired: 0 calls seen")
				if got := read(); !bytes.Equal(got, pattern(int(c.bytes))) {
					t.Errorf("output: got %d bytes, want %d of the pattern", len(got), c.bytes)
				}
				found := o.decisions("a", "realised")
				if len(found) == 0 || number(found[0].Delivered) != c.delivered || found[0].Ordinal != 2 {
					t.Fatalf("evidence: got %+v", found)
				}
				f := o.final()
				if *f.Exit != c.exit || *f.Code != 3 || !f.Rules[0].AsAsked || f.Rules[0].Fired != 1 || f.Rules[1].AsAsked ||
					f.Rules[0].Delivered != uint64(len(found)) {
					t.Errorf("final: got %+v", f)
				}
			})
		}
	})
}

func TestErrnoStormForATime(t *testing.T) {
	twins(t, "send_pattern", "go_send", func(t *testing.T, program string) {
		out, read := fileOut(t)
		o := setting{rules: []string{"rule a: on write fd O ; at call 2 ; do errno EINTR for 30ms"},
			options: []string{"--fd", "O=@1"}, argv: []string{program, "write", "1000", "300"}, out: out}.run(t)
		o.exits(0).says("sent=1000")
		if n := o.final().Rules[0].Delivered; n < 20 {
			t.Errorf("storm of 30 ms: got %d calls, want many", n)
		}
		if !bytes.Equal(read(), pattern(1000)) {
			t.Error("output differs from the pattern")
		}
	})
}

// TestStoring: the steps of a durable write fail before and after their
// effect, and a failed close has closed.
func TestStoring(t *testing.T) {
	twins(t, "store_file", "go_store", func(t *testing.T, program string) {
		for _, c := range []struct {
			rule, says  string
			stored, tmp bool
		}{
			{"on fsync ; do errno EIO", "write=0 fsync=5 close=0 open=0 rename=0", true, false},
			{"on %sync ; do errno EIO ; effect after", "write=0 fsync=5 close=0 open=0 rename=0", true, false},
			{"on close fd F ; do errno EIO", "write=0 fsync=0 close=5 open=0 rename=0", true, false},
			{"on close fd F ; do errno EINTR ; effect skip", "close=4 open=1 rename=0", true, false},
			{"on %rename ; do errno ENOSPC", "close=0 open=0 rename=28", false, true},
			{"on %rename path stored.tmp ; do errno EIO ; effect after", "rename=5", true, false},
			{"on write fd F ; do short 4", "write=0 fsync=0 close=0 open=0 rename=0", true, false},
		} {
			t.Run(c.rule, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "stored")
				o := setting{rules: []string{"bind F: path stored.tmp", "rule a: " + c.rule},
					argv: []string{program, path}}.run(t)
				o.exits(0).says(c.says).one("a", "realised")
				for name, want := range map[string]bool{path: c.stored, path + ".tmp": c.tmp} {
					if _, err := os.Stat(name); (err == nil) != want {
						t.Errorf("%s: got %v, want present %v", name, err, want)
					}
				}
			})
		}
	})
}
