package zoo

import (
	"slices"
	"testing"

	"touchstone/conformance/certify"
)

// TestScriptsCanKill: for each assertion that a record names, one of the
// scripts that it faces first checks it, in the cell in which it is run, or it
// is checked of every attempt. Another cell is asked only where nothing killed.
func TestScriptsCanKill(t *testing.T) {
	all, err := LoadAll(root)
	if err != nil {
		t.Fatal(err)
	}
	suites := map[string]suite{}
	for _, m := range all {
		if _, known := suites[m.Launcher()]; !known {
			selection, err := certify.Select(root, certify.Request{Launcher: m.Launcher()})
			if err != nil {
				t.Fatal(err)
			}
			suites[m.Launcher()] = newSuite(selection)
		}
		for _, id := range unasked(suites[m.Launcher()], m) {
			t.Errorf("%s: no script that it faces first can show %s", m.ID, id)
		}
	}
}

// unasked are the named assertions that no first job of a record may show.
func unasked(s suite, m Mutant) []string {
	first, _, err := s.jobs(m)
	return slices.DeleteFunc(slices.Clone(m.CaughtBy), func(id string) bool {
		return err == nil && slices.ContainsFunc(first, func(j job) bool { return j.concerns([]string{id}) })
	})
}

func TestUnaskedIsTold(t *testing.T) {
	selection, err := certify.Select(root, certify.Request{Launcher: "reference"})
	if err != nil {
		t.Fatal(err)
	}
	s := newSuite(selection)
	for name, c := range map[string]struct {
		record Mutant
		told   string
	}{
		"its own script":       {Mutant{CaughtBy: []string{"T18.11"}}, ""},
		"of every attempt":     {Mutant{CaughtBy: []string{"T18.11", "T1.44"}}, ""},
		"another's script":     {Mutant{CaughtBy: []string{"T18.11", "T22.20"}, Scripts: []string{"T18-report-stalls"}}, "T22.20"},
		"another cell":         {Mutant{CaughtBy: []string{"T1.83"}, Scripts: []string{"T01-jailed-path-sink"}, Profile: "unjailed"}, "T1.83"},
		"a script that is not": {Mutant{CaughtBy: []string{"T18.11"}, Scripts: []string{"T18-nothing"}}, "T18.11"},
	} {
		var told string
		for _, id := range unasked(s, c.record) {
			told += id
		}
		if told != c.told {
			t.Errorf("%s: told %q, want %q", name, told, c.told)
		}
	}
}
