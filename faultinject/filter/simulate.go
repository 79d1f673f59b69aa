package filter

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Answer runs a filter on the x86-64 call nr with all arguments and the
// instruction pointer zero, and returns its SECCOMP_RET value. It knows the
// instructions that seccomp allows for such a decision; others are an error.
func Answer(program []unix.SockFilter, nr int) (uint32, error) {
	words := map[uint32]uint32{offsetNr: uint32(nr), offsetArch: archX8664}
	var a, x uint32
	var memory [16]uint32
	for pc := 0; pc < len(program); pc++ {
		i := program[pc]
		switch i.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			a = words[i.K]
		case unix.BPF_LD | unix.BPF_IMM:
			a = i.K
		case unix.BPF_LD | unix.BPF_MEM:
			a = memory[i.K%16]
		case unix.BPF_ST:
			memory[i.K%16] = a
		case unix.BPF_MISC | unix.BPF_TAX:
			x = a
		case unix.BPF_MISC | unix.BPF_TXA:
			a = x
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			a &= i.K
		case unix.BPF_JMP | unix.BPF_JA:
			pc += int(i.K)
		case unix.BPF_RET | unix.BPF_K:
			return i.K, nil
		case unix.BPF_RET | unix.BPF_A:
			return a, nil
		default:
			skip, err := jump(i, a)
			if err != nil {
				return 0, err
			}
			pc += skip
		}
	}
	return 0, fmt.Errorf("run filter: it has no end")
}

// jump returns how many instructions a conditional jump passes over.
func jump(i unix.SockFilter, a uint32) (int, error) {
	var yes bool
	switch i.Code {
	case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
		yes = a == i.K
	case unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K:
		yes = a > i.K
	case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
		yes = a >= i.K
	case unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K:
		yes = a&i.K != 0
	default:
		return 0, fmt.Errorf("run filter: instruction %#x is not known", i.Code)
	}
	if yes {
		return int(i.Jt), nil
	}
	return int(i.Jf), nil
}

// Hides tells whether a filter decides the call before a tracer sees it:
// anything but allow, log and trace.
func Hides(program []unix.SockFilter, nr int) (bool, error) {
	answer, err := Answer(program, nr)
	if err != nil {
		return false, err
	}
	switch answer & unix.SECCOMP_RET_ACTION_FULL {
	case unix.SECCOMP_RET_ALLOW, unix.SECCOMP_RET_LOG, unix.SECCOMP_RET_TRACE:
		return false, nil
	}
	return true, nil
}
