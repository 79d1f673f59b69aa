package zoo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"touchstone/conformance/certify"
	"touchstone/conformance/oracle"
	"touchstone/conformance/script"
	"touchstone/reports"
)

// enough is how long a record that is killed is asked for its other
// assertions: one that hangs costs its limit in each attempt.
const enough = 90 * time.Second

// Runner asks the suite about broken launchers.
type Runner struct {
	builder *Builder
	out     string // folder for evidence
	subject map[string]subject
	sound   sound
}

// subject is a launcher with the scripts that are asked of it.
type subject struct {
	suite suite
	bench *certify.Bench // of the unbroken one
}

// NewRunner prepares the launchers that the records are about. exe is the
// program of attempts, out a folder for evidence. Close it.
func NewRunner(ctx context.Context, root, exe, out string, builder *Builder, records []Mutant) (*Runner, error) {
	r := &Runner{builder: builder, out: out, subject: map[string]subject{}}
	bin, err := builder.Unbroken()
	if err != nil {
		return nil, err
	}
	for _, m := range records {
		if _, known := r.subject[m.Launcher()]; known {
			continue
		}
		selection, err := certify.Select(root, certify.Request{Launcher: m.Launcher()})
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		place := certify.Place{Root: root, Bin: bin, Exe: exe, Run: filepath.Join(out, "unbroken-"+m.Launcher())}
		bench, err := certify.Open(ctx, selection, place)
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		r.subject[m.Launcher()] = subject{newSuite(selection), bench}
	}
	r.sound, err = newSound(root, builder)
	return r, err
}

// Close removes what was compiled, and the evidence of the unbroken launchers.
func (r *Runner) Close() error {
	var err error
	for name, s := range r.subject {
		err = errors.Join(err, s.bench.Close(), os.RemoveAll(filepath.Join(r.out, "unbroken-"+name)))
	}
	return err
}

// errLate says that time ran out before anything could be said of a record.
var errLate = errors.New("out of time")

// Ask builds a record and asks the suite about it. No script begins after the
// deadline; the zero time is none.
func (r *Runner) Ask(ctx context.Context, m Mutant, deadline time.Time) (reports.ZooRecord, error) {
	started := time.Now()
	row := reports.ZooRecord{ID: m.ID, Kind: string(m.Kind), Mistake: m.Mistake, Named: append([]string{}, m.CaughtBy...),
		Kills: []reports.Kill{}, Missed: []string{}, Undecided: []string{}, Others: []string{}, Jobs: []string{}}
	first, rest, err := r.subject[m.Launcher()].suite.jobs(m)
	var bin string
	if err == nil {
		bin, err = r.builder.Build(ctx, m)
	}
	row.BuildSeconds = time.Since(started).Seconds()
	if errors.Is(err, ErrDead) {
		row.State, row.Problem, row.Seconds = reports.Dead, err.Error(), row.BuildSeconds
		return row, nil
	}
	if err != nil {
		return row, err
	}
	folder := filepath.Join(r.out, strings.ReplaceAll(m.ID, "/", "-"))
	bench, err := r.subject[m.Launcher()].bench.With(ctx, bin, folder)
	if err != nil {
		return row, err
	}
	a := asked{runner: r, record: m, bench: bench, row: &row, seen: map[string]verdicts{}, deadline: deadline}
	if err = a.face(first); err == nil && m.Kind != Equivalent && len(row.Kills) == 0 {
		err = a.face(rest)
	}
	if err != nil {
		return row, err
	}
	a.conclude()
	row.Seconds = time.Since(started).Seconds()
	if row.State == reports.Killed || row.State == reports.EquivalentGreen {
		return row, os.RemoveAll(folder)
	}
	row.Evidence = folder
	return row, ctx.Err()
}

// asked is a built record while the scripts are run.
type asked struct {
	runner *Runner
	record Mutant
	bench  *certify.Bench
	row    *reports.ZooRecord
	seen   map[string]verdicts // by assertion, over all jobs

	deadline time.Time // after which no job begins
}

// verdicts says what was said of an assertion. One that passed with a note was
// not asked in full on this machine.
type verdicts struct{ passed, failed, undecided, noted bool }

// face runs jobs until each named assertion has failed once.
func (a *asked) face(jobs []job) error {
	started := time.Now()
	for _, j := range jobs {
		open := a.open()
		if a.record.Kind != Equivalent && !j.concerns(open) {
			continue
		}
		late := past(a.deadline)
		if len(a.row.Kills) > 0 && (late || time.Since(started) > enough) {
			a.row.Problem = "not asked for all: " + strings.Join(open, " ")
			return nil
		}
		if late {
			return errLate
		}
		result, err := a.bench.Perform(j.script, j.cell)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", a.record.ID, j, err)
		}
		a.row.Jobs = append(a.row.Jobs, j.String())
		if err := a.hear(j, result); err != nil {
			return err
		}
	}
	return nil
}

// open are the named assertions that have not failed yet.
func (a *asked) open() []string {
	return slices.DeleteFunc(slices.Clone(a.record.CaughtBy), func(id string) bool {
		return slices.ContainsFunc(a.row.Kills, func(k reports.Kill) bool { return k.ID == id })
	})
}

// hear takes in what a script said. What the unbroken launcher fails too says
// nothing.
func (a *asked) hear(j job, result script.Result) error {
	bad := len(result.Leaks) > 0 || slices.ContainsFunc(result.Findings, func(f script.Finding) bool { return f.Verdict == oracle.Fail || f.Verdict == oracle.Broken })
	unsound := map[string]bool{}
	if bad {
		var err error
		if unsound, err = a.runner.sound.unsound(a.runner.subject[a.record.Launcher()].bench, a.record.Launcher(), j); err != nil {
			return err
		}
	}
	for _, f := range result.Findings {
		v := a.seen[f.ID]
		switch {
		case f.Verdict == oracle.Pass:
			v.passed, v.noted = true, v.noted || f.Reason != ""
		case f.Verdict == oracle.Fail && !unsound[f.ID]:
			v.failed = true
			a.failed(j, f)
		default:
			v.undecided = v.undecided || f.Verdict != oracle.NotRun
			if f.Verdict == oracle.Fail && slices.Contains(a.record.CaughtBy, f.ID) {
				a.row.Problem = fmt.Sprintf("the unbroken launcher fails %s in %s too: saw %s, wanted %s", f.ID, j, f.Seen+f.Reason, f.Wanted)
			}
		}
		a.seen[f.ID] = v
	}
	if len(result.Leaks) > 0 && !unsound[leak] {
		a.other(leak)
	}
	return nil
}

// leak stands among assertions for what an attempt left behind.
const leak = "leak"

func (a *asked) failed(j job, f script.Finding) {
	if !slices.Contains(a.record.CaughtBy, f.ID) {
		a.other(f.ID)
		return
	}
	if slices.Contains(a.open(), f.ID) {
		a.row.Kills = append(a.row.Kills, reports.Kill{ID: f.ID, Script: j.script.Name, Cell: j.cell.String(), Seen: f.Seen + f.Reason, Wanted: f.Wanted})
	}
}

func (a *asked) other(id string) {
	if !slices.Contains(a.row.Others, id) {
		a.row.Others = append(a.row.Others, id)
	}
}

// conclude reads what was seen against the record. Only a named assertion that
// failed kills.
func (a *asked) conclude() {
	for _, id := range a.open() {
		switch v := a.seen[id]; {
		case v.passed && !v.undecided && !v.noted:
			a.row.Missed = append(a.row.Missed, id)
		default:
			a.row.Undecided = append(a.row.Undecided, id)
		}
	}
	if a.record.Kind == Equivalent {
		a.concludeEquivalent()
		return
	}
	switch {
	case len(a.row.Kills) > 0:
		a.row.State = reports.Killed
	case len(a.row.Others) > 0:
		a.row.State = reports.KilledElsewhere
	default:
		a.row.State = reports.Survived
	}
}

// concludeEquivalent: nothing may fail, nothing may be the suite's own fault,
// and something must have passed.
func (a *asked) concludeEquivalent() {
	var broken []string
	passed := false
	for id, v := range a.seen {
		passed = passed || v.passed
		if v.undecided {
			broken = append(broken, id)
		}
	}
	slices.Sort(broken)
	a.row.State = reports.EquivalentGreen
	switch {
	case len(a.row.Others) > 0:
		a.row.State, a.row.Problem = reports.EquivalentRed, "failed: "+strings.Join(a.row.Others, " ")
	case len(broken) > 0:
		a.row.State, a.row.Problem = reports.EquivalentRed, "broken: "+strings.Join(broken, " ")
	case !passed:
		a.row.State, a.row.Problem = reports.EquivalentRed, "nothing was asked"
	}
}

// Progress hears of records as they end, from one goroutine at a time.
type Progress func(row reports.ZooRecord)

func past(deadline time.Time) bool { return !deadline.IsZero() && time.Now().After(deadline) }

// AskAll asks about records, width at a time; builds of some go on beside runs
// of others. Left is what nothing was said of at the deadline; the zero time is
// none.
func (r *Runner) AskAll(ctx context.Context, records []Mutant, width int, deadline time.Time, tell Progress) (rows []reports.ZooRecord, left []string, err error) {
	rows, left = []reports.ZooRecord{}, []string{}
	next := make(chan Mutant)
	var group sync.WaitGroup
	var mutex sync.Mutex
	for range max(width, 1) {
		group.Go(func() {
			for m := range next {
				row, failure := r.Ask(ctx, m, deadline)
				mutex.Lock()
				switch {
				case errors.Is(failure, errLate):
					left = append(left, m.ID)
				case failure != nil:
					err = errors.Join(err, failure)
				default:
					rows = append(rows, row)
					tell(row)
				}
				mutex.Unlock()
			}
		})
	}
	for _, m := range records {
		if ctx.Err() != nil || past(deadline) {
			mutex.Lock()
			left = append(left, m.ID)
			mutex.Unlock()
			continue
		}
		next <- m
	}
	close(next)
	group.Wait()
	place := map[string]int{}
	for i, m := range records {
		place[m.ID] = i
	}
	slices.SortFunc(rows, func(a, b reports.ZooRecord) int { return place[a.ID] - place[b.ID] })
	return rows, left, errors.Join(err, context.Cause(ctx))
}
