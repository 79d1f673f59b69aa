package certify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"touchstone/conformance/certificate"
	"touchstone/conformance/driver"
	"touchstone/conformance/oracle"
	"touchstone/conformance/runlog"
	"touchstone/conformance/scenario"
	"touchstone/conformance/script"
	"touchstone/reports"
)

// Place says where on this machine a run finds and leaves things.
type Place struct {
	Root string // of the repository
	Bin  string // the launcher's binaries
	Exe  string // touchstone-attempt, which is started for each attempt
	Run  string // the run folder; it must be new or empty
	Jobs int    // scripts at a time, at least 1
	// Seeds are those of the attempts of the one script that is replayed, by number.
	Seeds []string
	// Look looks at a process of the attempts; nil: nobody does.
	Look *Look
	// Scratch is the folder of what attempts need besides the record, such as the
	// compiled fixtures; it stays. "" is a temporary one.
	Scratch string
	// Events gets the run's events as they happen; nil is nobody.
	Events io.Writer

	building time.Duration // of the fixtures
}

// Progress hears of jobs as they end, from one goroutine at a time.
type Progress interface {
	Begin(jobs int)
	End(name, cell, verdict string, took time.Duration)
	Finish()
}

// Run runs a selection and writes the run folder. The report's exit status
// stands for every verdict; an error means that there is no report to trust
// (a launcher that is not there or an unwritable run folder is a *UsageError,
// anything else internal).
func Run(ctx context.Context, s Selection, p Place, version reports.Suite, progress Progress) (reports.Report, error) {
	if absent := s.File.Absent(s.Path, p.Bin); absent != nil {
		return reports.Report{}, usage("%v", absent)
	}
	if err := makeRunFolder(p.Run); err != nil {
		return reports.Report{}, err
	}
	if _, err := os.Stat(p.Exe); err != nil {
		return reports.Report{}, usage("%s is not there: this checkout is not built; run scripts/build, as somebody who may write to it", p.Exe)
	}
	r, err := newReport(s, p, version)
	if err != nil {
		return reports.Report{}, err
	}
	about, err := subject(s, p, r)
	if err != nil {
		return reports.Report{}, err
	}
	if err := record(p.Run, s, r); err != nil {
		return reports.Report{}, err
	}
	file, err := os.OpenFile(filepath.Join(p.Run, eventsFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return reports.Report{}, fmt.Errorf("start run events: %w", err)
	}
	log := runlog.NewWriter(file, p.Events, beginning(s, r))
	r, err = judged(ctx, s, p, r, about, progress, log)
	if err == nil {
		log.Event(runlog.RunEnd, ending(r))
	}
	if err := errors.Join(err, log.Close(), file.Close()); err != nil {
		return reports.Report{}, err
	}
	if err := reports.Write(p.Run, Page(p.Run, r)); err != nil {
		return reports.Report{}, err
	}
	if err := context.Cause(ctx); err != nil {
		return r, err // a run that was cut short has no certificate
	}
	_, err = certificate.Issue(p.Run, r, about)
	return r, err
}

// judged runs the jobs, adds up what they found and leaves capsules of what did
// not pass.
func judged(ctx context.Context, s Selection, p Place, r reports.Report, about certificate.Subject, progress Progress, log *runlog.Writer) (reports.Report, error) {
	started := time.Now()
	var outcomes []outcome
	blocked := obstacle()
	if blocked == "" {
		var err error
		if outcomes, err = runJobs(ctx, s, &p, progress, log); err != nil {
			return reports.Report{}, err
		}
	}
	r.Seconds = time.Since(started).Seconds()
	r.Building = p.building.Seconds()
	t := tally{selection: s, outcomes: outcomes, blocked: blocked, root: p.Run, today: r.Started[:len(time.DateOnly)]}
	t.fill(&r)
	return r, t.encapsulate(r, about)
}

// makeRunFolder makes a new folder that can be written to.
func makeRunFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return usage("output folder %s: cannot be made: %v; name a folder where you may write", dir, errors.Unwrap(err))
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return usage("output folder: %v", err)
	}
	if len(entries) > 0 {
		return usage("output folder %s: not empty; name a new one", dir)
	}
	probe, err := os.CreateTemp(dir, ".probe-")
	if err != nil {
		return usage("output folder: %v", err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// obstacle is why nothing of this launcher can run here; empty when it can.
func obstacle() string {
	if os.Geteuid() != 0 {
		return "needs root: attempts are made in namespaces of their own; run as root (touchstone doctor says more)"
	}
	if _, err := exec.LookPath("gcc"); err != nil {
		return "needs gcc: fixtures are compiled for each run; install gcc and libc6-dev"
	}
	return ""
}

func runJobs(ctx context.Context, s Selection, p *Place, progress Progress, log *runlog.Writer) (outcomes []outcome, err error) {
	started := time.Now()
	b, err := open(ctx, s, *p)
	p.building = time.Since(started)
	if err != nil {
		return nil, err
	}
	b.attempts.log = log
	progress.Begin(len(s.jobs))
	defer func() {
		progress.Finish()
		err = errors.Join(err, b.Close())
	}()
	return perform(s, p.Jobs, b.work, b.attempts, telling{progress, log, p.Run, ctx}), nil
}

// Bench runs single scripts of a selection in a run folder, for go test.
type Bench struct {
	ctx       context.Context // of the attempts
	selection Selection
	place     Place
	attempts  *live
	work      string // fixtures, and what testscript needs
	compiling *sync.Mutex
}

// Open makes the run folder. Where nothing can run at all, the reason comes
// back as *NotRunError. Fixtures are compiled when a script first needs them.
func Open(ctx context.Context, s Selection, p Place) (*Bench, error) {
	if why := obstacle(); why != "" {
		return nil, &NotRunError{why}
	}
	if err := makeRunFolder(p.Run); err != nil {
		return nil, err
	}
	s.Scripts = nil // for no fixture but plain
	return open(ctx, s, p)
}

// NotRunError says what this machine lacks.
type NotRunError struct{ Reason string }

func (e *NotRunError) Error() string { return "not run: " + e.Reason }

func open(ctx context.Context, s Selection, p Place) (*Bench, error) {
	work := p.Scratch
	if work == "" {
		var err error
		if work, err = os.MkdirTemp("", "touchstone-"); err != nil {
			return nil, usage("TMPDIR: %v: name a folder that exists and can be written", err)
		}
	}
	b := &Bench{ctx: ctx, selection: s, place: p, work: work, compiling: &sync.Mutex{}}
	// The producer's own user has to read the fixtures.
	if err := errors.Join(os.Chmod(work, 0o755), b.compile(s.fixtures())); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// With is a bench of the same scripts for another build of the launcher, with
// a new or empty run folder. It shares what is compiled and needs no closing;
// it may be used beside the first one, until that is closed.
func (b *Bench) With(ctx context.Context, bin, run string) (*Bench, error) {
	if err := makeRunFolder(run); err != nil {
		return nil, err
	}
	other := *b
	other.ctx, other.attempts, other.place.Bin, other.place.Run = ctx, nil, bin, run
	return &other, other.compile([]string{"plain"})
}

// Beside is With for the same build and a folder within this bench's own.
func (b *Bench) Beside(folder string) (*Bench, error) {
	return b.With(b.ctx, b.place.Bin, filepath.Join(b.place.Run, folder))
}

// compile makes attempts of these fixtures possible; earlier ones stay so.
func (b *Bench) compile(names []string) error {
	b.compiling.Lock()
	defer b.compiling.Unlock()
	source := filepath.Join(b.place.Root, "fixtures", "native")
	compiled, err := driver.CompileFixtures(filepath.Join(b.work, "fixtures"), filepath.Join(b.place.Root, ".build", "fixtures"), source, b.selection.File.Producer.ABI, names)
	if err != nil {
		return err
	}
	if b.attempts == nil {
		b.attempts = &live{ctx: b.ctx, run: b.place.Run, exe: b.place.Exe, bin: b.place.Bin, file: b.selection.File, compiled: compiled,
			failFast: b.selection.Request.FailFast, seeds: b.place.Seeds, look: b.place.Look, keep: b.place.Scratch != ""}
		return nil
	}
	maps.Copy(b.attempts.compiled.Library, compiled.Library)
	maps.Copy(b.attempts.compiled.Lacking, compiled.Lacking)
	maps.Copy(b.attempts.compiled.Control, compiled.Control)
	return nil
}

// Close removes the compiled fixtures. The evidence stays, and a scratch folder
// of the caller's.
func (b *Bench) Close() error {
	if b.place.Scratch != "" {
		return nil
	}
	if err := os.RemoveAll(b.work); err != nil {
		return fmt.Errorf("remove work folder: %w", err)
	}
	return nil
}

// Jobs are the selection's scripts, each with the cells that it runs in.
func (s Selection) Jobs() map[string][]scenario.Cell {
	jobs := map[string][]scenario.Cell{}
	for _, j := range s.jobs {
		jobs[j.script.Name] = append(jobs[j.script.Name], j.cell)
	}
	return jobs
}

// Perform runs one script in one cell. It is called by one goroutine at a time.
func (b *Bench) Perform(s script.Script, cell scenario.Cell) (script.Result, error) {
	if err := b.compile(s.Fixtures()); err != nil {
		return script.Result{}, err
	}
	return script.Run(s, cell, b.selection.File, b.attempts, b.work), nil
}

// perform runs the jobs, at most width at a time, and gives their outcomes in
// the order of the jobs.
func perform(s Selection, width int, work string, attempts script.Attempts, watch watcher) []outcome {
	outcomes := make([]outcome, len(s.jobs))
	next := make(chan int)
	var group sync.WaitGroup
	var report sync.Mutex
	for range max(width, 1) {
		group.Go(func() {
			for i := range next {
				j := s.jobs[i]
				watch.begun(j)
				started := time.Now()
				spent := &meter{Attempts: attempts}
				result := script.Run(j.script, j.cell, s.File, spent, work)
				if l, running := attempts.(*live); running {
					l.heard(result)
				}
				took := time.Since(started)
				outcomes[i] = outcome{Result: result, test: j.script.Test, seconds: took.Seconds(), attempts: spent.wall.Seconds(), cpu: spent.cpu.Seconds()}
				report.Lock()
				watch.ended(j, result, took)
				report.Unlock()
			}
		})
	}
	for i := range s.jobs {
		next <- i
	}
	close(next)
	group.Wait()
	return outcomes
}

func worstFinding(r script.Result) string {
	worst := oracle.Pass
	for _, f := range r.Findings {
		if rank(f.Verdict) > rank(worst) {
			worst = f.Verdict
		}
	}
	if worst != oracle.Fail && len(r.Leaks) > 0 {
		return "leak"
	}
	return string(worst)
}
