package supervisor

import (
	"time"

	"golang.org/x/sys/unix"

	"touchstone/contracts"
	"touchstone/reference/admission"
	"touchstone/reference/jail"
	"touchstone/reference/record"
)

// What is not measured, and why: the resident peak of S's own stages, as the
// kernel's counts S's parent before exec, and of the job, as peaks of several
// processes were not of one time; open descriptors of more than the producer,
// likewise; what the producer claims of the arena, as reports do not say it.

// cpu is processor time as the kernel accounts it, in microseconds.
type cpu struct{ user, system int64 }

// stageCPU is what S and the children that it has reaped had used when a stage
// began or ended.
type stageCPU struct{ compile, run, captured, ended, publish, closed cpu }

// spent is what S and the children that it has reaped have used so far.
func spent() (c cpu) {
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var usage unix.Rusage
		if unix.Getrusage(who, &usage) == nil { // it does not fail
			c.user += usage.Utime.Nano() / 1000
			c.system += usage.Stime.Nano() / 1000
		}
	}
	return c
}

// usage fills the cells that were measured. Per-process peaks stay with their
// process: a job has a memory peak only where the control group measured one.
//
// Rules: R12, C-47.
func (a *attempt) usage(u jail.Usage, m measured) record.Usage {
	never := record.NotStarted()
	stages := record.Stages{Prepare: never, Compile: never, Run: never, Finalize: never, Publish: never}
	if a.times.compile > 0 || a.times.run > 0 || len(a.ran) > 0 { // no stage belongs to a refusal before the first
		stages.Prepare = a.prepareUsage(m)
	}
	if a.times.compile > 0 {
		stages.Compile = a.own(a.times.compile, a.times.run, a.spent.compile, a.spent.run)
		a.toolPeaks(stages.Compile, contracts.StageCompile)
	}
	if a.times.run > 0 {
		stages.Run = a.runUsage(u, m)
	}
	if from, before := a.finalizing(); from > 0 {
		stages.Finalize = a.own(from, a.times.publish, before, a.spent.publish)
		a.work(stages.Finalize, contracts.ScopeStageDomain, m)
	}
	if a.times.publish > 0 {
		stages.Publish = a.own(a.times.publish, a.times.closed, a.spent.publish, a.spent.closed)
		stages.Publish.Set("report_bytes", contracts.SourceChannel, record.Quantity{Used: record.Number(a.report.written)})
		stages.Publish.Set("sink_bytes", contracts.SourceChannel, record.Quantity{Used: record.Number(a.sinkOut.written)})
		a.work(stages.Publish, contracts.ScopeStageDomain, m)
	}
	return record.Usage{Version: 1, Stages: stages, Job: a.jobUsage(u, m)}
}

// finalizing is when the run was over: at the end of the sink, without one at
// the producer's; 0 for not yet. Rules: R16.
func (a *attempt) finalizing() (time.Duration, cpu) {
	if a.times.captured > 0 {
		return a.times.captured, a.spent.captured
	}
	return a.times.ended, a.spent.ended
}

// own is a stage of S's own work, with the helpers that it has reaped
// meanwhile. One that was not followed by another ended with the data work.
func (a *attempt) own(from, to time.Duration, before, after cpu) record.Entry {
	if to == 0 {
		to, after = a.times.closed, a.spent.closed
	}
	entry := record.Started(contracts.ScopeStageProcess)
	entry.Set("wall", contracts.SourceClock, record.Quantity{Used: record.Number((to - from).Milliseconds())})
	setCPU(entry, cpu{after.user - before.user, after.system - before.system})
	return entry
}

func setCPU(entry record.Entry, c cpu) {
	entry.Set("cpu_user", contracts.SourceWait4, record.Quantity{Used: record.Number(c.user)})
	entry.Set("cpu_system", contracts.SourceWait4, record.Quantity{Used: record.Number(c.system)})
}

// prepareUsage is everything before the compilation, or the producer's first
// instruction.
func (a *attempt) prepareUsage(m measured) record.Entry {
	prepare := a.own(0, a.times.run, cpu{}, a.spent.run)
	if a.times.compile > 0 {
		prepare = a.own(0, a.times.compile, cpu{}, a.spent.compile)
	}
	a.toolPeaks(prepare, contracts.StagePrepare)
	prepare.Set("work_allocated", contracts.SourceFilesystem, record.Quantity{Used: m[workReserved],
		Scope: contracts.ScopeStageDomain})
	return prepare
}

// runUsage is the producer's.
func (a *attempt) runUsage(u jail.Usage, m measured) record.Entry {
	ended, _ := a.finalizing()
	if ended == 0 {
		ended = a.times.closed
	}
	run := record.Started(contracts.ScopeStageProcess)
	run.Set("wall", contracts.SourceClock, record.Quantity{Used: record.Number((ended - a.times.run).Milliseconds())})
	if a.reaped {
		usage := a.status.Usage
		setCPU(run, cpu{usage.Utime.Nano() / 1000, usage.Stime.Nano() / 1000})
		run.Set("memory_rss", contracts.SourceWait4, record.Quantity{Peak: record.Number(usage.Maxrss * 1024)})
	}
	run.Set("open_fds", contracts.SourceFDObservation, record.Quantity{Peak: a.descriptors(m), Sampled: true})
	run.Set("report_bytes", contracts.SourceChannel, record.Quantity{
		Used: record.Number(a.candidate.meter.Accepted())})
	run.Set("sink_bytes", contracts.SourceChannel, record.Quantity{Used: record.Number(a.sinkEntry().Accepted)})
	run.Set("diagnostic_bytes", contracts.SourceChannel, record.Quantity{
		Used: record.Number(a.diagnostics.meter.Accepted())})
	a.domainUsage(run, contracts.ScopeStageDomain, u, m)
	a.work(run, contracts.ScopeStageDomain, m)
	return run
}

// descriptors is the largest number that was seen open in the producer: those
// that the attestation found, or more in a later sample.
func (a *attempt) descriptors(m measured) *int64 {
	seen := int64(a.held)
	if m[descriptorsPeak] != nil {
		seen = max(seen, *m[descriptorsPeak])
	}
	return &seen
}

// domainUsage is what the producer's domain used, of which it is all: S and its
// helpers are outside, and are not counted where the scope is the job's domain.
func (a *attempt) domainUsage(entry record.Entry, scope string, u jail.Usage, m measured) {
	pairing := a.admitted.Pairing
	set := func(name, source string, q record.Quantity) {
		q.Scope = scope
		entry.Set(name, source, q)
	}
	set("memory_private", contracts.SourceCgroup, record.Quantity{Peak: m[privatePeak], Sampled: true})
	set("processes", contracts.SourceCgroup, record.Quantity{Peak: u.ProcessesPeak})
	set("scratch_logical", contracts.SourceFilesystem, record.Quantity{Used: bounded(u.ScratchLogical)})
	set("scratch_allocated", contracts.SourceFilesystem, record.Quantity{Used: bounded(u.ScratchAllocated),
		Limit: admitted(pairing.ScratchBytes)})
	set("scratch_files", contracts.SourceFilesystem, record.Quantity{Used: bounded(u.ScratchFiles),
		Limit: admitted(pairing.ScratchFiles)})
	entry.Set("memory_job", contracts.SourceCgroup, record.Quantity{Peak: bounded(u.MemoryPeak),
		Limit: a.admitted.Launch.Grants.MemoryBytes})
	if a.admitted.Request.Profile == admission.Jailed {
		entry.Set("arena_capacity", contracts.SourceAdmission, record.Quantity{Limit: record.Number(a.admitted.ArenaBytes)})
	}
}

// admitted is a limit that admission has read; none is zero.
func admitted(limit int64) *int64 {
	if limit == 0 {
		return nil
	}
	return record.Number(limit)
}

// bounded leaves out what a record cannot carry exactly.
func bounded(value *int64) *int64 {
	if value == nil {
		return nil
	}
	return record.Number(*value)
}

// work is what the worker retains for the host, as last measured.
func (a *attempt) work(entry record.Entry, scope string, m measured) {
	spool := a.admitted.Launch.Spool.Bytes
	entry.Set("work_logical", contracts.SourceFilesystem, record.Quantity{Used: m[workLogical], Scope: scope})
	entry.Set("work_allocated", contracts.SourceFilesystem, record.Quantity{Used: m[workAllocated], Scope: scope,
		Limit: admitted(spool)})
	entry.Set("work_files", contracts.SourceFilesystem, record.Quantity{Used: m[workFiles], Scope: scope})
}

// withTools adds what the tools left to what the worker keeps; where one of the
// two is not known, neither is the sum.
//
// Rules: R09, R12.
func (a *attempt) withTools(m measured) measured {
	if a.folder == nil {
		return m
	}
	held := a.folder.held
	for cell, more := range map[measurement]func() int64{workLogical: func() int64 { return held.logical },
		workAllocated: func() int64 { return held.allocated }, workFiles: func() int64 { return held.files }} {
		if m[cell] != nil && held != nil {
			m[cell] = new(*m[cell] + more())
		} else {
			m[cell] = nil
		}
	}
	return m
}

// jobUsage is the whole attempt: S, its helpers and the producer.
func (a *attempt) jobUsage(u jail.Usage, m measured) record.Entry {
	job := record.Started(contracts.ScopeJobDomain)
	limits := a.admitted.Limits
	metered := func(used int64, l record.Limit) record.Quantity {
		return record.Quantity{Used: record.Number(used), Requested: l.Requested, Limit: l.Effective}
	}
	job.Set("wall", contracts.SourceClock, metered(a.times.closed.Milliseconds(), limits.WallMS))
	job.Set("report_bytes", contracts.SourceChannel, metered(a.ledger.Charged(), limits.ReportBytes))
	job.Set("sink_bytes", contracts.SourceChannel, record.Quantity{Used: record.Number(a.sinkEntry().Accepted), Limit: limits.SinkBytes})
	job.Set("diagnostic_bytes", contracts.SourceChannel,
		metered(a.diagnosticEntry().Accepted, limits.DiagnosticBytes))
	setCPU(job, spent())
	a.domainUsage(job, contracts.ScopeJobDomain, u, m)
	a.work(job, contracts.ScopeJobDomain, a.withTools(m))
	return job
}
