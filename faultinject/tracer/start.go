package tracer

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"syscall"

	"golang.org/x/sys/unix"

	"touchstone/faultinject/filter"
)

// Run starts a program as a child of the tracer and traces it, and every
// process of its tree that the mode follows, to their end.
//
// The error tells of the tracer's own failure; every target is dead then.
// It may be called again, but not concurrently.
func Run(config Config, path string, argv []string) (Result, error) {
	return onThread(func() (Result, error) {
		t, err := newTracer(config)
		if err != nil {
			return Result{}, err
		}
		if err := t.setUp(path, false); err != nil {
			return t.finish(err)
		}
		pid, err := t.spawn(path, argv)
		if err != nil {
			return t.finish(err)
		}
		t.begin(pid)
		return t.finish(t.loop())
	})
}

// Attach traces a process that stopped itself before it runs another program,
// as the command's stub does, and its tree, to their end. The process stays
// the child of whoever made it.
func Attach(config Config, pid int, image string) (Result, error) {
	return onThread(func() (Result, error) {
		t, err := newTracer(config)
		if err != nil {
			return Result{}, err
		}
		err = t.setUp(image, true)
		if err == nil && config.Pin >= 0 {
			err = pin(pid, config.Pin)
		}
		if err == nil {
			err = seize(pid)
		}
		if err != nil {
			return t.finish(err)
		}
		t.waitsForExec = true
		t.begin(pid)
		return t.finish(t.loop())
	})
}

// collectAbove is how much memory the tracer uses before it collects garbage:
// a collection stops every thread, and so every target, for a moment.
const collectAbove = 64 << 20

// onThread runs f on a thread of its own: ptrace belongs to a thread. The
// thread ends afterwards, and with it anything left of its attachments.
func onThread(f func() (Result, error)) (result Result, err error) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(collectAbove))
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("tracer crashed: %v\n%s", r, debug.Stack())
			}
		}()
		runtime.LockOSThread()
		result, err = f()
	}()
	<-done
	return result, err
}

// setUp chooses the mode, writes it down and builds the filter.
func (t *Tracer) setUp(image string, attached bool) error {
	mode, why := choose(t.config, image, attached)
	t.mode = mode
	if err := checkMode(t.config, mode); err != nil {
		return err
	}
	if err := t.makeFilter(image); errors.Is(err, filter.ErrNotGoStatic) {
		return fmt.Errorf("%w: %w", ErrMode, err)
	} else if err != nil {
		return err
	}
	if t.config.Pin >= 0 {
		if err := pin(0, t.config.Pin); err != nil {
			return err
		}
	}
	t.log.started(t, why, image)
	return nil
}

// spawn starts the program and stops it before its first instruction.
//
// Go's own child attaches itself the old way (TRACEME). It is let go with a
// SIGSTOP as parting gift and seized, because only a seized thread can be
// left in a group stop.
func (t *Tracer) spawn(path string, argv []string) (int, error) {
	child, err := os.StartProcess(path, argv, &os.ProcAttr{
		Files: t.files(),
		Sys:   &syscall.SysProcAttr{Ptrace: true},
	})
	if err != nil {
		return 0, fmt.Errorf("start: %w", err)
	}
	pid := child.Pid
	if _, err := waitFor(pid); err != nil {
		return 0, fmt.Errorf("wait for start: %w", err)
	}
	err = ptrace(unix.PTRACE_DETACH, pid, 0, uintptr(unix.SIGSTOP))
	if err == nil {
		err = seize(pid)
	}
	if err != nil {
		return 0, errors.Join(fmt.Errorf("start %d: %w", pid, err), child.Kill())
	}
	return pid, child.Release()
}

// files returns descriptors 0 to 2; others that were given to us without
// close-on-exec pass to the target by themselves.
func (t *Tracer) files() []*os.File {
	if t.config.Files != nil {
		return t.config.Files
	}
	return []*os.File{os.Stdin, os.Stdout, os.Stderr}
}

// begin makes the root's task.
func (t *Tracer) begin(pid int) {
	t.root = pid
	k := t.adopt(pid)
	k.arriving = true
	k.grafted = false
	if t.config.Started != nil {
		t.err = t.config.Started()
	}
	if t.config.Limit > 0 {
		if _, err := t.alarms.after(t.config.Limit, t.timeUp); err != nil && t.err == nil {
			t.err = err
		}
	}
}

// timeUp kills the targets; the loop goes on to reap them.
func (t *Tracer) timeUp() {
	t.over = true
	t.log.note("time-up", fmt.Sprintf("the targets are killed after %s", t.config.Limit))
	for tgid := range t.procs {
		if err := unix.Kill(tgid, unix.SIGKILL); err != nil && err != unix.ESRCH && t.err == nil {
			t.err = fmt.Errorf("kill %d: %w", tgid, err)
		}
	}
}

func pin(pid, cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(pid, &set); err != nil {
		return fmt.Errorf("pin %d to processor %d: %w", pid, cpu, err)
	}
	return nil
}

// LookPath finds the program that a command line starts.
func LookPath(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return "", fmt.Errorf("find program: %w", err)
	}
	return path, nil
}
