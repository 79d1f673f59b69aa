package jail

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

//go:generate go run ./makefilter filter_program.go

// filterBytes is a filter as the launcher loads it.
func filterBytes(filter []unix.SockFilter) []byte {
	program := make([]byte, 0, 8*len(filter))
	for _, i := range filter {
		program = binary.NativeEndian.AppendUint16(program, i.Code)
		program = binary.NativeEndian.AppendUint32(append(program, i.Jt, i.Jf), i.K)
	}
	return program
}

// ErrNoNotification reports that the listener has nothing pending; after a
// poll that said otherwise, an attempt was withdrawn in between.
var ErrNoNotification = errors.New("no notification pending")

// ErrListenerEnded reports that no task uses the filter any more.
var ErrListenerEnded = errors.New("listener ended")

// notification is the kernel's struct seccomp_notif.
type notification struct {
	id         uint64
	pid, flags uint32
	number     int32
	arch       uint32
	ip         uint64
	args       [6]uint64
}

// response is the kernel's struct seccomp_notif_resp.
type response struct {
	id    uint64
	value int64
	errno int32 // negative
	flags uint32
}

// x32Bit marks a call of the x32 ABI, which the kernel reports as amd64.
const x32Bit = 0x40000000

// Notification takes one pending notification and answers nothing.
//
// known with op fork, vfork, clone or clone3: a refused process creation, in
// whatever ABI. Not known with an op: a call of a foreign ABI, named as
// abi:number, which is an isolation violation (C-63). Not known without an op:
// an attempt was withdrawn (interrupted or killed) before it could be read.
// ErrNoNotification: nothing was pending; the call never blocks.
// ErrListenerEnded: nothing can come any more.
//
// Rules: R18, C-56, C-63.
func (d *Domain) Notification() (op string, known bool, err error) {
	request, err := d.receive()
	if err != nil || request == nil {
		return "", false, err
	}
	d.pending = request.id
	op, known = decode(request.arch, request.number)
	return op, known, nil
}

// receive returns nil without an error for a withdrawn notification.
func (d *Domain) receive() (*notification, error) {
	for {
		// The call waits for a notification, so it is only made with one pending.
		polled := []unix.PollFd{{Fd: int32(d.Listener), Events: unix.POLLIN}}
		if _, err := retry(func() (int, error) { return unix.Poll(polled, 0) }); err != nil {
			return nil, fmt.Errorf("poll listener: %w", err)
		}
		if events := polled[0].Revents; events&unix.POLLIN == 0 {
			if events != 0 {
				return nil, ErrListenerEnded
			}
			return nil, ErrNoNotification
		}
		request := new(notification) // the kernel wants zeros
		switch err := ioctl(d.Listener, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(request)); err {
		case nil:
			return request, nil
		case unix.ENOENT:
			return nil, nil
		case unix.EINTR:
		default:
			return nil, fmt.Errorf("receive notification: %w", err)
		}
	}
}

// ioctl makes one call on a listener.
func ioctl(fd int, request uint, argument unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), uintptr(request), uintptr(argument)); errno != 0 {
		return errno
	}
	return nil
}

// Refuse answers the last taken notification with EPERM. One that is gone
// needs no answer.
func (d *Domain) Refuse() error {
	if d.pending == 0 {
		return nil
	}
	answer := response{id: d.pending, errno: -int32(unix.EPERM)}
	d.pending = 0
	_, err := retry(func() (struct{}, error) {
		return struct{}{}, ioctl(d.Listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&answer))
	})
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("refuse notification: %w", err)
	}
	return nil
}

// decode names a notified call; known says that it is a creation call. The
// filter notifies of nothing else in the native ABI, and of every call of
// another: of those only the creation calls have names here.
func decode(arch uint32, number int32) (op string, known bool) {
	abi := fmt.Sprintf("%#x", arch)
	switch {
	case arch == unix.AUDIT_ARCH_X86_64 && number&x32Bit != 0:
		abi = "x32"
		number &^= x32Bit
		op = creationCall[number]
	case arch == unix.AUDIT_ARCH_X86_64:
		abi = "amd64"
		op = creationCall[number]
	case arch == unix.AUDIT_ARCH_I386:
		abi = "i386"
		op = creationCall386[number]
	}
	if op == "" {
		return fmt.Sprintf("%s:%d", abi, number), false
	}
	return op, true
}

// The calls that make a task, by their numbers of both tables (R18). The x32
// ABI has the first one's.
var (
	creationCall    = map[int32]string{56: "clone", 57: "fork", 58: "vfork", 435: "clone3"}
	creationCall386 = map[int32]string{2: "fork", 120: "clone", 190: "vfork", 435: "clone3"}
)
