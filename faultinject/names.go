package faultinject

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

//go:embed names_amd64.txt
var namesText string

type nameTables struct {
	syscalls, errnos, signals map[string]int
	syscallNames              map[int]string
}

// tables are parsed on first use: a run with few rules should start fast.
var tables = sync.OnceValue(func() *nameTables {
	t := &nameTables{
		syscalls: make(map[string]int, 400), errnos: make(map[string]int, 140),
		signals: make(map[string]int, 40), syscallNames: make(map[int]string, 400),
	}
	for line := range strings.Lines(namesText) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		number, name, _ := strings.Cut(rest, " ")
		n, err := strconv.Atoi(number)
		if err != nil {
			panic("bug: names_amd64.txt: " + line)
		}
		switch kind {
		case "syscall":
			t.syscalls[name], t.syscallNames[n] = n, name
		case "errno":
			t.errnos[name] = n
		case "signal":
			t.signals[name] = n
		}
	}
	return t
})

// SyscallNumber returns the x86-64 number of a syscall.
func SyscallNumber(name string) (int, bool) {
	n, ok := tables().syscalls[name]
	return n, ok
}

// SyscallName returns the x86-64 name of a number, or "syscall_N".
func SyscallName(nr int) string {
	if name, ok := tables().syscallNames[nr]; ok {
		return name
	}
	return "syscall_" + strconv.Itoa(nr)
}

// ErrnoNumber returns the positive number of an error name such as "EIO".
func ErrnoNumber(name string) (int, bool) {
	n, ok := tables().errnos[name]
	return n, ok
}

// SignalNumber returns the number of a signal name such as "SIGTERM".
func SignalNumber(name string) (int, bool) {
	n, ok := tables().signals[name]
	return n, ok
}
