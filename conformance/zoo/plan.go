package zoo

import (
	"fmt"
	"slices"
	"strings"

	"touchstone/conformance/certify"
	"touchstone/conformance/scenario"
	"touchstone/conformance/script"
)

// job is one script in one cell.
type job struct {
	script script.Script
	cell   scenario.Cell
}

func (j job) String() string { return j.script.Name + " " + j.cell.String() }

// suite is what the scripts ask of one launcher.
type suite struct {
	scripts []script.Script
	cells   map[string][]scenario.Cell // of each script
}

func newSuite(s certify.Selection) suite { return suite{s.Scripts, s.Jobs()} }

// jobs are what a record has to face. first are enough where they catch it:
// each script in one cell, unjailed and direct if it runs there; rest are the
// other cells. A script is asked for that is named, or that checks a named
// assertion.
func (s suite) jobs(m Mutant) (first, rest []job, err error) {
	for _, one := range s.scripts {
		if len(m.Scripts) > 0 && !slices.Contains(m.Scripts, one.Name) {
			continue
		}
		var own []job
		for _, cell := range s.cells[one.Name] {
			if m.wants(cell) && (len(m.Scripts) > 0 || concerns(one, cell, m.CaughtBy)) {
				own = append(own, job{one, cell})
			}
		}
		slices.SortStableFunc(own, func(a, b job) int { return nearness(a.cell) - nearness(b.cell) })
		if len(own) > 0 {
			first, rest = append(first, own[0]), append(rest, own[1:]...)
		}
	}
	for _, name := range m.Scripts {
		if !slices.ContainsFunc(first, func(j job) bool { return j.script.Name == name }) {
			return nil, nil, fmt.Errorf("%w %s: script %s does not run", ErrDead, m.ID, name)
		}
	}
	if len(first) == 0 {
		return nil, nil, fmt.Errorf("%w %s: no script checks %s", ErrDead, m.ID, strings.Join(m.CaughtBy, ", "))
	}
	return first, rest, nil
}

func (m Mutant) wants(cell scenario.Cell) bool {
	return (m.Facade == "" || m.Facade == cell.Facade) && (m.Profile == "" || m.Profile == cell.Profile)
}

// concerns tells whether a script checks one of the assertions in a cell.
func concerns(s script.Script, cell scenario.Cell, ids []string) bool {
	planned := s.Planned(cell)
	return slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(planned, id) })
}

// concerns tells whether a job may show one of the assertions, those of every
// attempt among them.
func (j job) concerns(ids []string) bool {
	return concerns(j.script, j.cell, ids) || slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(certify.UniversalIDs(), id) })
}

// shown are those of the assertions that a job may show.
func (j job) shown(ids []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !j.concerns([]string{id}) })
}

// nearness orders cells: the plain one first.
func nearness(c scenario.Cell) int {
	n := 0
	if c.Profile != "unjailed" {
		n += 2
	}
	if c.Facade != "direct" {
		n++
	}
	return n
}
