package jail

import (
	"fmt"

	seccomp "github.com/seccomp/libseccomp-golang"
	"golang.org/x/sys/unix"
)

// canary makes the producer fork and wants to see exactly that call, and to
// see it refused.
func (d *Domain) canary() error {
	if err := order(d.control, orderCanary); err != nil {
		return err
	}
	if err := waitFor(d.Listener, unix.POLLIN, d.spec.Deadline); err != nil {
		return fmt.Errorf("no notification: %w", err)
	}
	request, err := d.receive()
	if err != nil {
		return err
	}
	if request == nil {
		return fmt.Errorf("notification withdrawn")
	}
	d.pending = request.ID
	if err := d.checkCanary(request); err != nil {
		return err
	}
	if err := d.Refuse(); err != nil {
		return err
	}
	m, err := hear(d.control, d.spec.Deadline)
	if err != nil {
		return err
	}
	if m.kind != sayCanary || unix.Errno(m.value) != unix.EPERM {
		return fmt.Errorf("answered %q %d, want EPERM", m.kind, m.value)
	}
	return nil
}

func (d *Domain) checkCanary(request *seccomp.ScmpNotifReq) error {
	op, known := decode(request.Data.Arch, request.Data.Syscall)
	arguments := request.Data.Args
	if !known || op != "fork" || int(request.Pid) != d.Producer.PID ||
		len(arguments) < 2 || arguments[0] != canaryFirst || arguments[1] != canarySecond {
		return fmt.Errorf("saw %s of %d with %x", op, request.Pid, arguments)
	}
	return nil
}
