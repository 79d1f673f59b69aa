package certify

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
	"touchstone/conformance/script"
)

// Probe asks a launcher that is known to be broken for a few assertions, and
// does not wait longer for it than it has to.
type Probe struct {
	// Sound is how long the attempts of the script in this cell took with a
	// launcher that is not broken.
	Sound Durations
	// Wanted are the assertions that are still asked for. No launch is made that
	// shows none of them.
	Wanted func() []string
	// Heard hears each finding, and may take what it says from Wanted.
	Heard func(script.Finding)
}

// Durations is, by scenario, the longest that such an attempt took from the
// start of its launcher to its exit, in milliseconds.
type Durations map[string]uint64

// like is a name for all scenarios that ask the same.
func like(s scenario.Scenario) string {
	s.Number = 0
	text, err := scenario.Encode(s)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// slowMarginMS is how much longer than twice what is usual an attempt may take
// that is worth to be made again.
const slowMarginMS = 3_000

// Probe runs one script in one cell as Perform does, except that
//   - no launch is made that shows nothing that is wanted;
//   - an attempt that hangs is ended at its scenario's BriefLimit;
//   - after one that hung or was slow, the rest of its launch line is left out.
//
// What failed has failed: a check that fails for some attempts of a line fails
// for all of them. Where cut is true, what passed or was not reached says nothing.
func (b *Bench) Probe(s script.Script, cell scenario.Cell, p Probe) (result script.Result, cut bool, err error) {
	if err := b.compile(s.Fixtures()); err != nil {
		return script.Result{}, false, err
	}
	asking := &probing{live: b.attempts, Probe: p, slack: b.selection.File.Tolerance.SlackMS}
	result = script.Run(s, cell, b.selection.File, asking, b.work)
	return result, asking.cut, nil
}

// probing is a script.Asker.
type probing struct {
	*live
	Probe
	slack uint64 // of the launcher file, in milliseconds
	sound uint64 // of the last attempt
	cut   bool
}

func (p *probing) Run(s scenario.Scenario, payload []byte) (*evidence.Attempt, error) {
	sound, known := p.Sound[like(s)]
	p.sound = sound
	if !known {
		return p.within(0, s, payload)
	}
	return p.within(s.BriefLimit(p.slack, sound), s, payload)
}

func (p *probing) Wants(ids []string) bool {
	wanted := shows(ids, p.Wanted())
	p.cut = p.cut || !wanted
	return wanted
}

// shows tells whether a launch of which ids are checked shows something that is
// wanted; of every attempt some are checked unasked.
func shows(ids, wanted []string) bool {
	ids = slices.Concat(ids, UniversalIDs())
	return slices.ContainsFunc(wanted, func(id string) bool { return slices.Contains(ids, id) })
}

func (p *probing) Heard(f script.Finding) { p.Probe.Heard(f) }

func (p *probing) Suffices(a *evidence.Attempt) bool {
	_, hung := evidence.First[evidence.Watchdog](a)
	took, _ := a.Elapsed()
	long := hung || uint64(took.Milliseconds()) > 2*p.sound+slowMarginMS
	p.cut = p.cut || long
	return long
}

// Measure is Perform, for the launches that show something that is wanted, nil
// for all, and says how long the attempts took.
func (b *Bench) Measure(s script.Script, cell scenario.Cell, wanted []string) (script.Result, Durations, error) {
	if err := b.compile(s.Fixtures()); err != nil {
		return script.Result{}, nil, err
	}
	watch := &stopwatch{b.attempts, wanted, Durations{}}
	return script.Run(s, cell, b.selection.File, watch, b.work), watch.longest, nil
}

// stopwatch is a script.Asker that leaves no attempt of a launch line out.
type stopwatch struct {
	*live
	wanted  []string
	longest Durations
}

func (w *stopwatch) Wants(ids []string) bool { return w.wanted == nil || shows(ids, w.wanted) }

func (w *stopwatch) Heard(script.Finding) {}

func (w *stopwatch) Suffices(*evidence.Attempt) bool { return false }

func (w *stopwatch) Run(s scenario.Scenario, payload []byte) (*evidence.Attempt, error) {
	a, err := w.live.Run(s, payload)
	if err != nil {
		return nil, err
	}
	took, _ := a.Elapsed()
	w.longest[like(s)] = max(w.longest[like(s)], uint64(took.Milliseconds()))
	return a, nil
}
