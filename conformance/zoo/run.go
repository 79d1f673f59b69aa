package zoo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"touchstone/conformance/certify"
	"touchstone/reports"
)

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

// Ask builds a record and asks the suite about it. No script begins after the
// deadline; the zero time is none.
func (r *Runner) Ask(ctx context.Context, m Mutant, deadline time.Time) (reports.ZooRecord, error) {
	started := time.Now()
	row := reports.ZooRecord{ID: m.ID, Kind: string(m.Kind), Mistake: m.Mistake, Named: append([]string{}, m.CaughtBy...),
		Kills: []reports.Kill{}, Missed: []string{}, Undecided: []string{}, Others: []string{}, Jobs: []string{}}
	first, rest, err := r.subject[m.Launcher()].suite.jobs(m)
	var bin string
	if err == nil {
		bin, err = r.build(ctx, m, first[0])
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

// build makes the record's programs, and meanwhile asks the unbroken launcher
// what the record will be asked first.
func (r *Runner) build(ctx context.Context, m Mutant, first job) (string, error) {
	var known error
	var group sync.WaitGroup
	if m.Kind != Equivalent {
		group.Go(func() { _, known = r.say(m.Launcher(), first, first.shown(m.CaughtBy)) })
	}
	bin, err := r.builder.Build(ctx, m)
	group.Wait()
	return bin, errors.Join(err, known)
}

// say is what the unbroken launcher says in a job of the wanted assertions.
func (r *Runner) say(launcher string, j job, wanted []string) (said, error) {
	return r.sound.ask(r.subject[launcher].bench, launcher, j, wanted)
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
