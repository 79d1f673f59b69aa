package admission

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Wire values of unix_diag that x/sys does not name (linux/unix_diag.h).
const (
	sockDiagByFamily = 20
	showPeer         = 0x4
	attributePeer    = 2
	attributeShut    = 6
	allStates        = 0xffffffff
	anyCookie        = 0xffffffff

	requestBytes = 24 // struct unix_diag_req
	messageBytes = 16 // struct unix_diag_msg

	shutSending = 2 // its own sending side alone
)

// askSocket asks the kernel which socket an AF_UNIX socket is connected to,
// and which of its directions are shut. The peer is 0 where there is none.
//
// The two ends of a pair have inodes of their own, and a send probe would be
// delivered on a packet socket; sock_diag is the only way without effect.
//
// Rules: C-65.
func askSocket(inode uint32) (peer uint32, shutdown byte, err error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return 0, 0, fmt.Errorf("open sock_diag: %w: %w", errPlatform, err)
	}
	answer, err := exchange(fd, diagRequest(inode))
	if err = errors.Join(err, unix.Close(fd)); err != nil {
		return 0, 0, fmt.Errorf("ask sock_diag: %w: %w", errPlatform, err)
	}
	return parseDiag(answer)
}

func diagRequest(inode uint32) []byte {
	b := binary.NativeEndian
	request := b.AppendUint32(nil, unix.SizeofNlMsghdr+requestBytes)
	request = b.AppendUint16(request, sockDiagByFamily)
	request = b.AppendUint16(request, unix.NLM_F_REQUEST)
	request = b.AppendUint64(request, 0) // sequence, port
	request = append(request, unix.AF_UNIX, 0, 0, 0)
	for _, word := range []uint32{allStates, inode, showPeer, anyCookie, anyCookie} {
		request = b.AppendUint32(request, word)
	}
	return request
}

func exchange(fd int, request []byte) ([]byte, error) {
	kernel := &unix.SockaddrNetlink{Family: unix.AF_NETLINK}
	for {
		if err := unix.Sendto(fd, request, 0, kernel); !errors.Is(err, unix.EINTR) {
			if err != nil {
				return nil, err
			}
			break
		}
	}
	answer := make([]byte, 4096)
	for {
		n, _, err := unix.Recvfrom(fd, answer, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return answer[:max(n, 0)], err
	}
}

// parseDiag reads one answer: a unix_diag message, or an error message.
func parseDiag(answer []byte) (peer uint32, shutdown byte, err error) {
	b := binary.NativeEndian
	if len(answer) < unix.SizeofNlMsghdr+messageBytes || b.Uint16(answer[4:]) != sockDiagByFamily {
		return 0, 0, fmt.Errorf("sock_diag answer of %d bytes: %w", len(answer), errPlatform)
	}
	attributes := answer[unix.SizeofNlMsghdr+messageBytes : min(int(b.Uint32(answer)), len(answer))]
	for len(attributes) >= unix.SizeofNlAttr {
		length := int(b.Uint16(attributes))
		if length < unix.SizeofNlAttr || length > len(attributes) {
			return 0, 0, fmt.Errorf("sock_diag attribute of %d bytes: %w", length, errPlatform)
		}
		value := attributes[unix.SizeofNlAttr:length]
		switch kind := b.Uint16(attributes[2:]); {
		case kind == attributePeer && len(value) >= 4:
			peer = b.Uint32(value)
		case kind == attributeShut && len(value) >= 1:
			shutdown = value[0]
		}
		attributes = attributes[min((length+3)&^3, len(attributes)):]
	}
	return peer, shutdown, nil
}
