package tracer

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// An EAGAIN that the kernel did not mean has no edge after it, so a poller
// with EPOLLET would wait for ever. nudge makes one: it sets the events of
// every epoll entry for the descriptor to what they are, whereupon the kernel
// looks at the descriptor anew and reports it if it is ready. The caller may
// still be stopped: the report waits for it.

// watch is one epoll entry.
type watch struct {
	epoll, target int
	event         unix.EpollEvent
}

// nudge returns how many epoll sets were told.
func nudge(pid, fd int) (int, error) {
	watches, err := watchesOf(pid, fd)
	if err != nil || len(watches) == 0 {
		return 0, err
	}
	done := make(chan error)
	go func() {
		// An entry is found by file and number, so the number must be free:
		// this thread gets a descriptor table of its own and ends with it.
		runtime.LockOSThread()
		if err := unix.Unshare(unix.CLONE_FILES); err != nil {
			done <- fmt.Errorf("own descriptor table: %w", err)
			return
		}
		done <- touch(pid, watches)
	}()
	return len(watches), <-done
}

// touch runs in a thread whose descriptors nobody else sees. They end with it.
func touch(pid int, watches []watch) error {
	const high = 1 << 10
	pidfd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return fmt.Errorf("open process: %w", err)
	}
	moved, err := unix.FcntlInt(uintptr(pidfd), unix.F_DUPFD_CLOEXEC, high)
	if err != nil {
		moved = pidfd
	}
	for _, w := range watches {
		epoll, err1 := unix.PidfdGetfd(moved, w.epoll, 0)
		away, err2 := unix.FcntlInt(uintptr(epoll), unix.F_DUPFD_CLOEXEC, high)
		file, err3 := unix.PidfdGetfd(moved, w.target, 0)
		if err := errors.Join(err1, err2, err3); err != nil {
			return fmt.Errorf("borrow descriptors: %w", err)
		}
		if file != w.target {
			if err := unix.Dup3(file, w.target, unix.O_CLOEXEC); err != nil {
				return fmt.Errorf("place descriptor: %w", err)
			}
		}
		if err := unix.EpollCtl(away, unix.EPOLL_CTL_MOD, w.target, &w.event); err != nil {
			return fmt.Errorf("touch epoll entry: %w", err)
		}
	}
	return nil
}

// watchesOf finds the epoll entries of a process for one descriptor.
func watchesOf(pid, fd int) ([]watch, error) {
	dir := fmt.Sprintf("/proc/%d/fd/", pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list descriptors: %w", err)
	}
	var out []watch
	for _, entry := range entries {
		link, err := os.Readlink(dir + entry.Name())
		if err != nil || link != "anon_inode:[eventpoll]" {
			continue
		}
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%s", pid, entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("read epoll entries: %w", err)
		}
		epoll, _ := strconv.Atoi(entry.Name())
		for line := range bytes.Lines(text) {
			if w, ok := parseWatch(string(line)); ok && w.target == fd {
				w.epoll = epoll
				out = append(out, w)
			}
		}
	}
	return out, nil
}

// parseWatch reads "tfd: N events: HEX data: HEX ...".
func parseWatch(line string) (watch, bool) {
	f := strings.Fields(line)
	if len(f) < 6 || f[0] != "tfd:" || f[2] != "events:" || f[4] != "data:" {
		return watch{}, false
	}
	target, err1 := strconv.Atoi(f[1])
	events, err2 := strconv.ParseUint(f[3], 16, 32)
	data, err3 := strconv.ParseUint(f[5], 16, 64)
	if errors.Join(err1, err2, err3) != nil {
		return watch{}, false
	}
	return watch{target: target, event: unix.EpollEvent{
		Events: uint32(events), Fd: int32(uint32(data)), Pad: int32(uint32(data >> 32))}}, true
}
