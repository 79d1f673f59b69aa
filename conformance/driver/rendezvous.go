package driver

import (
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

// scan looks for producers at a new rendezvous, deals with it and continues
// them.
func (a *attempt) scan(now int64) {
	if now < a.nextScan {
		return
	}
	seen := len(a.fates) > 0
	awaited := slices.ContainsFunc(a.rules, func(r rule) bool {
		return !r.done && slices.Contains([]string{scenario.AtRendezvous, scenario.AtChild, scenario.AtGone, scenario.AtReaped,
			scenario.AtCreating, scenario.AtJudged}, r.Trigger.Kind)
	})
	pause := scanSeldom
	switch {
	case awaited || (a.setup.Hold != "" && !a.shown):
		pause = scanSoon
	case !seen:
		pause = scanUnseen
	}
	a.sampleSize()
	a.reapOrphans()
	if !a.exited {
		producers := a.library.producers()
		unjudged := a.awaitsFinalizer(now, len(producers) > 0)
		for _, pid := range producers {
			a.follow(pid)
			if a.library.hasStates && !unjudged {
				a.lookAt(pid)
			}
		}
	}
	a.holdFinalizer()
	a.fire(a.happened)
	a.nextScan = now + int64(pause/time.Nanosecond)
}

// finalizerPatience is how long a producer that has come to a point waits for a
// finalizer whose end a rule wants: one that starts with the sink's end alone is
// waited for in vain.
const finalizerPatience = 2 * time.Second

// awaitsFinalizer looks for a finalizer whose end a rule wants, and says whether
// the producer must wait for it: going on may be the end of it, unseen.
func (a *attempt) awaitsFinalizer(now int64, produces bool) bool {
	if !slices.ContainsFunc(a.rules, func(r rule) bool { return !r.done && r.Trigger.Kind == scenario.AtJudged }) {
		return false
	}
	a.followFinalizer()
	if a.finalizerBy == 0 && produces {
		a.finalizerBy = now + int64(finalizerPatience/time.Nanosecond)
	}
	return len(a.judges) == 0 && now < a.finalizerBy
}

// happened says whether a trigger holds that nothing but looking tells of.
func (a *attempt) happened(t scenario.Trigger) bool {
	switch t.Kind {
	case scenario.AtChild:
		return !a.exited && children(a.pid) > 0
	case scenario.AtGone:
		return allOf(a.fates, fate.ended)
	case scenario.AtReaped:
		return allOf(a.fates, fate.reaped)
	case scenario.AtCreating:
		return slices.ContainsFunc(a.library.producers(), creating)
	case scenario.AtJudged:
		// A point that the producer has come to is dealt with first.
		met := func(r rule) bool { return !r.done && r.Trigger.Kind == scenario.AtRendezvous }
		return !slices.ContainsFunc(a.rules, met) && allOf(a.judges, fate.reaped)
	}
	return false
}

// lookAt deals with one producer, if it has come to a new point and stands
// still there: stopped, or parked where a stop is ignored.
func (a *attempt) lookAt(pid int) {
	base, mapped := a.library.mapped(pid)
	if !mapped {
		return
	}
	s, err := a.library.readState(pid, base)
	letter, _, running := state(pid)
	if err != nil || !running || s.point <= a.handled[pid] || (letter != 'T' && s.parked == 0) {
		return
	}
	if s.point == holdPoint {
		if a.holds(scenario.Producer) {
			a.holdProducer(pid, base)
		}
		return
	}
	a.handled[pid] = s.point
	r := evidence.Rendezvous{PID: pid, Point: s.point, Parked: s.parked != 0, CandidateBytes: s.candidate, SinkBytes: s.sink,
		DiagnosticBytes: s.diagnostic, Words: s.words, WChar: uint64(max(0, counted(pid, "wchar"))),
		PeakRSSBytes: peakResident(pid), OpenDescriptors: openDescriptors(pid)}
	r.UserUS, r.SystemUS = processorTime(pid)
	for _, c := range a.channels {
		switch c.name {
		case scenario.ChannelReport:
			r.ReportRead = c.total
		case scenario.ChannelDiagnostic:
			r.DiagnosticRead = c.total
		}
	}
	a.record.event(r)
	held := a.fire(func(t scenario.Trigger) bool { return t.Kind == scenario.AtRendezvous && t.N == uint64(s.point) })
	if held {
		return
	}
	// One that is just ending has no memory any more, and is no zombie yet.
	if err := a.resume(pid, base, s.point); err != nil && !errors.Is(err, unix.ESRCH) && alive(pid) {
		a.record.fault("continue producer", err)
	}
}

// continueProducer continues a producer that an earlier action held, also one
// that stands at a rendezvous.
func (a *attempt) continueProducer() error {
	pid, check, err := a.role(scenario.Producer)
	if err != nil {
		return err
	}
	base, mapped := a.library.mapped(pid)
	if s, err := a.library.readState(pid, base); mapped && a.library.hasStates && err == nil {
		return a.resume(pid, base, s.point)
	}
	return signalProcess(pid, unix.SIGCONT, check)
}

// resume lets a producer go on from a point: by the word that a parked one
// waits for, which may run on and end at once, and for a stopped one by the
// signal too.
func (a *attempt) resume(pid int, base uint64, point uint32) error {
	if err := a.library.writeState(pid, base, resumeOffset, binary.LittleEndian.AppendUint32(nil, point)); err != nil {
		return err
	}
	if letter, _, running := state(pid); !running || letter != 'T' {
		return nil
	}
	return signalProcess(pid, unix.SIGCONT, func() bool { _, mapped := a.library.mapped(pid); return mapped })
}
