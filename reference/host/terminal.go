package host

import (
	"bytes"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// terminal is the host's end of the terminal channel. It owns the descriptor.
type terminal struct {
	fd        int
	packet    []byte // the first
	packets   int
	truncated bool // the first was larger than a record can be
	sender    int  // pid that sent the first
	ended     bool
}

// take receives once. A packet carries its sender's credentials and an end of
// the channel carries none: that is how an empty packet and the end, both zero
// bytes, are told apart. After a second packet nothing more is read.
//
// Rules: R14.
func (t *terminal) take(buffer []byte) error {
	control := make([]byte, unix.CmsgSpace(unix.SizeofUcred))
	n, m, flags, _, err := unix.Recvmsg(t.fd, buffer, control, unix.MSG_DONTWAIT|unix.MSG_CMSG_CLOEXEC)
	switch {
	case err != nil && later(err):
		return nil
	case err != nil:
		return errors.Join(fmt.Errorf("receive from terminal: %w", err), shut(&t.fd))
	}
	sender, packet := credentials(control[:m])
	if n == 0 && !packet {
		t.ended = true
		return shut(&t.fd)
	}
	if t.packets++; t.packets > 1 {
		return shut(&t.fd)
	}
	t.packet, t.sender = bytes.Clone(buffer[:n]), sender
	t.truncated = flags&unix.MSG_TRUNC != 0 || n > terminalBytes
	return nil
}

// credentials finds the sender's pid, and whether there was one at all.
func credentials(control []byte) (pid int, found bool) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return 0, len(control) > 0
	}
	for i := range messages {
		if sender, err := unix.ParseUnixCredentials(&messages[i]); err == nil {
			return int(sender.Pid), true
		}
	}
	return 0, len(messages) > 0
}

// newTerminal makes the pair: the host's end and S's.
func newTerminal() (*terminal, int, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, -1, fmt.Errorf("make terminal channel: %w", err)
	}
	t := &terminal{fd: pair[0]}
	if err := unix.SetsockoptInt(t.fd, unix.SOL_SOCKET, unix.SO_PASSCRED, 1); err != nil {
		return t, pair[1], fmt.Errorf("ask for credentials: %w", err)
	}
	return t, pair[1], nil
}
