package jail

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Start builds the domain and returns with the producer parked before exec.
//
// Errors are *RefusedError; nothing is left behind then. Start gives up at
// s.Deadline and does not hang. S must not reap unknown children meanwhile.
//
// Rules: R02, R03, C-15.
func Start(s Spec) (*Domain, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	d := newDomain(s)
	usable, err := ownHierarchies()
	if err == nil {
		err = d.start(usable)
	}
	if err == nil {
		return d, nil
	}
	refused := &RefusedError{Reason: reasonOf(err), Err: err}
	var known *RefusedError
	if errors.As(err, &known) {
		refused.Reason = known.Reason
	}
	refused.Err = errors.Join(refused.Err, d.Close())
	return nil, refused
}

func newDomain(s Spec) *Domain {
	return &Domain{
		Producer: Process{FD: -1}, Init: Process{FD: -1}, Listener: -1, Lifeline: -1,
		spec: s, control: -1, scratch: -1,
	}
}

// start does the work; what it has opened by a failure is Close's to undo.
func (d *Domain) start(usable []hierarchy) (err error) {
	if d.leaf, err = newLeaf(leafName(d.spec.Attempt), usable, d.spec.MemoryBytes, d.spec.processes()); err != nil {
		return err
	}
	launcher := launch{deadline: d.spec.Deadline, children: -1, pidfd: -1}
	defer func() { err = errors.Join(err, launcher.closeFiles(), closeOnce(&launcher.children)) }()
	if err := launcher.open(d); err != nil {
		return err
	}
	if err := launcher.exec(d.spec.Helper); err != nil {
		return err
	}
	err = launcher.closeFiles()
	if d.spec.Meanwhile != nil {
		err = errors.Join(err, d.spec.Meanwhile())
	}
	// The launcher ends once both are cloned, or one of them has failed: what it
	// and they said by then is heard at one go.
	err = errors.Join(err, launcher.reap())
	if err == nil {
		err = d.hearUntilReady()
	}
	if err != nil {
		// Without readers both processes end by themselves.
		_ = unix.Shutdown(d.control, unix.SHUT_WR) // best effort: the socket is closed soon
		err = errors.Join(err, closeOnce(&d.Lifeline), d.hearRest())
	}
	return errors.Join(err, d.claim(launcher.children))
}

// leafName is the name of a new control group. It names its attempt, so that
// a host can find what a killed S left.
func leafName(attempt string) string {
	var random [8]byte
	// Not crypto/rand: its first read starts the runtime's poller, which ends
	// the process where no descriptor is left. Eight bytes never come short.
	_, _ = unix.Getrandom(random[:], 0)
	if attempt != "" {
		attempt += "-"
	}
	return "touchstone-" + attempt + hex.EncodeToString(random[:])
}

// launch is one run of the launcher; it owns the files and the pidfd.
type launch struct {
	deadline time.Time
	children int       // memory in which the kernel notes the pids of init and producer
	files    []*int    // opened for the launcher only
	passed   []uintptr // the launcher's descriptors from 0
	pidfd    int
}

// own registers a descriptor that closeFiles closes.
func (l *launch) own(fd int) *int {
	owned := fd
	l.files = append(l.files, &owned)
	return &owned
}

// open prepares the launcher's descriptors in the order of launcher.h.
func (l *launch) open(d *Domain) error {
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open null device: %w", err)
	}
	l.own(null)
	instructions, err := memory("instructions", d.spec.encode(firstPassed, d.leaf.entries()))
	if err != nil {
		return err
	}
	l.own(instructions)
	filter, err := memory("filter", filterBytes(d.spec.filter()))
	if err != nil {
		return err
	}
	l.own(filter)
	if l.children, err = memory("children", make([]byte, 8)); err != nil {
		return err
	}
	var control, lifeline int
	if d.control, control, err = packetPair(); err != nil {
		return err
	}
	l.own(control)
	if d.Lifeline, lifeline, err = packetPair(); err != nil {
		return err
	}
	l.own(lifeline)
	for _, fd := range []int{null, null, null, instructions, control, lifeline, filter, l.children} {
		l.passed = append(l.passed, uintptr(fd))
	}
	for _, g := range d.leaf.groups {
		l.passed = append(l.passed, uintptr(g.entry))
	}
	for _, number := range d.spec.producerNumbers() {
		l.passed = append(l.passed, uintptr(d.spec.FDs[number]))
	}
	return nil
}

// firstPassed is the launcher's number of the first way into a control group.
const firstPassed = 8

func (l *launch) exec(path string) error {
	attributes := &syscall.ProcAttr{Files: l.passed, Sys: &syscall.SysProcAttr{PidFD: &l.pidfd}}
	_, err := syscall.ForkExec(path, []string{"launcher"}, attributes)
	if err != nil {
		return fmt.Errorf("start launcher %s: %w", path, err)
	}
	if l.pidfd < 0 {
		return refuse(ReasonPlatform, errors.New("process descriptors: not supported"))
	}
	return nil
}

func (l *launch) closeFiles() error {
	var errs []error
	for _, fd := range l.files {
		errs = append(errs, closeOnce(fd))
	}
	return errors.Join(errs...)
}

// reap waits for the launcher, which ends by itself, and kills it at the deadline.
func (l *launch) reap() error {
	late := waitFor(l.pidfd, unix.POLLIN, l.deadline)
	if late != nil {
		late = errors.Join(fmt.Errorf("launcher: %w", late), kill(l.pidfd))
	}
	status, _, err := wait(l.pidfd, 0)
	err = errors.Join(late, err, closeOnce(&l.pidfd))
	if err == nil && status.ExitStatus != 0 {
		err = fmt.Errorf("launcher: exit status %d, signal %d", status.ExitStatus, status.Signal)
	}
	return err
}

// hearUntilReady takes messages until the producer is parked.
func (d *Domain) hearUntilReady() error {
	for {
		m, err := hear(d.control, d.spec.Deadline)
		if err != nil {
			return err
		}
		if ready, err := d.take(m); ready || err != nil {
			return err
		}
	}
}

// claim takes the processes that the launcher had cloned and could not tell
// of. A child stays what it is until it is reaped, so its pid is certain.
func (d *Domain) claim(children int) error {
	var pids [8]byte
	if _, err := unix.Pread(children, pids[:], 0); err != nil {
		return fmt.Errorf("read children of launcher: %w", err)
	}
	for i, process := range []*Process{&d.Init, &d.Producer} {
		pid := int(int32(binary.NativeEndian.Uint32(pids[4*i:])))
		if process.FD >= 0 || pid == 0 {
			continue
		}
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			return fmt.Errorf("claim process %d: %w", pid, err)
		}
		*process = Process{PID: pid, FD: fd}
	}
	return nil
}

// hearRest takes what is still queued after a failure, so that no process is forgotten.
func (d *Domain) hearRest() error {
	var errs []error
	for {
		m, err := hearNow(d.control)
		if err != nil {
			return errors.Join(errs...) // the end, or nothing queued
		}
		if _, err := d.take(m); err != nil {
			errs = append(errs, err)
		}
	}
}

// take keeps what a message brings; ready says that the domain is complete.
func (d *Domain) take(m message) (ready bool, err error) {
	place := map[byte]*int{sayInit: &d.Init.FD, sayProducer: &d.Producer.FD, sayListener: &d.Listener}[m.kind]
	switch {
	case m.kind == sayError:
		return false, errors.Join(m.failure(), closeOnce(&m.fd))
	case m.kind == sayReady && !d.parked && m.fd < 0:
		d.parked = true
		return d.complete(), nil
	case place == nil || *place >= 0 || m.fd < 0:
		return false, errors.Join(fmt.Errorf("unexpected message %q from launcher", m.kind), closeOnce(&m.fd))
	}
	*place = m.fd
	if m.kind == sayInit {
		d.Init.PID = m.value
	}
	if m.kind == sayProducer {
		d.Producer.PID = m.value
	}
	return d.complete(), nil
}

// complete says that everything has been heard of. The producer may be
// parked before the launcher gets to tell of it: the order is not fixed.
func (d *Domain) complete() bool {
	return d.parked && d.Init.FD >= 0 && d.Producer.FD >= 0 && (d.Listener >= 0) != d.spec.Tool
}
