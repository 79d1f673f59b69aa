package tracer

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"touchstone/faultinject"
	"touchstone/faultinject/filter"
)

// stop serves one report of wait.
func (t *Tracer) stop(tid int, status unix.WaitStatus) {
	if !status.Stopped() {
		if status.Exited() || status.Signaled() {
			t.exited(tid, status)
		}
		return
	}
	k := t.latest
	if k == nil || k.tid != tid {
		if k = t.tasks[tid]; k == nil {
			k = t.adopt(tid)
		}
		t.latest = k
	}
	sig, event := status.StopSignal(), int(uint32(status)>>16)
	switch {
	case event == unix.PTRACE_EVENT_SECCOMP && t.mode != ModeFull:
		k.seccompStop()
	case event == 0 && sig == unix.SIGTRAP|0x80:
		k.syscallStop()
	case event == unix.PTRACE_EVENT_EXEC:
		t.execed(k)
	case event == unix.PTRACE_EVENT_STOP:
		k.eventStop(sig)
	case event != 0: // fork, vfork, clone (the new thread reports itself), a filter of the target's own
		k.resume(0)
	default:
		k.signalStop(sig)
	}
}

// resume lets the thread go on, with a signal or 0.
func (k *task) resume(sig unix.Signal) {
	request := unix.PTRACE_CONT
	if k.wantExit || k.tracer.mode == ModeFull {
		request = unix.PTRACE_SYSCALL
	}
	k.phase = running
	k.note(ptrace(request, k.tid, 0, uintptr(sig)))
}

// eventStop is a group stop, or ptrace's own.
func (k *task) eventStop(sig unix.Signal) {
	switch sig {
	case unix.SIGSTOP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU:
		if k.arriving {
			k.note(unix.Kill(k.tid, unix.SIGCONT))
			k.resume(0)
			return
		}
		k.checkInterrupted(0)
		k.phase = running
		k.proc.stop(k.tracer.log)
		k.note(ptrace(unix.PTRACE_LISTEN, k.tid, 0, 0))
	default:
		k.proc.stopped = false
		k.resume(0)
	}
}

// stop notes that a process is stopped: SIGCONT continues it from now on. One
// that is sent before would be lost, and no state in /proc tells the two apart.
func (p *process) stop(log *evidence) {
	if !p.stopped {
		p.stopped = true
		log.note("stopped", fmt.Sprintf("process %d", p.tgid))
	}
}

// signalStop is the delivery of a signal: it is always passed on, but for the
// ones that started the target.
func (k *task) signalStop(sig unix.Signal) {
	switch {
	case k.phase == stepping && sig == unix.SIGTRAP:
		k.stepped()
	case k.arriving && (sig == unix.SIGSTOP || sig == unix.SIGCONT):
		k.arrived(sig)
	case k.checkInterrupted(sig):
		// A step shows the handler's frame, and in it what the call returns.
		k.phase = stepping
		k.note(ptrace(unix.PTRACE_SINGLESTEP, k.tid, 0, uintptr(sig)))
	default:
		k.resume(sig)
	}
}

// arrived handles the signals around the target's birth. A spawned root runs
// its image already; an attached one has its exec before it.
func (k *task) arrived(sig unix.Signal) {
	t := k.tracer
	if sig == unix.SIGCONT && !t.waitsForExec {
		k.install()
	}
	k.resume(0)
}

// install puts the filter into the fresh image.
func (k *task) install() {
	k.arriving = false
	t := k.tracer
	// The image is what runs: for a script, its interpreter.
	if exe, err := fileAt(fmt.Sprintf("/proc/%d/exe", k.proc.tgid)); err == nil {
		t.rootExe = exe
	}
	t.identify(k.proc)
	t.began = time.Now()
	if t.program != nil {
		if err := k.graft(t.program); err != nil && t.err == nil {
			t.err = err
		}
	}
	k.grafted = true
	t.log.image("attached", k.proc)
}

// execed is the event of an exec: the leader has the new image, every other
// thread of the process is gone.
func (t *Tracer) execed(k *task) {
	former := k.eventMessage()
	if other := t.tasks[former]; other != nil && other != k {
		t.forget(other)
		if t.procs[k.proc.tgid] == nil {
			t.procs[k.proc.tgid] = k.proc
		}
	}
	if t.engine.Abandon(&k.flight) {
		t.openGates()
	}
	k.edits, k.atExit, k.hasLast, k.wantExit = nil, nil, false, false
	k.flight.Exit, k.skipped, t.waitsForExec = false, false, false
	clear(k.proc.objects)
	k.proc.private = false
	k.thread, k.proc.threads, k.inCall = 1, 1, true
	t.identify(k.proc)
	if !k.grafted {
		k.wantExit = true // the filter goes in at the exit of exec
		k.atExit = func(int64) { k.install() }
		k.resume(0)
		return
	}
	if t.mode != ModeFilter && k.proc.role == faultinject.Untrusted && !t.kept[k.proc.exe] {
		t.free(k)
		return
	}
	t.log.image("exec", k.proc)
	k.resume(0)
}

// free lets a foreign image run without us.
func (t *Tracer) free(k *task) {
	if pidfd, err := unix.PidfdOpen(k.proc.tgid, 0); err == nil {
		t.freed = append(t.freed, freed{k.proc.tgid, pidfd})
	}
	t.log.image("freed", k.proc)
	k.note(ptrace(unix.PTRACE_DETACH, k.tid, 0, 0))
	t.forget(k)
}

// exited is the end of a thread.
func (t *Tracer) exited(tid int, status unix.WaitStatus) {
	if tid == t.root && !t.ended {
		t.status, t.ended = status, true
		t.log.ended(t, status)
	}
	if k := t.tasks[tid]; k != nil {
		t.forget(k)
	}
}

// seccompStop is a watched call in the filter modes.
func (k *task) seccompStop() {
	info := &k.tracer.callInfo
	if !k.info(info) {
		return
	}
	if info.data == filter.Foreign {
		k.foreign(info.nr)
		return
	}
	k.arrive(info)
}

// foreign is a call of the 32-bit or the x32 ABI, which rules cannot see. A
// kernel without that ABI hides nothing.
func (k *task) foreign(nr uint64) {
	k.onExit(func(ret int64) {
		if ret != -int64(unix.ENOSYS) {
			k.tracer.blind("foreign-abi", fmt.Sprintf("process %d made call %d of another ABI", k.proc.tgid, nr))
		}
	})
	k.resume(0)
}

// archX8664 is the AUDIT_ARCH of x86-64.
const archX8664 = 0xc000003e

// syscallStop is the exit of a call or, when all calls stop, also its entry.
// The exit of a call that nobody asked about needs no look at it.
func (k *task) syscallStop() {
	t := k.tracer
	if t.mode == ModeFull && k.inCall && !k.wantExit {
		k.inCall = false
		k.resume(0)
		return
	}
	info := &t.callInfo
	if !k.info(info) {
		return
	}
	if info.op == opExit {
		k.inCall = false
		k.leave(int64(info.nr))
		return
	}
	k.inCall = true
	switch {
	case info.arch != archX8664 || info.nr >= uint64(len(t.stopsAt)):
		k.foreign(info.nr)
	case t.stopsAt[info.nr]:
		k.arrive(info)
	default:
		k.resume(0)
	}
}
