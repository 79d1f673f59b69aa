package supervisor

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"touchstone/reference/jail"
	"touchstone/reference/outcome"
)

// newSource adds one more source of diagnostics and returns its write end.
func (a *attempt) newSource() (write int, err error) {
	read, write, err := pipe(true, false)
	if err != nil {
		return -1, err
	}
	if a.diagnostics == nil {
		a.diagnostics = newDiagnostics(*a.admitted.Limits.DiagnosticBytes.Effective)
	}
	a.diagnostics.add(read)
	return write, nil
}

// engage starts the worker, unless that was done.
func (a *attempt) engage() (err error) {
	if a.worker == nil {
		a.worker, err = startWorker(a.job())
	}
	return err
}

// prepare reserves the storage, builds the domain, starts the finalizer and
// attests; last of all, an old target makes room. The worker starts and
// reserves while the domain is being built, the finalizer starts meanwhile, too.
func (a *attempt) prepare() (err error) {
	in := inside{-1, -1, -1, -1, -1}
	defer func() { err = errors.Join(err, in.close()) }() // the producer has its own; EOF needs ours closed
	if err := a.connect(&in); err != nil {
		return err
	}
	spec := a.spec(in)
	spec.Meanwhile = a.engage
	a.held = len(spec.FDs)
	if a.domain, err = jail.Start(spec); err != nil {
		return err
	}
	first, second := func() error { return a.retain(in.null) }, a.domain.Attest
	if a.admitted.Route == outcome.NoSink { // there is no finalizer to start meanwhile, but a worker to wait for
		first, second = second, first
	}
	if err := first(); err != nil {
		return err
	}
	if err := second(); err != nil {
		return err
	}
	if err := a.worker.sampler.open(a.domain); err != nil {
		return err
	}
	if a.admitted.Route == outcome.Named {
		return errors.Join(a.worker.order(order{word: orderClear}), a.answered(sayCleared))
	}
	return nil
}

// retain waits for the storage and has it used.
func (a *attempt) retain(null int) error {
	if err := a.reserved(); err != nil {
		return err
	}
	return a.verify(null)
}

// reserved waits for the worker's word that the storage is there.
func (a *attempt) reserved() (err error) {
	if !a.stored {
		err = a.answered(sayReserved)
		a.stored = err == nil
	}
	return err
}

func (a *attempt) job() job {
	j := job{Operation: a.admitted.Request.Operation, Route: a.admitted.Route, ReportBytes: a.allowance(),
		Spool: a.admitted.Launch.Spool.Path, Target: a.admitted.Request.SinkPath, AttemptID: a.admitted.AttemptID}
	if j.Route != outcome.NoSink {
		j.SinkBytes = *a.admitted.Limits.SinkBytes
	}
	return j
}

// connect makes the streams between S and the producer.
func (a *attempt) connect(in *inside) (err error) {
	if in.null, err = unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0); err != nil {
		return fmt.Errorf("open null device: %w", err)
	}
	if in.diagnostics, err = a.newSource(); err != nil {
		return err
	}
	candidate := -1
	if candidate, in.candidate, err = pipe(true, false); err != nil {
		return err
	}
	a.candidate = newIntake(candidate, a.ledger.Remaining())
	return a.connectSink(in)
}

// answered waits for the worker's word that what it was asked for is done.
func (a *attempt) answered(word string) error {
	for a.now() < a.wall && !a.cancel.requested() {
		m, err := a.worker.hear()
		switch {
		case err == nil && m.Word == word:
			return nil
		case err == nil && m.Word != sayKept:
			return fmt.Errorf("wait for storage to be %s: %s", word, m.Word)
		case err != nil && !errors.Is(err, errAgain):
			return fmt.Errorf("wait for storage to be %s: %w", word, err)
		}
		fds := []unix.PollFd{{Fd: int32(a.worker.control), Events: unix.POLLIN}, {Fd: int32(a.cancel.fd), Events: unix.POLLIN}}
		if err := poll(fds, a.wall-a.now()); err != nil {
			return fmt.Errorf("wait for storage to be %s: %w", word, err)
		}
	}
	return fmt.Errorf("wait for storage to be %s: interrupted", word)
}
