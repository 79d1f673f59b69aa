package certify

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"touchstone/conformance/capsule"
	"touchstone/conformance/certificate"
	"touchstone/conformance/evidence"
	"touchstone/conformance/oracle"
	"touchstone/conformance/scenario"
	"touchstone/reports"
)

// capsuleFolder holds a capsule of each script and cell that did not pass.
const capsuleFolder = "capsules"

// capsuleName is the capsule of a script in a cell, relative to the run folder.
func capsuleName(cell scenario.Cell, script string) string {
	return filepath.Join(capsuleFolder, filepath.Base(filepath.Dir(filepath.Dir(folder("", scenario.Scenario{Cell: cell, Script: script})))), script+".txtar")
}

// verdicts are what one job says of every id that it spoke of, in the order of
// assertions.tsv, gaps applied as the report applies them.
func (t tally) verdicts(o outcome) []capsule.Verdict {
	worst := map[string]place{}
	for _, f := range o.Findings {
		if w, seen := worst[f.ID]; !seen || rank(f.Verdict) > rank(w.Verdict) {
			worst[f.ID] = place{f, o.Script}
		}
	}
	all := []capsule.Verdict{}
	for _, id := range inOrder(worst) {
		a := t.assertion(key{o.Cell, id}, []place{worst[id]})
		v := capsule.Verdict{ID: id, Rule: a.Rule, Expected: reports.Pass, Seen: a.Verdict, Line: worst[id].Line, Reason: t.relative(a.Reason)}
		if a.Verdict == reports.ExpectedFail || a.Verdict == reports.UnexpectedPass || a.Verdict == reports.WrongFail {
			v.Expected = reports.ExpectedFail
		}
		if worst[id].Verdict == oracle.Fail {
			v.Saw, v.Wanted = t.relative(worst[id].Seen), t.relative(worst[id].Wanted)
		}
		all = append(all, v)
	}
	return all
}

// passed says that a job leaves nothing to run again.
func passed(verdicts []capsule.Verdict, leaks int) bool {
	return leaks == 0 && !slices.ContainsFunc(verdicts, func(v capsule.Verdict) bool { return v.Seen != reports.Pass })
}

// encapsulate writes a capsule of each job that did not pass.
func (t tally) encapsulate(r reports.Report, about certificate.Subject) error {
	for _, o := range t.outcomes {
		verdicts := t.verdicts(o)
		if passed(verdicts, len(o.Leaks)) {
			continue
		}
		c := t.capsule(o, verdicts, r, about)
		text, err := capsule.Encode(c)
		path := filepath.Join(t.root, capsuleName(o.Cell, o.Script))
		if err == nil {
			err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, text, 0o644))
		}
		if err != nil {
			return fmt.Errorf("write capsule: %w", err)
		}
	}
	return nil
}

func (t tally) capsule(o outcome, verdicts []capsule.Verdict, r reports.Report, about certificate.Subject) capsule.Capsule {
	c := capsule.Capsule{Head: capsule.Head{
		RunID: r.RunID, Started: r.Started, Script: o.Script, Test: o.test, Cell: o.Cell,
		Launcher: capsule.Launcher{Name: r.Launcher.Name, Request: t.selection.Request.Launcher, SHA256: r.Launcher.SHA256, Binaries: about.Launcher.Binaries},
		Suite: capsule.Suite{Version: r.Suite.Version, Commit: r.Suite.Commit, Program: about.Suite.Program, Attempt: about.Suite.Attempt,
			Fixtures: listDigest(about.Suite.Fixtures)},
		Seeds: []string{}, Attempts: []string{}, Attempt: -1, Verdicts: verdicts, Leaks: []string{},
	}}
	for _, one := range t.selection.Scripts {
		if one.Name == o.Script {
			c.Source = one.Source
		}
	}
	for _, l := range o.Leaks {
		c.Leaks = append(c.Leaks, t.relative(l.What))
	}
	for _, dir := range o.Attempts {
		c.Attempts = append(c.Attempts, t.relative(dir))
		c.Seeds = append(c.Seeds, seedOf(dir))
	}
	t.addScenario(&c, blamed(o))
	return c
}

// listDigest is one digest for many.
func listDigest(digests map[string]string) string {
	var list strings.Builder
	for _, name := range slices.Sorted(maps.Keys(digests)) {
		fmt.Fprintf(&list, "%s  %s\n", digests[name], name)
	}
	return capsule.Digest([]byte(list.String()))
}

// blamed is the folder of the attempt that a job did not pass by: of its worst
// finding, of its first leak, or the first one; "" where none was made.
func blamed(o outcome) string {
	worst := place{}
	for _, f := range o.Findings {
		if f.Attempt != "" && f.Verdict != oracle.Pass && rank(f.Verdict) > rank(worst.Verdict) {
			worst = place{f, o.Script}
		}
	}
	switch {
	case worst.Attempt != "":
		return worst.Attempt
	case len(o.Leaks) > 0:
		return o.Leaks[0].Attempt
	case len(o.Attempts) > 0:
		return o.Attempts[0]
	}
	return ""
}

// seedOf is what drew an attempt's descriptor numbers; "" where it is not known.
func seedOf(dir string) string {
	var launch evidence.Launch
	text, err := os.ReadFile(filepath.Join(dir, evidence.LaunchFile))
	if err != nil || json.Unmarshal(text, &launch) != nil {
		return "" // the replay draws anew
	}
	return launch.Seed
}

// addScenario adds what was asked of an attempt, where its folder tells.
func (t tally) addScenario(c *capsule.Capsule, dir string) {
	text, err := os.ReadFile(filepath.Join(dir, evidence.ScenarioFile))
	var s struct {
		Number int      `json:"number"`
		Faults []string `json:"faults"`
	}
	if dir == "" || err != nil || json.Unmarshal(text, &s) != nil {
		return
	}
	c.Scenario, c.Faults, c.Attempt = jsontext.Value(text), s.Faults, s.Number
	if number, err := strconv.Atoi(filepath.Base(dir)); err != nil || number != s.Number {
		c.Attempt = -1 // a reference's
	}
}
