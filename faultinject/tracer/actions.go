package tracer

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"touchstone/faultinject"
	"touchstone/faultinject/engine"
)

// act carries out a firing at the entry of its call.
func (k *task) act() {
	r := k.line.rule
	a := &r.Do
	switch {
	case a.Kind.Replaces() && r.Effect == faultinject.Skip:
		k.replace(r)
	case k.flight.Exit && (a.Kind == faultinject.DoShort || a.Late || a.Kind == faultinject.DoRelease || a.Kind.Replaces()):
		k.tracer.log.decision(k, &k.line)
		k.resume(0)
	case a.Kind == faultinject.DoDelay:
		k.realise()
		k.hold(a.Delay, "")
	case a.Kind == faultinject.DoHold:
		k.realise()
		k.hold(a.Max, a.Name)
	default:
		k.realise()
		k.perform(r)
		k.resume(0)
	}
}

// realise books a firing that is done at the entry, and writes it down before
// it is done.
func (k *task) realise() {
	k.line.state = engine.Realised
	k.tracer.log.decision(k, &k.line)
	k.tracer.engine.Settle(&k.flight.Fired, engine.Realised)
}

// replace skips the call and gives its caller a result.
func (k *task) replace(r *faultinject.Rule) {
	t := k.tracer
	value := engine.Result(r)
	k.line.delivered, k.line.wasDelivered, k.line.given = value, true, 0
	k.realise()
	k.hasLast = false
	k.pokeReg(regOrigRAX, ^uint64(0))
	k.pokeReg(regRAX, uint64(value))
	if t.mode == ModeFull || k.wantExit {
		// A filter of the target's own may still look at the skipped call:
		// the result is set once more at the exit.
		k.skipped, k.value, k.wantExit = true, value, true
	}
	k.raiseSigpipe(r)
	if r.Do.Kind == faultinject.DoAgain {
		k.nudgeLater(r.Do.Nudge)
	}
	k.resume(0)
}

// actLate carries out the rest of a firing at the exit of its call. It tells
// whether the thread stays stopped.
func (k *task) actLate(r *faultinject.Rule) bool {
	a := &r.Do
	switch {
	case a.Kind == faultinject.DoDelay && a.Late:
		k.hold(a.Delay, "")
		return true
	case a.Kind == faultinject.DoHold && a.Late:
		k.hold(a.Max, a.Name)
		return true
	case a.Kind == faultinject.DoRelease:
		k.tracer.release(a.Name)
	}
	return false
}

// reached carries out a rule whose byte count the call has reached.
func (k *task) reached(f *engine.Firing, ret int64) bool {
	k.fillRecord(*f)
	r := &k.line
	r.state, r.returned, r.wasReturned, r.delivered, r.wasDelivered = engine.Realised, ret, true, ret, true
	if f.Rule.Do.Kind != faultinject.DoClamp {
		// The call is over, cut or not: what counts is what it has moved.
		r.given = uint64(max(ret, 0))
	}
	k.tracer.log.decision(k, r)
	if f.Rule.Do.Kind == faultinject.DoHold {
		k.hold(f.Rule.Do.Max, f.Rule.Do.Name)
		return true
	}
	k.perform(f.Rule)
	return false
}

// perform does what needs no stop of its own.
func (k *task) perform(r *faultinject.Rule) {
	t := k.tracer
	switch a := &r.Do; a.Kind {
	case faultinject.DoSignal:
		sig, _ := faultinject.SignalNumber(a.Signal)
		if a.Every > 0 {
			t.storm(k, unix.Signal(sig), a.Every, a.For)
			return
		}
		k.note(unix.Tgkill(k.proc.tgid, k.tid, unix.Signal(sig)))
	case faultinject.DoKill:
		t.kill(k, a.Role)
	case faultinject.DoStop:
		k.note(unix.Kill(k.proc.tgid, unix.SIGSTOP))
	case faultinject.DoRelease:
		t.release(a.Name)
	}
}

// kill ends the caller, or every process of a role.
func (t *Tracer) kill(k *task, role faultinject.Role) {
	if role == 0 {
		k.note(unix.Kill(k.proc.tgid, unix.SIGKILL))
		return
	}
	for _, p := range t.procs {
		if p.role&role != 0 {
			k.note(unix.Kill(p.tgid, unix.SIGKILL))
		}
	}
	if role&faultinject.Untrusted == 0 {
		return
	}
	for _, f := range t.freed {
		if err := unix.PidfdSendSignal(f.pidfd, unix.SIGKILL, nil, 0); err != nil {
			k.note(err)
		}
	}
}

// raiseSigpipe does what the kernel does with EPIPE. A process that ignores
// the signal does not notice.
func (k *task) raiseSigpipe(r *faultinject.Rule) {
	if r.Do.Kind != faultinject.DoErrno || r.Do.Errno != "EPIPE" || r.Do.NoSigpipe {
		return
	}
	flags := uint64(0)
	switch k.call.Nr {
	case unix.SYS_SENDTO, unix.SYS_SENDMMSG:
		flags = k.call.Args[3]
	case unix.SYS_SENDMSG:
		flags = k.call.Args[2]
	}
	if flags&unix.MSG_NOSIGNAL == 0 {
		k.note(unix.Tgkill(k.proc.tgid, k.tid, unix.SIGPIPE))
	}
}

// hold keeps the thread stopped for a time, or until name is released.
func (k *task) hold(longest time.Duration, name string) {
	t := k.tracer
	k.phase, k.heldAt = held, t.log.now()
	if name != "" {
		t.holds[name] = append(t.holds[name], k)
		if longest == 0 {
			longest = t.config.HoldTimeout
		}
	}
	k.setTimer(longest, func() {
		if name != "" {
			t.holds[name] = without(t.holds[name], k)
			t.log.note("hold-timeout", fmt.Sprintf("thread %d was held as %s for %s", k.tid, name, longest))
		}
		k.letGo()
	})
}

// release lets every thread go that is held as name.
func (t *Tracer) release(name string) {
	for _, k := range t.holds[name] {
		k.letGo()
	}
	t.holds[name] = nil
}

func (k *task) letGo() {
	k.timer.stop()
	k.tracer.log.held(k, k.tracer.log.now()-k.heldAt)
	k.resume(0)
}

func (k *task) setTimer(d time.Duration, ring func()) {
	timer, err := k.tracer.alarms.after(d, ring)
	if err != nil && k.tracer.err == nil {
		k.tracer.err = err
	}
	k.timer = timer
}

// storm sends one signal to a process again and again, until its time is over
// or the process or the run ends. It owns its pidfd.
type storm struct {
	tracer      *Tracer
	pidfd, tgid int
	signal      unix.Signal
	every       time.Duration
	end         time.Time
	sent        int
	over        bool // noted
}

func (t *Tracer) storm(k *task, sig unix.Signal, every, lasting time.Duration) {
	pidfd, err := unix.PidfdOpen(k.proc.tgid, 0)
	if err != nil {
		k.note(err)
		return
	}
	s := &storm{tracer: t, pidfd: pidfd, tgid: k.proc.tgid, signal: sig, every: every, end: time.Now().Add(lasting)}
	t.storms = append(t.storms, s)
	s.send()
}

func (s *storm) send() {
	err := unix.PidfdSendSignal(s.pidfd, s.signal, nil, 0)
	if err == nil {
		s.sent++
	}
	if err != nil || !time.Now().Add(s.every).Before(s.end) {
		s.note()
		return
	}
	t := s.tracer
	if _, err := t.alarms.after(s.every, s.send); err != nil && t.err == nil {
		t.err = err
	}
}

// note says once how many signals were sent.
func (s *storm) note() {
	if !s.over {
		s.over = true
		s.tracer.log.note("storm-over", fmt.Sprintf("%d signals %s to process %d", s.sent, unix.SignalName(s.signal), s.tgid))
	}
}

// close ends a storm that outlasted its process, too.
func (s *storm) close() error {
	s.note()
	return unix.Close(s.pidfd)
}

// nudgeLater gives pollers their edge.
func (k *task) nudgeLater(d time.Duration) {
	pid, fd := k.proc.tgid, k.line.fd
	t := k.tracer
	give := func() {
		told, err := nudge(pid, fd)
		text := fmt.Sprintf("descriptor %d of process %d: %d epoll entries", fd, pid, told)
		if err != nil {
			text += ": " + err.Error()
		}
		t.log.note("nudge", text)
	}
	if d == 0 {
		give()
		return
	}
	if _, err := t.alarms.after(d, give); err != nil && t.err == nil {
		t.err = err
	}
}
