package oracle

import (
	"fmt"
	"strconv"
	"time"

	"touchstone/conformance/evidence"
)

// Tolerances of what the record says beside what the host saw of the same
// process at its last rendezvous, after which it ends soon.
const (
	tickUS       = 20_000  // microseconds: two ticks of /proc/PID/stat, below
	laterUS      = 150_000 // microseconds: what it may use after that, above
	residentSlop = 4 << 20 // bytes: the kernel counts resident pages in batches
	storageSlop  = 64 << 10
)

// startSlop is how long before the host's stamp of it, which follows the exec,
// a launcher may have begun; on a machine that was late, by so much more.
const startSlop = 200 * time.Millisecond

// usageViews are what usage-seen compares, by its word.
var usageViews = map[string]func(*view, *wants){
	"processor": processorSeen, "wall": wallSeen, "memory": memorySeen, "descriptors": descriptorsSeen,
	"scratch": scratchSeen, "work": workSeen, "arena": arenaSeen,
}

func parseUsageSeen(words []string) (test, error) {
	if err := exactly(words, 1); err != nil {
		return test{}, err
	}
	compare, known := usageViews[words[0]]
	if !known {
		return test{}, fmt.Errorf("unknown %q", words[0])
	}
	return each(compare)
}

// cell is a member of a resource cell, of the job where stage is "".
func (v *view) cell(stage, name, member string) *node {
	if stage == "" {
		return v.at("usage", "job", "resources", name, member)
	}
	return v.at("usage", "stages", stage, "resources", name, member)
}

// unmeasured: the cell says that nothing is known, as T34.11 wants it said.
func (v *view) unmeasured(stage, name string) bool {
	return v.cell(stage, name, "state").is("unavailable") && v.cell(stage, name, "used").isNull() && v.cell(stage, name, "peak").isNull()
}

// between wants a figure within inclusive bounds.
func (w *wants) between(name string, got *node, low, high int64) {
	value, ok := got.uint()
	w.value(ok && value >= uint64(max(low, 0)) && value <= uint64(max(high, 0)), got, name+"="+got.String(), fmt.Sprintf("%s in %d..%d", name, max(low, 0), high))
}

// lastStop is the producer at its last rendezvous, as the kernel accounts it.
func (v *view) lastStop(w *wants) (r evidence.Rendezvous, found bool) {
	all := evidence.All[evidence.Rendezvous](v.attempt)
	if len(all) == 0 {
		w.that(false, "the producer never stopped", "a rendezvous to look at it")
		return r, false
	}
	if r = all[len(all)-1].Body; r.PeakRSSBytes == 0 {
		w.undecided(Broken, "the host could not read what the kernel accounts to the producer")
		return r, false
	}
	return r, true
}

// processorSeen: the run's times are the producer's, which wait4 always tells;
// the job's are at least those, and at most what the kernel tells the host.
//
// Rules: R12.
func processorSeen(v *view, w *wants) {
	seen, found := v.lastStop(w)
	if !found {
		return
	}
	exit, exited := v.attempt.Exit()
	for _, c := range []struct {
		name           string
		stopped, ended int64
	}{{"cpu_user", seen.UserUS, exit.Body.UserUS}, {"cpu_system", seen.SystemUS, exit.Body.SystemUS}} {
		run := v.cell("run", c.name, "used")
		w.between("run."+c.name+".used", run, c.stopped-tickUS, c.stopped+laterUS)
		w.value(v.cell("run", c.name, "scope").is("stage_process"), v.cell("run", c.name, "scope"), "run."+c.name+".scope="+v.cell("run", c.name, "scope").String(), "stage_process")
		used, _ := run.uint()
		if exited {
			w.between("job."+c.name+".used", v.cell("", c.name, "used"), int64(used)-tickUS, max(c.ended, int64(used))+tickUS)
		}
	}
}

// wallSeen: the job's time lies within the host's from the launch to the exit,
// is less by the slack at most, and no stage's is more.
//
// Rules: R12.
func wallSeen(v *view, w *wants) {
	elapsed, exited := v.attempt.Elapsed()
	w.that(exited, v.exitText(), "an exit")
	job := v.cell("", "wall", "used")
	w.between("job.wall.used", job, (elapsed - v.facts.Slack).Milliseconds(), (elapsed + startSlop + v.attempt.Lateness()).Milliseconds())
	whole, _ := job.uint()
	for _, stage := range usageStages {
		if used := v.cell(stage, "wall", "used"); !used.isNull() {
			w.atMost(stage+".wall.used", used, whole)
		}
	}
}

// memorySeen: the run's resident peak is the producer's. A control group's
// peak holds at least what the producer has touched; a sample may be less.
//
// Rules: R12.
func memorySeen(v *view, w *wants) {
	seen, found := v.lastStop(w)
	if !found {
		return
	}
	w.between("run.memory_rss.peak", v.cell("run", "memory_rss", "peak"), seen.PeakRSSBytes-residentSlop, seen.PeakRSSBytes+residentSlop)
	w.value(v.cell("run", "memory_rss", "scope").is("stage_process"), v.cell("run", "memory_rss", "scope"), "run.memory_rss.scope="+v.cell("run", "memory_rss", "scope").String(), "stage_process")
	touched, _ := strconv.ParseUint(v.attempt.Scenario.Fixture.Args["memory"], 10, 64)
	for _, name := range []string{"memory_job", "memory_private"} {
		for _, stage := range []string{"run", ""} {
			peak := v.cell(stage, name, "peak")
			value, ok := peak.uint()
			sampled := v.cell(stage, name, "state").is("sampled_lower_bound")
			w.value(v.unmeasured(stage, name) || (ok && value > 0 && (sampled || value >= touched)), peak, join(stage, name)+".peak="+peak.String(),
				fmt.Sprintf("unavailable, or at least %d", touched))
		}
	}
}

// passing is how many descriptors a producer may have open for a moment, as
// that of a file which it reads, beyond those that stand at its rendezvous.
const passing = 8

// descriptorsSeen: what was sampled is a lower bound of what the host saw, and
// says so, in whichever cell it stands.
//
// Rules: R12.
func descriptorsSeen(v *view, w *wants) {
	seen, found := v.lastStop(w)
	if !found {
		return
	}
	if v.unmeasured("run", "open_fds") {
		w.note = "the launcher does not sample open descriptors"
	} else {
		w.between("run.open_fds.peak", v.cell("run", "open_fds", "peak"), 1, int64(seen.OpenDescriptors)+passing)
	}
	for _, stage := range append([]string{""}, usageStages...) {
		if state := v.cell(stage, "open_fds", "state"); !v.cell(stage, "open_fds", "peak").isNull() {
			w.value(state.is("sampled_lower_bound"), state, join(stage, "open_fds")+".state="+state.String(), "sampled_lower_bound")
		}
	}
	if peak := v.cell("run", "processes", "peak"); !v.unmeasured("run", "processes") {
		w.between("run.processes.peak", peak, 1, 1)
	}
}

// scratchSeen: the fixture measured the files that it left.
//
// Rules: R12.
func scratchSeen(v *view, w *wants) {
	seen, found := v.lastStop(w)
	if !found {
		return
	}
	w.that(len(seen.Words) > 2 && seen.Words[2] > 0, "a fixture that made no files", "files in its scratch space")
	if len(w.faults) > 0 {
		return
	}
	for _, stage := range []string{"run", ""} {
		for i, name := range []string{"scratch_logical", "scratch_allocated", "scratch_files"} {
			if v.unmeasured(stage, name) {
				w.undecided(NotRun, "needs a launcher that measures scratch space")
				continue
			}
			slop := int64(0)
			if i == 1 {
				slop = storageSlop
			}
			w.between(join(stage, name)+".used", v.cell(stage, name, "used"), int64(seen.Words[i])-slop, int64(seen.Words[i])+slop)
		}
	}
}

// workSeen: what is retained is the approved bytes; what backs it is what the
// spool's file system has given out, reservations included.
//
// Rules: R09, R12.
func workSeen(v *view, w *wants) {
	if v.unmeasured("", "work_logical") || v.unmeasured("", "work_allocated") {
		w.undecided(NotRun, "needs a launcher that measures its work space")
		return
	}
	_, sink, ok1 := v.counters(w, "sink")
	_, candidate, ok2 := v.counters(w, "candidate")
	if ok1 && ok2 {
		w.equal("job.work_logical.used", v.cell("", "work_logical", "used"), sink+candidate)
	}
	w.value(!v.unmeasured("", "work_files"), v.cell("", "work_files", "used"), "job.work_files unavailable", "a number of files")
	seen, found := evidence.First[evidence.Producers](v.attempt)
	if !found || seen.Body.SpoolBytes < int64(sink+candidate) {
		w.undecided(NotRun, "needs a report, and a launcher that retains it in the host's spool")
		return
	}
	w.between("job.work_allocated.used", v.cell("", "work_allocated", "used"), seen.Body.SpoolBytes-storageSlop, seen.Body.SpoolBytes+storageSlop)
}

// arenaSeen: a figure about the arena is the engine's word. A launcher may have
// none; that passes, with a note.
//
// Rules: R12.
func arenaSeen(v *view, w *wants) {
	told := false
	for _, stage := range append([]string{""}, usageStages...) {
		for _, name := range []string{"arena_claimed", "arena_capacity"} {
			scope := v.cell(stage, name, "scope")
			w.value(scope.is("attachment"), scope, join(stage, name)+".scope="+scope.String(), "attachment")
			if v.cell(stage, name, "used").isNull() && v.cell(stage, name, "peak").isNull() {
				continue
			}
			told = true
			state, source := v.cell(stage, name, "state"), v.cell(stage, name, "source")
			w.value(state.is("producer_reported") && source.is("engine"), state, fmt.Sprintf("%s: state %s, source %s", join(stage, name), state, source), "producer_reported by engine")
		}
	}
	if !told {
		w.note = "this launcher's engine tells nothing of its arena"
	}
}

// parseJobMemory: no peak of the job reaches what two processes had at their
// peaks, one after another, together.
func parseJobMemory(words []string) (test, error) {
	c, err := parseCondition("peak" + words[0])
	if len(words) != 1 || err != nil || c.operator != "<=" {
		return test{}, fmt.Errorf("want one <=N")
	}
	return each(func(v *view, w *wants) {
		for _, name := range []string{"memory_rss", "memory_job", "memory_private"} {
			if peak := v.cell("", name, "peak"); !peak.isNull() {
				c.judge(peak, w)
			}
		}
	})
}
