package admission

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"touchstone/reference/record"
)

// Standard endpoint numbers. Rules: R03.
const (
	ReportFD     = 1
	DiagnosticFD = 2
)

// endpoint is what S knows of one of the host's descriptors.
type endpoint struct {
	name   string
	device uint64
	inode  uint64
	peer   uint32 // inode of the other end of a socket, 0 for none
}

// errPlatform marks a probe that the kernel did not answer: not the host's
// mistake, and nothing may be assumed in its place.
var errPlatform = errors.New("the kernel does not say")

// probeStream looks at a report, diagnostic or sink endpoint: a pipe opened
// for writing alone, or a connected AF_UNIX stream that is open for writing. A
// peer that has already gone is no refusal; its write will say so.
//
// Rules: R03, C-10.
func probeStream(name string, fd int) (endpoint, error) {
	e, mode, err := identify(name, fd)
	if err != nil {
		return e, err
	}
	switch mode & unix.S_IFMT {
	case unix.S_IFIFO:
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err == nil && flags&unix.O_ACCMODE != unix.O_WRONLY {
			err = errors.New("not open for writing alone")
		}
		return e, wrap(name, fd, err)
	case unix.S_IFSOCK:
		return e, e.probeSocket(fd, unix.SOCK_STREAM)
	}
	return e, wrap(name, fd, errors.New("neither a pipe nor a socket"))
}

// probeTerminal looks at the terminal endpoint: a connected AF_UNIX
// SOCK_SEQPACKET socket, open for writing, whose send buffer takes the largest
// record at once.
//
// Rules: R03, C-64.
func probeTerminal(fd int) (endpoint, error) {
	e, mode, err := identify("terminal", fd)
	if err != nil {
		return e, err
	}
	if mode&unix.S_IFMT != unix.S_IFSOCK {
		return e, wrap(e.name, fd, errors.New("not a socket"))
	}
	if err := e.probeSocket(fd, unix.SOCK_SEQPACKET); err != nil {
		return e, err
	}
	size, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF)
	if err == nil && size < record.TerminalBytes+32 {
		err = fmt.Errorf("send buffer of %d bytes, want %d", size, record.TerminalBytes+32)
	}
	return e, wrap(e.name, fd, err)
}

// probeSocket checks kind, connection and direction, and learns the peer.
func (e *endpoint) probeSocket(fd, kind int) error {
	for _, want := range []struct {
		option, value int
		name          string
	}{{unix.SO_DOMAIN, unix.AF_UNIX, "domain"}, {unix.SO_TYPE, kind, "type"}, {unix.SO_ACCEPTCONN, 0, "listening"}} {
		got, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, want.option)
		if err == nil && got != want.value {
			err = fmt.Errorf("socket %s %d, want %d", want.name, got, want.value)
		}
		if err != nil {
			return wrap(e.name, fd, err)
		}
	}
	if _, err := unix.Getpeername(fd); err != nil {
		return wrap(e.name, fd, err)
	}
	peer, shutdown, err := askSocket(uint32(e.inode))
	if err != nil {
		return wrap(e.name, fd, err)
	}
	e.peer = peer
	if shutdown == shutSending { // both directions: the peer has gone
		return wrap(e.name, fd, errors.New("shut down for writing"))
	}
	return nil
}

func identify(name string, fd int) (endpoint, uint32, error) {
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return endpoint{}, 0, wrap(name, fd, err)
	}
	return endpoint{name: name, device: stat.Dev, inode: stat.Ino}, stat.Mode, nil
}

func wrap(name string, fd int, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s endpoint, descriptor %d: %w", name, fd, err)
}

// aliases refuses two endpoints that are one channel: the same inode, whatever
// the numbers and open descriptions, or the two ends of one socket pair.
//
// Rules: R03, C-11, C-65.
func aliases(endpoints []endpoint) error {
	for i, a := range endpoints {
		for _, b := range endpoints[:i] {
			same := a.device == b.device && a.inode == b.inode
			ends := a.peer != 0 && a.device == b.device && uint64(a.peer) == b.inode
			if same || ends {
				return fmt.Errorf("%s and %s endpoints: one channel", b.name, a.name)
			}
		}
	}
	return nil
}

// probeArena looks at the attempt arena: shared memory of at least one page,
// open for reading and writing. It returns the size, which it fixes where the
// host's memory can be sealed: a producer is not to have more than was admitted.
// What cannot is bounded by the producer's file limit alone. Rules: C-70.
func probeArena(fd int) (bytes int64, err error) {
	_, mode, err := identify("arena", fd)
	if err != nil {
		return 0, err
	}
	var stat unix.Stat_t
	var system unix.Statfs_t
	if err := errors.Join(unix.Fstat(fd, &stat), unix.Fstatfs(fd, &system)); err != nil {
		return 0, wrap("arena", fd, err)
	}
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	switch {
	case err != nil:
		return 0, wrap("arena", fd, err)
	case mode&unix.S_IFMT != unix.S_IFREG || system.Type != unix.TMPFS_MAGIC:
		return 0, wrap("arena", fd, errors.New("not shared memory"))
	case stat.Size < int64(unix.Getpagesize()):
		return 0, wrap("arena", fd, fmt.Errorf("%d bytes, less than a page", stat.Size))
	case flags&unix.O_ACCMODE != unix.O_RDWR:
		return 0, wrap("arena", fd, errors.New("not open for reading and writing"))
	}
	const fixed = unix.F_SEAL_GROW | unix.F_SEAL_SHRINK
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, fixed); err != nil && !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EINVAL) {
		return 0, wrap("arena", fd, err)
	}
	return stat.Size, nil
}

// probeTarget looks at a caller's name for the sink: its folder exists, and
// what has the name already, if anything, can be replaced.
//
// Rules: R15, C-35.
func probeTarget(path string) error {
	var folder, old unix.Stat_t
	if err := unix.Stat(filepath.Dir(path), &folder); err != nil {
		return fmt.Errorf("sink target %q: folder: %w", path, err)
	}
	err := unix.Lstat(path, &old)
	switch {
	case folder.Mode&unix.S_IFMT != unix.S_IFDIR:
		return fmt.Errorf("sink target %q: not in a folder", path)
	case errors.Is(err, unix.ENOENT) && !strings.HasSuffix(path, "/"):
		return nil
	case err == nil && (old.Mode&unix.S_IFMT == unix.S_IFREG || old.Mode&unix.S_IFMT == unix.S_IFLNK):
		return nil
	case err == nil:
		err = errors.New("neither absent nor a file")
	}
	return fmt.Errorf("sink target %q: %w", path, err)
}
