package jail

import (
	"errors"
	"fmt"
	"slices"

	seccomp "github.com/seccomp/libseccomp-golang"
	"golang.org/x/sys/unix"
)

// ErrNoNotification reports that the listener has nothing pending; after a
// poll that said otherwise, an attempt was withdrawn in between.
var ErrNoNotification = errors.New("no notification pending")

// ErrListenerEnded reports that no task uses the filter any more.
var ErrListenerEnded = errors.New("listener ended")

// x32Bit marks a call of the x32 ABI, which the kernel reports as amd64.
const x32Bit = 0x40000000

// Notification takes one pending notification and answers nothing.
//
// known with op fork, vfork, clone or clone3: a refused process creation, in
// whatever ABI. Not known with an op: a call of a foreign ABI, named as
// abi:name, which is an isolation violation (C-63). Not known without an op:
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
	d.pending = request.ID
	op, known = decode(request.Data.Arch, request.Data.Syscall)
	return op, known, nil
}

// receive returns nil without an error for a withdrawn notification.
func (d *Domain) receive() (*seccomp.ScmpNotifReq, error) {
	// The library's receive cannot be ended, so it is only called with one pending.
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
	request, err := seccomp.NotifReceive(seccomp.ScmpFd(d.Listener))
	if errors.Is(err, unix.ENOENT) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("receive notification: %w", err)
	}
	return request, nil
}

// Refuse answers the last taken notification with EPERM. One that is gone
// needs no answer.
func (d *Domain) Refuse() error {
	if d.pending == 0 {
		return nil
	}
	// The library negates the error itself.
	response := seccomp.ScmpNotifResp{ID: d.pending, Error: int32(unix.EPERM)}
	d.pending = 0
	err := seccomp.NotifRespond(seccomp.ScmpFd(d.Listener), &response)
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("refuse notification: %w", err)
	}
	return nil
}

// decode names a notified call; known says that it is a creation call.
func decode(arch seccomp.ScmpArch, number seccomp.ScmpSyscall) (op string, known bool) {
	abi := arch.String()
	if arch == seccomp.ArchAMD64 && number&x32Bit != 0 {
		abi = "x32"
		number &^= x32Bit
	}
	name, err := number.GetNameByArch(arch)
	if err != nil {
		return fmt.Sprintf("%s:%d", abi, number), false
	}
	if slices.Contains(creationCalls, name) {
		return name, true
	}
	return abi + ":" + name, false
}
