package relay

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"touchstone/conformance/scenario"
)

// pass sends the records that were received, as the plan has them.
func (r *relay) pass() error {
	if len(r.received) == 0 || (r.data != nil && r.data.from >= 0) {
		return nil
	}
	received := r.received
	r.received = nil
	if r.plan.Point == scenario.PointPacket {
		if err := r.deed(); err != nil {
			return err
		}
	}
	for _, packet := range received {
		if err := r.send(packet); err != nil {
			return err
		}
	}
	if r.plan.Point == scenario.PointSent {
		return r.deed()
	}
	return nil
}

func (r *relay) send(received []byte) error {
	packet, err := Packet(received, r.plan)
	if err != nil {
		return err
	}
	if string(packet) != string(received) {
		if err := r.log.did(Edited, int64(len(packet)), ""); err != nil {
			return err
		}
	}
	time.Sleep(r.plan.Delay) // the record is late: that is all there is to do
	// A packet over every limit needs room in the queue.
	if err := unix.SetsockoptInt(r.host, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, 4<<20); err != nil {
		return fmt.Errorf("make room for a packet: %w", err)
	}
	for range r.plan.Copies {
		// The line comes first: what a host has received was sent.
		if err := r.log.did(Sent, int64(len(packet)), ""); err != nil {
			return err
		}
		if err := unix.Sendmsg(r.host, packet, nil, nil, unix.MSG_NOSIGNAL); err != nil {
			return r.log.did(Refused, 0, err.Error())
		}
	}
	return nil
}

// atChild does the deed at the supervisor's first process.
func (r *relay) atChild() error {
	if r.plan.Point != scenario.PointChild || r.exited {
		return nil
	}
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", r.pid))
	if err != nil {
		return nil // it ends just now
	}
	for _, t := range tasks {
		children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", r.pid, t.Name()))
		if err == nil && strings.TrimSpace(string(children)) != "" {
			return r.deed()
		}
	}
	return nil
}

// deed kills the supervisor and then this process, or stops this process, which
// for the host is the supervisor. A stopped one goes on if it is let.
func (r *relay) deed() error {
	if r.data != nil {
		if err := r.log.did(Forwarded, int64(r.data.passed), r.plan.Channel); err != nil {
			return err
		}
	}
	if r.plan.Deed == scenario.DoStop {
		return errors.Join(r.log.did(Stopped, 0, ""), unix.Kill(os.Getpid(), unix.SIGSTOP))
	}
	if err := unix.PidfdSendSignal(r.pidfd, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("kill supervisor: %w", err)
	}
	if !r.exited {
		if err := r.reap(); err != nil {
			return err
		}
	}
	return errors.Join(r.log.did(Killed, 0, describe(r.status)), unix.Kill(os.Getpid(), unix.SIGKILL), unix.Pause())
}

// end ends as the supervisor did, or as the plan says.
func (r *relay) end() (int, error) {
	if r.plan.Held != "" {
		if err := r.hold(); err != nil {
			return 70, err
		}
	}
	status := r.status
	if r.plan.Status != nil {
		status = unix.WaitStatus(*r.plan.Status << 8)
	}
	if err := r.log.did(Ends, 0, describe(status)); err != nil {
		return 70, err
	}
	if status.Signaled() {
		signal.Reset(status.Signal())
		return 70, errors.Join(unix.Kill(os.Getpid(), status.Signal()), unix.Pause())
	}
	return status.ExitStatus(), nil
}

// hold leaves a process behind that has the terminal endpoint open. Of a data
// endpoint the driver has it, so that no process is left that a host could
// reject for.
func (r *relay) hold() error {
	if r.plan.Held != scenario.ChannelTerminal {
		return errors.Join(r.giveAway(), r.log.did(Held, 0, r.plan.Held))
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("hold terminal: %w", err)
	}
	pid, err := syscall.ForkExec(self, []string{self, HoldWord}, &syscall.ProcAttr{Files: []uintptr{0, ^uintptr(0), ^uintptr(0), uintptr(r.host)}})
	if err != nil {
		return fmt.Errorf("hold terminal: %w", err)
	}
	return r.log.did(Held, 0, fmt.Sprintf("pid=%d", pid))
}

// giveAway sends the endpoint to the driver's socket, where it stays open in the
// queue. The path may be longer than an address of a socket.
func (r *relay) giveAway() error {
	folder, err := unix.Open(filepath.Dir(r.keeper), unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("hold %s: %w", r.plan.Held, err)
	}
	socket, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("hold %s: %w", r.plan.Held, err)
	}
	to := &unix.SockaddrUnix{Name: fmt.Sprintf("/proc/self/fd/%d/%s", folder, filepath.Base(r.keeper))}
	if err := unix.Sendmsg(socket, []byte{0}, unix.UnixRights(r.kept), to, 0); err != nil {
		return fmt.Errorf("hold %s: %w", r.plan.Held, err)
	}
	return errors.Join(unix.Close(socket), unix.Close(folder), unix.Close(r.kept))
}
