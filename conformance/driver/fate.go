package driver

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
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

// followFinalizer opens a finalizer that was not seen before.
func (a *attempt) followFinalizer() {
	pid, check, err := a.role(scenario.Finalizer)
	if err != nil || slices.ContainsFunc(a.judges, func(f fate) bool { return f.pid == pid }) {
		return
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	if !check() { // another has its number by now
		_ = unix.Close(fd)
		return
	}
	a.judges = append(a.judges, fate{pid, fd})
}

// allOf says that processes were seen, and that it holds of each.
func allOf(seen []fate, holds func(fate) bool) bool {
	return len(seen) > 0 && !slices.ContainsFunc(seen, func(f fate) bool { return !holds(f) })
}

// ended: a pidfd is readable from the end on, also before the reaping.
func (f fate) ended() bool {
	polled := []unix.PollFd{{Fd: int32(f.pidfd), Events: unix.POLLIN}}
	n, err := unix.Ppoll(polled, &unix.Timespec{}, nil)
	return err == nil && n > 0
}

// reaped: what has ended can be signalled until its parent has waited for it.
func (f fate) reaped() bool {
	return errors.Is(unix.PidfdSendSignal(f.pidfd, 0, nil, 0), unix.ESRCH)
}

// creationCalls are the calls that R18 denies (C-56).
var creationCalls = []int{unix.SYS_FORK, unix.SYS_VFORK, unix.SYS_CLONE, unix.SYS_CLONE3}

// creating says whether a process stands in a call that creates another.
func creating(pid int) bool {
	text, err := os.ReadFile(procPath(pid, "syscall"))
	if err != nil {
		return false
	}
	call, err := strconv.Atoi(firstWord(string(text))) // "running" while it does not stand
	return err == nil && slices.Contains(creationCalls, call)
}

// stranded says that the supervisor, which the scenario stopped, waits for a
// call that creates a process, and that every producer has ended without one
// that it had to wait for: nothing will continue it any more.
func (a *attempt) stranded() bool {
	waits := func(r rule) bool {
		return !r.done && r.Trigger.Kind == scenario.AtCreating && r.Action.Kind == scenario.DoContinue
	}
	return a.stoodAt > 0 && slices.ContainsFunc(a.rules, waits) && allOf(a.fates, fate.ended) && !a.exited && stopped(a.pid)
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
	for _, f := range a.judges {
		if ws, told := exitOf(f.pidfd); told {
			status, signal := exitDetails(ws)
			a.record.event(evidence.FinalizerExit{PID: f.pid, Status: status, Signal: signal})
		}
		errs = append(errs, unix.Close(f.pidfd))
	}
	a.fates, a.judges = nil, nil
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
