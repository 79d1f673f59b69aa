package driver

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

// rule is a rule of the scenario and whether its time has come.
type rule struct {
	scenario.Rule
	index int
	done  bool
}

func newRule(index int, r scenario.Rule) rule { return rule{Rule: r, index: index} }

// stopAt is where a channel's reader must stop exactly: the next byte count
// that a rule waits for; 0 for nowhere.
func (a *attempt) stopAt(c *channel) int64 {
	next := int64(0)
	for _, r := range a.rules {
		if n := int64(r.Trigger.N); !r.done && r.Trigger.Kind == scenario.AtBytes && r.Trigger.Channel == c.name && n > c.total {
			if next == 0 || n < next {
				next = n
			}
		}
	}
	return next
}

// nextTimed is the stamp of the next timed rule, at most otherwise.
func (a *attempt) nextTimed(otherwise int64) int64 {
	for _, r := range a.rules {
		switch {
		case r.done:
		case r.Trigger.Kind == scenario.AtTime:
			otherwise = min(otherwise, a.started+int64(r.Trigger.N)*1e6)
		case r.Trigger.Kind == scenario.AtStopped && a.stoodAt > 0:
			otherwise = min(otherwise, a.stoodAt+int64(r.Trigger.N)*1e6)
		}
	}
	return otherwise
}

func (a *attempt) timed(now int64) {
	a.fire(func(t scenario.Trigger) bool {
		return t.Kind == scenario.AtTime && now >= a.started+int64(t.N)*1e6 ||
			t.Kind == scenario.AtStopped && a.stoodAt > 0 && now >= a.stoodAt+int64(t.N)*1e6
	})
}

// fire does the actions of every rule whose trigger holds, once, in the
// scenario's order. It says whether an action ended or held the producer. What
// ends by the driver's own killing is no event of the scenario.
func (a *attempt) fire(holds func(scenario.Trigger) bool) (held bool) {
	if a.over {
		return false
	}
	for i := range a.rules {
		r := &a.rules[i]
		if r.done || !holds(r.Trigger) {
			continue
		}
		r.done = true
		err := a.act(r.Action)
		result := evidence.Control{Rule: r.index, Trigger: r.Trigger, Action: r.Action, Result: evidence.Done}
		if err != nil {
			result.Result, result.Detail = evidence.Failed, err.Error()
		}
		a.record.event(result)
		held = held || (err == nil && r.Action.Who == scenario.Producer &&
			(r.Action.Kind == scenario.DoKill || r.Action.Kind == scenario.DoStop))
	}
	return held
}

// unfired records the rules whose trigger never held.
func (a *attempt) unfired() {
	for _, r := range a.rules {
		if !r.done {
			a.record.event(evidence.Control{Rule: r.index, Trigger: r.Trigger, Action: r.Action, Result: evidence.NotReached})
		}
	}
}

func (a *attempt) act(action scenario.Action) error {
	switch action.Kind {
	case scenario.DoKill:
		name := action.Signal
		if name == "" {
			name = "KILL"
		}
		return a.kill(action.Who, unix.SignalNum("SIG"+name))
	case scenario.DoStop:
		err := a.stop(action.Who)
		if err == nil && action.Who == scenario.Supervisor && a.stoodAt == 0 {
			a.stoodAt = evidence.Monotonic()
		}
		return err
	case scenario.DoContinue:
		if action.Who == scenario.Producer {
			return a.continueProducer()
		}
		return a.continueOther(action.Who)
	case scenario.DoCancel:
		if a.scenario.Kind == scenario.Hosted {
			return a.signal(scenario.Supervisor, unix.SignalNum("SIG"+a.launcher.Host.Cancel)) // the started process: the host
		}
		return a.cancel(unix.SignalNum("SIG" + a.launcher.Cancel.Signal))
	case scenario.DoObserve:
		return a.observe(action.Who)
	case scenario.DoPlant:
		return a.plant(action.Who)
	case scenario.DoPoke:
		return a.poke(action)
	case scenario.DoHold:
		return a.holdDiagnostics()
	}
	return a.turn(action)
}

// turn pauses, resumes or closes the reader of an endpoint.
func (a *attempt) turn(action scenario.Action) error {
	if action.Channel == scenario.ChannelTerminal {
		if a.terminal == nil {
			return errors.New("there is no terminal endpoint")
		}
		a.terminal.paused = action.Kind == scenario.DoPause
		if action.Kind == scenario.DoClose {
			return a.terminal.close()
		}
		return nil
	}
	i := slices.IndexFunc(a.channels, func(c *channel) bool { return c.name == action.Channel })
	if i < 0 {
		return fmt.Errorf("there is no %s endpoint", action.Channel)
	}
	a.channels[i].paused = action.Kind == scenario.DoPause
	if action.Kind == scenario.DoClose {
		return a.channels[i].close()
	}
	return nil
}

// role finds the process of a role, and what must still hold when it is signalled.
func (a *attempt) role(who string) (pid int, check func() bool, err error) {
	switch who {
	case scenario.Supervisor:
		if a.standIn != 0 {
			return a.standIn, func() bool { return true }, nil
		}
		if a.exited || a.pid == 0 {
			return 0, nil, errors.New("the supervisor has ended")
		}
		return a.pid, func() bool { return !a.exited }, nil // our own child, not reaped yet
	case scenario.Producer:
		found := a.library.producers()
		if len(found) == 0 {
			return 0, nil, errors.New("no live process has the fixture mapped")
		}
		return found[0], func() bool { _, mapped := a.library.mapped(found[0]); return mapped }, nil
	}
	executable, err := a.launcher.FinalizerPath(a.values)
	if err != nil {
		return 0, nil, err
	}
	for _, pid := range processes() {
		if runs(pid, executable) && alive(pid) {
			return pid, func() bool { return runs(pid, executable) }, nil
		}
	}
	return 0, nil, fmt.Errorf("no live process runs %s", executable)
}

func runs(pid int, executable string) bool {
	a, err := os.Stat(procPath(pid, "exe"))
	if err != nil {
		return false
	}
	b, err := os.Stat(executable)
	return err == nil && os.SameFile(a, b)
}

func (a *attempt) signal(who string, number unix.Signal) error {
	if number == 0 {
		return errors.New("no such signal")
	}
	pid, check, err := a.role(who)
	if err != nil {
		return err
	}
	return signalProcess(pid, number, check)
}

// kill sends a signal. A finalizer that it must end has ended on return, with
// every thread, as its pidfd tells: what comes next in the scenario must find it so.
func (a *attempt) kill(who string, number unix.Signal) error {
	if who != scenario.Finalizer || number != unix.SIGKILL {
		return a.signal(who, number)
	}
	pid, _, err := a.role(who)
	if err != nil {
		return err
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return fmt.Errorf("kill finalizer %d: %w", pid, err)
	}
	if err = a.signal(who, number); err == nil {
		err = awaitEnd(fd)
	}
	if err = errors.Join(err, unix.Close(fd)); err != nil {
		return fmt.Errorf("kill finalizer %d: %w", pid, err)
	}
	return nil
}

// awaitEnd waits at most five seconds for the end of a process.
func awaitEnd(pidfd int) error {
	for {
		n, err := unix.Ppoll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, &unix.Timespec{Sec: 5}, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err == nil && n == 0:
			return errors.New("it does not end")
		}
		return err
	}
}

// stop stops a process and returns when every thread of it stands still: what
// comes next in the scenario must find it so, however loaded the machine is.
func (a *attempt) stop(who string) error {
	const patience, pause = 5 * time.Second, time.Millisecond
	pid, check, err := a.role(who)
	if err != nil {
		return err
	}
	if err := signalProcess(pid, unix.SIGSTOP, check); err != nil {
		return err
	}
	for waited := time.Duration(0); !stopped(pid); waited += pause {
		if waited >= patience || !alive(pid) {
			return fmt.Errorf("stop %s %d: it does not stop", who, pid)
		}
		time.Sleep(pause)
	}
	return nil
}

// cancel asks the supervisor to stop. One that stands still has been asked once
// the signal waits for it.
func (a *attempt) cancel(number unix.Signal) error {
	if err := a.signal(scenario.Supervisor, number); err != nil || a.stoodAt == 0 || !alive(a.pid) || !stopped(a.pid) {
		return err
	}
	status := statusLines(a.pid)
	for _, set := range []string{"SigPnd", "ShdPnd"} {
		if mask, err := strconv.ParseUint(status[set], 16, 64); err == nil && mask>>(number-1)&1 == 1 {
			return nil
		}
	}
	return fmt.Errorf("cancel: signal %d does not wait for the stopped supervisor", number)
}

// continueOther continues a supervisor or a finalizer. A supervisor that did
// not stand still until now has not met what the scenario arranged meanwhile.
func (a *attempt) continueOther(who string) error {
	if who == scenario.Supervisor && a.stoodAt > 0 && !stopped(a.pid) {
		return errors.New("continue supervisor: it does not stand still")
	}
	return a.signal(who, unix.SIGCONT)
}

// releaseHeld gives up what holdDiagnostics took.
func (a *attempt) releaseHeld() {
	for _, fd := range a.held {
		if err := unix.Close(fd); err != nil {
			a.record.fault("release held descriptor", err)
		}
	}
	a.held = nil
}

// holdDiagnostics takes a duplicate of the producer's own diagnostic writer, as
// a helper of it would have one, until the supervisor's end.
func (a *attempt) holdDiagnostics() error {
	pid, _, err := a.role(scenario.Producer)
	if err != nil {
		return err
	}
	process, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return fmt.Errorf("open producer %d: %w", pid, err)
	}
	writer, err := unix.PidfdGetfd(process, 2, 0)
	if err == nil {
		a.held = append(a.held, writer)
	}
	return errors.Join(err, unix.Close(process))
}

func (a *attempt) observe(who string) error {
	if who == scenario.Storage {
		return a.observeStorage()
	}
	pid, _, err := a.role(who)
	if err != nil {
		return err
	}
	o, err := observe(who, pid, a.pid, a.launch.HostEndpoints)
	if err != nil {
		return err
	}
	a.record.event(o)
	return nil
}

// poke writes a state word of the producer.
func (a *attempt) poke(action scenario.Action) error {
	pid, _, err := a.role(scenario.Producer)
	if err != nil {
		return err
	}
	var value uint64
	switch action.Value {
	case scenario.ValueSupervisorPID:
		supervisor, _, err := a.role(scenario.Supervisor)
		if err != nil {
			return err
		}
		value = uint64(supervisor)
	case scenario.ValueProducerPID:
		value = uint64(pid)
	default:
		if value, err = strconv.ParseUint(action.Value, 10, 64); err != nil {
			return fmt.Errorf("poke value %q: want a decimal", action.Value)
		}
	}
	base, mapped := a.library.mapped(pid)
	if !mapped {
		return fmt.Errorf("process %d has the fixture no longer mapped", pid)
	}
	return a.library.writeState(pid, base, wordsOffset+8*action.Word, binary.LittleEndian.AppendUint64(nil, value))
}
