package finalizer

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// target is where a stream is retained. Its user calls write any number of
// times, then commit or discard once; after a commit that succeeded revoke
// takes the result back.
type target interface {
	write(chunk []byte) error
	commit() *failure // a failed one has released everything but the result's bytes
	discard() error   // also after a failed commit
	revoke() error
}

func openTarget(o Options) (target, error) {
	switch {
	case o.Stream:
		return streamTarget{}, nil
	case o.OutFD >= 0:
		return openInherited(o.OutFD)
	default:
		return openNamed(o.Path)
	}
}

func late(err error) *failure { return &failure{exit: exitLate, reason: reasonLate, err: err} }

// streamTarget is stdout; whoever reads it keeps it only beside exit 0 and a
// receipt, so there is nothing to take back.
type streamTarget struct{}

func (streamTarget) write(chunk []byte) error {
	if err := writeStream(1, chunk); err != nil {
		return fmt.Errorf("stdout: %w", err)
	}
	return nil
}

func (streamTarget) commit() *failure {
	if err := unix.Close(1); err != nil {
		return late(fmt.Errorf("close stdout: %w", err))
	}
	return nil
}

func (streamTarget) discard() error { return nil }
func (streamTarget) revoke() error  { return nil }

// inheritedTarget is an open file without a name that matters. It belongs to
// the parent, who keeps a descriptor of its own.
type inheritedTarget struct {
	fd   int // -1: closed
	size int64
}

// openInherited empties the file. One that is already empty is left alone:
// setting its size would give back the blocks reserved for it.
func openInherited(fd int) (target, error) {
	var found unix.Stat_t
	if err := unix.Fstat(fd, &found); err != nil {
		return nil, fmt.Errorf("stat descriptor %d: %w", fd, err)
	}
	if found.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, fmt.Errorf("stat descriptor %d: not a regular file", fd)
	}
	if found.Size > 0 {
		if err := unix.Ftruncate(fd, 0); err != nil {
			return nil, fmt.Errorf("empty descriptor %d: %w", fd, err)
		}
	}
	return &inheritedTarget{fd: fd}, nil
}

func (t *inheritedTarget) write(chunk []byte) error {
	if err := writeAt(t.fd, chunk, t.size); err != nil {
		return fmt.Errorf("descriptor %d: %w", t.fd, err)
	}
	t.size += int64(len(chunk))
	return nil
}

func (t *inheritedTarget) commit() *failure {
	if err := syncFile(t.fd); err != nil {
		return ioFailure(fmt.Errorf("sync descriptor %d: %w", t.fd, err))
	}
	var found unix.Stat_t
	if err := unix.Fstat(t.fd, &found); err != nil {
		return ioFailure(fmt.Errorf("stat descriptor %d: %w", t.fd, err))
	}
	if found.Size != t.size {
		return ioFailure(fmt.Errorf("stat descriptor %d: %d bytes instead of %d", t.fd, found.Size, t.size))
	}
	fd := t.fd
	t.fd = -1 // one attempt to close, whatever it says
	if err := unix.Close(fd); err != nil {
		return late(fmt.Errorf("close descriptor %d: %w", fd, err))
	}
	return nil
}

func (t *inheritedTarget) discard() error {
	if t.fd < 0 {
		return nil // the parent's copy is all that is left
	}
	if err := unix.Ftruncate(t.fd, 0); err != nil {
		return fmt.Errorf("empty descriptor %d: %w", t.fd, err)
	}
	if err := unix.Close(t.fd); err != nil {
		return fmt.Errorf("close descriptor %d: %w", t.fd, err)
	}
	return nil
}

func (t *inheritedTarget) revoke() error { return nil }
