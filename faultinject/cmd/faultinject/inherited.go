package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// inherited lists the descriptors above 2 that this command was given and
// that its children would get.
func inherited() ([]int, error) {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil, fmt.Errorf("list descriptors: %w", err)
	}
	var out []int
	for _, entry := range entries {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil || fd <= 2 {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err == nil && flags&unix.FD_CLOEXEC == 0 {
			out = append(out, fd)
		}
	}
	return out, nil
}

// letGoOfObjects closes what this command was given and the target has now:
// the other side must see the end when the target closes, not when we do.
// Descriptor 2 stays, for the verdict.
func letGoOfObjects() error {
	fds, err := inherited()
	if err != nil {
		return err
	}
	for _, fd := range fds {
		err = errors.Join(err, unix.Close(fd))
	}
	null, opening := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if opening != nil {
		return errors.Join(err, fmt.Errorf("open null: %w", opening))
	}
	err = errors.Join(err, unix.Dup2(null, 0), unix.Dup2(null, 1), unix.Close(null))
	if err != nil {
		return fmt.Errorf("let go of descriptors: %w", err)
	}
	return nil
}
