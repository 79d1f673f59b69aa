package supervisor

import (
	"errors"

	"golang.org/x/sys/unix"

	"touchstone/reference/outcome"
)

// onSink takes what the producer wrote to its sink, approves it within the cap
// and passes it on. The one probe of an overflow goes along, so that the
// finalizer can say what it saw; nothing follows it.
//
// Rules: R05, R08.
func (a *attempt) onSink() []outcome.Observation {
	s, input := a.sink, &a.sink.finalizer.input
	kept, err := s.read()
	if errors.Is(err, errAgain) {
		return nil
	}
	var seen []outcome.Observation
	if err != nil {
		seen = append(seen, outcome.SinkFailure(outcome.ReasonSinkIO))
		seen = append(seen, a.faulty(s.close())...)
	}
	a.ledger.Charge(int64(len(kept))) // within the meter's limit, so it fits
	if s.meter.Overflowed() {
		kept = kept[:len(kept)+1]
		seen = append(seen, outcome.SinkOverflow(s.meter.Limit()))
	}
	if s.ended && !s.used() {
		return append(seen, a.unused()...)
	}
	input.pass(kept)
	input.finished = s.ended || s.meter.Overflowed()
	if s.ended {
		a.times.captured, a.spent.captured = a.now(), spent()
	}
	return append(seen, a.onRelay()...)
}

// unused ends a capture that nobody asked for and that carried nothing. The
// finalizer has nothing to say to it.
//
// Rules: C-27.
func (a *attempt) unused() []outcome.Observation {
	seen := append(a.retire(0), outcome.SinkSettled(outcome.SinkUnused, outcome.Failure{}))
	return append(seen, a.faulty(errors.Join(a.sink.finalizer.kill(), a.sink.stop()))...)
}

// onRelay passes on what is pending. A finalizer that has closed its input may
// say why by its own end, if that comes soon.
//
// Rules: R17, R20.
func (a *attempt) onRelay() []outcome.Observation {
	v := a.sink.finalizer
	err := v.input.push()
	switch {
	case err == nil, errors.Is(err, errAgain):
		return nil
	case reason(err) != outcome.ReasonPeerClosed:
		return append(a.faulty(v.input.close()), outcome.SinkFailure(outcome.ReasonSinkIO))
	}
	v.broken, v.goneBy = true, a.now()+patientGrace
	return a.faulty(v.input.close())
}

// onEarlyCandidate looks at a candidate that is ready while the sink is open.
// What the sink still holds, or its end, comes first; if it holds nothing, the
// candidate's bytes have come too early.
//
// Rules: R08, C-26.
func (a *attempt) onEarlyCandidate() []outcome.Observation {
	s := a.sink
	if !s.reading() { // bytes were taken in this batch: there may be more
		return nil
	}
	quiet, err := s.quiet()
	if err != nil || !quiet {
		return a.faulty(err)
	}
	waiting, err := unix.IoctlGetInt(a.candidate.fd, unix.TIOCINQ)
	if err != nil || waiting == 0 { // its end is no bytes, and is judged in its turn
		s.silent = true
		return a.faulty(err)
	}
	return []outcome.Observation{outcome.CandidateSettled(outcome.Malformed, outcome.Failure{})}
}

// onReceipt takes the receipt as it comes; one that is too long is none.
func (a *attempt) onReceipt() []outcome.Observation {
	if err := a.sink.finalizer.hear(); err != nil || a.sink.finalizer.flooded {
		return []outcome.Observation{outcome.Fault()}
	}
	return nil
}

// onFinalizer takes the finalizer's end. Evidence of its own is what S has
// seen, before anything that the finalizer says.
func (a *attempt) onFinalizer() []outcome.Observation {
	s, v := a.sink, a.sink.finalizer
	if err := v.reap(); err != nil || !v.ended {
		return a.unwaited(err)
	}
	a.told.finalizer, a.finalizerBy = true, 0
	seen := append(a.faulty(v.hear()), outcome.FinalizerEnded())
	if s.retired {
		return seen
	}
	found := judge(v.end(), s.given())
	s.receipt, s.verified = found.receipt, found.verified
	if s.verified { // settled when the worker has looked at what it keeps
		return append(seen, a.retire(s.meter.Accepted())...)
	}
	if !v.killed && !s.meter.Overflowed() {
		seen = append(seen, found.evidence)
	}
	return append(seen, a.retire(0)...)
}

// given is S's own account of what the finalizer took.
func (s *sink) given() relayed {
	return relayed{bytes: s.meter.Accepted(), limit: s.meter.Limit(), logical: s.fold.logical(),
		whole: s.ended && !s.finalizer.broken && s.finalizer.input.fd < 0}
}
