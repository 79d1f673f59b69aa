package host

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// collect takes batches until everything has ended, or the watch has.
//
// Rules: R14, R16, C-50.
func (a *attempt) collect() {
	for !a.settled() {
		a.batch()
		a.follow(time.Now())
	}
}

// settled: S is reaped, and every channel has ended or had the grace to. What
// keeps a channel open longer than S lives is not S. An S that even a kill does
// not end within the grace is not waited for.
func (a *attempt) settled() bool {
	if !a.exit.Waited {
		return !a.killed.IsZero() && time.Since(a.killed) >= stopGrace
	}
	open := a.terminal.fd >= 0
	for _, s := range a.streams() {
		open = open || s.fd >= 0
	}
	return !open || time.Since(a.exitedAt) >= stopGrace
}

func (a *attempt) streams() []*stream {
	if a.sink == nil {
		return []*stream{a.report, a.diagnostic}
	}
	return []*stream{a.report, a.diagnostic, a.sink}
}

// batch is one return of the poll, and what is ready in it.
func (a *attempt) batch() {
	type watch struct {
		fd    int
		ready func() error
	}
	var watches []watch
	for _, s := range a.streams() {
		watches = append(watches, watch{s.fd, func() error { return s.take(a.buffer[:chunkBytes]) }})
	}
	watches = append(watches, watch{a.terminal.fd, func() error { return a.terminal.take(a.buffer) }},
		watch{a.pidfd, a.reap}, watch{a.cancel.fd, a.requestStop})
	fds := make([]unix.PollFd, len(watches))
	for i, w := range watches {
		fds[i] = unix.PollFd{Fd: int32(w.fd), Events: unix.POLLIN} // -1 is ignored
	}
	if err := poll(fds, time.Until(a.nextDeadline())); err != nil {
		a.note(err)
		a.kill()
	}
	for i, w := range watches {
		if fds[i].Revents != 0 {
			a.note(w.ready())
		}
	}
}

// nextDeadline is when follow has something to do at the latest.
func (a *attempt) nextDeadline() time.Time {
	if a.exit.Waited {
		return a.exitedAt.Add(stopGrace)
	}
	if !a.killed.IsZero() {
		return a.killed.Add(stopGrace)
	}
	return a.deadline()
}

// deadline bounds the wait for an outcome: the watch from the spawn, which a
// cancellation shortens.
func (a *attempt) deadline() time.Time {
	end := a.started.Add(a.limits.watch())
	if stop := a.cancelled.Add(a.limits.cancelWatch()); !a.cancelled.IsZero() && stop.Before(end) {
		return stop
	}
	return end
}

// follow does what follows from facts and from time: it kills an S that is too
// late, or that sent what no S may send.
func (a *attempt) follow(now time.Time) {
	if a.exit.Waited {
		return
	}
	if !a.expired && !now.Before(a.deadline()) {
		a.expired = true
		a.kill()
	}
	for _, s := range a.streams() {
		if s.over {
			a.kill()
		}
		if s.lost != nil && a.cancelled.IsZero() {
			a.note(s.lost)
			a.note(a.stop(now))
		}
	}
}

func (a *attempt) kill() {
	if !a.exit.Waited && a.killed.IsZero() {
		a.killed = time.Now()
		a.note(unix.PidfdSendSignal(a.pidfd, unix.SIGKILL, nil, 0))
	}
}

// requestStop passes the caller's request to stop on to S, once. The host stays
// to collect the outcome. Rules: R20, C-4.
func (a *attempt) requestStop() error {
	a.cancel.consume()
	if !a.cancelled.IsZero() {
		return nil
	}
	return a.stop(time.Now())
}

func (a *attempt) stop(now time.Time) error {
	a.cancelled = now
	if a.exit.Waited {
		return nil
	}
	return unix.PidfdSendSignal(a.pidfd, unix.SIGTERM, nil, 0)
}

// reap waits for S itself. Its own ends are closed by now, so what it sent is
// all there: it is taken before anything is judged. Rules: R14.
func (a *attempt) reap() error {
	var status unix.WaitStatus
	pid, err := unix.Wait4(a.pid, &status, unix.WNOHANG, &a.usage)
	switch {
	case err != nil && later(err):
		return nil
	case err != nil:
		return fmt.Errorf("wait for supervisor: %w", err)
	case pid == 0:
		return nil
	}
	a.exitedAt = time.Now()
	a.exit = Exit{Waited: true, Status: status.ExitStatus()}
	if status.Signaled() {
		a.exit = Exit{Waited: true, Signal: int(status.Signal())}
	}
	return shut(&a.pidfd)
}
