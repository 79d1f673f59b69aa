package jail

import (
	"errors"
	"fmt"
	"io"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Process is a child of S: its pid and the pidfd that the Domain owns. The
// pidfd becomes readable when the process has ended.
type Process struct{ PID, FD int }

// Domain is a native execution domain: the trusted PID-1 init plus the
// producer. Its owner calls Close exactly once. It is for one goroutine.
//
// S polls Producer.FD, Init.FD, Listener and Lifeline (POLLIN each). After
// Release no method but Usage and Close touches anything else than
// descriptors, and none blocks.
type Domain struct {
	Producer, Init Process
	Listener       int // seccomp notifications; hangup when no task uses the filter
	Lifeline       int // init's end means the end of the domain

	spec         Spec
	control      int // open until Release
	parked       bool
	scratch      int // the producer's /tmp, held from Attest on
	scratchFiles int64
	leaf         *leaf
	pending      uint64 // id of the notification last taken, 0 when answered
}

// Status is how a process ended: by exit or by a signal, never both.
type Status struct {
	ExitStatus int         // 0..255
	Signal     unix.Signal // 0 after an exit
	Core       bool
	Usage      unix.Rusage
}

// Release lets the attested producer exec and returns once it has. An error
// means that no customer code has run.
func (d *Domain) Release() error {
	if err := order(d.control, orderGo); err != nil {
		return refuse(ReasonPolicy, fmt.Errorf("release producer: %w", err))
	}
	// Exec closes the producer's end, the last one.
	m, err := hear(d.control, d.spec.Deadline)
	switch {
	case errors.Is(err, io.EOF):
		return closeOnce(&d.control)
	case err != nil:
		return refuse(ReasonPolicy, fmt.Errorf("release producer: %w", err))
	case m.kind == sayError:
		return m.failure()
	}
	return refuse(ReasonPolicy, errors.Join(fmt.Errorf("release producer: unexpected message %q", m.kind), closeOnce(&m.fd)))
}

// Terminate sends a signal to the producer (C-73); one that has ended is no error.
func (d *Domain) Terminate(signal unix.Signal) error {
	err := unix.PidfdSendSignal(d.Producer.FD, signal, nil, 0)
	if err != nil && err != unix.ESRCH {
		return fmt.Errorf("signal producer: %w", err)
	}
	return nil
}

// Kill ends the domain: the producer first, so that its own end is certain
// before anything of a pending notification can reach it, then init.
func (d *Domain) Kill() error {
	return errors.Join(kill(d.Producer.FD), kill(d.Init.FD))
}

// ReapProducer takes the producer's wait status; done is false while it
// runs. It must have succeeded before ReapInit can.
func (d *Domain) ReapProducer() (status Status, done bool, err error) {
	return wait(d.Producer.FD, unix.WNOHANG)
}

// ReapInit takes init's wait status; done proves that the domain is empty
// and everything in it reaped (C-66).
func (d *Domain) ReapInit() (done bool, err error) {
	_, done, err = wait(d.Init.FD, unix.WNOHANG)
	return done, err
}

// AskSurvivor asks init whether any process but itself is left. Ask after
// the producer was reaped and before Kill; an init that is gone is an error.
func (d *Domain) AskSurvivor() error {
	if err := order(d.Lifeline, askSurvivor); err != nil {
		return fmt.Errorf("ask init: %w", err)
	}
	return nil
}

// SurvivorAnswer takes init's answer; ready is false while there is none.
func (d *Domain) SurvivorAnswer() (found, ready bool, err error) {
	answer := make([]byte, 8)
	n, err := retry(func() (int, error) {
		n, _, err := unix.Recvfrom(d.Lifeline, answer, 0)
		return n, err
	})
	switch {
	case err == unix.EAGAIN:
		return false, false, nil
	case err != nil:
		return false, false, fmt.Errorf("read answer of init: %w", err)
	case n != 1 || (answer[0] != sayNobody && answer[0] != saySomebody):
		return false, false, errors.New("read answer of init: lifeline ended")
	}
	return answer[0] == saySomebody, true, nil
}

// closeGrace bounds how long Close waits for killed processes.
const closeGrace = 2 * time.Second

// Close kills and reaps what is left, closes every descriptor and removes
// the control groups. It blocks for at most twice closeGrace, and only when
// a killed process does not end.
func (d *Domain) Close() error {
	errs := []error{kill(d.Producer.FD), kill(d.Init.FD), reapBounded(&d.Producer), reapBounded(&d.Init)}
	for _, fd := range []*int{&d.Producer.FD, &d.Init.FD, &d.Listener, &d.Lifeline, &d.control, &d.scratch} {
		errs = append(errs, closeOnce(fd))
	}
	if d.leaf != nil {
		errs = append(errs, d.leaf.remove())
		d.leaf = nil
	}
	return errors.Join(errs...)
}

// reapBounded reaps a killed process unless that was done before.
func reapBounded(p *Process) error {
	if p.FD < 0 {
		return nil
	}
	deadline := time.Now().Add(closeGrace)
	for {
		_, done, err := wait(p.FD, unix.WNOHANG)
		if done || errors.Is(err, unix.ECHILD) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := waitFor(p.FD, unix.POLLIN, deadline); err != nil {
			return fmt.Errorf("reap process %d: %w", p.PID, err)
		}
	}
}

// kill sends SIGKILL through a pidfd; none and an ended process are no errors.
func kill(pidfd int) error {
	if pidfd < 0 {
		return nil
	}
	err := unix.PidfdSendSignal(pidfd, unix.SIGKILL, nil, 0)
	if err != nil && err != unix.ESRCH {
		return fmt.Errorf("kill: %w", err)
	}
	return nil
}

// childInfo is the kernel's siginfo_t as waitid fills it.
type childInfo struct {
	signo, errno, code, _ int32
	pid                   int32
	uid                   uint32
	status                int32
	_                     [100]byte
}

var _ [unsafe.Sizeof(unix.Siginfo{})]byte = [unsafe.Sizeof(childInfo{})]byte{}

// Codes of an ended child in siginfo_t.
const (
	childExited = 1
	childKilled = 2
	childDumped = 3
)

// wait takes the end of a child, never a stop of it.
func wait(pidfd, options int) (status Status, done bool, err error) {
	var info childInfo
	_, err = retry(func() (struct{}, error) {
		info = childInfo{}
		return struct{}{}, unix.Waitid(unix.P_PIDFD, pidfd, (*unix.Siginfo)(unsafe.Pointer(&info)), unix.WEXITED|options, &status.Usage)
	})
	if err != nil {
		return Status{}, false, fmt.Errorf("wait: %w", err)
	}
	switch info.code {
	case childExited:
		status.ExitStatus = int(info.status)
	case childKilled, childDumped:
		status.Signal, status.Core = unix.Signal(info.status), info.code == childDumped
	default:
		return Status{}, false, nil
	}
	return status, true, nil
}
