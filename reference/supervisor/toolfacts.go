package supervisor

import (
	"touchstone/contracts"
	"touchstone/reference/record"
)

// toolProducer is the record's producer where only tools have run: the stage,
// and the wait result of the tool that ended the attempt, if one did; nothing
// where none has run.
//
// Rules: R10, C-16.
func (a *attempt) toolProducer() record.Producer {
	if len(a.ran) == 0 {
		return record.Producer{}
	}
	last := a.ran[len(a.ran)-1]
	p := record.Producer{Stage: &a.causeStage}
	switch {
	case last.machine.Failure() == nil || !last.reaped:
	case last.status.Signal != 0:
		p.Signal = record.Number(int64(last.status.Signal))
	default:
		p.Exit = record.Number(int64(last.status.ExitStatus))
	}
	return p
}

// quiet: what ran last ended by itself, so what the streams held at their end
// is all that was written.
func (a *attempt) quiet() bool {
	if a.times.run > 0 {
		return a.undisturbed()
	}
	return a.ran[len(a.ran)-1].undisturbed()
}

// toolPeaks sets the peaks of the tools of one stage: the largest of theirs, as
// they ran one after another. Their times are part of the stage's.
//
// Rules: R12.
func (a *attempt) toolPeaks(entry record.Entry, stage string) {
	var rss, memory, processes int64
	known := func(peak *int64, value *int64) {
		if value != nil {
			*peak = max(*peak, *value)
		}
	}
	for _, tool := range a.ran {
		if tool.during == stage {
			rss = max(rss, tool.status.Usage.Maxrss*1024)
			known(&memory, tool.usage.MemoryPeak)
			known(&processes, tool.usage.ProcessesPeak)
		}
	}
	peak := func(name, source string, n int64) {
		if n > 0 {
			entry.Set(name, source, record.Quantity{Peak: record.Number(n), Scope: contracts.ScopeStageDomain})
		}
	}
	peak("memory_rss", contracts.SourceWait4, rss)
	peak("processes", contracts.SourceCgroup, processes)
	if memory > 0 {
		entry.Set("memory_job", contracts.SourceCgroup, record.Quantity{Peak: record.Number(memory)})
	}
}
