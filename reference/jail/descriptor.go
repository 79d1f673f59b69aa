package jail

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// retry repeats an interrupted call.
func retry[T any](call func() (T, error)) (T, error) {
	for {
		value, err := call()
		if err != unix.EINTR {
			return value, err
		}
	}
}

// closeOnce closes *fd if it is open and marks it closed whatever happens:
// a number may be reused, so a failed close is not tried again.
func closeOnce(fd *int) error {
	if *fd < 0 {
		return nil
	}
	err := unix.Close(*fd)
	*fd = -1
	if err != nil {
		return fmt.Errorf("close: %w", err)
	}
	return nil
}

// waitFor blocks until fd has one of the events or a hangup, or until the
// deadline, which is os.ErrDeadlineExceeded.
func waitFor(fd int, events int16, deadline time.Time) error {
	for {
		left := max(time.Until(deadline), 0) // what came before the deadline counts, though S stood still over it
		timeout := unix.NsecToTimespec(left.Nanoseconds())
		polled := []unix.PollFd{{Fd: int32(fd), Events: events}}
		n, err := unix.Ppoll(polled, &timeout, nil)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("poll: %w", err)
		}
		if err == nil && n > 0 {
			return nil
		}
		if left == 0 {
			return os.ErrDeadlineExceeded
		}
	}
}

// memory returns a new descriptor of anonymous memory with the given content.
func memory(name string, content []byte) (int, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("create memory %s: %w", name, err)
	}
	for done := 0; done < len(content); {
		n, err := unix.Pwrite(fd, content[done:], int64(done))
		if err != nil && err != unix.EINTR {
			return -1, errors.Join(fmt.Errorf("write memory %s: %w", name, err), unix.Close(fd))
		}
		done += max(n, 0)
	}
	return fd, nil
}

// readFile reads a whole file of the kernel's, whose size is not known before.
// It is bare: what a runtime does around an open file costs more than the file.
func readFile(path string) (text string, err error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", fmt.Errorf("open %s: %w", path, err)
	}
	content, done := make([]byte, 4096), 0
	for {
		n, err := retry(func() (int, error) { return unix.Read(fd, content[done:]) })
		if n <= 0 || err != nil {
			if err = errors.Join(err, unix.Close(fd)); err != nil {
				return "", fmt.Errorf("read %s: %w", path, err)
			}
			return string(content[:done]), nil
		}
		if done += n; done == len(content) {
			content = append(content, make([]byte, done)...)
		}
	}
}

// packetPair returns a SOCK_SEQPACKET pair: S's end nonblocking, the other not.
func packetPair() (own, other int, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, -1, fmt.Errorf("create socket pair: %w", err)
	}
	if err := unix.SetNonblock(pair[0], true); err != nil {
		return -1, -1, errors.Join(fmt.Errorf("unblock socket: %w", err), unix.Close(pair[0]), unix.Close(pair[1]))
	}
	return pair[0], pair[1], nil
}
