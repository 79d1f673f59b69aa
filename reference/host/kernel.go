package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// shut closes a descriptor once, whatever close says, and forgets its number.
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

// later says that a call is to be tried again after the next poll.
func later(err error) bool { return errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) }

// poll waits until a descriptor is ready or the time has passed; an interrupted
// wait is one in which nothing was ready.
func poll(fds []unix.PollFd, wait time.Duration) error {
	timeout := unix.NsecToTimespec(int64(max(wait, 0)))
	_, err := unix.Ppoll(fds, &timeout, nil)
	if later(err) {
		for i := range fds {
			fds[i].Revents = 0
		}
		return nil
	}
	return os.NewSyscallError("ppoll", err)
}

// provisional is the private name of a file until it is accepted: beside its
// target, so that a rename is all that is left to do. A long name is cut in it,
// as a name has at most 255 bytes.
func provisional(path, attempt string) string {
	name, rest := filepath.Base(path), "."+attempt+".partial"
	return filepath.Join(filepath.Dir(path), "."+name[:min(len(name), unix.NAME_MAX-1-len(rest))]+rest)
}

// create makes a private file that did not exist.
func create(path string) (int, error) {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return -1, fmt.Errorf("create %s: %w", path, err)
	}
	return fd, nil
}

// writeAll writes to a file. Zero bytes without a reason is an error.
func writeAll(fd int, b []byte) error {
	for len(b) > 0 {
		n, err := unix.Write(fd, b)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return os.NewSyscallError("write", err)
		case n == 0:
			return errors.New("write: zero bytes")
		default:
			b = b[n:]
		}
	}
	return nil
}

// settleFolder makes the names in a folder last.
func settleFolder(folder string) error {
	fd, err := unix.Open(folder, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open folder %s: %w", folder, err)
	}
	if err = unix.Fsync(fd); err != nil {
		err = fmt.Errorf("sync folder %s: %w", folder, err)
	}
	return errors.Join(err, shut(&fd))
}

// place renames a provisional file to its target, which must not exist.
func place(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if err != nil {
		return fmt.Errorf("rename to %s: %w", to, err)
	}
	return nil
}

// unlink removes a file that may not be there, and reports whether it was.
func unlink(path string) (bool, error) {
	if path == "" {
		return false, nil
	}
	err := unix.Unlink(path)
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return false, fmt.Errorf("remove %s: %w", path, err)
	}
	return err == nil, nil
}
