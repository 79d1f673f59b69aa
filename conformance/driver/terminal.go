package driver

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// terminal is the reader of the terminal endpoint. It owns fd until close.
type terminal struct {
	fd      int
	packets int
	filler  int // packets still to come that the driver sent itself
	ended   bool
	paused  bool
}

func (t *terminal) open() bool { return t.fd >= 0 && !t.ended }

func (t *terminal) interest() unix.PollFd {
	if !t.open() || t.paused {
		return unix.PollFd{Fd: -1}
	}
	return unix.PollFd{Fd: int32(t.fd), Events: unix.POLLIN}
}

// message is one receive: a packet, an end, or nothing yet.
type message struct {
	bytes   []byte
	flags   []string
	pid     int
	packet  bool
	end     bool
	errno   string
	refused error // a descriptor that came along could not be closed
}

// receive takes one message. A receive of zero bytes without credentials is
// the end; with credentials it is a packet of no bytes.
func (t *terminal) receive(buffer []byte) message {
	control := make([]byte, 4096)
	for {
		n, controlled, flags, _, err := unix.Recvmsg(t.fd, buffer, control, unix.MSG_DONTWAIT|unix.MSG_CMSG_CLOEXEC)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return message{}
		case err != nil:
			return message{end: true, errno: errnoName(err)}
		}
		if t.filler > 0 && n > 0 {
			t.filler--
			continue
		}
		m := message{bytes: buffer[:n], flags: flagNames(flags)}
		m.pid, m.packet, m.refused = ancillary(control[:controlled])
		m.packet = m.packet || n > 0
		m.end = !m.packet
		return m
	}
}

func flagNames(flags int) []string {
	names := []string{}
	if flags&unix.MSG_TRUNC != 0 {
		names = append(names, "MSG_TRUNC")
	}
	if flags&unix.MSG_CTRUNC != 0 {
		names = append(names, "MSG_CTRUNC")
	}
	return names
}

// ancillary reads the sender's pid and closes any descriptor that was sent.
func ancillary(control []byte) (pid int, credentials bool, err error) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return 0, false, fmt.Errorf("read control message: %w", err)
	}
	var errs []error
	for i := range messages {
		if sent, err := unix.ParseUnixRights(&messages[i]); err == nil {
			for _, fd := range sent {
				errs = append(errs, unix.Close(fd))
			}
		}
		if c, err := unix.ParseUnixCredentials(&messages[i]); err == nil {
			pid, credentials = int(c.Pid), true
		}
	}
	return pid, credentials, errors.Join(errs...)
}

func (t *terminal) close() error {
	if t.fd < 0 {
		return nil
	}
	fd := t.fd
	t.fd = -1
	return unix.Close(fd)
}
