package supervisor

import (
	"time"

	"golang.org/x/sys/unix"

	"touchstone/reference/outcome"
)

// retryInterval is how often a blocked publication is tried without being told
// to: a socket can take bytes before it reports room (C-61).
const retryInterval = 50 * time.Millisecond

// watch is one descriptor that the loop waits for, and what to do with it.
type watch struct {
	fd     int
	events int16
	ready  func() []outcome.Observation
}

// run takes batches until the machine says that the attempt is finished.
//
// Rules: R13, R16, R19.
func (a *attempt) run() {
	for a.step() {
	}
}

// step acts, takes one batch and observes it, unless the attempt is finished.
func (a *attempt) step() bool {
	for action := a.machine.Next(); action != outcome.Wait; action = a.machine.Next() {
		if action == outcome.Finish {
			return false
		}
		a.note(a.act(action))
	}
	a.note(a.follow())
	a.note(a.batch())
	a.observe(a.seen...)
	a.seen = nil
	return true
}

// observe tells the machine of one batch. What would be latched, or published as
// a success, is held against a cancellation of the same moment first. The stage
// of a cause is where the attempt stood when it was latched, whatever follows.
//
// Rules: R19.
func (a *attempt) observe(batch ...outcome.Observation) {
	before, trial := a.machine.Failure(), a.machine
	if trial.Observe(batch...); before == nil && (trial.Failure() != nil || trial.Commits()) && a.cancel.overtaken() {
		batch = append(batch, outcome.Cancellation())
	}
	a.machine.Observe(batch...)
	if before == nil && a.machine.Failure() != nil {
		a.causeStage = a.stage()
	}
}

func (a *attempt) note(seen []outcome.Observation) { a.seen = append(a.seen, seen...) }

// batch is everything that is ready, and every deadline that has passed. S can
// have stood still since it looked: a deadline is told together with what came
// before it (R19).
func (a *attempt) batch() []outcome.Observation {
	wait := a.untilNext()
	if len(a.seen) > 0 {
		wait = 0
	}
	seen := a.look(wait)
	if a.untilNext() <= 0 {
		seen = append(seen, a.look(0)...)
	}
	return append(seen, a.overdue()...)
}

// look is one return of the poll.
func (a *attempt) look(wait time.Duration) (seen []outcome.Observation) {
	watches := a.watches()
	fds := make([]unix.PollFd, len(watches))
	for i, w := range watches {
		fds[i] = unix.PollFd{Fd: int32(w.fd), Events: w.events}
	}
	if err := poll(fds, wait); err != nil {
		// Nothing below blocks, so the attempt can still be brought to an end.
		seen = append(seen, outcome.Fault())
		for i := range fds {
			fds[i].Revents = fds[i].Events
		}
	}
	for i, w := range watches {
		if fds[i].Revents != 0 {
			seen = append(seen, w.ready()...)
		}
	}
	for _, p := range a.publishers() {
		seen = append(seen, a.flush(p)...)
	}
	return seen
}

// watches lists what can happen now. A stream whose bytes cannot be passed on
// is not read: that is the whole of backpressure.
func (a *attempt) watches() []watch {
	list := []watch{{a.cancel.fd, unix.POLLIN, a.onCancel}}
	add := func(wanted bool, fd int, events int16, ready func() []outcome.Observation) {
		if wanted && fd >= 0 {
			list = append(list, watch{fd, events, ready})
		}
	}
	if d := a.domain; d != nil {
		add(a.machine.Failure() == nil && !a.reaped, d.Listener, unix.POLLIN, a.onNotification)
		add(!a.reaped && a.waits(), d.Producer.FD, unix.POLLIN, a.onProducer)
		add(a.asked, d.Lifeline, unix.POLLIN, a.onAnswer)
		add(a.reaped && !a.emptied && !a.asked && a.waits(), d.Init.FD, unix.POLLIN, a.onInit)
		for _, source := range a.diagnostics.sources {
			add(len(a.diagnosticOut.pending) == 0, source.fd, unix.POLLIN, func() []outcome.Observation {
				return a.onDiagnostics(source)
			})
		}
		if s := a.sink; s != nil { // before the candidate, which it precedes
			v := s.finalizer
			add(s.reading(), s.fd, unix.POLLIN, a.onSink)
			add(s.reading() && !s.silent, a.candidate.fd, unix.POLLIN, a.onEarlyCandidate)
			add(v.input.busy(), v.input.fd, unix.POLLOUT, a.onRelay)
			add(true, v.receipt, unix.POLLIN, a.onReceipt)
			add(!v.ended && a.waits(), v.pidfd, unix.POLLIN, a.onFinalizer)
		}
		add(a.captured() && len(a.worker.input.pending) == 0, a.candidate.fd, unix.POLLIN, a.onCandidate)
		add(a.worker.input.busy(), a.worker.input.fd, unix.POLLOUT, a.onWorkerInput)
		add(true, a.worker.control, unix.POLLIN, a.onWorker)
		add(a.delivering.wants(), a.worker.output, unix.POLLIN, a.onRetained)
	}
	for _, p := range a.publishers() {
		add(len(p.pending) > 0, p.fd, unix.POLLOUT, nothing)
	}
	return list
}

// publishers are the channels to the host, in the order of their transport
// ties.
func (a *attempt) publishers() []*publisher {
	return []*publisher{a.report, a.sinkOut, a.diagnosticOut}
}

// nothing is for publishers: they are flushed in every batch.
func nothing() []outcome.Observation { return nil }

// untilNext is the time until the next deadline or retry.
func (a *attempt) untilNext() time.Duration {
	next := time.Duration(1 << 62)
	if !a.machine.Expired() {
		next = a.wall
	}
	for _, at := range []time.Duration{a.graceAt, a.stopBy, a.finalizerBy, a.brokenBy()} {
		if at > 0 {
			next = min(next, at)
		}
	}
	for _, p := range a.publishers() {
		if at, pending := p.deadline(); pending {
			next = min(next, at, a.now()+retryInterval)
		}
	}
	if !a.waits() {
		next = min(next, a.waitAt)
	}
	return next - a.now()
}

// overdue returns the deadlines that have passed, at their own instants.
func (a *attempt) overdue() (seen []outcome.Observation) {
	now := a.now()
	if now >= a.wall && !a.told.expiry {
		a.told.expiry = true
		seen = append(seen, outcome.Expiry(a.stage(), a.wall))
	}
	for _, p := range a.publishers() {
		if at, pending := p.deadline(); pending && now >= at {
			p.fail()
			seen = append(seen, outcome.Stall(p.channel, at))
		}
	}
	if a.graceAt > 0 && now >= a.graceAt {
		a.graceAt = 0
		seen = append(seen, outcome.GraceOver())
	}
	if a.stopBy > 0 && now >= a.stopBy && !a.told.domain {
		a.told.domain, a.stopBy = true, 0
		seen = append(seen, outcome.DomainEnded(), outcome.Violation())
	}
	return append(seen, a.overdueFinalizer(now)...)
}

// overdueFinalizer: one that has closed its input does not end by itself, or a
// killed one does not end.
func (a *attempt) overdueFinalizer(now time.Duration) (seen []outcome.Observation) {
	if at := a.brokenBy(); at > 0 && now >= at {
		a.sink.finalizer.goneBy = 0
		seen = append(seen, outcome.SinkFailure(outcome.ReasonSinkPeerClosed))
	}
	if a.finalizerBy > 0 && now >= a.finalizerBy && !a.told.finalizer {
		a.told.finalizer, a.finalizerBy = true, 0
		seen = append(append(seen, outcome.FinalizerEnded()), a.retire(0)...)
	}
	return seen
}

// brokenBy is when a finalizer that has closed its input must have ended, for
// its own end to count; 0 for never.
func (a *attempt) brokenBy() time.Duration {
	if a.sink == nil || a.sink.finalizer.ended {
		return 0
	}
	return a.sink.finalizer.goneBy
}

// flush writes what is pending, but no byte after W (R16).
func (a *attempt) flush(p *publisher) []outcome.Observation {
	if !p.open() || len(p.pending) == 0 || a.now() >= a.wall {
		return nil
	}
	return p.failure(p.flush(a.now()))
}

// reapPatience is how long S waits for the end of what it has killed. It is
// long, as a loaded machine reaps late; what is given up costs the attempt.
const reapPatience = 10 * time.Second

// reapBy is the instant at which S gives up what it kills now: at the end of
// the lifetime G is left for that.
//
// Rules: R13, R16.
func (a *attempt) reapBy() time.Duration {
	now := a.now()
	return min(now+reapPatience, max(now, a.wall)+stopGrace)
}

// act does what the machine decided.
func (a *attempt) act(action outcome.Action) []outcome.Observation {
	switch action {
	case outcome.RequestStop:
		a.graceAt, a.stopBy = a.now()+stopGrace/2, a.reapBy()
		return a.faulty(a.signal(unix.SIGTERM))
	case outcome.Kill:
		if a.stopBy == 0 {
			a.stopBy = a.reapBy()
		}
		if a.machine.AwaitsSink() && a.machine.Failure() != nil && a.graceAt == 0 { // the finalizer has a while
			a.graceAt = a.now() + patientGrace
		}
		a.asked = false
		a.terminated = a.terminated || !a.reaped
		return a.faulty(a.domain.Kill())
	case outcome.Dismiss:
		a.graceAt = a.now() + patientGrace
		return a.faulty(shut(&a.sink.handoff))
	case outcome.KillFinalizer:
		a.finalizerBy = a.reapBy()
		return a.faulty(a.sink.finalizer.kill())
	case outcome.AskSurvivors:
		a.asked = true
		if a.domain.AskSurvivor() != nil { // an init that is gone holds nothing together
			a.asked = false
			return []outcome.Observation{outcome.SurvivorsAnswered(true)}
		}
	case outcome.PublishSink:
		a.times.publish, a.spent.publish = a.now(), spent()
		return a.export()
	case outcome.PublishReport:
		if a.times.publish == 0 {
			a.times.publish, a.spent.publish = a.now(), spent()
		}
		return a.relay()
	case outcome.PublishClaim:
		return a.relay()
	case outcome.PublishReplacement:
		return a.replace()
	case outcome.PublishName:
		return a.faulty(a.worker.order(order{word: orderName}))
	}
	return nil
}

func (a *attempt) signal(signal unix.Signal) error {
	a.terminated = true
	return a.domain.Terminate(signal)
}

// faulty turns a failure of S's own operation into evidence.
func (a *attempt) faulty(err error) []outcome.Observation {
	if err == nil {
		return nil
	}
	return []outcome.Observation{outcome.Fault()}
}
