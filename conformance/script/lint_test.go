package script

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"touchstone/conformance/scenario"
)

const head = "# T14 Something that can be false (R06, R19)\n"

const sound = "fixture plain\nlaunch\ncheck T14.01 exit 1\n"

func problems(t *testing.T, source string) []string {
	t.Helper()
	s, err := Parse("T14-subject.txtar", []byte(source))
	if err != nil {
		return []string{err.Error()}
	}
	var texts []string
	for _, p := range Lint(s, []string{"plain", "send_candidate"}) {
		texts = append(texts, p.String())
	}
	return texts
}

func TestSoundScriptHasNoProblem(t *testing.T) {
	for _, source := range []string{
		head + sound,
		head + "cells direct/unjailed\n[direct] fixture plain\n[direct] [!jailed] launch\n[!jailed] check T14.01 exit 1\n",
		head + "document d literal \"x\"\nlet n $d_size + 1 - 2\nfixture send_candidate\npayload d\nlimit report=$n\nlaunch each payload=d,d\ncheck T14.02 report equals d\n",
		head + sound + "check T22.01 because \"the same run shows it\" failure none\n",
		head + "inject a: on %write fd report ; do mark\ninject on read role V ; at after a ; do errno EIO\nlaunch\ncheck T14.01 faults 2 fired\nfresh\n" + sound,
		head + "fixture plain a=1\nlaunch\nfixture plain a=2\ncontrol\ncheck T14.01 control-probes ok x\n",
	} {
		if said := problems(t, source); len(said) > 0 {
			t.Errorf("%s\n%v", source, said)
		}
	}
}

// TestLintRefuses: each source has one thing in it that could give a false
// verdict, and what is said of it names the line.
func TestLintRefuses(t *testing.T) {
	for name, c := range map[string]struct{ source, said string }{
		"no heading":             {"launch\n", "1: want"},
		"no rules":               {"# T14 Something\n" + sound, "1: want"},
		"no check":               {head + "fixture plain\nlaunch\n", "no check"},
		"empty":                  {head, "no check"},
		"exec":                   {head + sound + "exec true\n", `5: unknown word "exec"`},
		"stop":                   {head + sound + "stop\n", `unknown word "stop"`},
		"skip":                   {head + sound + "skip\n", `unknown word "skip"`},
		"cmp":                    {head + sound + "cmp a b\n", `unknown word "cmp"`},
		"env":                    {head + sound + "env A=1\n", `unknown word "env"`},
		"negation":               {head + sound + "! check T14.02 exit 1\n", "no negation"},
		"condition of the host":  {head + sound + "[linux] check T14.02 exit 1\n", "unknown condition [linux]"},
		"condition alone":        {head + sound + "[direct]\n", "a condition without a verb"},
		"unknown id":             {head + "launch\ncheck T14.99 exit 1\n", "unknown assertion T14.99"},
		"id of another test":     {head + "launch\ncheck T22.01 exit 1\n", "T22.01 is not of T14"},
		"because without reason": {head + "launch\ncheck T22.01 because \" \" exit 1\n", "want because"},
		"unknown noun":           {head + "launch\ncheck T14.01 exitt 1\n", `unknown noun "exitt"`},
		"malformed noun":         {head + "launch\ncheck T14.01 exit one\n", "usage: exit N"},
		"check before launch":    {head + "check T14.01 exit 1\nlaunch\n", "before the first launch"},
		"undefined variable":     {head + "limit report=$n\n" + sound, "$n is not set"},
		"undefined size":         {head + "limit report=$whole_size\n" + sound, "$whole_size is not set"},
		"undefined document":     {head + "launch\ncheck T14.01 report equals whole\n", `no document "whole"`},
		"undefined prefix":       {head + "launch\ncheck T14.01 channel candidate sha256=prefix:whole:3\n", `no document "whole"`},
		"undefined payload":      {head + "payload whole\n" + sound, `no document "whole"`},
		"unknown fixture":        {head + "fixture plane\nlaunch\ncheck T14.01 exit 1\n", `unknown fixture "plane"`},
		"setting without launch": {head + sound + "limit report=1\n", "no launch follows"},
		"fault not counted":      {head + "inject on write fd report ; do short 1\n" + sound, "no check shows the faults"},
		"fault counted late":     {head + "inject on write fd report ; do short 1\nlaunch\nfresh\nlaunch\ncheck T14.01 faults 1 fired\n", "3: no check shows the faults"},
		"faults miscounted":      {head + "inject on write fd report ; do short 1\nlaunch\ncheck T14.01 faults 2 fired\n", "the rules are 1"},
		"fault of an unknown fd": {head + "inject on write fd R ; do short 1\n" + sound, "inject"},
		"fault that is no rule":  {head + "inject write report short\n" + sound, "inject"},
		"archive file":           {head + sound + "-- a --\n", "no source or document line reads it"},
		"archive file twice":     {head + sound + "-- a --\n-- a --\n", "stands twice"},
		"malformed verb":         {head + "limit report\n" + sound, "want key=value"},
		"endpoint kind":          {head + "endpoint report=tube\n" + sound, "none of"},
		"endpoint of itself":     {head + "endpoint report=same:report\n" + sound, "want another"},
		"admission":              {head + "admission late\n" + sound, "none of"},
		"deprive":                {head + "deprive sleep\n" + sound, "none of"},
		"endpoint number":        {head + "number terminal=1\n" + sound, "not in 3..1023"},
		"negotiate":              {head + "negotiate wall=1\n" + sound, "none of"},
		"negotiate without":      {head + "negotiate without\n" + sound, "want channel or terminal"},
		"unknown knob":           {head + "limit sky=1\n" + sound, "none of"},
		"too many attempts":      {head + "launch times=401\ncheck T14.01 exit 1\n", "want 1..400"},
		"each without option":    {head + "launch each knob=wall\ncheck T14.01 exit 1\n", "go together"},
		"unknown trigger":        {head + "at noon kill producer\n" + sound, "unknown trigger"},
		"unknown action":         {head + "at spawn hug producer\n" + sound, "unknown action"},
		"unknown operation":      {head + "document d reference shuffle\n" + sound, "unknown operation"},
		"unterminated":           {head + "document d literal \"x\n" + sound, "unterminated"},
	} {
		said := strings.Join(problems(t, c.source), "\n")
		if !strings.Contains(said, c.said) {
			t.Errorf("%s: said %q, want %q in it", name, said, c.said)
		}
	}
}

func TestFileNameBelongsToTheTest(t *testing.T) {
	s, err := Parse("T4-subject.txtar", []byte("# T4 Something (R06)\nlaunch\ncheck T4.01 exit 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	if said := Lint(s, nil); len(said) != 1 || !strings.Contains(said[0].Text, "T04-subject.txtar") {
		t.Errorf("said %v", said)
	}
}

func TestPlannedIDsFollowConditions(t *testing.T) {
	s, err := Parse("T01-x.txtar", []byte("# T1 Something (R01)\nlaunch\n[unjailed] check T1.01 exit 0\n[jailed] check T1.03 exit 0\n"+
		"[!entrypoint] check T1.17 exit 0\ncheck T1.17 success\n"))
	if err != nil {
		t.Fatal(err)
	}
	for cell, wanted := range map[scenario.Cell][]string{
		{Facade: "direct", Profile: "unjailed"}:   {"T1.01", "T1.17"},
		{Facade: "direct", Profile: "jailed"}:     {"T1.03", "T1.17"},
		{Facade: "entrypoint", Profile: "jailed"}: {"T1.03", "T1.17"},
	} {
		if got := s.Planned(cell); !slices.Equal(got, wanted) {
			t.Errorf("%s: got %v, want %v", cell, got, wanted)
		}
	}
}

func TestCellsNarrow(t *testing.T) {
	all := []scenario.Cell{{Facade: "direct", Profile: "unjailed"}, {Facade: "direct", Profile: "jailed"}}
	s, err := Parse("T01-x.txtar", []byte("# T1 Something (R01)\ncells direct/jailed entrypoint/jailed\nlaunch\ncheck T1.17 exit 0\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Cells(all); len(got) != 1 || got[0] != all[1] {
		t.Errorf("got %v", got)
	}
}

// TestCellsWithoutALineAreThoseOfDirect: a facade's name alone stands for its cells.
func TestCellsWithoutALineAreThoseOfDirect(t *testing.T) {
	all := []scenario.Cell{{Facade: "direct", Profile: "unjailed"}, {Facade: "entrypoint", Profile: "unjailed"}, {Facade: "entrypoint", Profile: "jailed"}}
	for line, want := range map[string][]scenario.Cell{"": all[:1], "cells entrypoint\n": all[1:], "cells direct entrypoint/jailed\n": {all[0], all[2]}} {
		s, err := Parse("T01-x.txtar", []byte("# T1 Something (R01)\n"+line+"launch\ncheck T1.17 exit 0\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Cells(all); !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", line, got, want)
		}
	}
}

// TestSourceIsAFileOfTheScript: both ways round.
func TestSourceIsAFileOfTheScript(t *testing.T) {
	head := "# T5 Something (R04)\nsource a.cpp\nlaunch\ncheck T5.04 exit 0\n"
	for name, c := range map[string]struct{ text, want string }{
		"sound":    {head + "-- a.cpp --\nint x;\n", ""},
		"no file":  {head, `no archive file "a.cpp"`},
		"not read": {head + "-- a.cpp --\nint x;\n-- b.cpp --\n", `archive file "b.cpp": no source or document line reads it`},
		"no code":  {"# T5 Something (R04)\nsource a.txt\nlaunch\ncheck T5.04 exit 0\n", "want NAME.cpp or NAME.pine"},
	} {
		s, err := Parse("T05-x.txtar", []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		problems := fmt.Sprint(Lint(s, nil))
		if (c.want == "" && problems != "[]") || !strings.Contains(problems, c.want) {
			t.Errorf("%s: got %s, want %q", name, problems, c.want)
		}
	}
}
