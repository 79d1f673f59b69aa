package supervisor

import (
	"errors"

	"golang.org/x/sys/unix"

	"touchstone/contracts"
	"touchstone/reference/jail"
	"touchstone/reference/outcome"
)

// Each of these does what its ready descriptor asks for, without blocking, and
// returns what that showed. A descriptor that was not ready shows nothing.

func (a *attempt) onCancel() []outcome.Observation {
	if _, err := transfer(unix.Read, a.cancel.fd, make([]byte, 8)); err != nil {
		return nil
	}
	return []outcome.Observation{outcome.Cancellation()}
}

// onNotification takes one notification and leaves it unanswered: the producer
// stays in its call until it is killed (R18). A withdrawn one is an attempt
// whose name is lost; a violation unless the producer tries again at once.
func (a *attempt) onNotification() []outcome.Observation {
	operation, known, err := a.domain.Notification()
	switch {
	case errors.Is(err, jail.ErrListenerEnded): // the producer is ending
		return a.faulty(shut(&a.domain.Listener))
	case errors.Is(err, jail.ErrNoNotification): // withdrawn since the poll
		a.withdrawn = true
		return nil
	case err != nil:
		return []outcome.Observation{outcome.Fault()}
	case known:
		return []outcome.Observation{outcome.CreationCall(operation)}
	case operation == "":
		a.withdrawn = true
		return nil
	}
	return []outcome.Observation{outcome.Violation()}
}

func (a *attempt) onProducer() []outcome.Observation {
	status, done, err := a.domain.ReapProducer()
	if err != nil || !done {
		return a.unwaited(err)
	}
	a.reaped, a.status = true, status
	a.times.ended, a.spent.ended = a.now(), spent()
	seen := []outcome.Observation{outcome.ProducerEnded(
		outcome.Status{Exit: status.ExitStatus, Signal: int(status.Signal)})}
	if a.withdrawn {
		seen = append(seen, outcome.Violation())
	}
	return seen
}

// unwaited is a wait that told nothing. One that failed leaves its descriptor
// ready: it is tried again, but not at once.
func (a *attempt) unwaited(err error) []outcome.Observation {
	if err != nil {
		a.waitAt = a.now() + retryInterval
	}
	return a.faulty(err)
}

// waits says whether a wait may be tried now.
func (a *attempt) waits() bool { return a.now() >= a.waitAt }

func (a *attempt) onAnswer() []outcome.Observation {
	survivors, ready, err := a.domain.SurvivorAnswer()
	if err == nil && !ready {
		return nil
	}
	a.asked = false
	return []outcome.Observation{outcome.SurvivorsAnswered(survivors || err != nil)}
}

func (a *attempt) onInit() []outcome.Observation {
	done, err := a.domain.ReapInit()
	if err != nil || !done || a.told.domain {
		return a.unwaited(err)
	}
	a.emptied, a.told.domain, a.stopBy = true, true, 0
	return []outcome.Observation{outcome.DomainEnded()}
}

// onDiagnostics takes one source's bytes, unless another's were taken in this
// batch and wait: there is one queue.
func (a *attempt) onDiagnostics(source *intake) []outcome.Observation {
	if len(a.diagnosticOut.pending) > 0 || !source.open() {
		return nil
	}
	kept, err := source.read()
	if errors.Is(err, errAgain) {
		return nil
	}
	var seen []outcome.Observation
	if err != nil {
		seen = append(seen, outcome.TransportFailure(contracts.ChannelDiagnostic, outcome.ReasonIO))
		seen = append(seen, a.faulty(source.close())...)
	}
	if a.diagnostics.meter.Overflowed() {
		seen = append(seen, a.faulty(a.diagnostics.close())...)
		seen = append(seen, outcome.DiagnosticOverflow(a.diagnostics.meter.Limit()))
	}
	a.diagnosticOut.offer(kept, a.now())
	return seen
}

func (a *attempt) onCandidate() []outcome.Observation {
	kept, err := a.candidate.read()
	if errors.Is(err, errAgain) {
		return nil
	}
	var seen []outcome.Observation
	if err != nil {
		seen = append(seen, outcome.TransportFailure(contracts.ChannelCandidate, outcome.ReasonIO))
		seen = append(seen, a.faulty(a.candidate.close())...)
	}
	a.ledger.Charge(int64(len(kept))) // within the meter's limit, so it fits
	a.worker.input.pass(kept)
	a.worker.input.finished = a.candidate.ended
	if a.candidate.meter.Overflowed() {
		limit, budget := a.ledger.Limit(), outcome.BudgetJSON
		if a.sink != nil && a.sink.meter.Accepted() > 0 {
			budget = outcome.BudgetAggregate // C-25
		}
		seen = append(seen, outcome.CandidateSettled(outcome.Overflowed,
			outcome.ReportBudget(budget, limit, limit, 1)))
	}
	return seen
}

// onWorkerInput lets the worker's own end say what a failed write means.
func (a *attempt) onWorkerInput() []outcome.Observation {
	err := a.worker.input.push()
	if err == nil || errors.Is(err, errAgain) {
		return nil
	}
	return a.faulty(errors.Join(a.candidate.close(), a.worker.input.close()))
}

func (a *attempt) onWorker() []outcome.Observation {
	m, err := a.worker.hear()
	switch {
	case errors.Is(err, errAgain):
		return nil
	case err != nil:
		return append(a.faulty(shut(&a.worker.control)), outcome.Fault())
	case m.Word == saySettled:
		a.claim = m
		return []outcome.Observation{outcome.CandidateSettled(m.Settlement, outcome.Failure{})}
	case m.Word == sayKept && (a.sink == nil || !a.sink.verified):
		return nil
	case m.Word == sayKept:
		return append(a.handOver(), outcome.SinkSettled(outcome.SinkVerified, outcome.Failure{}))
	case m.Word == sayDiscarded: // what it failed with came before
		return nil
	case m.Word == sayNamed:
		a.sink.named = true
		return []outcome.Observation{outcome.TargetNamed()}
	}
	return []outcome.Observation{outcome.SpoolFailure()}
}
