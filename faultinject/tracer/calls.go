package tracer

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"touchstone/faultinject"
	"touchstone/faultinject/engine"
	"touchstone/faultinject/filter"
)

// arrive serves the entry of a call.
func (k *task) arrive(info *callInfo) {
	c := &k.call
	c.TID, c.TGID, c.Thread, c.Role = k.tid, k.proc.tgid, k.thread, k.proc.role
	c.Nr, c.Args, c.IP, c.SP = int(info.nr), info.args, info.ip, info.sp
	t := k.tracer
	if inner := t.inner[c.Nr]; inner != nil {
		inner(k, c)
	}
	if t.engine.Watches(c.Nr) && !k.arriving {
		k.consult()
		return
	}
	k.resume(0)
}

// onExit asks for the result of the call that is about to run.
func (k *task) onExit(then func(int64)) {
	k.wantExit, k.atExit = true, then
}

// consult asks the engine about the call and starts what it says.
func (k *task) consult() {
	t := k.tracer
	t.engine.Enter(&k.call, &k.flight)
	f := &k.flight
	if f.Wait {
		k.waitAtGate()
		return
	}
	k.last, k.hasLast = k.call, true
	if f.Fired.Rule == nil && !f.Exit {
		k.resume(0)
		return
	}
	if f.Exit {
		k.wantExit = true
	}
	if f.Clamp > 0 {
		k.cut(&k.call, t.engine.Shape(k.call.Nr), f.Clamp)
	}
	if f.Fired.Rule == nil {
		k.resume(0)
		return
	}
	k.fillRecord(f.Fired)
	k.act()
}

// fillRecord collects the evidence of a firing.
func (k *task) fillRecord(f engine.Firing) {
	t, c := k.tracer, &k.call
	shape := t.engine.Shape(c.Nr)
	r := &k.line
	*r = record{firing: f, rule: f.Rule, state: engine.Planned}
	if shape.FD != faultinject.None {
		r.hasFD, r.fd = true, int(int32(c.Args[shape.FD]))
		r.object = k.lookup(r.fd)
		if f.Rule.Times == 1 && f.Rule.Do.Storm <= 1 && f.Rule.Do.StormFor == 0 {
			r.path = k.target(r.fd)
		}
	}
	if shape.Transfers() || shape.Batch != faultinject.None {
		r.transfers = true
		r.requested = k.flight.Asked
		if r.requested == 0 {
			r.requested = k.requested(c, shape)
		}
		r.given = r.requested
		if k.flight.Clamp > 0 {
			r.given = k.flight.Clamp
		}
	}
}

// leave serves the exit of a call.
func (k *task) leave(ret int64) {
	t := k.tracer
	k.wantExit = false
	k.restore()
	if then := k.atExit; then != nil {
		k.atExit = nil
		then(ret)
	}
	if k.skipped {
		k.skipped = false
		k.pokeReg(regRAX, uint64(k.value))
		k.resume(0)
		return
	}
	if !k.flight.Exit {
		k.resume(0)
		return
	}
	k.hasLast = engine.IsRestart(ret)
	out := t.engine.Leave(&k.flight, ret)
	k.flight.Exit = false
	if out.Restart && ret != restartBlock {
		t.engine.Interrupted(&k.last)
	}
	k.settle(out, ret)
	if out.Unlocked {
		t.openGates()
	}
}

// restartBlock is the result after which the kernel goes on with a call of
// another number.
const restartBlock = -516

// settle writes what became of the call and does what comes after it.
func (k *task) settle(out engine.Outcome, ret int64) {
	r := &k.line
	if out.Replace {
		k.pokeReg(regRAX, uint64(out.Value))
	}
	if out.State != "" {
		r.state, r.returned, r.wasReturned = out.State, ret, true
		r.delivered, r.wasDelivered = ret, !out.Restart
		if out.Replace {
			r.delivered = out.Value
		}
		k.tracer.log.decision(k, r)
	}
	stays := false
	if out.State == engine.Realised {
		stays = k.actLate(r.rule)
		if out.Replace {
			k.raiseSigpipe(r.rule)
		}
	}
	for i := range out.Reached {
		stays = k.reached(&out.Reached[i], ret) || stays
	}
	if !stays {
		k.resume(0)
	}
}

// waitAtGate keeps the thread at the entry of its call until the call in
// flight on the same counter is over.
func (k *task) waitAtGate() {
	t := k.tracer
	k.phase = gated
	t.gated = append(t.gated, k)
	k.setTimer(t.config.GateTimeout, func() {
		t.log.note("gate-timeout", fmt.Sprintf("thread %d waited %s for another call's bytes", k.tid, t.config.GateTimeout))
		t.engine.Overlap(&k.call)
		t.openGates()
	})
}

// openGates asks again about every call that waits, in order of arrival.
func (t *Tracer) openGates() {
	waiting := t.gated
	t.gated = nil
	for _, k := range waiting {
		k.timer.stop()
		k.consult()
	}
}

func (k *task) ring(*engine.Call) {
	k.onExit(func(ret int64) {
		if ret >= 0 && k.proc.role&k.tracer.roles != 0 {
			k.tracer.blind("io-uring", fmt.Sprintf("process %d uses io_uring, whose operations no rule sees", k.proc.tgid))
		}
	})
}

// cloning keeps a new process in sight, and notices shared descriptor tables.
func (k *task) cloning(c *engine.Call) {
	e := edit{register: true, place: uint64(regArgs[0]), old: c.Args[0]}
	if c.Nr == unix.SYS_CLONE3 {
		e = edit{place: c.Args[0]}
		e.old, _ = k.readWord(c.Args[0])
	}
	if e.old&unix.CLONE_FILES != 0 && e.old&unix.CLONE_THREAD == 0 {
		k.tracer.keepObjects = false
	}
	if e.old&unix.CLONE_UNTRACED == 0 {
		return
	}
	k.change(e, e.old&^unix.CLONE_UNTRACED)
	k.onExit(func(int64) {})
	k.tracer.log.note("clone-untraced", fmt.Sprintf("process %d: CLONE_UNTRACED taken off", k.proc.tgid))
}

// ownFilter looks at a filter that the target installs: it may answer calls
// before ours does. With all stops, every call is seen before any filter.
func (k *task) ownFilter(c *engine.Call) {
	header := c.Args[2]
	installs := c.Nr == unix.SYS_SECCOMP && c.Args[0] == unix.SECCOMP_SET_MODE_FILTER ||
		c.Nr == unix.SYS_PRCTL && c.Args[0] == unix.PR_SET_SECCOMP && c.Args[1] == unix.SECCOMP_MODE_FILTER
	if !installs || k.tracer.mode == ModeFull {
		return
	}
	hidden := k.hiddenBy(header)
	k.onExit(func(ret int64) {
		if ret >= 0 && len(hidden) > 0 {
			k.proc.hidden = hidden
			k.tracer.log.note("own-filter", fmt.Sprintf("process %d now decides %s itself", k.proc.tgid, strings.Join(hidden, ",")))
		}
	})
}

// hiddenBy returns the watched calls that a filter in the target's memory
// takes away from us.
func (k *task) hiddenBy(header uint64) []string {
	count, _ := k.readWord(header)
	body, ok := k.readWord(header + 8)
	code := make([]byte, 8*min(count&0xffff, unix.BPF_MAXINSNS))
	if !ok || len(code) == 0 || k.read(body, code) != len(code) {
		return nil
	}
	var out []string
	for _, nr := range k.tracer.engine.Numbers() {
		if hides, err := filter.Hides(filter.Decode(code), nr); err != nil || hides {
			out = append(out, faultinject.SyscallName(nr))
		}
	}
	return out
}
