package driver

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

func (a *attempt) exitInterest() unix.PollFd {
	if a.pidfd < 0 || a.exited {
		return unix.PollFd{Fd: -1}
	}
	return unix.PollFd{Fd: int32(a.pidfd), Events: unix.POLLIN}
}

// reap takes the exit of the started process once its pidfd has told of it.
// Its count of bytes read is gone with the reaping, and asked before.
func (a *attempt) reap(now int64, revents int16) error {
	if revents == 0 || a.exited {
		return nil
	}
	read := counted(a.pid, "rchar")
	for {
		var ws unix.WaitStatus
		var usage unix.Rusage
		pid, err := unix.Wait4(a.pid, &ws, unix.WNOHANG, &usage)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return fmt.Errorf("wait for process %d: %w", a.pid, err)
		case pid == a.pid:
			a.exitSeen(now, read, ws, usage)
		}
		return nil
	}
}

// reapOrphans takes the processes that ended after their own parents: they
// came to us, the first of the namespace. The stand-in stays signallable.
func (a *attempt) reapOrphans() {
	var ended unix.Siginfo
	err := unix.Waitid(unix.P_ALL, 0, &ended, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT|unix.WALL, nil)
	if err == nil && ended.Signo == 0 {
		return // no child has ended: there is nothing to look for
	}
	for _, pid := range processes() {
		letter, parent, there := state(pid)
		if there && letter == 'Z' && parent == os.Getpid() && pid != a.pid && pid != a.standIn && pid != a.tracer.pid {
			// Only a zombie of ours is waited for: there is nothing to fail.
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG|unix.WALL, nil)
		}
	}
}

// sampleSize notes the started process's peak so far.
func (a *attempt) sampleSize() {
	if a.pid != 0 && !a.exited {
		a.peak = max(a.peak, peakResident(a.pid))
	}
}

func (a *attempt) exitSeen(now, read int64, ws unix.WaitStatus, usage unix.Rusage) {
	who := "process"
	switch a.scenario.Kind {
	case scenario.Launch:
		who = scenario.Supervisor
	case scenario.Hosted:
		who = "host"
	}
	status, signal := exitDetails(ws)
	a.exited = true
	a.releaseHeld()
	if signal != nil {
		a.exitSignal = *signal
	}
	a.record.eventAt(now, evidence.Exit{Who: who, PID: a.pid, Status: status, Signal: signal, MaxRSSBytes: usage.Maxrss << 10,
		PeakRSSBytes: a.peak, ReadBytes: read, UserUS: usage.Utime.Nano() / 1000, SystemUS: usage.Stime.Nano() / 1000})
}

// exitDetails turns a wait status into a number, exactly one of the two.
func exitDetails(ws unix.WaitStatus) (status, signal *int) {
	if ws.Signaled() {
		n := int(ws.Signal())
		return nil, &n
	}
	n := ws.ExitStatus()
	return &n, nil
}
