// Package filter builds seccomp filters that stop only the calls a tracer
// wants to see, and finds the instructions that make a Go program's calls.
//
// A filter answers SECCOMP_RET_TRACE or SECCOMP_RET_ALLOW, nothing else: with
// the tracer attached it never refuses a call by itself.
package filter

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"

	seccomp "github.com/seccomp/libseccomp-golang"
	"golang.org/x/sys/unix"
)

// Foreign is the trace code of calls made through another ABI (32-bit, x32),
// which rules cannot see.
const Foreign = 0x7f01

// traceCode is the trace code of wanted calls.
const traceCode = 0x7f00

// Calls returns a filter that stops the x86-64 calls nrs wherever they are
// made. A call that it lets pass never reads more than its number, so the
// kernel answers it from its bitmap without running the filter.
func Calls(nrs []int) ([]unix.SockFilter, error) {
	f, err := seccomp.NewFilter(seccomp.ActAllow)
	if err != nil {
		return nil, fmt.Errorf("new filter: %w", err)
	}
	defer f.Release()
	if err := f.SetBadArchAction(seccomp.ActTrace.SetReturnCode(Foreign)); err != nil {
		return nil, fmt.Errorf("filter foreign calls: %w", err)
	}
	for _, nr := range nrs {
		if err := f.AddRule(seccomp.ScmpSyscall(nr), seccomp.ActTrace.SetReturnCode(traceCode)); err != nil {
			return nil, fmt.Errorf("filter call %d: %w", nr, err)
		}
	}
	return export(f)
}

// export reads the filter back through a memory file: libseccomp before 2.6
// writes to descriptors only.
func export(f *seccomp.ScmpFilter) ([]unix.SockFilter, error) {
	fd, err := unix.MemfdCreate("filter", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make filter buffer: %w", err)
	}
	file := os.NewFile(uintptr(fd), "filter")
	defer file.Close() // memory only
	if err := f.ExportBPF(file); err != nil {
		return nil, fmt.Errorf("export filter: %w", err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("rewind filter: %w", err)
	}
	raw, err := io.ReadAll(file)
	if err != nil {
		return nil, fmt.Errorf("read filter: %w", err)
	}
	return decode(raw), nil
}

// instructionSize is the size of struct sock_filter in bytes.
const instructionSize = 8

func decode(raw []byte) []unix.SockFilter {
	out := make([]unix.SockFilter, len(raw)/instructionSize)
	for i := range out {
		b := raw[i*instructionSize:]
		out[i] = unix.SockFilter{Code: binary.LittleEndian.Uint16(b), Jt: b[2], Jf: b[3], K: binary.LittleEndian.Uint32(b[4:])}
	}
	return out
}

// Decode reads struct sock_filter records as they lie in memory.
func Decode(raw []byte) []unix.SockFilter { return decode(raw) }

// Encode returns the program as struct sock_filter records.
func Encode(program []unix.SockFilter) []byte {
	out := make([]byte, 0, len(program)*instructionSize)
	for _, i := range program {
		out = binary.LittleEndian.AppendUint16(out, i.Code)
		out = append(out, i.Jt, i.Jf)
		out = binary.LittleEndian.AppendUint32(out, i.K)
	}
	return out
}
