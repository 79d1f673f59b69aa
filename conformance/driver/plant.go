package driver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"touchstone/conformance/launcherfile"
)

// plant starts a process in another's pid namespace and control groups, where
// it stays. It is a child of ours: nobody of the launcher knows of it.
func (a *attempt) plant(who string) error {
	pid, _, err := a.role(who)
	if err != nil {
		return err
	}
	planted, err := forkInto(pid)
	if err != nil {
		return fmt.Errorf("plant beside %s %d: %w", who, pid, err)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	for _, line := range lines(pid, "cgroup", "\n") {
		fields := strings.SplitN(line, ":", 3)
		if len(fields) != 3 {
			continue
		}
		// A tree that is not shown here is none that a launcher could use.
		if folder := groupFolder(string(mounts), fields[1], fields[2]); folder != "" {
			_ = os.WriteFile(filepath.Join(folder, "cgroup.procs"), []byte(strconv.Itoa(planted)), 0)
		}
	}
	return nil
}

// forkInto starts a process that waits for ever. The calling thread's children
// are born into a namespace that it has chosen.
func forkInto(pid int) (planted int, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	own, err := unix.Open("/proc/self/ns/pid", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, unix.Close(own)) }()
	other, err := unix.Open(procPath(pid, "ns/pid"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, unix.Close(other)) }()
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, unix.Close(null)) }()
	if err := unix.Setns(other, unix.CLONE_NEWPID); err != nil {
		return 0, err
	}
	planted, err = fork(launcherfile.Command{Argv: []string{"sleep", "infinity"}, Environment: []string{"PATH=" + os.Getenv("PATH")}},
		[]given{{0, "stdin", "device", null}, {1, "stdout", "device", null}, {2, "stderr", "device", null}})
	return planted, errors.Join(err, unix.Setns(own, unix.CLONE_NEWPID))
}
