package driver

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

const (
	scanSoon   = 2 * time.Millisecond  // between looks for a rendezvous that a rule waits for
	scanUnseen = 5 * time.Millisecond  // until the first producer is seen
	scanSeldom = 20 * time.Millisecond // for one that nobody named, which is only continued
	drainLimit = 2 * time.Second       // from the launcher's exit to the end of its endpoints
	killLimit  = 10 * time.Second      // for a killed process to be reaped

	floodSlack   = 16 << 20 // bytes that an endpoint may deliver beyond its grant before the attempt is cut
	floodCeiling = 1 << 30  // of the grant, for this purpose
)

// watch follows the process to its exit and its endpoints to their ends.
func (a *attempt) watch() error {
	a.fire(func(t scenario.Trigger) bool { return t.Kind == scenario.AtSpawn })
	limit := a.scenario.HangLimit(a.launcher.Tolerance.SlackMS)
	if a.setup.HangMS != 0 {
		limit = a.setup.HangMS
	}
	if err := a.until(func() bool { return a.exited || a.flooded() || a.stranded() }, time.Duration(limit)*time.Millisecond); err != nil {
		return err
	}
	if !a.exited {
		a.giveUp(limit)
		if err := a.killAll(); err != nil {
			return err
		}
	}
	return a.drain()
}

// giveUp records why the driver ends a launcher that has not exited.
func (a *attempt) giveUp(limit uint64) {
	w := evidence.Watchdog{LimitMS: limit, Waiting: "exit"}
	switch {
	case a.flooded():
		w.Waiting = "bytes"
	case a.stranded():
		w.LimitMS, w.Waiting = uint64(evidence.Monotonic()-a.started)/1e6, "call"
	}
	a.record.event(w)
}

// flooded says that an endpoint has delivered far more than was granted: a
// launcher that bounds nothing must not fill the disk with evidence of it.
func (a *attempt) flooded() bool {
	granted := a.scenario.Grants.Resolve()
	for _, c := range a.channels {
		limit := granted.Diagnostic
		if c.name == scenario.ChannelReport {
			limit = granted.Report
		}
		if uint64(c.total) > min(limit, floodCeiling)+floodSlack {
			return true
		}
	}
	return false
}

// killAll kills every process of the attempt and waits for the started one,
// whose status is recorded as always.
func (a *attempt) killAll() error {
	a.over = true
	if err := a.killLaunched(); err != nil {
		return fmt.Errorf("kill attempt: %w", err)
	}
	if err := a.until(func() bool { return a.exited }, killLimit); err != nil {
		return err
	}
	if !a.exited {
		return fmt.Errorf("kill attempt: process %d does not end", a.pid)
	}
	return nil
}

// drain lists the processes that outlived the started one, then reads the
// endpoints to their ends, no longer slowly. What still holds an endpoint open
// at the limit is killed.
func (a *attempt) drain() error {
	for _, c := range a.channels {
		c.pace, c.paused = scenario.Pace{}, false
	}
	if a.terminal != nil {
		a.terminal.paused = false
	}
	if err := a.listProcesses(); err != nil {
		return err
	}
	a.readLate()
	if err := a.until(a.drained, drainLimit); err != nil {
		return err
	}
	if a.drained() {
		return nil
	}
	a.record.event(evidence.Watchdog{LimitMS: uint64(drainLimit.Milliseconds()), Waiting: "drain"})
	a.over = true
	if err := killEverything(killLimit); err != nil {
		return err
	}
	if err := a.until(a.drained, drainLimit); err != nil {
		return err
	}
	if !a.drained() {
		return errors.New("drain endpoints: still open with every process dead")
	}
	return nil
}

func (a *attempt) drained() bool {
	for _, c := range a.channels {
		if c.open() {
			return false
		}
	}
	return a.terminal == nil || !a.terminal.open()
}

// until turns the loop until done or for at most limit.
func (a *attempt) until(done func() bool, limit time.Duration) error {
	deadline := evidence.Monotonic() + limit.Nanoseconds()
	for !done() && evidence.Monotonic() < deadline {
		if err := a.step(deadline); err != nil {
			return err
		}
	}
	return nil
}

// step waits for the next thing to happen, at most to deadline, and deals with
// all of it. The terminal endpoint is polled before the data endpoints: a
// data endpoint that is seen open after a packet was seen had not ended before.
func (a *attempt) step(deadline int64) error {
	now := evidence.Monotonic()
	wake := deadline
	polled := []unix.PollFd{{Fd: -1}}
	if a.terminal != nil {
		polled[0] = a.terminal.interest()
	}
	allowed := make([]int, len(a.channels))
	for i, c := range a.channels {
		n, again := c.allowance(now, a.stopAt(c))
		if again > 0 {
			wake = min(wake, again)
		}
		allowed[i] = n
		polled = append(polled, c.interest(n))
	}
	polled = append(polled, a.exitInterest())
	if err := a.poll(polled, min(wake, a.nextTimed(wake), a.nextScan)); err != nil {
		return err
	}
	now = evidence.Monotonic()
	for i, c := range a.channels {
		a.dataReady(now, c, polled[1+i].Revents, allowed[i])
	}
	if polled[0].Revents != 0 {
		a.packetsReady(now)
	}
	a.timed(now)
	a.scan(now)
	return a.reap(now, polled[len(polled)-1].Revents)
}

// poll waits until something is ready or the stamp until has passed.
func (a *attempt) poll(polled []unix.PollFd, until int64) error {
	left := max(0, until-evidence.Monotonic())
	wait := unix.NsecToTimespec(left)
	ready, err := unix.Ppoll(polled, &wait, nil)
	if err == nil && ready == 0 && left > 0 {
		a.wasLate(until)
	}
	if errors.Is(err, unix.EINTR) {
		for i := range polled {
			polled[i].Revents = 0
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("poll endpoints: %w", err)
	}
	return nil
}

// wasLate notes how much later than a stamp it is.
func (a *attempt) wasLate(than int64) {
	a.lateness.Waits++
	a.lateness.MaxNS = max(a.lateness.MaxNS, evidence.Monotonic()-than)
}

// dataReady reads from a data endpoint that is ready, and where its writers
// are gone and it is empty now, at once its end.
func (a *attempt) dataReady(now int64, c *channel, revents int16, allowed int) {
	c.hungUp = c.hungUp || gone(revents)
	if revents == 0 || allowed == 0 || !c.open() {
		return
	}
	before := c.total
	a.readOnce(now, c, allowed)
	if left := allowed - int(c.total-before); c.hungUp && left > 0 && c.open() && !c.paused {
		a.readOnce(now, c, left)
	}
}

func (a *attempt) readOnce(now int64, c *channel, allowed int) {
	first := c.total == 0
	got, end, errno := c.read(now, a.buffer, min(allowed, len(a.buffer)))
	if len(got) > 0 {
		a.record.bytes(now, c.name, c.file, got)
		if c.name == scenario.ChannelReport && first {
			a.sampleSize()
			a.record.event(evidence.Producers{Alive: len(a.library.producers()), SpoolBytes: storageUsed(a.given(spoolFolder))})
		}
		a.fire(func(t scenario.Trigger) bool {
			return t.Kind == scenario.AtBytes && t.Channel == c.name && c.total >= int64(t.N)
		})
	}
	if end {
		c.ended, c.hungUp = true, true
		a.sampleSize()
		a.record.ended(now, c.name, errno)
		a.fire(func(t scenario.Trigger) bool { return t.Kind == scenario.AtEOF && t.Channel == c.name })
	}
}

// packetsReady takes every message that is there. Which data endpoints had
// ended is known from the same poll for the first, and asked anew for others.
func (a *attempt) packetsReady(now int64) {
	for a.terminal.open() && !a.terminal.paused {
		m := a.terminal.receive(a.buffer)
		if m.refused != nil {
			a.record.fault("receive packet", m.refused)
		}
		switch {
		case m.end:
			a.terminal.ended = true
			a.record.eventAt(now, evidence.TerminalEOF{Error: m.errno})
		case m.packet:
			index := a.terminal.packets
			a.terminal.packets++
			a.record.packet(now, evidence.Packet{Index: index, Flags: m.flags, CredentialsPID: m.pid, Ended: a.endedNow()}, m.bytes)
			a.fire(func(t scenario.Trigger) bool { return t.Kind == scenario.AtPacket && uint64(index) >= t.N })
			a.askHangUps()
		default:
			return
		}
	}
}

// endedNow: an endpoint that nothing can be read from has ended from the start.
func (a *attempt) endedNow() evidence.Ended {
	e := evidence.Ended{Report: true, Diagnostic: true}
	for _, c := range a.channels {
		switch c.name {
		case scenario.ChannelReport:
			e.Report = c.hungUp
		case scenario.ChannelDiagnostic:
			e.Diagnostic = c.hungUp
		case scenario.ChannelSink:
			e.Sink = c.hungUp
		}
	}
	return e
}

// askHangUps notes which data endpoints have lost their writers by now.
func (a *attempt) askHangUps() {
	for _, c := range a.channels {
		if c.open() {
			polled := []unix.PollFd{{Fd: int32(c.fd), Events: unix.POLLRDHUP}}
			if _, err := unix.Ppoll(polled, &unix.Timespec{}, nil); err == nil {
				c.hungUp = c.hungUp || gone(polled[0].Revents)
			}
		}
	}
}
