package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"touchstone/faultinject/tracer"
)

// stubWord is the command that a stub runs.
const stubWord = "stub"

// The stub's exec must come from the main thread, which is the one that
// attach seizes.
func init() { runtime.LockOSThread() }

type stubCommand struct {
	Command []string `arg:"" passthrough:"" help:"Program and arguments, after --."`
}

// Run stops this process and, once it is continued, becomes the program. It
// changes nothing else: parent, descriptors and environment stay.
func (c *stubCommand) Run() error {
	argv, err := words(c.Command)
	if err != nil {
		return err
	}
	path, err := tracer.LookPath(argv[0])
	if err != nil {
		return usage(err)
	}
	if err := unix.Kill(unix.Getpid(), unix.SIGSTOP); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	return fmt.Errorf("exec %s: %w", path, unix.Exec(path, argv, os.Environ()))
}

type attachCommand struct {
	tracerOptions
	PID int `name:"pid" required:"" help:"Process of the stub."`
}

// Run attaches to a stub and injects into what it becomes. Where that fails,
// the stub is killed: its host must not wait for a program that never comes.
func (c *attachCommand) Run() error {
	pidfd, err := unix.PidfdOpen(c.PID, 0)
	if err != nil {
		return usage(fmt.Errorf("attach %d: %w", c.PID, err))
	}
	defer unix.Close(pidfd) // nothing depends on its result
	image, err := stubbed(c.PID)
	if err != nil {
		return usage(err)
	}
	began := false
	err = c.trace(func(config tracer.Config) (tracer.Result, error) {
		result, err := tracer.Attach(config, c.PID, image)
		began = err == nil
		return result, err
	})
	if began {
		return err
	}
	if killed := unix.PidfdSendSignal(pidfd, unix.SIGKILL, nil, 0); killed != nil && killed != unix.ESRCH {
		err = errors.Join(err, fmt.Errorf("kill stub %d: %w", c.PID, killed))
	}
	return err
}

// stubbed returns the program that the stub pid is to become.
func stubbed(pid int) (string, error) {
	ours, err := os.Stat("/proc/self/exe")
	if err != nil {
		return "", fmt.Errorf("find own executable: %w", err)
	}
	theirs, err := os.Stat(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return "", fmt.Errorf("attach %d: %w", pid, err)
	}
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return "", fmt.Errorf("attach %d: %w", pid, err)
	}
	argv := strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
	if !os.SameFile(ours, theirs) || len(argv) < 3 || argv[1] != stubWord {
		return "", fmt.Errorf("attach %d: not a stub of this command", pid)
	}
	rest, err := words(argv[2:])
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(rest[0], "/") {
		return rest[0], nil
	}
	if !strings.Contains(rest[0], "/") {
		return tracer.LookPath(rest[0])
	}
	dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	if err != nil {
		return "", errors.Join(errors.New("find the stub's folder"), err)
	}
	return dir + "/" + rest[0], nil
}
