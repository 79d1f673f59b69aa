package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// TestOnceOnManyThreads: one firing asked for, one error seen, however many
// threads race for it.
func TestOnceOnManyThreads(t *testing.T) {
	needTracing(t)
	for _, name := range []string{"go_writers", "many_writers"} {
		for i := range *exactness {
			out, read := fileOut(t)
			o := setting{rules: []string{"rule a: on write fd O ; at call 137 ; do errno EIO"}, options: []string{"--fd", "O=@1"},
				argv: []string{target(name), "8", "500"}, out: out}.run(t)
			o.exits(0).says("errors=1\n")
			if l := o.one("a", "realised"); l.Ordinal != 137 {
				t.Errorf("ordinal: got %d, want 137", l.Ordinal)
			}
			if n := len(read()); n != 8*500-1 {
				t.Errorf("%s run %d: got %d bytes, want %d", name, i, n, 8*500-1)
			}
			if t.Failed() {
				return
			}
		}
	}
}

// TestKillAtByte: the reader gets exactly the bytes asked for, whatever the
// threads and chunks.
func TestKillAtByte(t *testing.T) {
	needTracing(t)
	for i := range *exactness {
		for _, c := range []struct {
			argv []string
			at   int
		}{{[]string{"go_writers", "8", "500"}, 2001}, {[]string{"many_writers", "4", "500"}, 1},
			{[]string{"send_pattern", "write", "5000", "300"}, 613}, {[]string{"send_pattern", "writev", "5000", "300"}, 600},
			{[]string{"send_pattern", "write", "5000", "300"}, 0}} {
			r, w := pipe(t)
			got := drained(r)
			argv := append([]string{target(c.argv[0])}, c.argv[1:]...)
			o := setting{rules: []string{fmt.Sprintf("rule a: on %%write fd O ; at bytes %d ; do kill", c.at)},
				options: []string{"--fd", "O=@1"}, argv: argv, out: w}.run(t)
			w.Close()
			o.exits(0)
			if n := len(got()); n != c.at {
				t.Fatalf("%v run %d: got %d bytes, want %d", c.argv, i, n, c.at)
			}
			l := o.one("a", "realised")
			if f := o.final(); *f.Signal != 9 || l.BytesBefore+max(number(l.Returned), 0) != int64(c.at) {
				t.Fatalf("%v run %d: got %+v, %+v", c.argv, i, l, f)
			}
		}
	}
}

// TestNthUnderSignals: calls that signals interrupt keep their number, both
// where the kernel restarts them and where they return EINTR.
func TestNthUnderSignals(t *testing.T) {
	needTracing(t)
	failed := regexp.MustCompile(`failed=(\d+) call=(\d+) eintr=(\d+)`)
	for i := range *exactness {
		for n, restart := range []string{"1", "0", "1"} {
			mode := []string{"filter", "filter", "full"}[n]
			r, w := pipe(t)
			slow := slowly(r)
			o := setting{rules: []string{"rule a: on write fd O ; at call 1500 ; do errno EIO"}, options: []string{"--fd", "O=@1", "--mode", mode},
				argv: []string{target("interrupted_writer"), "1600", restart}, out: w}.run(t)
			w.Close()
			interrupted := slow()
			m := failed.FindStringSubmatch(o.exits(0).stderr)
			// Every EINTR that the target saw ended one call.
			if m == nil || m[2] != "1500" || restart == "1" && (m[1] != "1500" || m[3] != "0") {
				t.Fatalf("restart %s run %d: got %q, want call 1500", restart, i, o.stderr)
			}
			if restart == "0" && m[3] == "0" || restart == "1" && o.final().Restarted == 0 {
				t.Fatalf("restart %s run %d: no call was interrupted: the test shows nothing", restart, i)
			}
			if want := 1599 * 8; interrupted != want {
				t.Fatalf("restart %s run %d: got %d bytes, want %d", restart, i, interrupted, want)
			}
		}
	}
}

// TestShortWritesKeepBytes cuts every write of a Go program, through its
// poller, to one byte.
func TestShortWritesKeepBytes(t *testing.T) {
	needTracing(t)
	for range *exactness {
		r, w := pipe(t)
		got := drained(r)
		o := setting{rules: []string{"rule a: on write fd O ; do short 1 ; times inf"}, options: []string{"--fd", "O=@1"},
			argv: []string{target("go_edge"), "500"}, out: w}.run(t)
		w.Close()
		o.exits(0).says("sent=500")
		if b := got(); string(b) != strings.Repeat("0123456789", 50) {
			t.Fatalf("output: got %d bytes", len(b))
		}
		if n := o.final().Rules[0].Fired; n != 450 {
			t.Fatalf("fired: got %d, want 450", n)
		}
	}
}

// TestTree: threads, fork, vfork and exec are followed, and every one of
// their calls has its own number.
func TestTree(t *testing.T) {
	needTracing(t)
	for n, who := range []string{"main", "thread", "fork", "vfork", "exec"} {
		out, read := fileOut(t)
		o := setting{rules: []string{fmt.Sprintf("rule a: on write fd O ; at call %d ; do errno EIO", n+1)},
			options: []string{"--fd", "O=@1"}, argv: []string{target("spawn_tree")}, out: out}.run(t)
		o.exits(0).says("failed=" + who + " end")
		want := strings.Replace("mtfve", who[:1], "", 1)
		if got := read(); !bytes.Equal(got, []byte(want)) {
			t.Errorf("%s: got %q, want %q", who, got, want)
		}
	}
}

// TestSelection: thread, argument and position words choose the call they
// say.
func TestSelection(t *testing.T) {
	needTracing(t)
	for _, c := range []struct{ rule, want string }{
		{"on write fd O thread 2 ; do errno EIO", "mfve"},
		{"on write fd O ; at every 2 ; do errno EIO", "mfe"},
		{"on write fd O ; at call 2 ; do errno EIO ; times 3", "me"},
		{"on write fd O ; do errno EIO ; scope process", "te"},
		{"on write arg2==4096 ; do errno EIO", "mtfve"},
		{"on write fd O arg2==1 ; at call 4 ; do errno EIO", "mtfe"},
	} {
		out, read := fileOut(t)
		o := setting{rules: []string{"rule a: " + c.rule}, options: []string{"--fd", "O=@1"},
			argv: []string{target("spawn_tree")}, out: out}.run(t)
		if got := string(read()); got != c.want {
			t.Errorf("%s: got %q, want %q\n%s", c.rule, got, c.want, o.stderr)
		}
		if wantCode := map[bool]int{true: 3, false: 0}[c.want == "mtfve"]; o.code != wantCode {
			t.Errorf("%s: exit %d, want %d", c.rule, o.code, wantCode)
		}
	}
}

// TestAfterRule: counting starts when another rule has fired.
func TestAfterRule(t *testing.T) {
	needTracing(t)
	out, read := fileOut(t)
	o := setting{rules: []string{"rule second: on write fd O ; at call 2 after first ; do errno EIO",
		"rule first: on write fd O ; at call 2 ; do mark"}, options: []string{"--fd", "O=@1"},
		argv: []string{target("spawn_tree")}, out: out}.run(t)
	o.exits(0)
	if got := string(read()); got != "mtfe" {
		t.Errorf("got %q, want %q", got, "mtfe")
	}
	if l := o.one("second", "realised"); l.Ordinal != 2 || l.Seq < o.one("first", "realised").Seq {
		t.Errorf("evidence: got %+v", l)
	}
}
