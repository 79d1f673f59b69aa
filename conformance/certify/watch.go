package certify

import (
	"context"
	"path/filepath"
	"time"

	"touchstone/conformance/oracle"
	"touchstone/conformance/runlog"
	"touchstone/conformance/script"
	"touchstone/reports"
)

// eventsFile is the run's own event stream.
const eventsFile = "events.jsonl"

// watcher hears of jobs: begun from any goroutine, ended from one at a time.
type watcher interface {
	begun(job)
	ended(job, script.Result, time.Duration)
}

// silent is a watcher that tells nobody.
type silent struct{}

func (silent) begun(job)                               {}
func (silent) ended(job, script.Result, time.Duration) {}

// telling tells a person and the event stream.
type telling struct {
	progress Progress
	log      *runlog.Writer
	root     string // run folder
	ctx      context.Context
}

func (w telling) begun(j job) {
	w.log.Event(runlog.ScriptBegin, map[string]any{"script": j.script.Name, "test": j.script.Test, "cell": j.cell.String()})
}

func (w telling) ended(j job, r script.Result, took time.Duration) {
	relative := tally{root: w.root}.relative
	cell := j.cell.String()
	for _, f := range r.Findings {
		if f.Verdict != oracle.Pass {
			w.log.Event(runlog.Finding, map[string]any{"id": f.ID, "rule": f.Rule, "cell": cell, "verdict": string(f.Verdict), "script": j.script.Name,
				"line": f.Line, "seen": relative(f.Seen), "wanted": relative(f.Wanted), "reason": relative(f.Reason), "attempt": relative(f.Attempt)})
		}
	}
	for _, l := range r.Leaks {
		w.log.Event(runlog.Leak, map[string]any{"script": j.script.Name, "cell": cell, "attempt": relative(l.Attempt), "what": relative(l.What)})
	}
	verdict := worstFinding(r)
	w.log.Event(runlog.ScriptEnd, map[string]any{"script": j.script.Name, "cell": cell, "verdict": verdict, "seconds": took.Seconds(), "attempts": len(r.Attempts)})
	if w.ctx.Err() != nil && len(r.Attempts) == 0 {
		return // an interrupt came before it began
	}
	w.progress.End(j.script.Name, cell, verdict, took)
}

// attemptBegun and attemptEnded are for an attempt's folder within a run.
func attemptBegun(log *runlog.Writer, run, dir string) {
	if log != nil {
		log.Event(runlog.AttemptBegin, map[string]any{"attempt": nameWithin(run, dir)})
	}
}

func attemptEnded(log *runlog.Writer, run, dir string, err error) {
	if log == nil {
		return
	}
	problem := ""
	if err != nil {
		problem = err.Error()
	}
	log.Event(runlog.AttemptEnd, map[string]any{"attempt": nameWithin(run, dir), "error": tally{root: run}.relative(problem)})
}

func nameWithin(run, dir string) string {
	name, err := filepath.Rel(run, dir)
	if err != nil {
		return dir
	}
	return name
}

// beginning are the members of a run's first event.
func beginning(s Selection, r reports.Report) map[string]any {
	return map[string]any{"run_id": r.RunID, "started": r.Started, "suite": r.Suite.Version, "launcher": r.Launcher.Name, "jobs": len(s.jobs)}
}

// ending are the members of a run's last event but the end.
func ending(r reports.Report) map[string]any {
	return map[string]any{"conclusion": r.Conclusion, "exit_status": r.ExitStatus, "full": r.Full, "totals": r.Totals}
}
