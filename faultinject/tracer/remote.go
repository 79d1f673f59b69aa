package tracer

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"touchstone/faultinject/filter"
)

// syscallCode is the SYSCALL instruction, as the low bytes of a word.
const syscallCode = 0x050f

// remote makes the stopped thread make one system call of ours, and puts its
// registers and code back. It serves only before the target's first
// instruction, when no other thread can run that code.
func (k *task) remote(nr int, args ...uint64) (result int64, err error) {
	var saved unix.PtraceRegs
	if !k.regs(&saved) {
		return 0, fmt.Errorf("remote call %d: thread is gone", nr)
	}
	code, ok := k.readWord(saved.Rip)
	if !ok {
		return 0, fmt.Errorf("remote call %d: code is not readable", nr)
	}
	if err := k.pokeWord(saved.Rip, code&^0xffff|syscallCode); err != nil {
		return 0, fmt.Errorf("remote call %d: set code: %w", nr, err)
	}
	defer func() {
		err = errors.Join(err, k.pokeWord(saved.Rip, code), k.setRegs(&saved))
	}()
	regs := saved
	regs.Rax, regs.Orig_rax = uint64(nr), ^uint64(0)
	for i, place := range []*uint64{&regs.Rdi, &regs.Rsi, &regs.Rdx, &regs.R10, &regs.R8, &regs.R9} {
		if i < len(args) {
			*place = args[i]
		}
	}
	if err := k.setRegs(&regs); err != nil {
		return 0, fmt.Errorf("remote call %d: set registers: %w", nr, err)
	}
	for {
		if err := k.step(); err != nil {
			return 0, fmt.Errorf("remote call %d: %w", nr, err)
		}
		if !k.regs(&regs) {
			return 0, fmt.Errorf("remote call %d: thread is gone", nr)
		}
		if regs.Rip == saved.Rip+2 {
			return int64(regs.Rax), nil
		}
	}
}

// step lets the thread go until its next stop, without a signal.
func (k *task) step() error {
	if err := ptrace(unix.PTRACE_SINGLESTEP, k.tid, 0, 0); err != nil {
		return fmt.Errorf("single step: %w", err)
	}
	status, err := waitFor(k.tid)
	if err != nil {
		return fmt.Errorf("wait for step: %w", err)
	}
	if !status.Stopped() {
		return fmt.Errorf("wait for step: target ended (status %#x)", uint32(status))
	}
	return nil
}

// filterRoom is how far below the stack pointer the filter is laid, in bytes.
// The stack of a fresh image is empty there.
const filterRoom = 16384

// graft installs the filter in the target, by a call of the target's own.
func (k *task) graft(program []unix.SockFilter) error {
	var regs unix.PtraceRegs
	if !k.regs(&regs) {
		return fmt.Errorf("install filter: thread is gone")
	}
	code := filter.Encode(program)
	if len(code) > filterRoom-pageSize {
		return fmt.Errorf("install filter: %d instructions are too many", len(program))
	}
	header := (regs.Rsp - filterRoom) &^ 15
	body := header + 16
	words := append([]uint64{uint64(len(program)), body}, wordsOf(code)...)
	for i, w := range words {
		if err := k.pokeWord(header+uint64(i)*8, w); err != nil {
			return fmt.Errorf("install filter: write: %w", err)
		}
	}
	if k.tracer.config.AllowNoNewPrivs {
		if _, err := k.remote(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("install filter: %w", err)
		}
	}
	result, err := k.remote(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, header)
	if err != nil {
		return fmt.Errorf("install filter: %w", err)
	}
	if result == -int64(unix.EACCES) {
		return fmt.Errorf("install filter: %w: the target is not privileged; allow no_new_privs for it", unix.EACCES)
	}
	if result != 0 {
		return fmt.Errorf("install filter: %w", unix.Errno(-result))
	}
	return nil
}

func wordsOf(code []byte) []uint64 {
	out := make([]uint64, len(code)/8)
	for i := range out {
		for j := range 8 {
			out[i] |= uint64(code[i*8+j]) << (8 * j)
		}
	}
	return out
}

// yamaHint adds what commonly forbids tracing.
func yamaHint(err error) string {
	if errors.Is(err, unix.EPERM) {
		return " (not root, another tracer, or kernel.yama.ptrace_scope)"
	}
	return ""
}
