package driver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

// pair is what stands for one endpoint: the descriptor that the started process
// gets, and our own; -1 where there is none. Each is closed by whoever takes
// it; closeBoth is for pairs nobody took.
type pair struct {
	name   string
	kind   string
	theirs int
	ours   int
	filler int // packets of our own that wait at ours
}

func (p pair) closeBoth() error { return errors.Join(closeFD(p.theirs), closeFD(p.ours)) }

func closeFD(fd int) error {
	if fd < 0 {
		return nil
	}
	return unix.Close(fd)
}

// newPair makes what a kind says; folder is where a file is made. Only our end
// is nonblocking.
func newPair(name, kind, folder string) (pair, error) {
	p := pair{name: name, kind: kind, theirs: -1, ours: -1}
	var err error
	switch kind {
	case scenario.Pipe, scenario.Reading:
		err = p.pipe()
	case scenario.Stream:
		err = p.sockets(unix.SOCK_STREAM)
	case scenario.Seqpacket:
		err = p.sockets(unix.SOCK_SEQPACKET)
	case scenario.Narrow:
		if err = p.sockets(unix.SOCK_SEQPACKET); err == nil { // the kernel doubles it: 65,536, and a packet needs more than its bytes
			err = unix.SetsockoptInt(p.theirs, unix.SOL_SOCKET, unix.SO_SNDBUF, 32768)
		}
	case scenario.Filled:
		if err = p.sockets(unix.SOCK_SEQPACKET); err == nil {
			p.filler, err = fill(p.theirs)
		}
	case scenario.Datagram:
		err = p.sockets(unix.SOCK_DGRAM)
	case scenario.Shut:
		err = p.shut()
	case scenario.TCP:
		err = p.loopback()
	case scenario.Unconnected, scenario.Listening:
		err = p.lonely()
	case scenario.File:
		err = p.file(filepath.Join(folder, "endpoint-"+name))
	case scenario.Device:
		p.theirs, err = unix.Open("/dev/null", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	case scenario.Closed:
	default:
		err = fmt.Errorf("unknown kind %q", kind)
	}
	if err == nil && p.ours >= 0 {
		err = unix.SetNonblock(p.ours, true)
	}
	if err != nil {
		return pair{}, fmt.Errorf("make endpoint %s: %w", name, errors.Join(err, p.closeBoth()))
	}
	return p, nil
}

func (p *pair) pipe() error {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return err
	}
	p.ours, p.theirs = fds[0], fds[1]
	if p.kind == scenario.Reading {
		p.ours, p.theirs = fds[1], fds[0]
	}
	return nil
}

// sockets makes a connected pair. Our end of a terminal asks for credentials:
// a packet of zero bytes carries them, an end of the stream does not.
func (p *pair) sockets(kind int) error {
	fds, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	p.ours, p.theirs = fds[0], fds[1]
	if p.name == scenario.ChannelTerminal && kind == unix.SOCK_SEQPACKET {
		return unix.SetsockoptInt(p.ours, unix.SOL_SOCKET, unix.SO_PASSCRED, 1)
	}
	return nil
}

// fill sends packets until no more is taken, and returns how many.
func fill(fd int) (packets int, err error) {
	packet := make([]byte, 4096)
	for ; ; packets++ {
		if err := unix.Sendto(fd, packet, unix.MSG_DONTWAIT, nil); errors.Is(err, unix.EAGAIN) {
			return packets, nil
		} else if err != nil {
			return packets, err
		}
	}
}

func (p *pair) shut() error {
	kind := unix.SOCK_STREAM
	if p.name == scenario.ChannelTerminal {
		kind = unix.SOCK_SEQPACKET
	}
	if err := p.sockets(kind); err != nil {
		return err
	}
	return unix.Shutdown(p.theirs, unix.SHUT_WR)
}

// loopback makes a connection of this network namespace's own.
func (p *pair) loopback() (err error) {
	listener, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unix.Close(listener)) }()
	if err := errors.Join(unix.Bind(listener, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), unix.Listen(listener, 1)); err != nil {
		return err
	}
	address, err := unix.Getsockname(listener)
	if err != nil {
		return err
	}
	if p.theirs, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
		return err
	}
	if err := unix.Connect(p.theirs, address); err != nil {
		return err
	}
	p.ours, _, err = unix.Accept4(listener, unix.SOCK_CLOEXEC)
	return err
}

// lonely makes a seqpacket socket with no peer; a listening one has a name
// that the kernel chooses.
func (p *pair) lonely() (err error) {
	if p.theirs, err = unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0); err != nil || p.kind == scenario.Unconnected {
		return err
	}
	return errors.Join(unix.Bind(p.theirs, &unix.SockaddrUnix{}), unix.Listen(p.theirs, 1))
}

func (p *pair) file(path string) (err error) {
	if p.theirs, err = unix.Open(path, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0o600); err != nil {
		return err
	}
	p.ours, err = unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	return errors.Join(err, unix.Unlink(path))
}

// related makes another descriptor of an endpoint that was made before.
func (p pair) related(name, relation string) (pair, error) {
	r := pair{name: name, kind: p.kind, theirs: -1, ours: -1}
	var err error
	switch relation {
	case scenario.Same:
		r.theirs, err = unix.FcntlInt(uintptr(p.theirs), unix.F_DUPFD_CLOEXEC, 0)
	case scenario.Peer:
		r.theirs, err = unix.FcntlInt(uintptr(p.ours), unix.F_DUPFD_CLOEXEC, 0)
	case scenario.Reopened:
		r.theirs, err = unix.Open(fmt.Sprintf("/proc/self/fd/%d", p.theirs), unix.O_WRONLY|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return r, fmt.Errorf("make endpoint %s: %s of %s: %w", name, relation, p.name, err)
	}
	return r, nil
}

// host is the endpoint as launch.json describes it; an end that is not there
// has inode 0.
func (p pair) host() (evidence.HostEndpoint, error) {
	var ours, theirs unix.Stat_t
	for fd, st := range map[int]*unix.Stat_t{p.ours: &ours, p.theirs: &theirs} {
		if fd < 0 {
			continue
		}
		if err := unix.Fstat(fd, st); err != nil {
			return evidence.HostEndpoint{}, fmt.Errorf("describe endpoint %s: %w", p.name, err)
		}
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
