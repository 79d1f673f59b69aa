package filter

import (
	"bytes"
	"debug/elf"
	"debug/gosym"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// Offsets of struct seccomp_data and the AUDIT_ARCH of x86-64.
const (
	offsetNr     = 0
	offsetArch   = 4
	offsetIPLow  = 8
	offsetIPHigh = 12
	archX8664    = 0xc000003e
)

// ErrNotGoStatic is wrapped by Sites for an image whose calls cannot be told
// by their address.
var ErrNotGoStatic = errors.New("not a static Go image at a fixed address")

// siteFunctions are the functions of a Go image that hold a SYSCALL
// instruction through which Go code reaches files, sockets and processes.
var siteFunctions = []string{
	"internal/runtime/syscall/linux.Syscall6", "internal/runtime/syscall.Syscall6", "runtime/internal/syscall.Syscall6",
	"syscall.rawVforkSyscall", "golang.org/x/sys/unix.SyscallNoError", "golang.org/x/sys/unix.RawSyscallNoError",
	"runtime.write1", "runtime.read", "runtime.open", "runtime.closefd",
}

// Sites returns the instruction pointers that the kernel sees in the calls of
// a Go image, ascending. The image must be linked statically at a fixed
// address, or the error wraps ErrNotGoStatic.
func Sites(image string) ([]uint64, error) {
	f, err := elf.Open(image)
	if err != nil {
		return nil, fmt.Errorf("open image %s: %w", image, err)
	}
	defer f.Close() // read only
	table := f.Section(".gopclntab")
	text := f.Section(".text")
	dynamic := slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
	if f.Type != elf.ET_EXEC || f.Machine != elf.EM_X86_64 || table == nil || text == nil || dynamic {
		return nil, fmt.Errorf("image %s: %w", image, ErrNotGoStatic)
	}
	lines, err := table.Data()
	if err != nil {
		return nil, fmt.Errorf("read functions of %s: %w", image, err)
	}
	code, err := text.Data()
	if err != nil {
		return nil, fmt.Errorf("read code of %s: %w", image, err)
	}
	symbols, err := gosym.NewTable(nil, gosym.NewLineTable(lines, goText(f, text.Addr)))
	if err != nil {
		return nil, fmt.Errorf("read functions of %s: %w", image, err)
	}
	var out []uint64
	for _, name := range siteFunctions {
		if fn := symbols.LookupFunc(name); fn != nil {
			out = append(out, returns(code, text.Addr, fn.Entry, fn.End)...)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("image %s: no syscall instruction found: %w", image, ErrNotGoStatic)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// goText returns where Go's functions begin. Where a C linker made the image,
// C code lies before them, and only the symbol table tells.
func goText(f *elf.File, section uint64) uint64 {
	symbols, err := f.Symbols()
	if err != nil {
		return section // stripped: Go's own linker begins the section with them
	}
	for _, s := range symbols {
		if s.Name == "runtime.text" {
			return s.Value
		}
	}
	return section
}

// returns lists the addresses after each SYSCALL instruction of a function.
func returns(code []byte, base, entry, end uint64) []uint64 {
	var out []uint64
	if entry < base || end > base+uint64(len(code)) || end < entry {
		return nil
	}
	body := code[entry-base : end-base]
	for i := 0; ; {
		n := bytes.Index(body[i:], []byte{0x0f, 0x05})
		if n < 0 {
			return out
		}
		i += n + 2
		out = append(out, entry+uint64(i))
	}
}

// CallsAt returns a filter that stops the x86-64 calls nrs made at one of the
// addresses. It leaves every other image alone, even one that runs without a
// tracer.
//
// It is assembled here because libseccomp cannot test the instruction
// pointer. The number is tested first: only then does the kernel's bitmap
// answer for the calls that pass.
func CallsAt(nrs []int, addresses []uint64) ([]unix.SockFilter, error) {
	if len(nrs)+len(addresses) > 240 {
		return nil, fmt.Errorf("build filter: %d calls at %d addresses are too many for one jump", len(nrs), len(addresses))
	}
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	equal := func(k uint32, yes, no int) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jt: uint8(yes), Jf: uint8(no)}
	}
	answer := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	out := []unix.SockFilter{load(offsetArch), equal(archX8664, 1, 0), answer(unix.SECCOMP_RET_ALLOW), load(offsetNr)}
	for i, nr := range nrs {
		out = append(out, equal(uint32(nr), len(nrs)-i, 0))
	}
	out = append(out, answer(unix.SECCOMP_RET_ALLOW),
		load(offsetIPHigh), equal(0, 1, 0), answer(unix.SECCOMP_RET_ALLOW), load(offsetIPLow))
	for i, address := range addresses {
		if address>>32 != 0 {
			return nil, fmt.Errorf("build filter: address %#x is above 4 GiB", address)
		}
		out = append(out, equal(uint32(address), len(addresses)-i, 0))
	}
	return append(out, answer(unix.SECCOMP_RET_ALLOW), answer(unix.SECCOMP_RET_TRACE|traceCode)), nil
}
