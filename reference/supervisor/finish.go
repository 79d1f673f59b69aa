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
	late := errors.Join(a.report.close(), a.diagnosticOut.close()) // abandoned, or closed before
	if a.diagnostics != nil {
		late = errors.Join(late, a.diagnostics.close(), a.candidate.close())
	}
	a.times.closed = a.now()
	var usage jail.Usage
	if a.domain != nil {
		usage = a.domain.Usage()
	}
	removed := true
	if a.worker != nil {
		gone, err := a.worker.close(stopGrace)
		removed, late = gone, errors.Join(late, err)
	}
	if a.domain != nil && a.emptied {
		late = errors.Join(late, a.domain.Close())
	}
	if late != nil && a.machine.Failure() == nil {
		a.machine.Observe(outcome.Fault())
	}
	status := a.deliver(a.terminal(usage, removed))
	if a.domain != nil && !a.emptied {
		// It may block on what does not end, so it comes after the record; what
		// it could still say is already there.
		_ = a.domain.Close()
	}
	return status
}

// deliver sends the record and returns the exit status.
func (a *attempt) deliver(t record.Terminal) int {
	status := record.ExitStatus(t.Failure)
	if !a.admitted.TerminalUsable {
		return status
	}
	packet, err := t.Encode()
	fd := a.admitted.Request.Terminal
	if err == nil {
		err = a.send(fd, packet)
	}
	if err = errors.Join(err, shut(&fd)); err != nil {
		return max(status, 1)
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
func (a *attempt) terminal(usage jail.Usage, removed bool) record.Terminal {
	return record.Terminal{
		AttemptID:  a.admitted.AttemptID,
		Invocation: contracts.InvocationRunJSON,
		Failure:    a.machine.Failure(),
		Producer:   a.producer(),
		Limits:     a.admitted.Limits,
		Charged:    a.ledger.Charged(),
		Channels: record.Channels{Candidate: a.candidateEntry(), Report: a.reportEntry(),
			Sink: a.sinkEntry(), Diagnostic: a.diagnosticEntry()},
		Usage:   a.usage(usage),
		Cleanup: a.cleanup(removed),
	}
}

// producer is the stage at which the cause was latched, and the wait result.
func (a *attempt) producer() record.Producer {
	if a.times.run == 0 {
		return record.Producer{}
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
	if a.times.run == 0 { // S's own alone
		entry.Observed, entry.Accepted = a.explained, a.explained
		entry.Truncated, entry.SourceTotalKnown = written < a.explained, true
		return entry
	}
	meter := a.diagnostics.meter
	entry.Observed, entry.Accepted = meter.Observed(), meter.Accepted()
	entry.Truncated = meter.Overflowed() || written < meter.Accepted()
	entry.SourceTotalKnown = a.diagnostics.ended && a.undisturbed()
	entry.Complete = entry.SourceTotalKnown && !entry.Truncated && !a.diagnosticOut.failed
	return entry
}

func (a *attempt) sinkEntry() record.Sink {
	sink := record.NoSink()
	sink.Limit = a.admitted.Limits.SinkBytes
	return sink
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
	reaped, empty := a.reaped || a.domain == nil, a.emptied || a.domain == nil
	return record.Cleanup{ProducerReaped: &reaped, DomainEmpty: &empty, ArtifactsRemoved: &removed}
}

// usage fills the cells that were measured. Per-process peaks stay with their
// process: a job has a memory peak only where the control group measured one.
//
// Rules: R12, C-47.
func (a *attempt) usage(u jail.Usage) record.Usage {
	never := record.NotStarted()
	stages := record.Stages{Prepare: never, Compile: never, Run: never, Finalize: never, Publish: never}
	if a.times.run > 0 {
		stages.Run = a.runUsage(u)
	}
	if a.times.ended > 0 {
		stages.Finalize = a.walled(a.times.ended, a.times.publish)
	}
	if a.times.publish > 0 {
		stages.Publish = a.walled(a.times.publish, a.times.closed)
	}
	return record.Usage{Version: 1, Stages: stages, Job: a.jobUsage(u)}
}

// walled is a stage of S's own work, of which only the time is measured.
func (a *attempt) walled(from, to time.Duration) record.Entry {
	entry := record.Started(contracts.ScopeStageProcess)
	if to == 0 {
		to = a.times.closed
	}
	entry.Set("wall", contracts.SourceClock, record.Quantity{Used: milliseconds(to - from)})
	return entry
}

func (a *attempt) runUsage(u jail.Usage) record.Entry {
	run := a.walled(a.times.run, a.times.ended)
	if a.reaped {
		rusage := a.status.Usage
		run.Set("cpu_user", contracts.SourceWait4, record.Quantity{Used: microseconds(rusage.Utime)})
		run.Set("cpu_system", contracts.SourceWait4, record.Quantity{Used: microseconds(rusage.Stime)})
		run.Set("memory_rss", contracts.SourceWait4, record.Quantity{Peak: record.Number(rusage.Maxrss * 1024)})
	}
	run.Set("memory_job", contracts.SourceCgroup, a.memory(u))
	run.Set("scratch_allocated", contracts.SourceFilesystem, record.Quantity{Used: u.ScratchBytes,
		Limit: record.Number(a.admitted.Pairing.ScratchBytes)})
	run.Set("scratch_files", contracts.SourceFilesystem, record.Quantity{Used: u.ScratchFiles,
		Limit: record.Number(a.admitted.Pairing.ScratchFiles)})
	run.Set("report_bytes", contracts.SourceChannel, record.Quantity{
		Used: record.Number(a.candidate.meter.Accepted())})
	run.Set("diagnostic_bytes", contracts.SourceChannel, record.Quantity{
		Used: record.Number(a.diagnostics.meter.Accepted())})
	return run
}

func (a *attempt) jobUsage(u jail.Usage) record.Entry {
	job := record.Started(contracts.ScopeJobDomain)
	limits := a.admitted.Limits
	admitted := func(used int64, l record.Limit) record.Quantity {
		return record.Quantity{Used: record.Number(used), Requested: l.Requested, Limit: l.Effective}
	}
	job.Set("wall", contracts.SourceClock, admitted(a.times.closed.Milliseconds(), limits.WallMS))
	job.Set("report_bytes", contracts.SourceChannel, admitted(a.ledger.Charged(), limits.ReportBytes))
	job.Set("sink_bytes", contracts.SourceChannel, record.Quantity{Used: record.Number(0), Limit: limits.SinkBytes})
	job.Set("diagnostic_bytes", contracts.SourceChannel,
		admitted(a.diagnosticEntry().Accepted, limits.DiagnosticBytes))
	job.Set("memory_job", contracts.SourceCgroup, a.memory(u))
	job.Set("processes", contracts.SourceCgroup, record.Quantity{Peak: u.ProcessesPeak})
	var children unix.Rusage // of every process that was reaped: launcher, init, producer, worker
	if unix.Getrusage(unix.RUSAGE_CHILDREN, &children) == nil {
		job.Set("cpu_user", contracts.SourceWait4, record.Quantity{Used: microseconds(children.Utime)})
		job.Set("cpu_system", contracts.SourceWait4, record.Quantity{Used: microseconds(children.Stime)})
	}
	return job
}

func (a *attempt) memory(u jail.Usage) record.Quantity {
	return record.Quantity{Peak: u.MemoryPeak, Requested: a.admitted.Launch.Grants.MemoryBytes, Limit: u.MemoryLimit}
}

func milliseconds(d time.Duration) *int64 { return record.Number(d.Milliseconds()) }

func microseconds(t unix.Timeval) *int64 { return record.Number(t.Sec*1e6 + t.Usec) }
