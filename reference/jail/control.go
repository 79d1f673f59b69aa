package jail

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sys/unix"
)

// Kinds of messages and orders; the same list stands in launcher/launcher.h.
const (
	sayInit     = 'i' // value: pid; with a pidfd
	sayProducer = 'p' // value: pid; with a pidfd
	sayListener = 'l' // with the listener
	sayReady    = 'r' // parked, everything else closed
	sayCanary   = 'c' // value: errno of the fork, 0 when it worked
	sayError    = 'e' // value: errno; text: the failed step

	orderCanary = 'c'
	orderGo     = 'g'

	askSurvivor = 'q'
	sayNobody   = 'n'
	saySomebody = 's'

	canaryFirst  = 0x43616e6172790001
	canarySecond = 0x43616e6172790002
)

// message is one packet from the launcher, init or the parked producer.
type message struct {
	kind  byte
	value int
	text  string
	fd    int // owned by the receiver; -1 without one
}

// hear waits for the next message; io.EOF when every sender is gone.
func hear(control int, deadline time.Time) (message, error) {
	for {
		m, err := hearNow(control)
		if !errors.Is(err, unix.EAGAIN) {
			return m, err
		}
		if err := waitFor(control, unix.POLLIN, deadline); err != nil {
			return m, fmt.Errorf("wait for launcher: %w", err)
		}
	}
}

func hearNow(control int) (message, error) {
	packet, ancillary := make([]byte, 512), make([]byte, unix.CmsgSpace(4))
	var n, oob int
	_, err := retry(func() (struct{}, error) {
		var err error
		n, oob, _, _, err = unix.Recvmsg(control, packet, ancillary, unix.MSG_CMSG_CLOEXEC)
		return struct{}{}, err
	})
	m := message{fd: -1}
	switch {
	case err != nil:
		return m, fmt.Errorf("receive from launcher: %w", err)
	case n == 0:
		return m, io.EOF
	}
	if m.fd, err = passed(ancillary[:oob]); err != nil {
		return m, err
	}
	if n < 5 {
		return m, errors.Join(fmt.Errorf("message of %d bytes from launcher", n), closeOnce(&m.fd))
	}
	m.kind, m.value = packet[0], int(int32(binary.NativeEndian.Uint32(packet[1:5])))
	m.text = string(packet[5:n])
	return m, nil
}

// passed returns the descriptor in ancillary data, -1 if there is none.
func passed(ancillary []byte) (int, error) {
	headers, err := unix.ParseSocketControlMessage(ancillary)
	if err != nil {
		return -1, fmt.Errorf("parse ancillary data: %w", err)
	}
	for i := range headers {
		fds, err := unix.ParseUnixRights(&headers[i])
		if err == nil && len(fds) == 1 {
			return fds[0], nil
		}
	}
	return -1, nil
}

// failure turns an error message into an error that carries its errno.
func (m message) failure() error {
	return refuseErrno(fmt.Errorf("%s: %w", m.text, unix.Errno(m.value)))
}

// order sends one byte on a packet socket.
func order(fd int, what byte) error {
	_, err := retry(func() (int, error) {
		return unix.SendmsgN(fd, []byte{what}, nil, nil, unix.MSG_NOSIGNAL)
	})
	return err
}
