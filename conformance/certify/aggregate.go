package certify

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"touchstone/conformance/capsule"
	"touchstone/conformance/launcherfile"
	"touchstone/conformance/oracle"
	"touchstone/conformance/scenario"
	"touchstone/conformance/script"
	"touchstone/contracts"
	"touchstone/reports"
)

// everyAttempt is the row of the universal assertions in the table of tests.
const everyAttempt = "every-attempt"

// outcome is one job with what it found.
type outcome struct {
	script.Result
	test     string
	seconds  float64
	attempts float64 // seconds of them that its attempts took
	cpu      float64 // seconds of the processor that the launcher had in them
}

// tally adds up verdicts. Planned ids are known before anything ran, so that
// what was never reached shows as such.
type tally struct {
	selection Selection
	outcomes  []outcome
	blocked   string
	root      string // run folder, which finding paths are made relative to
	today     string // YYYY-MM-DD, for the expiry of gaps
}

// key is one assertion in one cell.
type key struct {
	cell scenario.Cell
	id   string
}

// fill computes assertions, tests, leaks, totals and the conclusion.
func (t tally) fill(r *reports.Report) {
	byKey := t.findings()
	for _, cell := range t.selection.cells {
		for _, id := range t.told(cell, byKey) {
			r.Assertions = append(r.Assertions, t.assertion(key{cell, id}, byKey[key{cell, id}]))
		}
	}
	t.leaks(r)
	t.scripts(r)
	for _, a := range r.Assertions {
		r.Totals.Count(a.Verdict)
	}
	r.Totals.Leaks = len(r.Leaks)
	r.Tests = tests(r.Assertions)
	r.Stale = t.stale(r.Assertions)
	r.Blocked = t.blocked
	conclude(r)
}

// place is a finding with the job it comes from.
type place struct {
	script.Finding
	script string
}

func (t tally) findings() map[key][]place {
	all := map[key][]place{}
	for _, o := range t.outcomes {
		for _, f := range o.Findings {
			if f.Line == 0 && f.Verdict == oracle.Pass && oracle.ByChance(f.ID) {
				continue // or two runs of one launcher would differ in what they show
			}
			k := key{o.Cell, f.ID}
			all[k] = append(all[k], place{f, o.Script})
		}
	}
	return all
}

// told are the planned ids of a cell, and what failed by chance.
func (t tally) told(cell scenario.Cell, found map[key][]place) []string {
	ids := map[string]bool{}
	for _, id := range t.planned(cell) {
		ids[id] = true
	}
	for k := range found {
		if k.cell == cell && oracle.ByChance(k.id) {
			ids[k.id] = true
		}
	}
	return inOrder(ids)
}

// planned are the ids of a cell in the order of assertions.tsv.
func (t tally) planned(cell scenario.Cell) []string {
	wanted := map[string]bool{}
	for _, id := range oracle.UniversalIDs() {
		if !oracle.ByChance(id) {
			wanted[id] = true
		}
	}
	for _, j := range t.selection.jobs {
		if j.cell == cell {
			for _, id := range j.script.Planned(cell) {
				wanted[id] = true
			}
		}
	}
	return inOrder(wanted)
}

// inOrder are the keys, ids, in the order of assertions.tsv.
func inOrder[V any](ids map[string]V) []string {
	var ordered []string
	for _, a := range contracts.Assertions() {
		if _, wanted := ids[a.ID]; wanted {
			ordered = append(ordered, a.ID)
		}
	}
	return ordered
}

// assertion adds up everything that was said of one assertion in one cell:
// fail before broken before not-run before pass.
func (t tally) assertion(k key, places []place) reports.Assertion {
	a := reports.Assertion{ID: k.id, Rule: oracle.Rule(k.id), Cell: k.cell.String(), Checks: len(places), Findings: []reports.Finding{},
		Universal: !slices.ContainsFunc(places, func(p place) bool { return p.Line > 0 }) && slices.Contains(oracle.UniversalIDs(), k.id)}
	worst := place{}
	for _, p := range places {
		noted := p.Verdict == oracle.Pass && p.Reason != "" && worst.Reason == ""
		if rank(p.Verdict) > rank(worst.Verdict) || (noted && worst.Verdict == oracle.Pass) {
			worst = p
		}
		if p.Verdict != oracle.Pass {
			a.Findings = fold(a.Findings, t.finding(p))
		}
	}
	a.Verdict, a.Reason = string(worst.Verdict), worst.Reason
	switch {
	case t.blocked != "":
		a.Verdict, a.Reason, a.Lacks = reports.NotRun, t.blocked, reports.LacksRights
	case len(places) == 0:
		a.Verdict, a.Reason, a.Lacks = reports.NotRun, "no attempt of this cell could show it", reports.LacksOccurrence
	case a.Verdict == reports.NotRun:
		a.Lacks = lacks(a.Reason)
	}
	t.declare(&a)
	if a.Verdict != reports.Pass && worst.script != "" {
		a.Replay, a.Capsule = t.replay(k.cell, worst.script), capsuleName(k.cell, worst.script)
	}
	return a
}

// fold adds a finding, or counts it with one of the same script that says the same.
func fold(all []reports.Finding, f reports.Finding) []reports.Finding {
	says := func(f reports.Finding) [5]string { return [5]string{f.Script, f.Verdict, f.Seen, f.Wanted, f.Reason} }
	for i := range all {
		if says(all[i]) == says(f) {
			all[i].Count++
			if len(all[i].Also) < maxFindings {
				all[i].Also = append(all[i].Also, f.Attempt)
			}
			return all
		}
	}
	if len(all) == maxFindings {
		return all
	}
	return append(all, f)
}

// maxFindings bounds what one assertion carries into the report.
const maxFindings = 20

func rank(v oracle.Verdict) int {
	return slices.Index([]oracle.Verdict{"", oracle.Pass, oracle.NotRun, oracle.Broken, oracle.Fail}, v)
}

func lacks(reason string) string {
	switch {
	case strings.Contains(reason, "needs a kernel"):
		return reports.LacksFeature
	case strings.Contains(reason, launcherfile.Demanded):
		return reports.LacksDemanded
	}
	return reports.LacksLauncher
}

func (t tally) finding(p place) reports.Finding {
	return reports.Finding{Script: p.script, Line: p.Line, Phase: p.Phase, Verdict: string(p.Verdict),
		Seen: t.relative(p.Seen), Wanted: t.relative(p.Wanted), Reason: t.relative(p.Reason), Attempt: t.relative(p.Attempt), Count: 1,
		Members: append([]string{}, p.Members...), Also: []string{}}
}

// relative takes the run folder out of a text, so that a copied run says the same.
func (t tally) relative(text string) string {
	return strings.ReplaceAll(text, t.root+string(filepath.Separator), "")
}

// replay is the command that runs one script again.
func (t tally) replay(cell scenario.Cell, script string) string {
	return fmt.Sprintf("scripts/certify --launcher %s --tests %s --facade %s --profile %s", shellWord(t.selection.Request.Launcher), script, cell.Facade, cell.Profile)
}

// shellWord is a word as a shell reads it back.
func shellWord(word string) string {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_./,:+@%=", r)
	}
	if word != "" && strings.TrimFunc(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// excusable says whether a gap may be declared for an assertion: not for those
// of every attempt, and not for the isolation that all others rest on.
func excusable(id string) bool {
	return contracts.TestOf(id) != "T22" && !slices.Contains(oracle.UniversalIDs(), id)
}

// declare applies a declared gap. Broken and not-run stay what they are: they
// say nothing of the gap.
func (t tally) declare(a *reports.Assertion) {
	i := slices.IndexFunc(t.selection.File.Gap, func(g launcherfile.Gap) bool { return g.ID == a.ID })
	if i < 0 {
		return
	}
	gap := t.selection.File.Gap[i]
	switch {
	case a.Verdict == reports.Pass:
		a.Verdict, a.Reason = reports.UnexpectedPass, "declared as a gap, but it passes: "+gap.Reason
	case a.Verdict == reports.Fail && !excusable(a.ID):
		a.Reason = "declared as a gap, but no launcher is excused from it: " + gap.Reason
	case a.Verdict == reports.Fail && gap.Expiry < t.today:
		a.Verdict, a.Reason = reports.WrongFail, fmt.Sprintf("the declaration of %s expired on %s: %s", gap.Owner, gap.Expiry, gap.Reason)
	case a.Verdict == reports.Fail:
		a.Verdict, a.Reason = reports.ExpectedFail, fmt.Sprintf("declared by %s until %s: %s", gap.Owner, gap.Expiry, gap.Reason)
	}
}

// stale are the gaps that nothing planned speaks of. A narrowed run cannot
// know, and says nothing.
func (t tally) stale(all []reports.Assertion) []reports.StaleGap {
	stale := []reports.StaleGap{}
	narrowed := len(t.selection.Request.Tests) > 0 || t.selection.Request.Facade != "" || t.selection.Request.Profile != ""
	for _, g := range t.selection.File.Gap {
		planned := slices.ContainsFunc(all, func(a reports.Assertion) bool { return a.ID == g.ID })
		if !planned && !narrowed {
			stale = append(stale, reports.StaleGap{ID: g.ID, Reason: "declared, but no script checks it"})
		}
	}
	return stale
}

func (t tally) leaks(r *reports.Report) {
	r.Leaks = []reports.Leak{}
	for _, o := range t.outcomes {
		for _, l := range o.Leaks {
			r.Leaks = append(r.Leaks, reports.Leak{Cell: o.Cell.String(), Script: o.Script, Attempt: t.relative(l.Attempt),
				What: t.relative(l.What), Replay: t.replay(o.Cell, o.Script), Capsule: capsuleName(o.Cell, o.Script)})
		}
	}
}

func (t tally) scripts(r *reports.Report) {
	r.Scripts = []reports.Script{}
	for _, o := range t.outcomes {
		verdicts := t.verdicts(o)
		s := reports.Script{Script: o.Script, Test: o.test, Cell: o.Cell.String(), Seconds: o.seconds, AttemptSeconds: o.attempts, CPUSeconds: o.cpu, Attempts: []string{}, Verdict: worstVerdict(verdicts)}
		if !passed(verdicts, len(o.Leaks)) {
			s.Capsule = capsuleName(o.Cell, o.Script)
		}
		for _, dir := range o.Attempts {
			s.Attempts = append(s.Attempts, t.relative(dir))
		}
		r.Scripts = append(r.Scripts, s)
		r.Totals.Attempts += len(s.Attempts)
	}
}

// worstVerdict is the worst of a script's in a cell.
func worstVerdict(verdicts []capsule.Verdict) string {
	var t reports.Totals
	for _, v := range verdicts {
		t.Count(v.Seen)
	}
	return t.Worst()
}

// tests adds assertions up by test, in the order of first appearance; what only
// the checks of every attempt spoke of has a row of its own.
func tests(all []reports.Assertion) []reports.Test {
	var rows []reports.Test
	index := map[string]int{}
	for _, a := range all {
		name := contracts.TestOf(a.ID)
		if a.Universal || (a.Checks == 0 && slices.Contains(oracle.UniversalIDs(), a.ID)) {
			name = everyAttempt
		}
		i, seen := index[name]
		if !seen {
			i = len(rows)
			index[name] = i
			rows = append(rows, reports.Test{Test: name})
		}
		rows[i].Totals.Count(a.Verdict)
	}
	for i := range rows {
		rows[i].Verdict = rows[i].Totals.Worst()
	}
	return rows
}

// The exit statuses of certify.
const (
	Conforming    = 0
	NotConforming = 1
	Undecided     = 2
	Stale         = 3
	Usage         = 64
	Internal      = 70
	Interrupted   = 130 // a signal, or a reader that went away, cut it short
)

// conclude gives a run its exit status. Proof of a violation outweighs what is
// undecided; only a run with neither may be stopped by stale declarations.
func conclude(r *reports.Report) {
	t := r.Totals
	unasked := slices.ContainsFunc(r.Assertions, func(a reports.Assertion) bool {
		return a.Verdict == reports.NotRun && (a.Lacks == reports.LacksRights || a.Lacks == reports.LacksDemanded)
	})
	switch {
	case t.Fail > 0 || t.Leaks > 0:
		r.ExitStatus, r.Conclusion = NotConforming, "not conforming"
	case t.Broken > 0 || unasked || t.Pass+t.ExpectedFail == 0:
		r.ExitStatus, r.Conclusion = Undecided, "undecided"
	case t.UnexpectedPass > 0 || t.WrongFail > 0 || len(r.Stale) > 0:
		r.ExitStatus, r.Conclusion = Stale, "stale declarations"
	default:
		r.ExitStatus, r.Conclusion = Conforming, "conforming"
		r.Full = t.Pass == t.Planned
	}
}
