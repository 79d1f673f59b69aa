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
	// Dismiss tells a producer that waits for its sink that there is none;
	// GraceOver must follow in time.
	Dismiss
	// KillFinalizer ends the finalizer at once.
	KillFinalizer
	// AskSurvivors asks the init whether it is alone.
	AskSurvivors
	// PublishSink writes the verified sink to the host's endpoint.
	PublishSink
	// PublishReport writes the accepted document to the host.
	PublishReport
	// PublishClaim relays the producer's own failure document, byte for byte.
	PublishClaim
	// PublishReplacement writes S's failure document if it fits.
	PublishReplacement
	// PublishName gives the retained sink its caller's name.
	PublishName
	// Finish closes the data channels and sends the terminal record.
	Finish
)

// Next returns what to do now.
//
// Rules: R13, R15, C-66, C-73.
func (m *Machine) Next() Action {
	switch {
	case m.mustKill():
		m.killed = true
		return Kill
	case m.mustKillFinalizer():
		m.finalizerKilled = true
		return KillFinalizer
	case m.failure == nil && m.route == Internal && m.sink == SinkRefused && !m.ended && !m.dismissed:
		m.dismissed = true
		return Dismiss
	case m.failure != nil && !m.ended && !m.emptied && !m.killed && !m.requested:
		m.requested = true
		return RequestStop
	case m.failure == nil && m.ended && !m.asked:
		m.asked = true
		return AskSurvivors
	case !m.emptied || m.route != NoSink && !m.finalized || m.finished:
		return Wait
	case !m.expired:
		if action := m.publish(); action != Finish {
			return action
		}
	}
	m.finished = true
	return Finish
}

// Commits reports whether the steps from here, before another batch, give the
// host something of a success: what a cancellation of this moment must precede.
//
// Rules: R19.
func (m Machine) Commits() bool {
	for {
		switch m.Next() {
		case PublishSink, PublishReport, PublishName:
			return true
		case Wait, Finish:
			return false
		}
	}
}

// mustKill: at once for every cause but a graceful one, which has until the
// producer ends or the grace is over; and without a cause, once the survivor
// question is answered, or a dismissed producer does not go.
func (m *Machine) mustKill() bool {
	if m.killed || m.emptied {
		return false
	}
	if m.failure == nil {
		return m.ended && m.answered || m.dismissed && !m.ended && m.graceOver
	}
	return !m.graceful || m.ended || m.graceOver
}

// mustKillFinalizer: at once for every cause but those that it may still have
// something to say to.
func (m *Machine) mustKillFinalizer() bool {
	return m.route != NoSink && !m.finalized && !m.finalizerKilled && m.failure != nil && (!m.lingers || m.graceOver)
}

// publish returns the next step of publication, Finish when there is none.
func (m *Machine) publish() Action {
	switch {
	case !m.read || m.refine || m.failure == nil && (m.settlement == Unsettled || !m.captured()):
		return Wait
	case m.failure == nil && m.route == Inherited && !m.exporting:
		m.exporting, m.succeeded = true, true
		return PublishSink
	case m.exporting && !m.exported:
		return Wait
	case !m.published:
		m.published = true
		if action := m.document(); action != Wait {
			return action
		}
		return m.publish()
	case !m.reported || !m.delivered:
		return Wait
	case m.failure == nil && m.route == Named && !m.naming:
		m.naming = true
		return PublishName
	case m.failure == nil && m.naming && !m.named:
		return Wait
	}
	return Finish
}

// document is what the report carries, Wait for nothing: once a byte of success
// may have reached the host, a failure is told in the record alone.
//
// Rules: R15.
func (m *Machine) document() Action {
	switch {
	case m.failure == nil:
		m.succeeded = true
		return PublishReport
	case m.succeeded:
		return Wait
	case m.claims():
		return PublishClaim
	}
	return PublishReplacement
}

// claims reports whether the latched cause is the producer's own claim.
func (m *Machine) claims() bool {
	return m.failure.Code == contracts.CodeRunProducerFailed && m.settlement == Claimed
}
