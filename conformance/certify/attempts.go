package certify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"touchstone/conformance/driver"
	"touchstone/conformance/evidence"
	"touchstone/conformance/launcherfile"
	"touchstone/conformance/oracle"
	"touchstone/conformance/runlog"
	"touchstone/conformance/scenario"
	"touchstone/conformance/script"
)

// folder is where an attempt's evidence lies within a run.
func folder(run string, s scenario.Scenario) string {
	cell := s.Cell.Facade + "-" + s.Cell.Profile
	return filepath.Join(run, "attempts", cell, s.Script, fmt.Sprintf("%03d", s.Number))
}

// live makes attempts.
type live struct {
	ctx      context.Context
	run      string // folder
	exe      string // the attempt's own program
	bin      string // the launcher's binaries
	file     launcherfile.File
	compiled driver.Compiled
	shared   references
	failFast bool
	look     *Look          // nil: nobody looks
	seeds    []string       // of a replay, by number of the attempt
	keep     bool           // leave what an attempt was made with
	log      *runlog.Writer // nil when nobody listens
	stopped  atomic.Bool    // no further attempt
}

// errStopped is why an attempt of a run with FailFast was not made.
var errStopped = script.Needs("--fail-fast ended the run before this")

// heard stops the run at a result that says enough.
func (l *live) heard(r script.Result) {
	if l.failFast && (worstFinding(r) == string(oracle.Fail) || len(r.Leaks) > 0) {
		l.stopped.Store(true)
	}
}

func (l *live) Run(s scenario.Scenario, payload []byte) (*evidence.Attempt, error) {
	return l.within(0, s, payload)
}

// within makes an attempt; the driver waits for hangMS, or as long as the
// scenario says when that is 0.
func (l *live) within(hangMS uint64, s scenario.Scenario, payload []byte) (*evidence.Attempt, error) {
	if l.stopped.Load() {
		return nil, errStopped
	}
	dir := folder(l.run, s)
	if reason, lacks := l.compiled.Lacking[s.Fixture.Build(s.Libc)]; lacks {
		return nil, unasked(dir, reason)
	}
	library, known := l.compiled.Library[s.Fixture.Build(s.Libc)]
	if !known {
		return nil, fmt.Errorf("fixture %q is not compiled", s.Fixture.Name)
	}
	setup := driver.Setup{Bin: l.bin, Library: library, Control: l.compiled.Control[s.Libc], Tool: l.compiled.Tool, Finalizer: l.compiled.Finalizer,
		Injector: filepath.Join(filepath.Dir(l.exe), "faultinject"), Keep: l.keep, HangMS: hangMS}
	if s.Kind != scenario.Reference && s.Number < len(l.seeds) {
		setup.Seed = l.seeds[s.Number]
	}
	holder := l.look.at(dir, s, l.file, &setup)
	if err := driver.Prepare(dir, s, l.file, setup); err != nil {
		return nil, err
	}
	if s.Fixture.PayloadFile != "" {
		if err := os.WriteFile(filepath.Join(dir, s.Fixture.PayloadFile), payload, 0o644); err != nil {
			return nil, fmt.Errorf("write payload: %w", err)
		}
	}
	attemptBegun(l.log, l.run, dir)
	err := driver.StartHeld(l.ctx, l.exe, dir, holder)
	attemptEnded(l.log, l.run, dir, err)
	if err != nil {
		return nil, err
	}
	a, err := evidence.Load(dir)
	if err != nil {
		return nil, err
	}
	if _, hung := evidence.First[evidence.Watchdog](a); hung && l.failFast {
		l.stopped.Store(true) // a launcher that hangs costs its limit in each attempt
	}
	return a, writeTranscript(a)
}

func (l *live) Reference(s scenario.Scenario) (*evidence.Attempt, error) {
	return l.shared.once(s, func(numbered scenario.Scenario) (*evidence.Attempt, error) { return l.Run(numbered, nil) })
}

// unaskedFile stands, with the reason, where an attempt would have been.
const unaskedFile = "not-run.txt"

// unasked records that this launcher cannot be asked for an attempt.
func unasked(dir, reason string) error {
	err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, unaskedFile), []byte(reason), 0o644))
	if err != nil {
		return fmt.Errorf("record what was not run: %w", err)
	}
	return script.Needs(reason)
}

// recorded finds attempts in a run folder. The scenario of each must be the one
// that the script asks for now.
type recorded struct {
	run      string
	shared   references
	failFast bool
}

func (r *recorded) Run(s scenario.Scenario, payload []byte) (*evidence.Attempt, error) {
	if reason, err := os.ReadFile(filepath.Join(folder(r.run, s), unaskedFile)); err == nil {
		return nil, script.Needs(string(reason))
	}
	a, err := evidence.Load(folder(r.run, s))
	if r.failFast && errors.Is(err, fs.ErrNotExist) {
		return nil, errStopped
	}
	if err != nil {
		return nil, err
	}
	wanted, err := scenario.Encode(s)
	got, gotErr := scenario.Encode(a.Scenario)
	if err := errors.Join(err, gotErr); err != nil {
		return nil, err
	}
	if !bytes.Equal(wanted, got) {
		return nil, fmt.Errorf("%s: recorded for another scenario", a.Dir)
	}
	if s.Fixture.PayloadFile != "" && !bytes.Equal(a.File(s.Fixture.PayloadFile), payload) {
		return nil, fmt.Errorf("%s: recorded with another payload", a.Dir)
	}
	return a, nil
}

// Reference looks for the recorded run of a request: references are numbered as
// they were first needed, which may differ from run to run.
func (r *recorded) Reference(s scenario.Scenario) (*evidence.Attempt, error) {
	return r.shared.find(s, func(n scenario.Scenario) (*evidence.Attempt, error) {
		for ; ; n.Number++ {
			if _, err := os.Stat(folder(r.run, n)); err != nil {
				if r.failFast {
					return nil, errStopped
				}
				return nil, fmt.Errorf("no recorded reference for this request: %w", err)
			}
			if a, err := r.Run(n, nil); err == nil {
				return a, nil
			}
		}
	})
}

// references makes each unsupervised run once for all scripts of a run.
type references struct {
	mu     sync.Mutex
	made   map[string]*reference
	number map[scenario.Cell]int
}

type reference struct {
	number  int // within its cell
	once    sync.Once
	attempt *evidence.Attempt
	err     error
}

// once makes the reference of a request, numbered within its cell, or waits for
// whoever makes it.
func (r *references) once(s scenario.Scenario, run func(scenario.Scenario) (*evidence.Attempt, error)) (*evidence.Attempt, error) {
	entry, err := r.entry(s)
	if err != nil {
		return nil, err
	}
	entry.once.Do(func() {
		s.Number = entry.number
		entry.attempt, entry.err = run(s)
	})
	return entry.attempt, entry.err
}

// find is once without a number of its own: the search starts at 0.
func (r *references) find(s scenario.Scenario, search func(scenario.Scenario) (*evidence.Attempt, error)) (*evidence.Attempt, error) {
	entry, err := r.entry(s)
	if err != nil {
		return nil, err
	}
	entry.once.Do(func() { entry.attempt, entry.err = search(s) })
	return entry.attempt, entry.err
}

func (r *references) entry(s scenario.Scenario) (*reference, error) {
	text, err := scenario.Encode(s)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.made == nil {
		r.made, r.number = map[string]*reference{}, map[scenario.Cell]int{}
	}
	entry, known := r.made[string(text)]
	if !known {
		entry = &reference{number: r.number[s.Cell]}
		r.made[string(text)] = entry
		r.number[s.Cell]++
	}
	return entry, nil
}
