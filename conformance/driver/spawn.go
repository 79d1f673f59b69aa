package driver

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"touchstone/conformance/evidence"
	"touchstone/conformance/launcherfile"
	"touchstone/conformance/scenario"
)

// workFolder is the working directory of every started process.
const workFolder = "/"

// start makes the endpoints, starts the process and closes our copies of its
// descriptors, so that their ends are seen.
func (a *attempt) start() (err error) {
	var gifts []given
	defer func() { err = errors.Join(err, closeGiven(gifts)) }()
	if err := a.startStandIn(); err != nil {
		return err
	}
	gifts, err = a.gifts(nil)
	if err != nil {
		return err
	}
	for _, g := range gifts {
		d, err := g.describe()
		if err != nil {
			return err
		}
		a.launch.Descriptors = append(a.launch.Descriptors, d)
	}
	if err := a.forkInGroups(gifts); err != nil {
		return err
	}
	if err := a.holdSupervisor(); err != nil {
		return err
	}
	a.record.eventAt(a.started, evidence.Start{ArgvSHA256: argvDigest(a.command.Argv), PID: a.pid, Wall: wallAt(a.started)})
	if a.pidfd, err = unix.PidfdOpen(a.pid, 0); err != nil {
		return fmt.Errorf("watch process %d: %w", a.pid, err)
	}
	return a.startTracer()
}

// wallAt is the wall-clock time of a monotonic stamp, in nanoseconds of Unix time.
func wallAt(mono int64) int64 { return time.Now().UnixNano() - (evidence.Monotonic() - mono) }

// forkInGroups starts the process in the attempt's leaves: it inherits them
// from us, and we go back at once. Its time begins before it can: on a loaded
// machine it has run for long when fork returns, and that is lateness, too.
func (a *attempt) forkInGroups(gifts []given) error {
	if err := join(a.groups.leaves); err != nil {
		return errors.Join(err, join(a.groups.parents))
	}
	command, err := deprived(a.stubbed(a.command), a.scenario.Deprived, a.command.Path())
	if err == nil {
		a.started = evidence.Monotonic()
		a.pid, err = fork(command, gifts)
		a.wasLate(a.started)
	}
	return errors.Join(err, join(a.groups.parents))
}

func argvDigest(argv []string) string {
	sum := sha256.Sum256([]byte(strings.Join(argv, "\x00") + "\x00"))
	return hex.EncodeToString(sum[:])
}

// gifts makes what the process inherits. Our ends go to the attempt's readers
// at once; what it returns is to be closed by the caller, also on an error.
func (a *attempt) gifts(gifts []given) ([]given, error) {
	if a.scenario.Kind == scenario.Alone {
		return a.aloneGifts(gifts)
	}
	input, err := a.standardInput()
	if err != nil {
		return gifts, err
	}
	gifts = append(gifts, input)
	if a.scenario.Kind != scenario.Launch {
		return a.unsupervisedGifts(gifts)
	}
	if gifts, err = a.hostEndpoints(gifts); err != nil {
		return gifts, err
	}
	return a.launchGifts(gifts)
}

// standardInput is the null device; where the scenario leaves more open than a
// host must, a pipe that never ends, so that a launcher which passes it on is seen.
func (a *attempt) standardInput() (given, error) {
	if a.scenario.Kind == scenario.Launch && a.scenario.ExtraDescriptors > 0 {
		p, err := newPair("stdin", scenario.Reading, a.setup.Place)
		if err == nil {
			a.extras = append(a.extras, p.ours)
		}
		return given{0, p.name, p.kind, p.theirs}, err
	}
	null, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return given{}, fmt.Errorf("open /dev/null: %w", err)
	}
	return given{0, "stdin", "device", null}, nil
}

// unsupervisedGifts are those of a reference or control process.
func (a *attempt) unsupervisedGifts(gifts []given) (_ []given, err error) {
	if gifts, err = a.ownPipe(gifts, 1, "stdout", evidence.StdoutFile); err != nil {
		return gifts, err
	}
	if gifts, err = a.ownPipe(gifts, 2, "stderr", evidence.StderrFile); err != nil {
		return gifts, err
	}
	if a.scenario.Kind != scenario.Control {
		return gifts, nil
	}
	return a.ownPipe(gifts, a.plan.candidate, "candidate", candidateFile)
}

// candidateFile holds what a control program's fixture sent as a candidate.
const candidateFile = "candidate.bin"

func (a *attempt) ownPipe(gifts []given, number int, name, file string) ([]given, error) {
	p, err := newPair(name, scenario.Pipe, a.setup.Place)
	if err != nil {
		return gifts, err
	}
	gifts = append(gifts, given{number, p.name, p.kind, p.theirs})
	a.channels = append(a.channels, &channel{name: name, file: file, fd: p.ours, pace: a.paceOf(name)})
	return gifts, errors.Join(a.host(p), a.record.evidence.Open(file))
}

func (a *attempt) host(p pair) error {
	h, err := p.host()
	a.launch.HostEndpoints = append(a.launch.HostEndpoints, h)
	return err
}

// launchGifts are the launch document, the profile's own descriptors and the
// scenario's further ones.
func (a *attempt) launchGifts(gifts []given) ([]given, error) {
	if a.command.Document != "" {
		fd, err := filledPipe([]byte(a.command.Document))
		if err != nil {
			return gifts, err
		}
		gifts = append(gifts, given{a.plan.launch, "launch", scenario.Pipe, fd})
	}
	for _, d := range a.command.Descriptors {
		fd, err := newMemfd("arena", d.Bytes)
		if err != nil {
			return gifts, err
		}
		gifts = append(gifts, given{d.Number, "arena", d.Kind, fd})
	}
	for i, number := range a.plan.extra {
		p, err := newPair(fmt.Sprintf("extra-%d", i), scenario.Pipe, a.setup.Place)
		if err != nil {
			return gifts, err
		}
		gifts = append(gifts, given{number, p.name, p.kind, p.theirs})
		a.extras = append(a.extras, p.ours)
		if err := a.host(p); err != nil {
			return gifts, err
		}
	}
	return gifts, nil
}

// filledPipe is the read end of a pipe that holds a text and then ends.
func filledPipe(text []byte) (int, error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return -1, fmt.Errorf("make launch descriptor: %w", err)
	}
	n, err := unix.Write(fds[1], text)
	if err == nil && n != len(text) {
		err = unix.ENOSPC
	}
	err = errors.Join(err, unix.Close(fds[1]), unix.SetNonblock(fds[0], false))
	if err != nil {
		_ = unix.Close(fds[0]) // the cause is reported
		return -1, fmt.Errorf("fill launch descriptor with %d bytes: %w", len(text), err)
	}
	return fds[0], nil
}

func closeGiven(gifts []given) error {
	var errs []error
	for _, g := range gifts {
		errs = append(errs, unix.Close(g.fd))
	}
	return errors.Join(errs...)
}

// fork starts the process with exactly the given descriptors, in a session of
// its own: what signals its own group, under a launcher that contains nothing,
// must not reach the suite.
func fork(c launcherfile.Command, gifts []given) (int, error) {
	program, err := executable(c.Argv[0], c.Path())
	if err != nil {
		return 0, err
	}
	last := slices.MaxFunc(gifts, func(a, b given) int { return a.number - b.number }).number
	files := slices.Repeat([]uintptr{^uintptr(0)}, last+1) // -1: closed
	for _, g := range gifts {
		files[g.number] = uintptr(g.fd)
	}
	pid, err := syscall.ForkExec(program, c.Argv, &syscall.ProcAttr{Dir: workFolder, Env: c.Environment, Files: files,
		Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		return 0, fmt.Errorf("start %s: %w", program, err)
	}
	return pid, nil
}

// startStandIn starts the process that a control attempt's fixture aims at in
// place of a supervisor, where the scenario tells it a supervisor's pid.
func (a *attempt) startStandIn() error {
	wanted := slices.ContainsFunc(a.scenario.Controls, func(r scenario.Rule) bool {
		return r.Action.Kind == scenario.DoPoke && r.Action.Value == scenario.ValueSupervisorPID
	})
	if a.scenario.Kind != scenario.Control || !wanted {
		return nil
	}
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open /dev/null: %w", err)
	}
	path := os.Getenv("PATH")
	a.standIn, err = fork(launcherfile.Command{Argv: []string{"sleep", "infinity"}, Environment: []string{"PATH=" + path}},
		[]given{{0, "stdin", "device", null}, {1, "stdout", "device", null}, {2, "stderr", "device", null}})
	return errors.Join(err, unix.Close(null))
}
