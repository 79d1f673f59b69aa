package supervisor

import (
	"errors"
	"fmt"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"touchstone/reference/finalizer"
)

// The finalizer's descriptors; 0 is the relay, 1 the null device, 2 its
// diagnostics.
const (
	finalizerTarget  = 3
	finalizerReceipt = 4
)

// verifier is S's end of the finalizer: a killable process of its own, outside
// the producer's domain, that loads no customer code. It owns the process and
// two descriptors.
//
//	input    S -> finalizer   approved bytes, at most one probe, then EOF
//	receipt  S <- finalizer   one line, bounded
//
// Rules: R05, R08, C-74.
type verifier struct {
	pid, pidfd int
	input      feed
	receipt    int
	said       []byte // its receipt so far
	flooded    bool   // more than a receipt

	broken bool          // it closed its input
	goneBy time.Duration // when a broken one must have ended, for its own end to count
	killed bool          // by S
	ended  bool
	status unix.WaitStatus
	usage  unix.Rusage
}

func newVerifier() *verifier { return &verifier{pidfd: -1, input: feed{fd: -1}, receipt: -1} }

// start starts the finalizer on the retained file, with a cap of limit bytes.
// The read end of its diagnostics is the caller's, -1 if there is none.
func (v *verifier) start(path string, limit int64, retained, null int) (diagnostics int, err error) {
	diagnostics = -1
	relay, remarks, receipt := -1, -1, -1 // the finalizer's
	defer func() {
		for _, fd := range []*int{&relay, &remarks, &receipt} {
			err = errors.Join(err, shut(fd))
		}
	}()
	if relay, v.input.fd, err = pipe(false, true); err != nil {
		return diagnostics, err
	}
	if diagnostics, remarks, err = pipe(true, false); err != nil {
		return diagnostics, err
	}
	if v.receipt, receipt, err = pipe(true, false); err != nil {
		return diagnostics, err
	}
	arguments := []string{"reffinal", "--out-fd", strconv.Itoa(finalizerTarget),
		"--max-bytes", strconv.FormatInt(limit, 10), "--receipt-fd", strconv.Itoa(finalizerReceipt)}
	v.pid, err = syscall.ForkExec(path, arguments, &syscall.ProcAttr{
		Files: []uintptr{uintptr(relay), uintptr(null), uintptr(remarks), uintptr(retained), uintptr(receipt)},
		Sys:   &syscall.SysProcAttr{PidFD: &v.pidfd, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return diagnostics, fmt.Errorf("start finalizer %q: %w", path, err)
	}
	return diagnostics, nil
}

// hear takes what there is of the receipt. One that is too long is not read on.
func (v *verifier) hear() error {
	for v.receipt >= 0 {
		buffer := make([]byte, finalizer.MaxReceiptBytes+1-len(v.said))
		n, err := transfer(unix.Read, v.receipt, buffer)
		switch {
		case errors.Is(err, errAgain):
			return nil
		case err != nil:
			return errors.Join(err, shut(&v.receipt))
		}
		v.said = append(v.said, buffer[:n]...)
		v.flooded = len(v.said) > finalizer.MaxReceiptBytes
		if n == 0 || v.flooded {
			return shut(&v.receipt)
		}
	}
	return nil
}

// reap takes the wait status, if there is one.
func (v *verifier) reap() error {
	pid, err := unix.Wait4(v.pid, &v.status, unix.WNOHANG, &v.usage)
	v.ended = pid == v.pid
	if err != nil && !errors.Is(err, unix.EINTR) {
		return fmt.Errorf("wait for finalizer: %w", err)
	}
	return nil
}

// end is how it ended.
func (v *verifier) end() finalizerEnd {
	end := finalizerEnd{exit: v.status.ExitStatus(), said: v.said}
	if v.status.Signaled() {
		end.signal = int(v.status.Signal())
	}
	return end
}

// kill ends it at once.
func (v *verifier) kill() error {
	if v.ended || v.pidfd < 0 {
		return nil
	}
	v.killed = true
	if err := unix.PidfdSendSignal(v.pidfd, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("kill finalizer: %w", err)
	}
	return nil
}

// close kills and reaps it, within grace, and closes everything.
func (v *verifier) close(grace time.Duration) error {
	err := v.kill()
	for end := time.Now().Add(grace); v.pidfd >= 0 && !v.ended && time.Now().Before(end); {
		if err = errors.Join(err, v.reap()); err != nil || v.ended {
			break
		}
		err = poll([]unix.PollFd{{Fd: int32(v.pidfd), Events: unix.POLLIN}}, time.Until(end))
	}
	return errors.Join(err, v.input.close(), shut(&v.receipt), shut(&v.pidfd))
}
