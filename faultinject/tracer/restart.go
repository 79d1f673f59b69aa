package tracer

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"touchstone/faultinject/engine"
)

// checkInterrupted looks whether a signal caught the thread in its last
// watched call, so that the kernel will make the call again. sig is the
// signal on its way, or 0 for a stop without one. It returns true where only
// the handler's frame can tell.
//
// The kernel's restart result stands in the registers until the thread leaves
// for its own code, so no stop at the call's exit is needed to learn of it.
func (k *task) checkInterrupted(sig unix.Signal) bool {
	if !k.hasLast {
		return false
	}
	var regs unix.PtraceRegs
	if !k.regs(&regs) {
		return false
	}
	ret := int64(regs.Rax)
	if int64(regs.Orig_rax) != int64(k.last.Nr) || regs.Rip != k.last.IP || regs.Rsp != k.last.SP ||
		!engine.IsRestart(ret) {
		k.hasLast = false // the call is over
		return false
	}
	if sig != 0 && caught(k.tid, sig) {
		return true
	}
	if ret != restartBlock {
		k.tracer.engine.Interrupted(&k.last)
	}
	return false
}

// caught tells whether the process has a handler for the signal.
func caught(tid int, sig unix.Signal) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", tid))
	if err != nil {
		return false
	}
	mask, ok := statusField(status, "SigCgt:", 16)
	return ok && mask>>(sig-1)&1 == 1
}

// Where the frame of a signal handler keeps the interrupted rax and rip,
// counted from its stack pointer: the return address, then struct ucontext.
const (
	frameRAX = 152
	frameRIP = 176
)

// syscallLength is the length of the SYSCALL instruction in bytes.
const syscallLength = 2

// stepped stands at the first instruction of a signal handler. Its frame says
// what follows: the call once more (SA_RESTART) or EINTR.
func (k *task) stepped() {
	k.phase = running
	var regs unix.PtraceRegs
	if k.regs(&regs) {
		rip, ok := k.readWord(regs.Rsp + frameRIP)
		if ok && rip == k.last.IP-syscallLength {
			k.tracer.engine.Interrupted(&k.last)
		} else if ok {
			k.tracer.engine.Returned(&k.last)
		}
	}
	k.hasLast = false
	k.resume(0)
}
