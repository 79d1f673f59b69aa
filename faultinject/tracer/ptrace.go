package tracer

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// options are the ptrace options of every traced thread. EXITKILL makes the
// targets end with the tracer, however it ends.
const options = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACEFORK |
	unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACESECCOMP | unix.PTRACE_O_EXITKILL

// Operations of a syscall stop, and where registers lie in struct user.
const (
	opEntry   = 1
	opExit    = 2
	opSeccomp = 3

	regRAX     = 80
	regOrigRAX = 120
)

// regArgs are the offsets of the six argument registers.
var regArgs = [6]uintptr{112, 104, 96, 56, 72, 64}

// callInfo is struct ptrace_syscall_info.
type callInfo struct {
	op   uint8
	_    [3]uint8
	arch uint32
	ip   uint64
	sp   uint64
	nr   uint64 // exit: the result
	args [6]uint64
	data uint32
	_    uint32
}

// ptrace makes one request. It bypasses Go's scheduler: no request blocks,
// and there are millions of them.
func ptrace(request, tid int, addr, word uintptr) error {
	_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), addr, word, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

func ptraceInto(request, tid int, addr uintptr, into unsafe.Pointer) error {
	_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), addr, uintptr(into), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// wait blocks until any traced thread reports, or a timer's signal arrives
// (EINTR). It keeps its processor from Go meanwhile, which costs nothing
// here: the tracer's other goroutines have their own.
func wait() (tid int, status unix.WaitStatus, err error) {
	var word int32
	r, _, errno := unix.RawSyscall6(unix.SYS_WAIT4, ^uintptr(0), uintptr(unsafe.Pointer(&word)), unix.WALL, 0, 0, 0)
	if errno != 0 {
		return 0, 0, errno
	}
	return int(r), unix.WaitStatus(word), nil
}

func waitFor(tid int) (unix.WaitStatus, error) {
	var status unix.WaitStatus
	for {
		_, err := unix.Wait4(tid, &status, unix.WALL, nil)
		if err != unix.EINTR {
			return status, err
		}
	}
}

func seize(tid int) error {
	if err := ptrace(unix.PTRACE_SEIZE, tid, 0, options); err != nil {
		return fmt.Errorf("ptrace seize %d: %w%s", tid, err, yamaHint(err))
	}
	return nil
}

// pokeReg sets one register. A thread that is being killed needs none.
func (k *task) pokeReg(offset uintptr, value uint64) {
	k.note(ptrace(unix.PTRACE_POKEUSR, k.tid, offset, uintptr(value)))
}

func (k *task) pokeWord(address, value uint64) error {
	return ptrace(unix.PTRACE_POKEDATA, k.tid, uintptr(address), uintptr(value))
}

// note drops the error of a thread that died while it was stopped: its exit
// is reported next. Any other error stops the run.
func (k *task) note(err error) {
	if err != nil && err != unix.ESRCH && k.tracer.err == nil {
		k.tracer.err = fmt.Errorf("ptrace %d: %w", k.tid, err)
	}
}

func (k *task) info(into *callInfo) bool {
	err := ptraceInto(unix.PTRACE_GET_SYSCALL_INFO, k.tid, unsafe.Sizeof(*into), unsafe.Pointer(into))
	k.note(err)
	return err == nil
}

func (k *task) regs(into *unix.PtraceRegs) bool {
	err := ptraceInto(unix.PTRACE_GETREGS, k.tid, 0, unsafe.Pointer(into))
	k.note(err)
	return err == nil
}

func (k *task) setRegs(from *unix.PtraceRegs) error {
	return ptraceInto(unix.PTRACE_SETREGS, k.tid, 0, unsafe.Pointer(from))
}

func (k *task) eventMessage() int {
	var message uint64
	k.note(ptraceInto(unix.PTRACE_GETEVENTMSG, k.tid, 0, unsafe.Pointer(&message)))
	return int(message)
}

// read copies memory of the target. It returns fewer bytes where the rest is
// not mapped.
func (k *task) read(address uint64, into []byte) int {
	local := []unix.Iovec{{Base: &into[0]}}
	local[0].SetLen(len(into))
	remote := []unix.RemoteIovec{{Base: uintptr(address), Len: len(into)}}
	n, err := unix.ProcessVMReadv(k.tid, local, remote, 0)
	if err != nil {
		return 0
	}
	return n
}

func (k *task) readWord(address uint64) (uint64, bool) {
	var b [8]byte
	if k.read(address, b[:]) != len(b) {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b[:]), true
}

const pageSize = 4096

// readString reads a C string of at most limit bytes without its NUL, page by
// page, for the page after it may not be mapped.
func (k *task) readString(address uint64, limit int) string {
	var out []byte
	for len(out) < limit {
		part := make([]byte, pageSize-int(address%pageSize))
		part = part[:k.read(address, part)]
		for i, b := range part {
			if b == 0 {
				return string(append(out, part[:i]...))
			}
		}
		if len(part) == 0 {
			break
		}
		out = append(out, part...)
		address += uint64(len(part))
	}
	return string(out)
}
