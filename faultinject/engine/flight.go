package engine

import (
	"touchstone/faultinject"
)

// State is where a firing stands.
type State string

// The states of a firing. Every planned firing becomes realised or refunded.
const (
	Planned  State = "planned"
	Realised State = "realised"
	Refunded State = "refunded"
)

// Firing is one use of a rule on one call.
type Firing struct {
	Rule    *faultinject.Rule
	Ordinal uint64 // logical call of the rule's counter, from 1
	Before  uint64 // bytes that the counter had moved before the call
	first   bool   // took a token, rather than being part of a storm
	counter *counter
}

// Flight is one call from its entry to its exit, as far as rules care.
type Flight struct {
	Call      Call
	Fired     Firing // Rule nil where nothing fires
	Wait      bool   // another call is in flight: ask again once it is over
	Exit      bool   // tell Leave about the exit
	Clamp     uint64 // move at most so many bytes; 0 no limit
	Asked     uint64 // bytes asked for, known where a rule needed it
	Restarted bool   // the kernel's own repetition of an earlier call
	counts    []*counter
}

// Enter asks about a call that is about to run and fills f. Nothing is to be
// done where neither Wait, Exit nor Fired.Rule is set.
//
// A rule that fires has its token taken: Settle or Leave must follow.
func (e *Engine) Enter(c *Call, f *Flight) {
	*f = Flight{counts: f.counts[:0]}
	rules := e.byNr[c.Nr]
	if e.gateClosed(rules, c) {
		f.Call, f.Wait = *c, true
		return
	}
	if len(e.restarts) > 0 {
		f.Restarted = e.takeRestart(c)
	}
	for _, r := range rules {
		selected, otherRole := e.selects(r, c)
		if otherRole {
			r.otherRole++
		}
		if selected {
			e.enterRule(r, c, f)
		}
	}
	if f.Fired.Rule != nil || len(f.counts) > 0 {
		f.Call = *c
		e.plan(c, f)
	}
}

// gateClosed tells whether a byte counter that c falls under is busy. It
// comes before any counting: a call that waits is not yet a call.
func (e *Engine) gateClosed(rules []*rule, c *Call) bool {
	for _, r := range rules {
		if r.At.Kind != faultinject.AtBytes {
			continue
		}
		if selected, _ := e.selects(r, c); selected {
			if k := e.counter(r, c); k.busy && k.countsBytes() {
				return true
			}
		}
	}
	return false
}

func (e *Engine) enterRule(r *rule, c *Call, f *Flight) {
	k := e.counter(r, c)
	if !f.Restarted {
		k.seen++
		r.seen++
	}
	if k.countsBytes() {
		f.counts = append(f.counts, k)
	}
	if f.Fired.Rule != nil || !k.due(k.seen, e.facts) {
		return
	}
	if !e.applies(r, c, f) {
		r.inapplicable++
		return
	}
	first := !k.storming(e.facts)
	k.take(k.seen, e.facts)
	f.Fired = Firing{Rule: r.Rule, Ordinal: k.seen, Before: k.bytes, first: first, counter: k}
}

// applies tells whether the rule's action can be done to the call.
func (e *Engine) applies(r *rule, c *Call, f *Flight) bool {
	if r.Do.Kind != faultinject.DoShort {
		return true
	}
	if e.asked(c, f) <= r.Do.N {
		return false
	}
	fd, has := e.fd(c)
	return !has || e.shapes[c.Nr].Batch != faultinject.None || e.facts.Stream(c, fd)
}

func (e *Engine) asked(c *Call, f *Flight) uint64 {
	if f.Asked == 0 {
		f.Asked = e.facts.Requested(c, &e.shapes[c.Nr])
	}
	return f.Asked
}

// plan works out how the call is to be cut and closes the gates it needs.
func (e *Engine) plan(c *Call, f *Flight) {
	if r := f.Fired.Rule; r != nil && r.Do.Kind.Replaces() && r.Effect == faultinject.Skip {
		f.counts = f.counts[:0] // the call moves nothing
		return
	}
	if r := f.Fired.Rule; r != nil {
		switch {
		case r.Do.Kind == faultinject.DoShort:
			f.Clamp, f.Exit = r.Do.N, true
		case r.Effect == faultinject.After, r.Do.Late, r.Do.Kind == faultinject.DoRelease:
			f.Exit = true
		}
	}
	for _, k := range f.counts {
		k.busy, f.Exit = true, true
		if e.shapes[c.Nr].Batch != faultinject.None {
			continue
		}
		left := k.rule.At.N - k.bytes
		if e.asked(c, f) > left && (f.Clamp == 0 || left < f.Clamp) {
			f.Clamp = left
		}
	}
}

// Outcome says what became of a call.
type Outcome struct {
	State    State // of f.Fired; empty where nothing fired
	Replace  bool  // the caller is to get Value instead of the kernel's result
	Value    int64
	Restart  bool     // the kernel will make the call again, or report EINTR
	Reached  []Firing // rules whose byte count was reached by this call
	Unlocked bool     // a gate opened: ask again about calls that wait
}

// restartLow and restartHigh bound the kernel's internal restart results,
// both inclusive.
const (
	restartLow  = -516
	restartHigh = -512
)

// IsRestart tells whether ret is one of the kernel's internal restart results.
func IsRestart(ret int64) bool { return ret >= restartLow && ret <= restartHigh }

// Leave tells of the exit of a call that Enter wanted to see, with the
// kernel's result, and settles what it had planned.
func (e *Engine) Leave(f *Flight, ret int64) Outcome {
	out := Outcome{Restart: IsRestart(ret)}
	for _, k := range f.counts {
		before := k.bytes
		k.busy, out.Unlocked = false, true
		switch {
		case ret > 0 && e.shapes[f.Call.Nr].Batch != faultinject.None:
			k.rule.inexact = "a call returned messages, not bytes"
		case ret > 0:
			k.bytes += uint64(ret)
		}
		if k.bytes >= k.rule.At.N && k.rule.Do.Kind.Boundary() && !k.spent() {
			k.take(k.seen, e.facts)
			k.realise(true)
			out.Reached = append(out.Reached, Firing{Rule: k.rule.Rule, Ordinal: k.seen, Before: before, counter: k})
		}
	}
	f.counts = f.counts[:0]
	if f.Fired.Rule == nil {
		return out
	}
	out.State = Realised
	switch r := f.Fired.Rule; {
	case r.Do.Kind == faultinject.DoShort && ret != int64(r.Do.N):
		out.State = Refunded
	case r.Effect == faultinject.After && ret < 0:
		out.State = Refunded
	case r.Effect == faultinject.After:
		out.Replace, out.Value = true, Result(r)
	case out.Restart && (r.Do.Late || r.Do.Kind == faultinject.DoRelease):
		out.State = Refunded
	}
	e.Settle(&f.Fired, out.State)
	return out
}

// Settle books the state of a firing. Leave does so by itself.
func (e *Engine) Settle(f *Firing, s State) {
	if s == Realised {
		f.counter.realise(f.first)
	} else {
		f.counter.refund(f.first)
	}
	f.Rule = nil
}

// Abandon tells that the caller of a flight is gone or was never resumed.
// It returns whether a gate opened.
func (e *Engine) Abandon(f *Flight) (unlocked bool) {
	for _, k := range f.counts {
		k.busy, unlocked = false, true
	}
	f.counts = f.counts[:0]
	if f.Fired.Rule != nil {
		e.Settle(&f.Fired, Refunded)
	}
	return unlocked
}

// Result returns what a call gets that r replaces the result of.
func Result(r *faultinject.Rule) int64 {
	if r.Do.Kind == faultinject.DoRet {
		return int64(r.Do.N)
	}
	n, _ := faultinject.ErrnoNumber(r.Do.Errno)
	return -int64(n)
}

// Overlap opens the gates that c waits at, because the call in flight does
// not end. The byte counts are no longer exact, which Tallies says.
func (e *Engine) Overlap(c *Call) {
	for _, r := range e.byNr[c.Nr] {
		if selected, _ := e.selects(r, c); !selected || r.At.Kind != faultinject.AtBytes {
			continue
		}
		if k := e.counter(r, c); k.busy {
			k.busy = false
			r.inexact = "calls overlapped"
		}
	}
}
