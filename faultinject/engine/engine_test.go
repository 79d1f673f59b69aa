package engine

import (
	"testing"
	"time"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"

	"touchstone/faultinject"
)

// world is a kernel without processes: descriptor n is object n.
type world struct{ now time.Duration }

func (w *world) Object(_ *Call, fd int) (Object, bool) {
	return Object{Dev: 1, Ino: uint64(fd), Write: true}, fd >= 0
}
func (w *world) Named(name string, o Object) bool { return name == "R" && o.Ino == 1 }
func (w *world) Requested(c *Call, s *faultinject.Shape) uint64 {
	if s.Length == faultinject.None {
		return 1
	}
	return c.Args[s.Length]
}
func (w *world) Stream(*Call, int) bool                   { return true }
func (w *world) Paths(*Call, *faultinject.Shape) []string { return nil }
func (w *world) Now() time.Duration                       { return w.now }
func newEngine(t testing.TB, text string) (*Engine, *world) {
	t.Helper()
	plan, err := faultinject.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{}
	return New(plan, w), w
}

const write = 1

func call(tid, n int) *Call {
	return &Call{TID: tid, TGID: 1, Thread: 1, Role: faultinject.Supervisor, Nr: write, IP: 10, SP: uint64(tid), Args: [6]uint64{1, 0, uint64(n)}}
}

// make runs one call to its end: the kernel moves at most room bytes, or the
// call is restarted where room is negative. It returns the call's result and
// whether a rule fired.
func (e *Engine) make(c *Call, room int64) (ret int64, fired bool) {
	var f Flight
	e.Enter(c, &f)
	if f.Wait {
		panic("gate closed with nobody in flight")
	}
	r := f.Fired.Rule
	if r != nil && r.Do.Kind.Replaces() && r.Effect == faultinject.Skip {
		e.Settle(&f.Fired, Realised)
		return Result(r), true
	}
	if r != nil && !f.Exit {
		e.Settle(&f.Fired, Realised)
		return 0, true
	}
	ret = int64(c.Args[2])
	if f.Clamp > 0 {
		ret = min(ret, int64(f.Clamp))
	}
	ret = min(ret, room)
	if room < 0 {
		ret = -512
		e.Interrupted(c)
	}
	if !f.Exit {
		return ret, r != nil
	}
	out := e.Leave(&f, ret)
	if out.Replace {
		ret = out.Value
	}
	return ret, out.State == Realised || len(out.Reached) > 0
}

func forAll(t *testing.T, name string, check func(steps []int) bool, each gopter.Gen) {
	t.Helper()
	parameters := gopter.DefaultTestParameters()
	parameters.MinSuccessfulTests = 500
	properties := gopter.NewProperties(parameters)
	properties.Property(name, prop.ForAll(check, gen.SliceOf(each)))
	t.Logf("gopter seed %d", parameters.Seed())
	properties.TestingRun(t)
}

// TestOnceIsOnce: whatever threads call, the rule fires at logical call 5 and
// never again; a call that the kernel restarts is one call.
func TestOnceIsOnce(t *testing.T) {
	forAll(t, "once", func(threads []int) bool {
		e, _ := newEngine(t, "rule a: on write ; at call 5 ; do errno EIO")
		fired, calls := 0, 0
		interrupted := map[int]bool{}
		for _, tid := range threads {
			if !interrupted[tid] {
				calls++
			}
			interrupted[tid] = tid%2 == 0 && !interrupted[tid]
			room := int64(100)
			if interrupted[tid] {
				room = -1
			}
			ret, did := e.make(call(tid, 10), room)
			if did {
				fired++
			}
			if did != (ret == -5) || did && calls != 5 {
				return false
			}
			if did {
				interrupted[tid] = false // it never reached the kernel
			}
		}
		tally := e.Tallies()[0]
		return tally.Seen == uint64(calls) && (fired == 1) == (calls >= 5)
	}, gen.IntRange(1, 6))
}

// TestByteCountIsExact: with any sizes and any shortness of the kernel, the
// rule fires when exactly 1000 bytes have passed.
func TestByteCountIsExact(t *testing.T) {
	forAll(t, "bytes", func(sizes []int) bool {
		e, _ := newEngine(t, "rule a: on write fd R ; at bytes 1000 ; do kill")
		var moved int64
		for _, n := range sizes {
			ret, fired := e.make(call(1, n), int64(n/2+1))
			moved += max(ret, 0)
			if fired {
				return moved == 1000 && e.Tallies()[0].AsAsked
			}
			if moved >= 1000 {
				return false
			}
		}
		return true
	}, gen.IntRange(1, 700))
}

// TestGate: while one counted call is in flight, others wait and are not
// counted; they go on once it is over.
func TestGate(t *testing.T) {
	e, _ := newEngine(t, "rule a: on write ; at bytes 15 ; do errno EIO")
	var first, second Flight
	e.Enter(call(1, 10), &first)
	e.Enter(call(2, 10), &second)
	if !first.Exit || !second.Wait || e.Tallies()[0].Seen != 1 {
		t.Fatalf("got %+v and %+v", first, second)
	}
	if out := e.Leave(&first, 10); !out.Unlocked {
		t.Fatal("the gate stays closed")
	}
	e.Enter(call(2, 10), &second)
	if second.Wait || second.Clamp != 5 {
		t.Fatalf("got %+v, want a cut to 5", second)
	}
	e.Leave(&second, 5)
	if ret, fired := e.make(call(1, 10), 10); ret != -5 || !fired {
		t.Errorf("call after the count: got %d, %v", ret, fired)
	}
}

// TestOverlapIsSaid: a gate that had to be opened makes the count inexact.
func TestOverlapIsSaid(t *testing.T) {
	e, _ := newEngine(t, "rule a: on write ; at bytes 5 ; do mark")
	var f Flight
	e.Enter(call(1, 10), &f)
	e.Overlap(call(2, 10))
	e.Leave(&f, 5)
	if tally := e.Tallies()[0]; tally.AsAsked || tally.Fired != 1 {
		t.Errorf("got %+v", tally)
	}
}

// TestMessagesAreNotBytes: a batch that a class brings in spoils a byte
// count, which is said.
func TestMessagesAreNotBytes(t *testing.T) {
	e, _ := newEngine(t, "rule a: on %write ; at bytes 5 ; do mark")
	var f Flight
	batch := call(1, 10)
	batch.Nr, _ = faultinject.SyscallNumber("sendmmsg")
	e.Enter(batch, &f)
	if e.Leave(&f, 7); f.Clamp != 0 {
		t.Errorf("a batch was cut to %d", f.Clamp)
	}
	e.make(call(1, 5), 5)
	if tally := e.Tallies()[0]; tally.AsAsked || tally.Fired != 1 || tally.Bytes != 5 {
		t.Errorf("got %+v", tally)
	}
}

// TestRefundedTokenIsUsed: a short write that the kernel made otherwise did
// not happen; the next call gets it.
func TestRefundedTokenIsUsed(t *testing.T) {
	e, _ := newEngine(t, "rule a: on write ; at every 2 ; do short 7 ; times 1")
	e.make(call(1, 10), 10)
	if ret, fired := e.make(call(1, 10), 3); ret != 3 || fired {
		t.Errorf("got %d, %v, want 3 and no firing", ret, fired)
	}
	if ret, fired := e.make(call(1, 10), 10); ret != 7 || !fired {
		t.Errorf("got %d, %v, want 7 and a firing", ret, fired)
	}
	if tally := e.Tallies()[0]; tally.Refunded != 1 || tally.Fired != 1 || tally.First != 3 || !tally.AsAsked {
		t.Errorf("got %+v", tally)
	}
}

// TestStorm counts as one firing, and one cut off is not as asked.
func TestStorm(t *testing.T) {
	e, w := newEngine(t, "rule a: on write ; at call 2 ; do errno EINTR storm 3\nrule b: on read ; do errno EIO for 1s")
	for i := range 6 {
		want := i >= 1 && i <= 3
		if _, fired := e.make(call(1, 10), 10); fired != want {
			t.Errorf("call %d: fired %v, want %v", i+1, fired, want)
		}
		if complete := e.Tallies()[0].AsAsked; complete != (i >= 3) {
			t.Errorf("call %d: as asked %v", i+1, complete)
		}
	}
	read := call(1, 10)
	read.Nr = 0
	for _, c := range []struct {
		at   time.Duration
		want bool
	}{{0, true}, {time.Second - 1, true}, {time.Second, false}} {
		w.now = c.at
		if _, fired := e.make(read, 10); fired != c.want {
			t.Errorf("at %s: fired %v, want %v", c.at, fired, c.want)
		}
	}
}

// TestRestartKeepsItsNumber also where a handler makes calls in between.
func TestRestartKeepsItsNumber(t *testing.T) {
	e, _ := newEngine(t, "rule a: on write ; at call 3 ; do errno EIO")
	outer := call(1, 10)
	e.make(outer, -1) // call 1, interrupted
	inner := call(1, 10)
	inner.SP = 999
	e.make(inner, 10) // call 2, by the handler
	if _, fired := e.make(outer, 10); fired {
		t.Error("the restarted call 1 was taken for call 3")
	}
	if _, fired := e.make(call(1, 10), 10); !fired {
		t.Error("call 3 did not fire")
	}
	e.Interrupted(outer)
	e.Returned(outer)
	if e.Restarted() != 1 || e.takeRestart(outer) {
		t.Error("a call that returned EINTR was taken for a restart")
	}
}

// TestFirstRuleActs: of two rules that are due, the first in the file acts;
// the other keeps its turn.
func TestFirstRuleActs(t *testing.T) {
	e, _ := newEngine(t, "rule a: on write ; do errno EIO\nrule b: on %write ; do errno ENOSPC")
	for _, want := range []int64{-5, -28, 10} {
		if ret, _ := e.make(call(1, 10), 10); ret != want {
			t.Errorf("got %d, want %d", ret, want)
		}
	}
}
