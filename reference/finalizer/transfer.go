package finalizer

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

var errNoProgress = errors.New("no progress")

// readChunk reads at least one byte, or none at EOF. EINTR and EAGAIN are
// retried. Rules: R17.
func readChunk(fd int, into []byte) (int, error) {
	for {
		n, err := unix.Read(fd, into)
		if err == nil {
			return n, nil
		}
		if err = retry(fd, unix.POLLIN, err); err != nil {
			return 0, fmt.Errorf("read: %w", err)
		}
	}
}

// writeAll writes all bytes with one of the write calls, which is given what
// remains and how much is done. Short writes, EINTR and EAGAIN are retried;
// zero progress is an error. Rules: R17.
func writeAll(fd int, from []byte, write func(rest []byte, done int) (int, error)) error {
	for done := 0; done < len(from); {
		n, err := write(from[done:], done)
		switch {
		case err != nil:
			if err = retry(fd, unix.POLLOUT, err); err != nil {
				return fmt.Errorf("write: %w", err)
			}
		case n == 0:
			return fmt.Errorf("write: %w", errNoProgress)
		default:
			done += n
		}
	}
	return nil
}

// writeStream writes all bytes to a descriptor with a position.
func writeStream(fd int, from []byte) error {
	return writeAll(fd, from, func(rest []byte, _ int) (int, error) { return unix.Write(fd, rest) })
}

// writeAt writes all bytes at an offset in a file.
func writeAt(fd int, from []byte, offset int64) error {
	return writeAll(fd, from, func(rest []byte, done int) (int, error) {
		return unix.Pwrite(fd, rest, offset+int64(done))
	})
}

// retry returns nil if the call may be made again, after waiting until the
// descriptor is ready where it was not.
func retry(fd int, events int16, err error) error {
	switch {
	case errors.Is(err, unix.EINTR):
		return nil
	case !errors.Is(err, unix.EAGAIN):
		return err
	}
	_, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: events}}, -1)
	if err != nil && !errors.Is(err, unix.EINTR) {
		return fmt.Errorf("poll: %w", err)
	}
	return nil
}

// syncFile makes a file's bytes durable.
func syncFile(fd int) error {
	for {
		if err := unix.Fsync(fd); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
