package supervisor

import (
	"time"

	"golang.org/x/sys/unix"

	"touchstone/contracts"
	"touchstone/reference/jail"
	"touchstone/reference/record"
)

// usage fills the cells that were measured. Per-process peaks stay with their
// process: a job has a memory peak only where the control group measured one.
//
// Rules: R12, C-47.
func (a *attempt) usage(u jail.Usage) record.Usage {
	never := record.NotStarted()
	stages := record.Stages{Prepare: never, Compile: never, Run: never, Finalize: never, Publish: never}
	stages.Prepare, stages.Compile = a.toolUsage(contracts.StagePrepare), a.toolUsage(contracts.StageCompile)
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
	run.Set("scratch_allocated", contracts.SourceFilesystem, record.Quantity{Used: u.ScratchAllocated,
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
	return record.Quantity{Peak: u.MemoryPeak, Limit: a.admitted.Launch.Grants.MemoryBytes}
}

func milliseconds(d time.Duration) *int64 { return record.Number(d.Milliseconds()) }

func microseconds(t unix.Timeval) *int64 { return record.Number(t.Sec*1e6 + t.Usec) }
