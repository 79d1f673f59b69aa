package supervisor

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"touchstone/reference/jail"
	"touchstone/reference/outcome"
)

// toolRun is one tool at work. It owns the domain, nil after end.
type toolRun struct {
	*attempt
	tool
	domain  *jail.Domain
	source  *intake
	machine outcome.ToolStage
	status  jail.Status
	usage   jail.Usage

	began, ended             time.Duration
	graceAt, stopBy          time.Duration // as the attempt's
	reaped, emptied, stopped bool
	toldExpiry, toldEnd      bool
	toldRead, toldDelivered  bool
}

// start builds the tool's domain and lets the tool go.
func (r *toolRun) start() (err error) {
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	output := -1
	defer func() { err = errors.Join(err, shut(&null), shut(&output)) }() // EOF needs ours closed
	if output, err = r.newSource(); err != nil {
		return err
	}
	r.source = r.diagnostics.sources[len(r.diagnostics.sources)-1]
	if r.domain, err = jail.Start(r.toolSpec(null, output)); err != nil {
		return err
	}
	if err := r.domain.Attest(); err != nil {
		return err
	}
	return r.domain.Release()
}

// run takes batches until the stage is over. It is the attempt's loop for a
// tool: nothing blocks, and every deadline is absolute.
//
// Rules: R06, R16, R17, R19.
func (r *toolRun) run() {
	for {
		var seen []outcome.Observation
		for action := r.machine.Next(); action != outcome.Wait; action = r.machine.Next() {
			if action == outcome.Finish {
				return
			}
			seen = append(seen, r.act(action)...)
		}
		seen = append(seen, r.batch(len(seen) == 0)...)
		r.machine.Observe(append(seen, r.follow()...)...)
	}
}

// batch is one return of the poll; it waits unless something was seen already.
func (r *toolRun) batch(wait bool) (seen []outcome.Observation) {
	watches := r.watches()
	fds := make([]unix.PollFd, len(watches))
	for i, w := range watches {
		fds[i] = unix.PollFd{Fd: int32(w.fd), Events: w.events}
	}
	var limit time.Duration
	if wait {
		limit = r.untilNext()
	}
	if err := poll(fds, limit); err != nil {
		seen = append(seen, outcome.Fault())
	}
	for i, w := range watches {
		if fds[i].Revents != 0 {
			seen = append(seen, w.ready()...)
		}
	}
	seen = append(seen, r.flush(r.diagnosticOut)...)
	return append(seen, r.overdue()...)
}

func (r *toolRun) watches() []watch {
	list := []watch{{r.cancel.fd, unix.POLLIN, r.onCancel}}
	switch {
	case !r.waits():
	case !r.reaped:
		list = append(list, watch{r.domain.Producer.FD, unix.POLLIN, r.onTool})
	case !r.emptied:
		list = append(list, watch{r.domain.Init.FD, unix.POLLIN, r.onInit})
	}
	if r.source.open() && len(r.diagnosticOut.pending) == 0 {
		list = append(list, watch{r.source.fd, unix.POLLIN, func() []outcome.Observation { return r.onDiagnostics(r.source) }})
	}
	if r.diagnosticOut.open() && len(r.diagnosticOut.pending) > 0 {
		list = append(list, watch{r.diagnosticOut.fd, unix.POLLOUT, nothing})
	}
	return list
}

func (r *toolRun) onTool() []outcome.Observation {
	status, done, err := r.domain.ReapProducer()
	if err != nil || !done {
		return r.unwaited(err)
	}
	r.reaped, r.status, r.ended = true, status, r.now()
	return []outcome.Observation{outcome.ProducerEnded(outcome.Status{Exit: status.ExitStatus, Signal: int(status.Signal)})}
}

func (r *toolRun) onInit() []outcome.Observation {
	done, err := r.domain.ReapInit()
	if err != nil || !done || r.toldEnd {
		return r.unwaited(err)
	}
	r.emptied, r.toldEnd, r.stopBy = true, true, 0
	return []outcome.Observation{outcome.DomainEnded()}
}

// follow tells what follows from facts alone. Nothing is read any more once
// nothing can be delivered.
func (r *toolRun) follow() (seen []outcome.Observation) {
	if r.diagnosticOut.failed {
		seen = append(seen, r.faulty(r.source.close())...)
	}
	if !r.source.open() && !r.toldRead {
		r.toldRead = true
		seen = append(seen, outcome.DiagnosticsRead())
	}
	if r.toldRead && !r.toldDelivered && len(r.diagnosticOut.pending) == 0 {
		r.toldDelivered = true
		seen = append(seen, outcome.DiagnosticsDone())
	}
	return seen
}

func (r *toolRun) act(action outcome.Action) []outcome.Observation {
	switch action {
	case outcome.RequestStop:
		r.stopped = true
		r.graceAt, r.stopBy = r.now()+stopGrace/2, r.reapBy()
		return r.faulty(r.domain.Terminate(unix.SIGTERM))
	case outcome.Kill:
		if r.stopBy == 0 {
			r.stopBy = r.reapBy()
		}
		r.stopped = r.stopped || !r.reaped
		return r.faulty(r.domain.Kill())
	}
	return nil
}

func (r *toolRun) untilNext() time.Duration {
	next := time.Duration(1 << 62)
	if !r.toldExpiry {
		next = r.wall
	}
	for _, at := range []time.Duration{r.graceAt, r.stopBy} {
		if at > 0 {
			next = min(next, at)
		}
	}
	if at, pending := r.diagnosticOut.deadline(); pending && !r.toldExpiry {
		next = min(next, at, r.now()+retryInterval)
	}
	if !r.waits() {
		next = min(next, r.waitAt)
	}
	return next - r.now()
}

func (r *toolRun) overdue() (seen []outcome.Observation) {
	now := r.now()
	if now >= r.wall && !r.toldExpiry {
		r.toldExpiry = true
		seen = append(seen, outcome.Expiry(r.during, r.wall))
	}
	if at, pending := r.diagnosticOut.deadline(); pending && now >= at && !r.toldExpiry {
		r.diagnosticOut.fail()
		seen = append(seen, outcome.Stall(r.diagnosticOut.channel, at))
	}
	if r.graceAt > 0 && now >= r.graceAt {
		r.graceAt = 0
		seen = append(seen, outcome.GraceOver())
	}
	if r.stopBy > 0 && now >= r.stopBy && !r.toldEnd {
		r.toldEnd, r.stopBy = true, 0
		seen = append(seen, outcome.DomainEnded())
	}
	return seen
}

// end measures the stage, gives the domain up and returns what it latched.
func (r *toolRun) end() *outcome.Failure {
	if r.ended == 0 {
		r.ended = r.now()
	}
	r.usage = r.domain.Usage()
	domain, failure := r.domain, r.machine.Failure()
	if r.domain = nil; !r.emptied {
		r.stuck = append(r.stuck, domain)
	} else if domain.Close() != nil && failure == nil {
		failure = new(outcome.InternalFault())
	}
	if failure != nil {
		r.causeStage = r.during
	}
	if r.machine.Genuine() {
		r.early = r.exit
	}
	return failure
}

// undisturbed: the tool ended by itself, and so did its streams.
func (r *toolRun) undisturbed() bool { return r.reaped && !r.stopped && r.status.Signal == 0 }
