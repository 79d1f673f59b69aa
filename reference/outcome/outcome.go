// Package outcome decides: it turns what S saw, batch by batch, into one
// latched cause and the next step. It is pure, so that every order of events
// can be tried.
//
// Three things are kept apart, because confusing them hides the cause. A cause
// is latched, once, from the first batch that holds evidence (R19). The domain
// is stopped because a cause is latched, and its death is no evidence. The
// attempt is over only when the domain is empty and the data is settled.
//
// A producer that ended badly is a latched cause whose wording may wait: until
// its candidate is settled nobody knows whether it is an exit or a claim, or
// whether the whole value was malformed or too long. Only that settlement can
// refine it; no other later event can replace it.
package outcome

import "touchstone/contracts"

// Action is what S does next. Each but Wait is returned once.
type Action uint8

const (
	// Wait for another batch.
	Wait Action = iota
	// RequestStop asks the producer to end; GraceOver must follow in time.
	RequestStop
	// Kill ends the producer, then its init, at once.
	Kill
	// AskSurvivors asks the init whether it is alone.
	AskSurvivors
	// PublishReport writes the accepted document to the host.
	PublishReport
	// PublishClaim relays the producer's own failure document, byte for byte.
	PublishClaim
	// PublishReplacement writes S's failure document if it fits.
	PublishReplacement
	// Finish closes the data channels and sends the terminal record.
	Finish
)

// Machine is the state of one attempt. The zero value is a running producer.
type Machine struct {
	failure  *Failure
	refine   bool // the failure is the producer's end and waits for the candidate
	graceful bool // the failure lets the producer end by itself, for a while

	status     Status
	settlement Settlement
	refusal    Failure // what an overflowed candidate latches

	// Facts that were observed.
	ended, answered, emptied  bool // producer, survivor question, domain
	read, delivered, reported bool // diagnostics, diagnostics, report
	graceOver, expired        bool

	// Actions that were returned.
	requested, asked, killed, published, succeeded, finished bool
}

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
	case lifetimeOver:
		m.expired = true
		return true
	case producerEnded:
		m.ended, m.status = true, o.status
	case candidateSettled:
		m.settle(o.settlement, o.failure)
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

// derived returns the evidence that follows from the candidate and the wait
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
	if m.ended && (claimed || !m.status.Clean()) {
		found = append(found, Observation{kind: producerEnded, rank: rankProducer,
			failure: ProducerFailed(m.status, claimed)})
	}
	if m.ended && m.settlement == Fragment {
		found = append(found, Observation{rank: rankEndOfFile,
			failure: ChannelFailed(contracts.ChannelCandidate, ReasonProtocol)})
	}
	return found
}

// latch makes the first of found the cause. The producer's end stays open to
// refinement until its candidate is settled.
func (m *Machine) latch(found []Observation) {
	if len(found) == 0 {
		return
	}
	cause := first(found)
	m.failure = &cause.failure
	m.refine = cause.kind == producerEnded && m.settlement == Unsettled
	m.graceful = cause.rank == rankCancellation || cause.kind == lifetimeOver
}

// Next returns what to do now.
//
// Rules: R13, R15, C-66, C-73.
func (m *Machine) Next() Action {
	switch {
	case m.mustKill():
		m.killed = true
		return Kill
	case m.failure != nil && !m.ended && !m.emptied && !m.killed && !m.requested:
		m.requested = true
		return RequestStop
	case m.failure == nil && m.ended && !m.asked:
		m.asked = true
		return AskSurvivors
	case !m.emptied || m.finished:
		return Wait
	case !m.expired:
		if action := m.publish(); action != Finish {
			return action
		}
	}
	m.finished = true
	return Finish
}

// mustKill: at once for every cause but a graceful one, which has until the
// producer ends or the grace is over; and without a cause, once the survivor
// question is answered.
func (m *Machine) mustKill() bool {
	if m.killed || m.emptied {
		return false
	}
	if m.failure == nil {
		return m.ended && m.answered
	}
	return !m.graceful || m.ended || m.graceOver
}

// publish returns the next step of publication, Finish when there is none.
func (m *Machine) publish() Action {
	switch {
	case !m.read || m.refine || m.failure == nil && m.settlement == Unsettled:
		return Wait
	case m.published:
		if m.reported && m.delivered {
			return Finish
		}
		return Wait
	}
	m.published = true
	switch {
	case m.failure == nil:
		m.succeeded = true
		return PublishReport
	case m.claims():
		return PublishClaim
	}
	return PublishReplacement
}

// claims reports whether the latched cause is the producer's own claim.
func (m *Machine) claims() bool {
	return m.failure.Code == contracts.CodeRunProducerFailed && m.settlement == Claimed
}
