package driver

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"touchstone/conformance/evidence"
	"touchstone/conformance/launcherfile"
	"touchstone/conformance/scenario"
)

// tracer is the process that injects the attempt's faults. It traces the
// supervisor and the finalizer and nothing else; the supervisor stays our
// child.
type tracer struct {
	program string // "" where there are no faults
	pid     int    // 0 before
	pidfd   int    // -1 before
}

// owns says that a process is the tracer or the one that guards it.
func (t tracer) owns(pid int) bool { return t.program != "" && runs(pid, t.program) }

const (
	tracerLimit = 5 * time.Second // from the end of what is traced to the tracer's own
	orphanTurn  = 5 * time.Millisecond
	tracerWords = 2000 // bytes of its last words that are kept

	// tracerSaidFile is beside the launcher's files, and removed with them.
	tracerSaidFile = "tracer-said"
)

// stubbed is the command that waits for the tracer and then becomes c.
func (a *attempt) stubbed(c launcherfile.Command) launcherfile.Command {
	switch {
	case len(a.scenario.Faults) > 0:
		c.Argv = append([]string{a.setup.Injector, "stub", "--"}, c.Argv...)
	case a.holds(scenario.Supervisor): // of one thread, which a debugger keeps hold of through the exec
		c.Argv = append([]string{"/bin/sh", "-c", `kill -STOP $$; exec "$@"`, "sh"}, c.Argv...)
	}
	return c
}

// startTracer sets the tracer upon the stub. Mode full needs no filter: a
// launcher may have a listener of its own, and compares the filters that it
// finds upon its producer with its own count.
func (a *attempt) startTracer() error {
	if len(a.scenario.Faults) == 0 {
		return nil
	}
	a.tracer.program = a.setup.Injector
	if err := a.awaitStub(); err != nil {
		return err
	}
	if err := writeNew(a.path(evidence.FaultRulesFile), []byte(strings.Join(a.scenario.Faults, "\n")+"\n"), 0o644); err != nil {
		return fmt.Errorf("write fault rules: %w", err)
	}
	argv, err := a.tracerCommand()
	if err != nil {
		return err
	}
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open /dev/null: %w", err)
	}
	said, err := unix.Open(a.given(tracerSaidFile), unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return errors.Join(fmt.Errorf("open the tracer's standard error: %w", err), unix.Close(null))
	}
	pid, err := fork(launcherfile.Command{Argv: argv, Environment: []string{"LANG=C", "PATH=" + os.Getenv("PATH")}},
		[]given{{0, "stdin", "device", null}, {1, "stdout", "device", null}, {2, "stderr", "file", said}})
	if err = errors.Join(err, unix.Close(null), unix.Close(said)); err != nil {
		return err
	}
	a.tracer.pid = pid
	if a.tracer.pidfd, err = unix.PidfdOpen(pid, 0); err != nil {
		return fmt.Errorf("watch tracer %d: %w", pid, err)
	}
	return nil
}

// awaitStub waits until the stub has stopped itself: before, its command line
// need not be there yet, by which the tracer knows it.
func (a *attempt) awaitStub() error {
	for {
		var ws unix.WaitStatus
		_, err := unix.Wait4(a.pid, &ws, unix.WUNTRACED, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return fmt.Errorf("wait for stub %d: %w", a.pid, err)
		case !ws.Stopped():
			a.exited = true
			return fmt.Errorf("wait for stub %d: it ended, by status %#x", a.pid, uint32(ws))
		}
		return nil
	}
}

// tracerCommand names the endpoints by their inodes. A pipe's two ends are one
// inode: only its writers are meant.
func (a *attempt) tracerCommand() ([]string, error) {
	own := fmt.Sprintf("/proc/%d/", os.Getpid()) // the record's files, through a descriptor of ours
	inOwn := func(name string) string { return own + strings.TrimPrefix(a.path(name), "/proc/self/") }
	argv := []string{a.tracer.program, "attach", "--pid", fmt.Sprint(a.pid), "--mode", "full",
		"-f", inOwn(evidence.FaultRulesFile), "--log", inOwn(evidence.FaultLogFile)}
	for _, h := range a.launch.HostEndpoints {
		if h.Launcher == 0 {
			continue
		}
		direction := "any"
		if h.Launcher == h.Host {
			direction = "w"
		}
		argv = append(argv, "--fd", fmt.Sprintf("%s=%d:%d:%s", h.Name, h.Device, h.Launcher, direction))
	}
	if a.launcher.Finalizer.Executable != "" {
		path, err := a.launcher.FinalizerPath(a.values)
		if err != nil {
			return nil, err
		}
		argv = append(argv, "--role-v", path)
	}
	return argv, nil
}

// killLaunched kills every process of the attempt but the tracer, which has to
// tell what it did.
func (a *attempt) killLaunched() error {
	if a.tracer.program == "" {
		if err := unix.Kill(-1, unix.SIGKILL); !errors.Is(err, unix.ESRCH) {
			return err
		}
		return nil
	}
	var errs []error
	for _, pid := range a.outlived() {
		if err := unix.Kill(pid, unix.SIGKILL); !errors.Is(err, unix.ESRCH) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// endTracer waits for the tracer, which ends with the last process that it
// traces, and records how it ended.
func (a *attempt) endTracer() error {
	if a.tracer.pid == 0 {
		return nil
	}
	ws, err := a.awaitTracer()
	if errors.Is(err, unix.ETIMEDOUT) {
		if err = a.killLaunched(); err == nil {
			ws, err = a.awaitTracer()
		}
	}
	err = errors.Join(err, unix.Close(a.tracer.pidfd))
	if err != nil {
		return fmt.Errorf("wait for tracer %d: %w", a.tracer.pid, err)
	}
	said, err := os.ReadFile(a.given(tracerSaidFile))
	if err != nil {
		return fmt.Errorf("read what the tracer said: %w", err)
	}
	status, signal := exitDetails(ws)
	a.record.event(evidence.Injection{Status: status, Signal: signal, Said: string(said[:min(len(said), tracerWords)])})
	return os.Remove(a.given(tracerSaidFile))
}

// awaitTracer takes orphans meanwhile: one that the tracer still has may be the
// init of a namespace, and ends only when those who died in it were waited for.
func (a *attempt) awaitTracer() (ws unix.WaitStatus, err error) {
	deadline := evidence.Monotonic() + tracerLimit.Nanoseconds()
	polled := []unix.PollFd{{Fd: int32(a.tracer.pidfd), Events: unix.POLLIN}}
	for {
		a.reapOrphans()
		wait := unix.NsecToTimespec(orphanTurn.Nanoseconds())
		n, err := unix.Ppoll(polled, &wait, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return ws, err
		case n == 0 && evidence.Monotonic() >= deadline:
			return ws, unix.ETIMEDOUT
		case n == 0:
			continue
		}
		break
	}
	for {
		_, err = unix.Wait4(a.tracer.pid, &ws, 0, nil)
		if !errors.Is(err, unix.EINTR) {
			return ws, err
		}
	}
}
