// Package outcome decides: it turns what S saw, batch by batch, into one
// latched cause and the next step. It is pure, so that every order of events
// can be tried.
//
// Three things are kept apart, because confusing them hides the cause. A cause
// is latched, once, from the first batch that holds evidence (R19). The domain
// is stopped because a cause is latched, and its death is no evidence. The
// attempt is over only when the domain is empty and the data is settled.
//
// What follows from the end of a stream alone, a sink without its trailer or
// half a candidate, is no evidence until the producer's wait result is known:
// its bad end explains the stream's. A producer that waits for a sink which was
// refused is turned away, and what it answers to that is no evidence either.
//
// A producer that ended badly is a latched cause whose wording may wait: until
// its candidate is settled nobody knows whether it is an exit or a claim, or
// whether the whole value was malformed or too long. Only that settlement can
// refine it; no other later event can replace it.
package outcome

import "touchstone/contracts"

// Route is where the native sink of an attempt goes. Rules: R05.
type Route uint8

const (
	// NoSink is an attempt without a native sink.
	NoSink Route = iota
	// Internal is handed to the producer, which makes its report of it.
	Internal
	// Inherited is published on the host's own endpoint.
	Inherited
	// Named gets the caller's name.
	Named
)

// Machine is the state of one attempt. The zero value is a running producer
// without a native sink.
type Machine struct {
	route    Route
	failure  *Failure
	refine   bool // the failure follows from an end and waits for the candidate
	graceful bool // the failure lets the producer end by itself, for a while
	lingers  bool // the failure lets the finalizer end by itself, for a while

	status      Status
	stopped     bool // the producer ended after S had told it to
	settlement  Settlement
	refusal     Failure // what an overflowed candidate latches
	sink        SinkSettlement
	sinkRefusal Failure // what a refused sink latches

	// Facts that were observed.
	ended, answered, emptied   bool // producer, survivor question, domain
	read, delivered, reported  bool // diagnostics, diagnostics, report
	finalized, exported, named bool // finalizer, sink, sink
	graceOver, expired         bool

	// Actions that were returned.
	requested, asked, killed, dismissed, finalizerKilled bool
	exporting, published, succeeded, naming, finished    bool
}

// New returns the machine of an attempt whose producer runs and whose native
// sink, if it has one, is captured.
func New(route Route) Machine { return Machine{route: route} }

// Failure returns the latched cause, nil if there is none so far.
func (m *Machine) Failure() *Failure { return m.failure }

// Expired reports whether the lifetime is over: no data may be written.
func (m *Machine) Expired() bool { return m.expired }

// Publishing reports whether a successful report may have reached the host.
func (m *Machine) Publishing() bool { return m.succeeded }

// AwaitsCandidate reports whether more of the candidate can still matter.
func (m *Machine) AwaitsCandidate() bool {
	return m.settlement == Unsettled && (m.failure == nil || m.refine)
}

// AwaitsSink reports whether more of the native sink can still matter.
func (m *Machine) AwaitsSink() bool {
	return m.route != NoSink && m.sink == SinkUnsettled && (m.failure == nil || m.lingers && !m.graceOver)
}

// Observe takes one batch: everything that one return of the poll showed.
//
// Rules: R19.
func (m *Machine) Observe(batch ...Observation) {
	var found []Observation
	for _, o := range batch {
		if m.record(o) {
			found = append(found, o)
		}
	}
	if m.expired {
		m.settle(Lost, Failure{}) // unless this batch settled it
	}
	switch {
	case m.failure == nil:
		m.latch(append(found, m.derived()...))
	case m.refine:
		m.latch(m.derived())
	}
}

// record keeps the fact in o and reports whether o is evidence by itself.
func (m *Machine) record(o Observation) bool {
	switch o.kind {
	case evidence:
		return true
	case sinkOverflowed:
		return true
	case lifetimeOver:
		m.expired = true
		return true
	case producerEnded:
		m.ended, m.status = true, o.status
		m.stopped = m.killed || m.requested
	case candidateSettled:
		m.settle(o.settlement, o.failure)
	case sinkSettled:
		if m.sink == SinkUnsettled {
			m.sink, m.sinkRefusal = o.sink, o.failure
		}
	case finalizerEnded:
		m.finalized = true
	case sinkDelivered:
		m.exported = true
	case targetNamed:
		m.named = true
	case survivorsAnswered:
		m.answered = true
		return o.survivors
	case domainEnded:
		m.emptied = true
	case diagnosticsRead:
		m.read = true
	case diagnosticsDone:
		m.delivered = true
	case reportDone:
		m.reported = true
	case graceOver:
		m.graceOver = true
	}
	return false
}

func (m *Machine) settle(s Settlement, refusal Failure) {
	if m.settlement == Unsettled {
		m.settlement, m.refusal = s, refusal
	}
}

// derived returns the evidence that follows from sink, candidate and wait
// status together. What follows from EOF alone waits for the status.
func (m *Machine) derived() []Observation {
	var found []Observation
	switch m.settlement {
	case Overflowed:
		found = append(found, Observation{rank: rankBudget, tie: 1, failure: m.refusal})
	case Malformed:
		found = append(found, TransportFailure(contracts.ChannelCandidate, ReasonProtocol))
	}
	claimed := m.settlement == Claimed
	if m.ended && (claimed || m.failedItself()) {
		found = append(found, Observation{kind: producerEnded, rank: rankProducer,
			failure: ProducerFailed(m.status, claimed)})
	}
	if m.ended && m.sink == SinkRefused {
		found = append(found, Observation{rank: rankEndOfFile, failure: m.sinkRefusal})
	}
	if m.ended && m.settlement == Fragment && m.captured() {
		found = append(found, Observation{rank: rankEndOfFile, tie: 1,
			failure: ChannelFailed(contracts.ChannelCandidate, ReasonProtocol)})
	}
	return found
}

// captured reports whether no more is awaited of the sink.
func (m *Machine) captured() bool { return m.route == NoSink || m.sink != SinkUnsettled }

// failedItself: the producer ended badly, and not because S told it to. One
// that was dismissed says so with exit 1.
func (m *Machine) failedItself() bool {
	answered := m.dismissed && m.status == Status{Exit: 1}
	return !m.status.Clean() && !m.stopped && !answered
}

// latch makes the first of found the cause. One that follows from an end stays
// open to refinement until the candidate is settled.
func (m *Machine) latch(found []Observation) {
	if len(found) == 0 {
		return
	}
	cause := first(found)
	m.failure = &cause.failure
	m.refine = m.settlement == Unsettled && (cause.kind == producerEnded || cause.rank == rankEndOfFile)
	m.lingers = cause.kind == producerEnded || cause.kind == sinkOverflowed
	m.graceful = cause.rank == rankCancellation || cause.kind == lifetimeOver
}
