package driver

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

// pair is one channel from a started process to the driver: its end and ours.
// Each is closed by whoever takes it; closeBoth is for pairs nobody took.
type pair struct {
	name   string
	kind   string
	theirs int
	ours   int
}

func (p pair) closeBoth() error { return errors.Join(unix.Close(p.theirs), unix.Close(p.ours)) }

// newPair makes a data endpoint: a pipe, or a stream socket pair. Only our
// end is nonblocking.
func newPair(name, transport string) (pair, error) {
	var fds [2]int
	p := pair{name: name, kind: transport}
	var err error
	if transport == scenario.Stream {
		fds, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	} else {
		p.kind = scenario.Pipe
		err = unix.Pipe2(fds[:], unix.O_CLOEXEC)
	}
	if err != nil {
		return pair{}, fmt.Errorf("make endpoint %s: %w", name, err)
	}
	p.ours, p.theirs = fds[0], fds[1]
	return p.nonblocking()
}

// newTerminalPair makes the terminal endpoint. Our end asks for credentials:
// a packet of zero bytes carries them, an end of the stream does not.
func newTerminalPair() (pair, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return pair{}, fmt.Errorf("make endpoint terminal: %w", err)
	}
	p := pair{name: scenario.ChannelTerminal, kind: "seqpacket", ours: fds[0], theirs: fds[1]}
	if err := unix.SetsockoptInt(p.ours, unix.SOL_SOCKET, unix.SO_PASSCRED, 1); err != nil {
		return pair{}, fmt.Errorf("make endpoint terminal: %w", errors.Join(err, p.closeBoth()))
	}
	return p.nonblocking()
}

func (p pair) nonblocking() (pair, error) {
	if err := unix.SetNonblock(p.ours, true); err != nil {
		return pair{}, fmt.Errorf("make endpoint %s: %w", p.name, errors.Join(err, p.closeBoth()))
	}
	return p, nil
}

// host is the endpoint as launch.json describes it.
func (p pair) host() (evidence.HostEndpoint, error) {
	var ours, theirs unix.Stat_t
	if err := errors.Join(unix.Fstat(p.ours, &ours), unix.Fstat(p.theirs, &theirs)); err != nil {
		return evidence.HostEndpoint{}, fmt.Errorf("describe endpoint %s: %w", p.name, err)
	}
	return evidence.HostEndpoint{Name: p.name, Device: theirs.Dev, Launcher: theirs.Ino, Host: ours.Ino}, nil
}

// given is a descriptor that a started process inherits at a number.
type given struct {
	number int
	name   string
	kind   string
	fd     int
}

// describe is a given descriptor as launch.json lists it.
func (g given) describe() (evidence.Descriptor, error) {
	var st unix.Stat_t
	if err := unix.Fstat(g.fd, &st); err != nil {
		return evidence.Descriptor{}, fmt.Errorf("describe descriptor %s: %w", g.name, err)
	}
	link, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", g.fd))
	if err != nil {
		return evidence.Descriptor{}, fmt.Errorf("describe descriptor %s: %w", g.name, err)
	}
	flags, err := unix.FcntlInt(uintptr(g.fd), unix.F_GETFL, 0)
	if err != nil {
		return evidence.Descriptor{}, fmt.Errorf("describe descriptor %s: %w", g.name, err)
	}
	return evidence.Descriptor{Number: g.number, Name: g.name, Kind: g.kind, Link: link, Device: st.Dev, Inode: st.Ino,
		Access: accessWord(flags)}, nil
}

func accessWord(flags int) string {
	return map[int]string{unix.O_RDONLY: "r", unix.O_WRONLY: "w", unix.O_RDWR: "rw"}[flags&unix.O_ACCMODE]
}
