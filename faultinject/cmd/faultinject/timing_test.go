package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// slowly reads a pipe only once it is full, and some time after that, so that
// its writer is interrupted in its calls. It returns how many bytes came. The
// pauses are the reader's pace, nothing waits for them.
func slowly(r *os.File) func() int {
	const capacity, nearlyFull = 4096, 4096 - 16
	if _, err := unix.FcntlInt(r.Fd(), unix.F_SETPIPE_SZ, capacity); err != nil {
		panic(err)
	}
	sum := make(chan int, 1)
	go func() {
		n, b := 0, make([]byte, capacity)
		for ended := false; !ended; {
			poll := []unix.PollFd{{Fd: int32(r.Fd())}}
			waiting, err := unix.IoctlGetInt(int(r.Fd()), unix.TIOCINQ)
			if _, polled := unix.Poll(poll, 0); polled == nil && err == nil && waiting < nearlyFull && poll[0].Revents&unix.POLLHUP == 0 {
				time.Sleep(200 * time.Microsecond)
				continue
			}
			time.Sleep(10 * time.Millisecond)
			part, err := r.Read(b)
			n, ended = n+part, err != nil
		}
		sum <- n
	}()
	return func() int { return <-sum }
}

func field(t *testing.T, text, name string) int {
	t.Helper()
	m := regexp.MustCompile(name + `=(-?\d+)`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no %s in %q", name, text)
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestDelayHoldsOneThread, before and after the call, while its neighbour
// goes on.
func TestDelayHoldsOneThread(t *testing.T) {
	twins(t, "tick_beside", "go_tick", func(t *testing.T, program string) {
		for _, side := range []string{"before", "after"} {
			out, _ := fileOut(t)
			o := setting{rules: []string{"rule a: on fsync ; do delay 300ms " + side}, argv: []string{program}, out: out}.run(t)
			o.exits(0)
			if took, ticks := field(t, o.stderr, "took"), field(t, o.stderr, "ticks"); took < 300 || ticks < 5 {
				t.Errorf("%s: fsync took %d ms and its neighbour ticked %d times", side, took, ticks)
			}
			o.one("a", "realised")
			held := 0
			for _, l := range o.lines {
				if l.Kind == "held" && l.HeldNs >= 300e6 {
					held++
				}
			}
			if held != 1 {
				t.Errorf("%s: got %d held lines, want 1", side, held)
			}
		}
	})
}

// TestTimePosition: a call before its time is let pass, one after it fires.
func TestTimePosition(t *testing.T) {
	needTracing(t)
	out, _ := fileOut(t)
	rules := []string{"rule slow: on fsync ; do delay 100ms", "rule a: on write arg0==2 ; at time 90ms ; do mark"}
	setting{rules: rules, argv: []string{target("tick_beside")}, out: out}.run(t).exits(0).one("a", "realised")
	setting{rules: []string{"rule a: on write arg0==2 ; at time 1h ; do mark"},
		argv: []string{target("tick_beside")}, out: out}.run(t).exits(3).says("never fired: 1 calls seen")
}

func TestSignals(t *testing.T) {
	twins(t, "send_pattern", "go_send", func(t *testing.T, program string) {
		out, read := fileOut(t)
		o := setting{rules: []string{"rule a: on write fd O ; at call 2 ; do signal SIGTERM"}, options: []string{"--fd", "O=@1", "--pass-status"},
			argv: []string{program, "write", "1000", "300"}, out: out}.run(t)
		o.exits(143).one("a", "realised")
		if n := len(read()); n != 600 && n != 300 {
			t.Errorf("output: got %d bytes, want the write with the signal and no other", n)
		}
	})
}

// TestSignalStorm: a Go program is interrupted every 200 microseconds and
// still sends everything.
func TestSignalStorm(t *testing.T) {
	needTracing(t)
	r, w := pipe(t)
	count := slowly(r)
	o := setting{rules: []string{"rule a: on write fd O ; do signal SIGURG every 200us for 100ms"}, options: []string{"--fd", "O=@1"},
		argv: []string{target("go_edge"), "12000"}, out: w}.run(t)
	w.Close()
	o.exits(0).says("sent=12000").one("a", "realised")
	if n := count(); n != 12000 {
		t.Errorf("output: got %d bytes, want 12000", n)
	}
	notes := o.notes("storm-over")
	if len(notes) != 1 || field(t, "sent="+strings.Fields(notes[0].Text)[0], "sent") < 20 {
		t.Errorf("storm: got %+v", notes)
	}
}

// TestAgain: an EAGAIN that we made does not hang a poller that waits for
// edges; the twin with errno shows that it would.
func TestAgain(t *testing.T) {
	needTracing(t)
	for _, name := range []string{"edge_writer", "go_edge"} {
		for _, kind := range []string{"pipe", "socket"} {
			for _, do := range []string{"again", "again nudge 20ms"} {
				r, w := pipe(t)
				if kind == "socket" {
					r, w = pair(t, unix.SOCK_STREAM)
				}
				got := drained(r)
				o := setting{rules: []string{"rule a: on write fd O ; at call 3 ; do " + do + " ; times 2"}, options: []string{"--fd", "O=@1"},
					argv: []string{target(name), "1000"}, out: w}.run(t)
				w.Close()
				o.exits(0).says("sent=1000")
				if n := len(got()); n != 1000 {
					t.Errorf("%s %s %s: got %d bytes, want 1000", name, kind, do, n)
				}
				// A late nudge can be needless: the reader made an edge before.
				if n := len(o.notes("nudge")); n > 2 || do == "again" && n != 2 || number(o.decisions("a", "realised")[0].Delivered) != -11 {
					t.Errorf("%s %s %s: got %d nudges, want 2", name, kind, do, n)
				}
			}
		}
	}
	r, w := pipe(t)
	got := drained(r)
	o := setting{rules: []string{"rule a: on write fd O ; at call 3 ; do errno EAGAIN"}, options: []string{"--fd", "O=@1"},
		argv: []string{target("edge_writer"), "1000"}, out: w}.run(t)
	w.Close()
	if n := len(got()); n != 200 || *o.final().Exit != 1 {
		t.Errorf("without an edge: got %d bytes, want a writer that gave up at 200", n)
	}
}

var stoppedNote = regexp.MustCompile(`"what":"stopped","text":"process (\d+)"`)

// TestStopAtByte stops the target at a byte; the outside reads in the evidence
// that it is stopped and continues it.
func TestStopAtByte(t *testing.T) {
	twins(t, "send_pattern", "go_send", func(t *testing.T, program string) {
		r, w := pipe(t)
		s := setting{rules: []string{"rule a: on write fd O ; at bytes 613 ; do stop"}, options: []string{"--fd", "O=@1"},
			argv: []string{program, "write", "1000", "300"}, out: w, log: filepath.Join(t.TempDir(), "log")}
		ended := make(chan outcome)
		go func() {
			defer close(ended)
			defer w.Close()
			ended <- s.run(t)
		}()
		got := make([]byte, 613)
		if _, err := io.ReadFull(r, got); err != nil {
			t.Fatal(err)
		}
		var note []string
		until(t, "the stop", func() bool {
			text, err := os.ReadFile(s.log)
			if err != nil {
				t.Fatal(err)
			}
			note = stoppedNote.FindStringSubmatch(string(text))
			return note != nil
		})
		pid, err := strconv.Atoi(note[1])
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.Kill(pid, unix.SIGCONT); err != nil {
			t.Fatal(err)
		}
		o, ok := <-ended
		if !ok {
			t.Fatal("the run failed")
		}
		w.Close()
		rest, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(append(got, rest...), pattern(1000)) {
			t.Errorf("output: got %d bytes, %v", len(got)+len(rest), err)
		}
		o.exits(0).says("sent=1000 short=1").one("a", "realised")
	})
}

// TestHoldMakesOneBatch: the poll is held until the second event is there,
// and reports both.
func TestHoldMakesOneBatch(t *testing.T) {
	twins(t, "two_events", "go_events", func(t *testing.T, program string) {
		out, _ := fileOut(t)
		setting{argv: []string{program}, out: out}.run(t).exits(0).says("batch=1")
		o := setting{rules: []string{"rule h: on ppoll ; do hold both", "rule r: on write arg2==2 ; do release both"},
			argv: []string{program}, out: out}.run(t)
		o.exits(0).says("batch=2")
		if o.one("h", "realised").Seq > o.one("r", "realised").Seq || len(o.notes("hold-timeout")) != 0 {
			t.Error("the release came before the hold, or nobody released")
		}
		late := setting{rules: []string{"rule h: on ppoll ; do hold both max 50ms"}, argv: []string{program}, out: out}.run(t)
		late.exits(0).says("no rule releases both")
		if len(late.notes("hold-timeout")) != 1 {
			t.Error("the hold did not time out")
		}
	})
}

// TestBrokenPipe: EPIPE comes with SIGPIPE, as from the kernel, unless the
// rule says otherwise. A Go program catches the signal and sees the error.
func TestBrokenPipe(t *testing.T) {
	needTracing(t)
	for program, status := range map[string]int{"send_pattern": 128 + int(unix.SIGPIPE), "go_send": 1} {
		out, _ := fileOut(t)
		setting{rules: []string{"rule a: on write fd O ; at call 2 ; do errno EPIPE"}, options: []string{"--fd", "O=@1", "--pass-status"},
			argv: []string{target(program), "write", "1000", "300"}, out: out}.run(t).exits(status).one("a", "realised")
		setting{rules: []string{"rule a: on write fd O ; at call 2 ; do errno EPIPE nosigpipe"}, options: []string{"--fd", "O=@1"},
			argv: []string{target(program), "write", "1000", "300"}, out: out}.run(t).exits(0).says("errno=32")
	}
}
