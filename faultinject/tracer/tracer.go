// Package tracer applies a plan of faults to running processes with ptrace.
//
// One run has one tracer: one operating system thread that owns every traced
// thread. It learns of a call in one of three ways:
//
//	filter  a seccomp filter stops the watched calls of the whole tree
//	ip      the same, but only calls from the syscall instructions of Go
//	        images at fixed addresses; other images run free of the tracer
//	full    every call stops; other images run free, and without a filter
//
// It asks package engine what to do with the call, writes the evidence, and
// only then lets the thread go on.
package tracer

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"touchstone/faultinject"
	"touchstone/faultinject/engine"
	"touchstone/faultinject/filter"
)

// Config says what one run does.
type Config struct {
	Plan            faultinject.Plan
	Bindings        []Binding
	Verifiers       []string // executables of role V
	Keep            []string // foreign executables that stay traced in ip and full mode
	Mode            Mode     // ModeAuto to choose
	Log             *os.File // evidence; nil for none
	Sync            bool     // every evidence line reaches the disk
	AllowNoNewPrivs bool     // set no_new_privs, so that an unprivileged target can be filtered
	Pin             int      // processor for tracer and target, -1 for none
	GateTimeout     time.Duration
	HoldTimeout     time.Duration
	Limit           time.Duration // kill the targets after so long; 0 for never
	Started         func() error  // called once the target is attached; may be nil
	Files           []*os.File    // descriptors of a spawned target; nil: our 0 to 2
}

// Defaults of the timeouts: how long a call waits for another one's bytes,
// and how long a hold lasts that nobody releases.
const (
	DefaultGateTimeout = 5 * time.Second
	DefaultHoldTimeout = 5 * time.Second
)

// Result is what one run has shown.
type Result struct {
	Status  unix.WaitStatus // of the root process
	Tallies []engine.Tally
	Blind   []string // paths that rules cannot see, empty if none
	Mode    Mode
	Over    bool // the targets were killed for their time
}

// AsAsked tells whether every rule fired as it was asked to.
func (r Result) AsAsked() bool {
	for _, t := range r.Tallies {
		if !t.AsAsked {
			return false
		}
	}
	return true
}

// Tracer is one run. Every method runs on the thread that made it.
type Tracer struct {
	config Config
	plan   faultinject.Plan
	engine *engine.Engine
	log    *evidence
	mode   Mode
	roles  faultinject.Role // roles that any rule covers
	began  time.Time

	root      int
	rootExe   fileID
	verifiers map[fileID]bool
	kept      map[fileID]bool
	program   []unix.SockFilter
	inner     map[int]func(*task, *engine.Call) // calls the tracer itself watches
	stopsAt   [512]bool                         // every call that is watched by anyone
	latest    *task                             // of the stop before
	bindings  []Binding

	tasks  map[int]*task
	procs  map[int]*process
	freed  []freed
	gated  []*task
	holds  map[string][]*task
	alarms alarms
	storms []*storm

	keepObjects  bool
	waitsForExec bool // the target is a stub still
	status       unix.WaitStatus
	ended        bool
	over         bool
	blinds       []string
	stops        uint64
	err          error
	scratch      [64]byte
	callInfo     callInfo
}

// freed is a process that runs without the tracer.
type freed struct{ pid, pidfd int }

func newTracer(config Config) (*Tracer, error) {
	if config.GateTimeout == 0 {
		config.GateTimeout = DefaultGateTimeout
	}
	if config.HoldTimeout == 0 {
		config.HoldTimeout = DefaultHoldTimeout
	}
	t := &Tracer{config: config, plan: config.Plan, bindings: config.Bindings, tasks: map[int]*task{},
		procs: map[int]*process{}, holds: map[string][]*task{}, verifiers: map[fileID]bool{}, kept: map[fileID]bool{},
		began: time.Now()}
	t.engine = engine.New(t.plan, facts{t})
	for _, r := range t.plan.Rules {
		t.roles |= r.Roles
	}
	for set, paths := range map[*map[fileID]bool][]string{&t.verifiers: config.Verifiers, &t.kept: config.Keep} {
		for _, path := range paths {
			id, err := fileAt(path)
			if err != nil {
				return nil, fmt.Errorf("executable: %w", err)
			}
			(*set)[id] = true
		}
	}
	t.keepObjects = t.manyDecisions()
	t.watchInner()
	var err error
	t.log, err = newEvidence(config.Log, config.Sync)
	return t, err
}

// manyDecisions tells whether descriptors are looked up so often that it pays
// to watch the calls that change them.
func (t *Tracer) manyDecisions() bool {
	for _, r := range t.plan.Rules {
		if r.Times != 1 || r.Do.Storm > 1 || r.Do.StormFor > 0 {
			return true
		}
	}
	return t.engine.NeedsObjects()
}

// watchInner lists the calls that the tracer watches for itself.
func (t *Tracer) watchInner() {
	t.inner = map[int]func(*task, *engine.Call){
		unix.SYS_IO_URING_SETUP: (*task).ring, unix.SYS_CLONE: (*task).cloning, unix.SYS_CLONE3: (*task).cloning,
		unix.SYS_SECCOMP: (*task).ownFilter, unix.SYS_PRCTL: (*task).ownFilter,
	}
	if t.keepObjects {
		for _, nr := range changers {
			t.inner[nr] = (*task).tableChange
		}
	}
	if len(t.plan.Binds) > 0 {
		for _, nr := range openers {
			t.inner[nr] = (*task).opened
		}
	}
	for _, nr := range t.numbers() {
		t.stopsAt[nr] = true
	}
}

// numbers returns every call to stop at.
func (t *Tracer) numbers() []int {
	out := t.engine.Numbers()
	for nr := range t.inner {
		if !t.engine.Watches(nr) {
			out = append(out, nr)
		}
	}
	return out
}

// loop serves stops until no traced thread is left.
func (t *Tracer) loop() error {
	for len(t.tasks) > 0 && t.err == nil {
		tid, status, err := wait()
		switch err {
		case nil:
			t.stops++
			t.stop(tid, status)
		case unix.EINTR:
		case unix.ECHILD:
			return errors.New("wait: the traced threads are gone")
		default:
			return fmt.Errorf("wait: %w", err)
		}
		if len(t.alarms.queue) > 0 {
			if err := t.alarms.serve(); err != nil {
				return err
			}
		}
		if t.log.err != nil {
			return t.log.err
		}
	}
	return t.err
}

// finish closes the run and reports it. Where the run failed, the targets are
// killed first: none goes on half injected.
func (t *Tracer) finish(err error) (Result, error) {
	if err != nil {
		err = errors.Join(err, t.killAll())
	}
	for _, f := range t.freed {
		err = errors.Join(err, unix.Close(f.pidfd))
	}
	for _, s := range t.storms {
		err = errors.Join(err, s.close())
	}
	err = errors.Join(err, t.alarms.close())
	result := Result{Status: t.status, Tallies: t.engine.Tallies(), Blind: t.blinds, Mode: t.mode, Over: t.over}
	t.log.final(t, result, err)
	return result, errors.Join(err, t.log.err)
}

// killAll ends every traced process and reaps it.
func (t *Tracer) killAll() error {
	for tgid := range t.procs {
		if err := unix.Kill(tgid, unix.SIGKILL); err != nil && err != unix.ESRCH {
			return fmt.Errorf("kill %d: %w", tgid, err)
		}
	}
	for len(t.tasks) > 0 {
		tid, status, err := wait()
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil // none left
		}
		if status.Exited() || status.Signaled() {
			t.exited(tid, status)
		}
	}
	return nil
}

// blind marks the run: rules could not see everything they cover.
func (t *Tracer) blind(what, text string) {
	t.blinds = append(t.blinds, text)
	t.log.note(what, text)
}

// makeFilter builds the program that the mode needs.
func (t *Tracer) makeFilter(image string) (err error) {
	switch t.mode {
	case ModeFilter:
		t.program, err = filter.Calls(t.numbers())
	case ModeIP:
		var sites []uint64
		for _, path := range append([]string{image}, t.config.Verifiers...) {
			found, err := filter.Sites(path)
			if err != nil {
				return err
			}
			sites = append(sites, found...)
		}
		t.program, err = filter.CallsAt(t.numbers(), sites)
	}
	return err
}
