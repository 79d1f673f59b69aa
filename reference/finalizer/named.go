package finalizer

import (
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// namedTarget is a caller's path: a temporary of ours in its folder, renamed by
// commit. Everything is done relative to the folder as it was at the start.
type namedTarget struct {
	folder    int
	temporary string
	name      string
	fd        int // of the temporary; -1: closed
	renamed   bool
	size      int64
}

// openNamed removes the old target, whatever it is short of a folder, and makes
// the temporary. Rules: R15.
func openNamed(path string) (target, error) {
	folder, err := unix.Open(filepath.Dir(path), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open folder of target: %w", err)
	}
	t := &namedTarget{folder: folder, name: filepath.Base(path), fd: -1}
	t.temporary = ".reffinal-" + strings.ToLower(rand.Text())
	if err = unix.Unlinkat(folder, t.name, 0); err != nil && !errors.Is(err, unix.ENOENT) {
		return nil, errors.Join(fmt.Errorf("remove old target: %w", err), t.closeFolder())
	}
	const flags = unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC
	if t.fd, err = unix.Openat(folder, t.temporary, flags, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("create temporary: %w", err), t.closeFolder())
	}
	return t, nil
}

func (t *namedTarget) write(chunk []byte) error {
	if err := writeAt(t.fd, chunk, t.size); err != nil {
		return fmt.Errorf("temporary: %w", err)
	}
	t.size += int64(len(chunk))
	return nil
}

func (t *namedTarget) commit() *failure {
	if err := syncFile(t.fd); err != nil {
		return ioFailure(fmt.Errorf("sync temporary: %w", err))
	}
	if err := t.closeTemporary(); err != nil {
		return late(err)
	}
	if err := unix.Renameat(t.folder, t.temporary, t.folder, t.name); err != nil {
		return late(fmt.Errorf("rename to target: %w", err))
	}
	t.renamed = true
	if err := syncFile(t.folder); err != nil {
		return late(fmt.Errorf("sync folder of target: %w", err))
	}
	return nil
}

func (t *namedTarget) discard() error {
	err := t.closeTemporary()
	name := t.temporary
	if t.renamed {
		name = t.name
	}
	if removed := unix.Unlinkat(t.folder, name, 0); removed != nil {
		err = errors.Join(err, fmt.Errorf("remove %s: %w", name, removed))
	}
	return errors.Join(err, t.closeFolder())
}

func (t *namedTarget) revoke() error { return t.discard() }

func (t *namedTarget) closeTemporary() error {
	if t.fd < 0 {
		return nil
	}
	fd := t.fd
	t.fd = -1 // one attempt to close, whatever it says
	if err := unix.Close(fd); err != nil {
		return fmt.Errorf("close temporary: %w", err)
	}
	return nil
}

func (t *namedTarget) closeFolder() error {
	if err := unix.Close(t.folder); err != nil {
		return fmt.Errorf("close folder of target: %w", err)
	}
	return nil
}
