package host

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// attempt is one launch and all that the host owns for it.
type attempt struct {
	options   Options
	id        string
	limits    Limits
	admission Admission
	manifest  Manifest
	lock      int // the manifest, locked
	cancel    *canceller
	buffer    []byte

	report, diagnostic, sink *stream
	terminal                 *terminal

	started   time.Time // spawn of S
	pid       int       // 0: S was never started
	pidfd     int
	exit      Exit
	usage     unix.Rusage
	exitedAt  time.Time
	expired   bool      // the watch ran out
	killed    time.Time // zero: not
	cancelled time.Time // zero: not
	placed    []string  // results that have got their names
	notes     []string  // what went wrong in the host itself
}

// Exit statuses of refhost.
const (
	ExitAccepted = 0
	ExitRejected = 1
	ExitUsage    = 64
	ExitInternal = 70
)

// Run is one attempt, from the command line to the exit status. Must have the
// main goroutine: S dies with its thread.
//
// Rules: R13 to R16, R21.
func Run(args []string) int {
	runtime.LockOSThread()
	runtime.GOMAXPROCS(1) // one thread does the work; more would only wake each other
	cancel := listen()
	options, err := ParseOptions(args)
	if err != nil {
		return say(ExitUsage, err)
	}
	a := &attempt{options: options, id: newAttemptID(), cancel: cancel, lock: -1, pidfd: -1, buffer: make([]byte, terminalBytes+1)}
	a.limits = options.limits(os.LookupEnv)
	if err := a.prepare(); err != nil {
		return say(ExitUsage, errors.Join(err, a.abandon()))
	}
	if err := a.launch(); err != nil {
		a.note(err)
	} else {
		rehearse()
		a.collect()
	}
	return a.conclude()
}

// rehearse makes ready, while S runs, what is needed once S has ended.
func rehearse() {
	recordShape()
	_, _ = (&Disposition{}).encode() // what it says does not matter
}

// say prints one line for people and passes the exit status on.
func say(status int, cause any) int {
	fmt.Fprintf(os.Stderr, "refhost: %v\n", cause)
	return status
}

func (a *attempt) note(err error) {
	if err != nil && len(a.notes) < maxFindings {
		a.notes = append(a.notes, err.Error())
	}
}

// prepare does what can be refused without a disposition: nothing has started.
func (a *attempt) prepare() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become subreaper: %w", err)
	}
	if err := a.cancel.watch(); err != nil {
		return err
	}
	var err error
	if a.manifest, err = newManifest(&a.options, a.id); err != nil {
		return err
	}
	a.admission = a.manifest.Admission
	if a.lock, err = a.manifest.write(a.options.Manifest); err != nil {
		return fmt.Errorf("argument --manifest: %w", err)
	}
	if err := unix.Mkdir(a.admission.Spool.Path, 0o700); err != nil {
		return fmt.Errorf("argument --spool: make %s: %w", a.admission.Spool.Path, err)
	}
	return nil
}

// abandon removes what prepare made.
func (a *attempt) abandon() error {
	var errs []error
	if a.admission.Spool.Path != "" {
		errs = append(errs, os.RemoveAll(a.admission.Spool.Path))
	}
	if a.lock >= 0 {
		errs = append(errs, unix.Unlink(a.options.Manifest), shut(&a.lock))
	}
	return errors.Join(errs...)
}

// sinkBytes is the most that a sink can hold: the plan, or all of R.
func (a *attempt) sinkBytes() int64 {
	if a.options.PlannedSink > 0 {
		return a.options.PlannedSink
	}
	return a.limits[reportBytes].Effective
}
