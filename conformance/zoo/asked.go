package zoo

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"touchstone/conformance/certify"
	"touchstone/conformance/oracle"
	"touchstone/conformance/script"
	"touchstone/reports"
)

// enough is how long a record that is killed is asked for its other assertions.
const enough = 90 * time.Second

// errLate says that time ran out before anything could be said of a record.
var errLate = errors.New("out of time")

// asked is a built record while the scripts are run.
type asked struct {
	runner *Runner
	record Mutant
	bench  *certify.Bench
	row    *reports.ZooRecord
	seen   map[string]verdicts // by assertion, over all jobs

	deadline time.Time // after which no job begins
}

// verdicts says what was said of an assertion. One that passed with a note was
// not asked in full on this machine.
type verdicts struct{ passed, failed, undecided, noted bool }

// face runs jobs until each named assertion has failed once. A mistake is asked
// for no more than that; where something was cut short and a named assertion
// did not fail, the job is run once more in full.
func (a *asked) face(jobs []job) error {
	cut, err := a.run(jobs, a.record.Kind != Equivalent)
	if err != nil || len(cut) == 0 || len(a.open()) == 0 {
		return err
	}
	if a.bench, err = a.bench.Beside("in-full"); err != nil {
		return err
	}
	_, err = a.run(cut, false)
	return err
}

// run runs jobs, and says which of them were cut short.
func (a *asked) run(jobs []job, probe bool) (cut []job, err error) {
	started := time.Now()
	for _, j := range jobs {
		open := a.open()
		if a.record.Kind != Equivalent && !j.concerns(open) {
			continue
		}
		late := past(a.deadline)
		if len(a.row.Kills) > 0 && (late || time.Since(started) > enough) {
			a.row.Problem = "not asked for all: " + strings.Join(open, " ")
			return nil, nil
		}
		if late {
			return nil, errLate
		}
		perform := a.perform
		if probe {
			perform = a.probe
		}
		short, err := perform(j)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", a.record.ID, j, err)
		}
		if short {
			cut = append(cut, j)
		}
	}
	return cut, nil
}

func (a *asked) perform(j job) (cut bool, err error) {
	result, err := a.bench.Perform(j.script, j.cell)
	if err != nil {
		return false, err
	}
	a.row.Jobs = append(a.row.Jobs, j.String())
	var unbroken said
	if len(result.Leaks) > 0 || slices.ContainsFunc(result.Findings, func(f script.Finding) bool { return f.Verdict == oracle.Fail || f.Verdict == oracle.Broken }) {
		if unbroken, err = a.runner.say(a.record.Launcher(), j, nil); err != nil {
			return false, err
		}
	}
	a.hear(j, result, unbroken)
	return false, nil
}

// probe runs a job until each named assertion has failed that can fail in it,
// and waits for nothing that hangs. Of what was cut short only failures are
// heard.
func (a *asked) probe(j job) (cut bool, err error) {
	unbroken, err := a.runner.say(a.record.Launcher(), j, j.shown(a.record.CaughtBy))
	if err != nil {
		return false, err
	}
	open := a.open()
	heard := func(f script.Finding) {
		if f.Verdict == oracle.Fail && !unbroken.unsound[f.ID] {
			open = slices.DeleteFunc(open, func(id string) bool { return id == f.ID })
		}
	}
	wanted := func() []string { return open }
	result, cut, err := a.bench.Probe(j.script, j.cell, certify.Probe{Sound: unbroken.took, Wanted: wanted, Heard: heard})
	if err != nil {
		return false, err
	}
	a.row.Jobs = append(a.row.Jobs, j.String())
	if cut {
		result.Findings = slices.DeleteFunc(result.Findings, func(f script.Finding) bool { return f.Verdict != oracle.Fail })
	}
	a.hear(j, result, unbroken)
	return cut, nil
}

// open are the named assertions that have not failed yet.
func (a *asked) open() []string {
	return slices.DeleteFunc(slices.Clone(a.record.CaughtBy), func(id string) bool {
		return slices.ContainsFunc(a.row.Kills, func(k reports.Kill) bool { return k.ID == id })
	})
}

// hear takes in what a script said. What the unbroken launcher fails too says
// nothing.
func (a *asked) hear(j job, result script.Result, unbroken said) {
	for _, f := range result.Findings {
		v := a.seen[f.ID]
		switch {
		case f.Verdict == oracle.Pass:
			v.passed, v.noted = true, v.noted || f.Reason != ""
		case f.Verdict == oracle.Fail && !unbroken.unsound[f.ID]:
			v.failed = true
			a.failed(j, f)
		default:
			v.undecided = v.undecided || f.Verdict != oracle.NotRun
			if f.Verdict == oracle.Fail && slices.Contains(a.record.CaughtBy, f.ID) {
				a.row.Problem = fmt.Sprintf("the unbroken launcher fails %s in %s too: saw %s, wanted %s", f.ID, j, f.Seen+f.Reason, f.Wanted)
			}
		}
		a.seen[f.ID] = v
	}
	if len(result.Leaks) > 0 && !unbroken.unsound[leak] {
		a.other(leak)
	}
}

// leak stands among assertions for what an attempt left behind.
const leak = "leak"

func (a *asked) failed(j job, f script.Finding) {
	if !slices.Contains(a.record.CaughtBy, f.ID) {
		a.other(f.ID)
		return
	}
	if slices.Contains(a.open(), f.ID) {
		a.row.Kills = append(a.row.Kills, reports.Kill{ID: f.ID, Script: j.script.Name, Cell: j.cell.String(), Seen: f.Seen + f.Reason, Wanted: f.Wanted})
	}
}

func (a *asked) other(id string) {
	if !slices.Contains(a.row.Others, id) {
		a.row.Others = append(a.row.Others, id)
	}
}

// conclude reads what was seen against the record. Only a named assertion that
// failed kills.
func (a *asked) conclude() {
	for _, id := range a.open() {
		switch v := a.seen[id]; {
		case v.passed && !v.undecided && !v.noted:
			a.row.Missed = append(a.row.Missed, id)
		default:
			a.row.Undecided = append(a.row.Undecided, id)
		}
	}
	if a.record.Kind == Equivalent {
		a.concludeEquivalent()
		return
	}
	switch {
	case len(a.row.Kills) > 0:
		a.row.State = reports.Killed
	case len(a.row.Others) > 0:
		a.row.State = reports.KilledElsewhere
	default:
		a.row.State = reports.Survived
	}
}

// concludeEquivalent: nothing may fail, nothing may be the suite's own fault,
// and something must have passed.
func (a *asked) concludeEquivalent() {
	var broken []string
	passed := false
	for id, v := range a.seen {
		passed = passed || v.passed
		if v.undecided {
			broken = append(broken, id)
		}
	}
	slices.Sort(broken)
	a.row.State = reports.EquivalentGreen
	switch {
	case len(a.row.Others) > 0:
		a.row.State, a.row.Problem = reports.EquivalentRed, "failed: "+strings.Join(a.row.Others, " ")
	case len(broken) > 0:
		a.row.State, a.row.Problem = reports.EquivalentRed, "broken: "+strings.Join(broken, " ")
	case !passed:
		a.row.State, a.row.Problem = reports.EquivalentRed, "nothing was asked"
	}
}
