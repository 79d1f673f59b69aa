package supervisor

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"touchstone/reference/outcome"
)

// errAgain says that a call made no progress and may be tried again later. A
// signal counts as that: only the loop, with its deadlines, tries again.
var errAgain = errors.New("no progress yet")

// errZero is a write that accepted nothing without saying why. Rules: R17.
var errZero = errors.New("write of zero bytes")

// transfer makes one read or write call; 0 and no error is the end of a read.
func transfer(call func(int, []byte) (int, error), fd int, b []byte) (int, error) {
	n, err := call(fd, b)
	switch {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
		return 0, errAgain
	case err != nil:
		return 0, err
	}
	return n, nil
}

// reason names what a failed call on a channel means. Rules: R17, R20.
func reason(err error) string {
	if errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) || errors.Is(err, unix.ENOTCONN) {
		return outcome.ReasonPeerClosed
	}
	return outcome.ReasonIO
}

// shut closes a descriptor once, whatever close says, and forgets its number:
// even an interrupted close has closed it, and another could hit a new owner.
//
// Rules: R17.
func shut(fd *int) error {
	if *fd < 0 {
		return nil
	}
	number := *fd
	*fd = -1
	if err := unix.Close(number); err != nil && !errors.Is(err, unix.EINTR) {
		return fmt.Errorf("close descriptor %d: %w", number, err)
	}
	return nil
}

// pipe returns a pipe whose named ends do not block: S's own, never those of a
// blocking program.
func pipe(nonblockRead, nonblockWrite bool) (read, write int, err error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return -1, -1, fmt.Errorf("make pipe: %w", err)
	}
	for i, nonblock := range []bool{nonblockRead, nonblockWrite} {
		if nonblock {
			err = errors.Join(err, unix.SetNonblock(ends[i], true))
		}
	}
	return ends[0], ends[1], err
}

// looks is how often an interrupted poll looks anew, at most: a storm of signals
// may interrupt each of them.
const looks = 4

// poll waits until a descriptor is ready or the time has passed. An interrupted
// one has looked at nothing: it looks anew, without waiting, so that a deadline
// is never found alone that passed together with something else (R19).
func poll(fds []unix.PollFd, wait time.Duration) error {
	for range looks {
		timeout := unix.NsecToTimespec(int64(max(wait, 0)))
		_, err := unix.Ppoll(fds, &timeout, nil)
		if !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN) {
			return err
		}
		wait = 0
	}
	for i := range fds {
		fds[i].Revents = 0
	}
	return nil
}
