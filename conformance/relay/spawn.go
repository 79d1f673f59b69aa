package relay

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// spelled is a descriptor number as a launcher file may spell it: a decimal, or
// env:NAME. "-" is none, -1.
func spelled(text string) (int, error) {
	if text == "-" {
		return -1, nil
	}
	if name, inEnvironment := strings.CutPrefix(text, "env:"); inEnvironment {
		text = os.Getenv(name)
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 3 {
		return -1, fmt.Errorf("descriptor %q: want a number from 3 on", text)
	}
	return n, nil
}

// gifts are the descriptors that the host gave: those that survived the exec.
func gifts() ([]int, error) {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil, fmt.Errorf("list descriptors: %w", err)
	}
	var given []int
	for _, e := range entries {
		fd, _ := strconv.Atoi(e.Name()) // the kernel's own number
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			given = append(given, fd)
		}
	}
	return given, nil
}

// spawn starts the supervisor with the host's gifts, some of them replaced, and
// with nothing else. It dies with the relay.
func spawn(command []string, given []int, replaced map[int]int) (pid, pidfd int, err error) {
	files := slices.Repeat([]uintptr{^uintptr(0)}, slices.Max(given)+1) // -1: closed
	for _, fd := range given {
		files[fd] = uintptr(fd)
	}
	for number, fd := range replaced {
		files[number] = uintptr(fd)
	}
	pid, err = syscall.ForkExec(command[0], command, &syscall.ProcAttr{Env: os.Environ(), Files: files,
		Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, PidFD: &pidfd}})
	if err != nil {
		return 0, -1, fmt.Errorf("start %s: %w", command[0], err)
	}
	return pid, pidfd, nil
}

// move gives a descriptor another number, which no supervisor inherits.
func move(fd int) (int, error) {
	moved, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 100)
	if err != nil {
		return -1, fmt.Errorf("move descriptor %d: %w", fd, err)
	}
	return moved, nil
}

// releaseGifts closes the relay's own copies, so that ends are seen: what the
// supervisor has is the supervisor's.
func releaseGifts(given []int) error {
	var errs []error
	for _, fd := range given {
		if fd > 0 { // a number of its own for whatever opens next
			errs = append(errs, unix.Close(fd))
		}
	}
	return errors.Join(errs...)
}
