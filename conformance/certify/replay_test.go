package certify

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchstone/conformance/capsule"
	"touchstone/conformance/oracle"
	"touchstone/conformance/scenario"
	"touchstone/reports"
)

func verdict(id, seen string, line int) capsule.Verdict {
	return capsule.Verdict{ID: id, Expected: reports.Pass, Seen: seen, Line: line}
}

func TestReplayOutcomes(t *testing.T) {
	was := []capsule.Verdict{verdict("T14.01", reports.Pass, 3), verdict("T14.02", reports.Fail, 4)}
	for name, c := range map[string]struct {
		now   []capsule.Verdict
		leaks int
		want  int
	}{
		"everything passed":             {nil, 0, ReplayPassed},
		"the same":                      {was, 0, ReplaySame},
		"the same and a leak":           {was, 1, ReplayOther},
		"a leak only":                   {nil, 1, ReplayOther},
		"another line":                  {[]capsule.Verdict{verdict("T14.02", reports.Fail, 9)}, 0, ReplayOther},
		"another assertion":             {[]capsule.Verdict{verdict("T14.01", reports.Fail, 3)}, 0, ReplayOther},
		"one more assertion":            {append([]capsule.Verdict{verdict("T14.03", reports.Fail, 3)}, was...), 0, ReplayOther},
		"a check of every attempt more": {append([]capsule.Verdict{verdict("T1.29", reports.Fail, 0)}, was...), 0, ReplaySame},
		"not reached":                   {[]capsule.Verdict{verdict("T14.02", reports.Broken, 4)}, 0, ReplayUndecided},
		"cannot be asked":               {[]capsule.Verdict{verdict("T14.01", reports.NotRun, 4)}, 0, ReplayUndecided},
		"gap that passes instead":       {[]capsule.Verdict{verdict("T14.02", reports.UnexpectedPass, 4)}, 0, ReplayOther},
	} {
		now := capsule.Capsule{Head: capsule.Head{Verdicts: c.now, Leaks: make([]string, c.leaks)}}
		if r := compareCapsules(capsule.Capsule{Head: capsule.Head{Verdicts: was}}, now); r.Outcome != c.want {
			t.Errorf("%s: outcome %d, want %d: %+v", name, r.Outcome, c.want, r.Changes)
		}
	}
	every := capsule.Capsule{Head: capsule.Head{Verdicts: []capsule.Verdict{verdict("T1.29", reports.Fail, 0)}}}
	other := capsule.Capsule{Head: capsule.Head{Verdicts: []capsule.Verdict{verdict("T1.63", reports.Fail, 0)}}}
	if same, differs := compareCapsules(every, every), compareCapsules(every, other); same.Outcome != ReplaySame || differs.Outcome != ReplayOther {
		t.Errorf("only checks of every attempt: %d and %d", same.Outcome, differs.Outcome)
	}
}

// TestEveryVerdictButPassLeavesACapsule: and a leak does; a pass leaves none.
func TestEveryVerdictButPassLeavesACapsule(t *testing.T) {
	for _, c := range []struct {
		verdict oracle.Verdict
		leaks   int
		want    bool
	}{{oracle.Pass, 0, false}, {oracle.Pass, 1, true}, {oracle.Fail, 0, true}, {oracle.Broken, 0, true}, {oracle.NotRun, 0, true}} {
		r := tallyOf(t, nil, c.leaks, finding("T14.01", c.verdict, "why"))
		const name = "capsules/direct-unjailed/T14-made-up.txtar"
		if got := r.Scripts[0].Capsule == name; got != c.want {
			t.Errorf("%s, %d leaks: script %+v", c.verdict, c.leaks, r.Scripts[0])
		}
		for _, a := range r.Assertions {
			if a.ID == "T14.01" && (a.Capsule == name) != (c.verdict != oracle.Pass) {
				t.Errorf("%s: assertion names %q", c.verdict, a.Capsule)
			}
		}
	}
	r := tallyOf(t, nil, 0)
	if r.Scripts[0].Verdict != reports.Pass {
		t.Errorf("nothing but passes: %q", r.Scripts[0].Verdict)
	}
}

// TestCapsuleRunsAgain: by its own script, which need not be in the suite, on
// the launcher that broke the rule, and passes on one that keeps it.
func TestCapsuleRunsAgain(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not run: attempts need root")
	}
	s, err := Select(root, Request{Launcher: "naive-exec", Tests: []string{"T06-partial-line"}, Profile: "unjailed"})
	bin, absErr := filepath.Abs(filepath.Join(root, ".build", "bin"))
	if err := errors.Join(err, absErr); err != nil {
		t.Fatal(err)
	}
	place := Place{Root: root, Bin: bin, Exe: filepath.Join(bin, "touchstone-attempt"), Run: filepath.Join(t.TempDir(), "run"), Jobs: 1}
	r, err := Run(context.Background(), s, place, reports.Suite{Version: "0"}, nobody{})
	if err != nil {
		t.Fatal(err)
	}
	cell := scenario.Cell{Facade: "direct", Profile: "unjailed"}
	name := capsuleName(cell, "T06-partial-line")
	for _, file := range []string{reports.JUnitFile, reports.PageFile, reports.SummaryFile, reports.ReportFile} {
		if text, err := os.ReadFile(filepath.Join(place.Run, file)); err != nil || !strings.Contains(string(text), name) {
			t.Errorf("%s does not name %s: %v", file, name, err)
		}
	}
	c, err := ReadCapsule(filepath.Join(place.Run, name))
	if err != nil || r.Scripts[0].Capsule != name || c.Attempt < 0 || len(c.Seeds) != len(r.Scripts[0].Attempts) || c.Seeds[0] == "" {
		t.Fatalf("got %+v of %+v, %v", c.Head, r.Scripts, err)
	}
	c.Script = "T06-of-no-suite"
	for launcher, want := range map[string]int{"": ReplaySame, "reference": ReplayPassed} {
		s, err := SelectCapsule(root, c, launcher)
		if err != nil {
			t.Fatal(err)
		}
		place.Run = filepath.Join(t.TempDir(), "again")
		again, err := ReplayCapsule(context.Background(), c, s, place, reports.Suite{Version: "0"}, nobody{})
		if err != nil || again.Outcome != want {
			t.Errorf("launcher %q: %+v, %v", launcher, again, err)
		}
		strange, err := Strangers(c, s, place, reports.Suite{Version: "0"})
		if err != nil || (launcher == "") != (len(strange) == 0) {
			t.Errorf("launcher %q: %q, %v", launcher, strange, err)
		}
		if got := seedOf(filepath.Join(again.Run, "attempts", "direct-unjailed", c.Script, "000")); got != c.Seeds[0] {
			t.Errorf("seed %s, the capsule's is %s", got, c.Seeds[0])
		}
	}
}

func TestBadCapsuleIsOneLineOfUsage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.txtar")
	if err := os.WriteFile(path, []byte("# T6 x (R06)\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, "/nowhere", t.TempDir()} {
		if _, err := ReadCapsule(p); !isUsage(err) || strings.ContainsRune(err.Error(), '\n') {
			t.Errorf("%s: %v", p, err)
		}
	}
}
