package supervisor

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"touchstone/contracts"
	"touchstone/reference/jail"
	"touchstone/reference/outcome"
	"touchstone/reference/record"
)

// finish closes what is left, freezes the facts, sends the one record and
// returns the facade's exit status, which is the record's unless that could not
// be delivered.
//
// Rules: R10, R13, R17.
func (a *attempt) finish() int {
	patience, late := a.patience(), error(nil)
	for _, p := range a.publishers() { // abandoned, or closed before
		late = errors.Join(late, p.close())
	}
	late = errors.Join(late, a.closeStreams())
	if a.sink != nil {
		late = errors.Join(late, a.sink.finalizer.close(patience()))
	}
	a.times.closed, a.spent.closed = a.now(), spent()
	if a.worker != nil && a.admitted.Route != outcome.Named {
		late = errors.Join(late, a.worker.kill()) // it ends while the rest is done
	}
	var usage jail.Usage
	if a.domain != nil {
		usage = a.domain.Usage()
	}
	if a.domain != nil && a.emptied {
		late = errors.Join(late, a.domain.Close())
	}
	if late != nil {
		a.observe(outcome.Fault())
	}
	var seen measured
	if a.worker != nil {
		seen = a.worker.sampler.read()
	}
	removed, late := a.dropStorage(patience)
	if a.folder != nil {
		gone, err := a.folder.close(patience())
		removed, late = removed && gone, errors.Join(late, err)
	}
	if late != nil {
		a.observe(outcome.Fault())
	}
	status := a.deliver(a.terminal(usage, seen, removed))
	if a.domain != nil && !a.emptied {
		// It may block on what does not end, so it comes after the record; what
		// it could still say is already there.
		_ = a.domain.Close()
	}
	for _, domain := range a.stuck {
		_ = domain.Close() // likewise
	}
	return status
}

// patience returns how long S still waits for what it has killed, all of it
// together; at the end of the lifetime one grace, which began there. A moment is
// left for each, as what is killed has ended unless something is wrong.
//
// Rules: R16.
func (a *attempt) patience() func() time.Duration {
	end := a.reapBy()
	if a.machine.Expired() {
		end = a.wall + stopGrace
	}
	return func() time.Duration { return max(end-a.now(), stopGrace/20) }
}

// dropStorage ends the worker, and with it what has no name. What has one, and
// is no result, the worker removes first; removed says that nothing is left.
//
// Rules: R15, C-35.
func (a *attempt) dropStorage(patience func() time.Duration) (removed bool, err error) {
	if a.worker == nil {
		return true, nil
	}
	removed = true
	if a.admitted.Route == outcome.Named && a.machine.Failure() != nil {
		removed = a.worker.discard(patience())
	}
	gone, err := a.worker.close(patience())
	return removed && gone, err
}

// deliver sends the record and returns the exit status.
func (a *attempt) deliver(t record.Terminal) int {
	status := t.ExitStatus()
	if !a.admitted.TerminalUsable {
		return status
	}
	packet, err := t.Encode()
	fd := a.admitted.Request.Terminal
	if err == nil {
		err = a.send(fd, packet)
	}
	if err = errors.Join(err, shut(&fd)); err != nil {
		return max(status, record.ExitStatus(t.Invocation, new(outcome.InternalFault()), 0))
	}
	return status
}

// send delivers one packet within P: an attempt first, as a socket may take a
// packet before it reports room. A packet is sent whole or not at all.
//
// Rules: R10, R16, C-50.
func (a *attempt) send(fd int, packet []byte) error {
	end := a.now() + a.report.stall
	for {
		n, err := unix.SendmsgN(fd, packet, nil, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		switch {
		case err == nil && n == len(packet):
			return nil
		case err == nil:
			return errZero
		case !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR):
			return err
		}
		left := end - a.now()
		if left <= 0 {
			return err
		}
		room := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
		if err := poll(room, min(left, retryInterval)); err != nil {
			return err
		}
	}
}

// terminal assembles the record.
func (a *attempt) terminal(usage jail.Usage, seen measured, removed bool) record.Terminal {
	return record.Terminal{
		AttemptID:  a.admitted.AttemptID,
		Invocation: a.admitted.Request.Invocation(),
		Failure:    a.machine.Failure(), Early: a.early,
		Producer: a.producer(),
		Limits:   a.admitted.Limits,
		Charged:  a.ledger.Charged(),
		Channels: record.Channels{Candidate: a.candidateEntry(), Report: a.reportEntry(),
			Sink: a.sinkEntry(), Diagnostic: a.diagnosticEntry()},
		Sink:    a.verification(),
		Usage:   a.usage(usage, seen),
		Cleanup: a.cleanup(removed),
	}
}

// producer is the stage at which the cause was latched, and the wait result.
func (a *attempt) producer() record.Producer {
	if a.times.run == 0 {
		return a.toolProducer()
	}
	p := record.Producer{Stage: &a.causeStage, Omitted: a.claim.Omitted}
	if a.machine.Failure() == nil {
		p.Stage = new(contracts.StagePublish)
	}
	if a.reaped && a.status.Signal != 0 {
		p.Signal = record.Number(int64(a.status.Signal))
	} else if a.reaped {
		p.Exit = record.Number(int64(a.status.ExitStatus))
	}
	if a.claim.Code != "" {
		p.Claim = &record.Claim{Code: a.claim.Code, Args: a.claim.Args, Authority: contracts.AuthorityProducer}
	}
	return p
}

// undisturbed: the producer ended by itself, so what its streams held at their
// end is all that it wrote.
func (a *attempt) undisturbed() bool { return a.reaped && !a.terminated && a.status.Signal == 0 }

func (a *attempt) candidateEntry() record.Channel {
	entry := record.Channel{Limit: a.limit(a.admitted.Limits.ReportBytes)}
	if a.candidate == nil {
		return entry
	}
	if a.sink != nil { // what it leaves (C-40)
		entry.Limit = record.Number(a.ledger.Limit() - a.sink.meter.Accepted())
	}
	meter := a.candidate.meter
	entry.Observed, entry.Accepted = meter.Observed(), meter.Accepted()
	entry.Truncated = meter.Overflowed()
	entry.Complete = a.claim.Settlement == outcome.Successful || a.claim.Settlement == outcome.Claimed
	entry.SourceTotalKnown = a.candidate.ended && (entry.Complete || a.undisturbed())
	if entry.Complete {
		entry.Written = record.Number(meter.Observed())
	}
	entry.SHA256 = sum(a.candidate.digest, meter.Accepted())
	return entry
}

func (a *attempt) reportEntry() record.Channel {
	written := a.report.written
	return record.Channel{Observed: a.selected, Accepted: a.selected, Written: &written,
		Limit:            a.limit(a.admitted.Limits.ReportBytes),
		Truncated:        written < a.selected,
		Complete:         a.selected > 0 && written == a.selected && !a.report.failed,
		SourceTotalKnown: true, SHA256: sum(a.report.digest, written)}
}

func (a *attempt) diagnosticEntry() record.Channel {
	written := a.diagnosticOut.written
	entry := record.Channel{Written: &written, Limit: a.limit(a.admitted.Limits.DiagnosticBytes),
		SHA256: sum(a.diagnosticOut.digest, written)}
	entry.Observed, entry.Accepted = a.explained, a.explained
	if a.diagnostics == nil || a.times.run == 0 && len(a.ran) == 0 { // S's own alone
		entry.Truncated, entry.SourceTotalKnown = written < a.explained, true
		return entry
	}
	meter := a.diagnostics.meter
	entry.Observed, entry.Accepted = entry.Observed+meter.Observed(), entry.Accepted+meter.Accepted()
	entry.Truncated = meter.Overflowed() || written < entry.Accepted
	entry.SourceTotalKnown = a.diagnostics.ended() && a.quiet()
	entry.Complete = entry.SourceTotalKnown && !entry.Truncated && !a.diagnosticOut.failed
	return entry
}

// limit is the effective limit, else what was granted (C-81).
func (a *attempt) limit(l record.Limit) *int64 {
	if l.Effective != nil {
		return l.Effective
	}
	return l.Granted
}

// cleanup: where nothing was started, nothing is left.
func (a *attempt) cleanup(removed bool) record.Cleanup {
	reaped, empty := a.reaped || a.domain == nil, (a.emptied || a.domain == nil) && len(a.stuck) == 0
	for _, tool := range a.ran {
		reaped = reaped && tool.reaped
	}
	return record.Cleanup{ProducerReaped: &reaped, DomainEmpty: &empty, ArtifactsRemoved: &removed}
}
