package driver

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"touchstone/conformance/evidence"
)

// fate is a producer whose end is asked of the kernel: its wait status goes to
// its own parent alone. It owns pidfd until told.
type fate struct{ pid, pidfd int }

// follow opens a producer that was not seen before.
func (a *attempt) follow(pid int) {
	for _, f := range a.fates {
		if f.pid == pid {
			return
		}
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return // it is gone
	}
	a.fates = append(a.fates, fate{pid, fd})
	if len(a.scenario.Faults) > 0 {
		a.record.event(evidence.ProducerTracer{PID: pid, Tracer: number(statusLines(pid)["TracerPid"])})
	}
	if seen := lines(pid, "mountinfo", "\n"); len(seen) > 0 {
		a.record.event(evidence.ProducerMounts{PID: pid, Mounts: seen, HostRoot: deviceOf("/"), Spool: deviceOf(a.given(spoolFolder))})
	}
}

// deviceOf is the device of a folder as mountinfo spells it.
func deviceOf(folder string) string {
	var st unix.Stat_t
	if unix.Stat(folder, &st) != nil {
		return ""
	}
	return fmt.Sprintf("%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev))
}

// allGone says that producers were seen, and that each has ended. A pidfd is
// readable from then on, also before the reaping.
func (a *attempt) allGone() bool {
	for _, f := range a.fates {
		polled := []unix.PollFd{{Fd: int32(f.pidfd), Events: unix.POLLIN}}
		if n, err := unix.Ppoll(polled, &unix.Timespec{}, nil); err != nil || n == 0 {
			return false
		}
	}
	return len(a.fates) > 0
}

// tellFates records how the producers ended that were reaped by now. A kernel
// before 6.15 does not tell.
func (a *attempt) tellFates() error {
	var errs []error
	for _, f := range a.fates {
		if ws, told := exitOf(f.pidfd); told {
			status, signal := exitDetails(ws)
			a.record.event(evidence.ProducerExit{PID: f.pid, Status: status, Signal: signal})
		}
		errs = append(errs, unix.Close(f.pidfd))
	}
	a.fates = nil
	return errors.Join(errs...)
}

// pidfdInfo is struct pidfd_info of linux/pidfd.h in its first size.
type pidfdInfo struct {
	mask, cgroup uint64
	ids          [11]uint32
	exit         int32
}

// exitOf is the wait status of a reaped process.
func exitOf(pidfd int) (ws unix.WaitStatus, told bool) {
	const (
		getInfo  = 0xC040FF0B // PIDFD_GET_INFO, _IOWR(0xFF, 11, struct pidfd_info)
		infoExit = 1 << 3     // PIDFD_INFO_EXIT
	)
	info := pidfdInfo{mask: infoExit}
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(pidfd), getInfo, uintptr(unsafe.Pointer(&info)))
	return unix.WaitStatus(info.exit), errno == 0 && info.mask&infoExit != 0
}
