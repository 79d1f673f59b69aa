package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestShortMoves cuts the calls that move bytes between descriptors, and a
// batch of messages.
func TestShortMoves(t *testing.T) {
	needTracing(t)
	path := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(path, pattern(900), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ call, cut string }{
		{"sendfile", "7"}, {"splice", "299"}, {"copy_file_range", "1"}, {"sendmmsg", "2"}} {
		in, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		out, read := fileOut(t)
		switch c.call {
		case "splice":
			r, w := pipe(t)
			out, read = w, drained(r)
		case "sendmmsg":
			ours, theirs := pair(t, unix.SOCK_STREAM)
			out, read = theirs, drained(ours)
		}
		o := setting{rules: []string{"rule a: on %write fd O ; at call 2 ; do short " + c.cut}, options: []string{"--fd", "O=@1"},
			argv: []string{target("move_file"), c.call}, in: in, out: out}.run(t)
		out.Close()
		o.exits(0).says("shorts=1\n")
		if got := read(); !bytes.Equal(got, pattern(900)) {
			t.Errorf("%s: got %d bytes that differ from the pattern", c.call, len(got))
		}
		if l := o.one("a", "realised"); l.Call != c.call || l.FD.FD != 1 {
			t.Errorf("%s: evidence: got %+v", c.call, l)
		}
	}
}

// TestHoldAfter: a thread can be held once its call is done.
func TestHoldAfter(t *testing.T) {
	needTracing(t)
	out, _ := fileOut(t)
	o := setting{rules: []string{"rule h: on fsync ; do hold here after max 60ms"}, argv: []string{target("tick_beside")}, out: out}.run(t)
	o.exits(0)
	if took := field(t, o.stderr, "took"); took < 60 {
		t.Errorf("fsync took %d ms, want at least 60", took)
	}
	if l := o.one("h", "realised"); number(l.Returned) != 0 {
		t.Errorf("evidence: got %+v", l)
	}
}
