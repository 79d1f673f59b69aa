package jail

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// canary makes the producer fork and wants to see exactly that call, and to
// see it refused.
func (d *Domain) canary() error {
	if d.spec.Tool {
		return nil
	}
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
	d.pending = request.id
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

func (d *Domain) checkCanary(request *notification) error {
	op, known := decode(request.arch, request.number)
	if !known || op != "fork" || int(request.pid) != d.Producer.PID ||
		request.args[0] != canaryFirst || request.args[1] != canarySecond {
		return fmt.Errorf("saw %s of %d with %x", op, request.pid, request.args)
	}
	return nil
}
