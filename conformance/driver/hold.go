package driver

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

// A process of an attempt can be held at its start, for a debugger or a tracer
// that the runner sets upon it from outside. The supervisor stands still before
// it becomes the launcher's program, the producer in the constructor of its
// library, the finalizer as soon as it is seen. The attempt waits meanwhile and
// reads nothing; times count from the release of a held supervisor.

// Holder is told of a held process by the pid that the runner knows it by. It
// returns once whoever looks at the process is there, and says whether the
// process is to be continued by a signal: not where a debugger does it.
type Holder func(pid int) (resume bool, err error)

// holdFD is where the attempt's program finds its end of the pair to the runner.
const holdFD = 3

// holdPoint is the rendezvous of a producer that is held in the constructor.
const holdPoint = math.MaxUint32

// serveHolds gives the started program its end of a pair. The returned wait
// ends when the program has, and tells what the holder could not do.
func serveHolds(c *exec.Cmd, holder Holder) (started func() error, wait func() error, err error) {
	if holder == nil {
		nothing := func() error { return nil }
		return nothing, nothing, nil
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = unix.SetsockoptInt(pair[0], unix.SOL_SOCKET, unix.SO_PASSCRED, 1)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("hold: %w", err)
	}
	theirs := os.NewFile(uintptr(pair[1]), "hold")
	c.ExtraFiles = []*os.File{theirs}
	ended := make(chan error, 1)
	go func() { ended <- errors.Join(answerHolds(pair[0], holder), unix.Close(pair[0])) }()
	return theirs.Close, func() error { return <-ended }, nil
}

// answerHolds serves until the other end is closed.
func answerHolds(fd int, holder Holder) error {
	var errs []error
	text, control := make([]byte, 16), make([]byte, unix.CmsgSpace(unix.SizeofUcred))
	for {
		n, controlled, _, _, err := unix.Recvmsg(fd, text, control, 0)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return errors.Join(append(errs, fmt.Errorf("hold: %w", err))...)
		case n == 0:
			return errors.Join(errs...)
		}
		resume, err := false, error(nil)
		messages, err := unix.ParseSocketControlMessage(control[:controlled])
		if err == nil && len(messages) == 1 {
			var who *unix.Ucred
			if who, err = unix.ParseUnixCredentials(&messages[0]); err == nil {
				resume, err = holder(int(who.Pid))
			}
		}
		answer := "g"
		if resume || err != nil {
			answer = "c"
		}
		errs = append(errs, err)
		if _, err := unix.Write(fd, []byte(answer)); err != nil && !errors.Is(err, unix.EPIPE) {
			errs = append(errs, fmt.Errorf("hold: %w", err))
		}
	}
}

// holds says whether a role is to be held in this attempt.
func (a *attempt) holds(who string) bool { return a.setup.Hold == who && !a.shown }

// hold tells the runner of a process that stands still, and waits until it may
// go on. The kernel translates the pid into the runner's own.
func (a *attempt) hold(pid int) (resume bool, err error) {
	a.shown = true
	rights := unix.UnixCredentials(&unix.Ucred{Pid: int32(pid), Uid: uint32(os.Getuid()), Gid: uint32(os.Getgid())})
	if err := unix.Sendmsg(holdFD, []byte("held"), rights, nil, 0); err != nil {
		return true, fmt.Errorf("hold %d: %w", pid, err)
	}
	answer := make([]byte, 1)
	for {
		n, err := unix.Read(holdFD, answer)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n == 0 {
			return true, fmt.Errorf("hold %d: the runner is gone: %w", pid, err)
		}
		return answer[0] == 'c', nil
	}
}

// holdSupervisor lets the stub of the launcher's program go on when the runner
// says so.
func (a *attempt) holdSupervisor() error {
	if !a.holds(scenario.Supervisor) {
		return nil
	}
	if err := a.awaitStub(); err != nil {
		return err
	}
	resume, err := a.hold(a.pid)
	a.started = evidence.Monotonic() // until now it stood still
	if resume {
		err = errors.Join(err, unix.Kill(a.pid, unix.SIGCONT))
	}
	return err
}

// holdProducer holds one that has come to the constructor of its library.
func (a *attempt) holdProducer(pid int, base uint64) {
	resume, err := a.hold(pid)
	onward := []byte{0xff, 0xff, 0xff, 0xff} // holdPoint
	if written := a.library.writeState(pid, base, resumeOffset, onward); written != nil && alive(pid) {
		err = errors.Join(err, written)
	}
	if letter, _, running := state(pid); resume && running && letter == 'T' {
		err = errors.Join(err, signalProcess(pid, unix.SIGCONT, func() bool { _, mapped := a.library.mapped(pid); return mapped }))
	}
	if err != nil {
		a.record.fault("hold producer", err)
	}
}

// holdFinalizer stops it as soon as it is seen.
func (a *attempt) holdFinalizer() {
	if !a.holds(scenario.Finalizer) || a.launcher.Finalizer.Executable == "" {
		return
	}
	pid, check, err := a.role(scenario.Finalizer)
	if err != nil {
		return // not yet
	}
	if err := a.stop(scenario.Finalizer); err != nil {
		return // it has ended meanwhile
	}
	if letter, _, running := state(pid); !running || letter != 'T' {
		return
	}
	resume, err := a.hold(pid)
	if resume {
		err = errors.Join(err, signalProcess(pid, unix.SIGCONT, check))
	}
	if err != nil && alive(pid) {
		a.record.fault("hold finalizer", err)
	}
}
