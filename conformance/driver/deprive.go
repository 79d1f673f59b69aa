package driver

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"touchstone/conformance/launcherfile"
	"touchstone/conformance/scenario"
)

// DepriveWord is the first argument that makes the attempt's program take
// something away from itself and become another one.
const DepriveWord = "deprive"

// deprived is the command that starts another without what a scenario says.
func deprived(c launcherfile.Command, what, path string) (launcherfile.Command, error) {
	if what == "" {
		return c, nil
	}
	program, err := executable(c.Argv[0], path)
	if err != nil {
		return c, err
	}
	c.Argv = append([]string{"/proc/self/exe", DepriveWord, what, program}, c.Argv...)
	return c, nil
}

// Deprive takes away what the first argument says and executes the second as
// the rest. It returns only where that failed.
func Deprive(arguments []string) error {
	if len(arguments) < 3 {
		return errors.New("deprive: want WHAT PROGRAM ARGV…")
	}
	runtime.LockOSThread() // filters and capabilities are a thread's, and this one executes
	if err := takeAway(arguments[0]); err != nil {
		return fmt.Errorf("deprive %s: %w", arguments[0], err)
	}
	return fmt.Errorf("deprive: execute %s: %w", arguments[1], syscall.Exec(arguments[1], arguments[2:], os.Environ()))
}

func takeAway(what string) error {
	kind, text, _ := strings.Cut(what, "=")
	switch kind {
	case scenario.Namespaces:
		return refuse(namespaceCalls)
	case scenario.Filters:
		return refuse(filterCalls)
	case scenario.Privilege:
		return dropCapabilities()
	case scenario.Groups:
		return unmountGroups()
	case scenario.Descriptors:
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return err
		}
		return syscall.Setrlimit(unix.RLIMIT_NOFILE, &syscall.Rlimit{Cur: n, Max: n})
	}
	return errors.New("unknown")
}

// refused is a call that the kernel is made to refuse: always, or where the
// first argument has one of these bits.
type refused struct {
	call  uint32
	bits  uint32 // 0: always
	errno unix.Errno
}

const newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWUSER

var (
	// clone3 hides its flags: it is made to look like an older kernel's.
	namespaceCalls = []refused{{unix.SYS_CLONE3, 0, unix.ENOSYS}, {unix.SYS_CLONE, newNamespaces, unix.EPERM},
		{unix.SYS_UNSHARE, newNamespaces, unix.EPERM}, {unix.SYS_SETNS, 0, unix.EPERM}}
	filterCalls = []refused{{unix.SYS_SECCOMP, 0, unix.ENOSYS}, {unix.SYS_PRCTL, unix.PR_SET_SECCOMP, unix.EINVAL}}
)

// refuse installs a filter for the calling thread. The bits of prctl's command
// are all of PR_SET_SECCOMP's, which no smaller command has.
func refuse(calls []refused) error {
	const load, test = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_K
	program := []unix.SockFilter{}
	for _, c := range calls {
		compare := uint16(test | unix.BPF_JSET)
		if c.call == unix.SYS_PRCTL {
			compare = test | unix.BPF_JEQ
		}
		program = append(program, unix.SockFilter{Code: load, K: 0}, unix.SockFilter{Code: test | unix.BPF_JEQ, Jf: 3, K: c.call},
			unix.SockFilter{Code: load, K: 16}, unix.SockFilter{Code: compare, Jf: 1, K: c.bits},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(c.errno)})
		if c.bits == 0 { // any first argument
			program[len(program)-2] = unix.SockFilter{Code: test | unix.BPF_JA}
		}
	}
	program = append(program, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	whole := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&whole)), 0, 0)
}

// dropCapabilities leaves root without rights: none can be had again by executing.
func dropCapabilities() error {
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
			return err
		}
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return unix.Capset(&header, &none[0])
}

// unmountGroups hides every control group tree, in a mount namespace of the
// launcher's own: the driver still has to find what it leaves.
func unmountGroups() error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return err
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	var errs []error
	for line := range strings.Lines(string(mounts)) {
		left, right, _ := strings.Cut(line, " - ")
		fields := strings.Fields(left)
		if len(fields) > 4 && strings.HasPrefix(right, "cgroup") {
			errs = append(errs, unix.Unmount(fields[4], unix.MNT_DETACH))
		}
	}
	return errors.Join(errs...)
}
