package supervisor

import (
	"touchstone/contracts"
	"touchstone/reference/record"
)

// toolProducer is the record's producer where only tools have run: the stage
// and wait result of the last; nothing where none has.
//
// Rules: R10, C-16.
func (a *attempt) toolProducer() record.Producer {
	if len(a.ran) == 0 {
		return record.Producer{}
	}
	last := a.ran[len(a.ran)-1]
	p := record.Producer{Stage: &a.causeStage}
	if last.reaped && last.status.Signal != 0 {
		p.Signal = record.Number(int64(last.status.Signal))
	} else if last.reaped {
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

// toolUsage is what the tools of one stage used. Times add up; the peak of a
// stage's processes is the largest of theirs, as they ran one after another.
//
// Rules: R12.
func (a *attempt) toolUsage(stage string) record.Entry {
	entry := record.Started(contracts.ScopeStageDomain)
	var wall, user, system, rss, memory, processes int64
	known := func(peak *int64, value *int64) {
		if value != nil {
			*peak = max(*peak, *value)
		}
	}
	ran := false
	for _, tool := range a.ran {
		if tool.during != stage {
			continue
		}
		ran = true
		wall += (tool.ended - tool.began).Milliseconds()
		rusage := tool.status.Usage
		user += rusage.Utime.Sec*1e6 + rusage.Utime.Usec
		system += rusage.Stime.Sec*1e6 + rusage.Stime.Usec
		rss = max(rss, rusage.Maxrss*1024)
		known(&memory, tool.usage.MemoryPeak)
		known(&processes, tool.usage.ProcessesPeak)
	}
	if !ran {
		return record.NotStarted()
	}
	used := func(n int64) record.Quantity { return record.Quantity{Used: record.Number(n)} }
	entry.Set("wall", contracts.SourceClock, used(wall))
	entry.Set("cpu_user", contracts.SourceWait4, used(user))
	entry.Set("cpu_system", contracts.SourceWait4, used(system))
	peak := func(name, source string, n int64) {
		if n > 0 {
			entry.Set(name, source, record.Quantity{Peak: record.Number(n)})
		}
	}
	peak("memory_rss", contracts.SourceWait4, rss)
	peak("memory_job", contracts.SourceCgroup, memory)
	peak("processes", contracts.SourceCgroup, processes)
	return entry
}
