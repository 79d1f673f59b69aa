package script

import (
	"slices"
	"testing"

	"touchstone/conformance/evidence"
	"touchstone/conformance/oracle"
	"touchstone/conformance/scenario"
)

// curious asks for some assertions until they have failed.
type curious struct {
	*fake
	wanted []string
	heard  []string
}

func (c *curious) Wants(ids []string) bool {
	return slices.ContainsFunc(c.wanted, func(id string) bool { return slices.Contains(ids, id) })
}

func (c *curious) Heard(f Finding) {
	if f.Line > 0 {
		c.heard = append(c.heard, f.ID+" "+string(f.Verdict))
	}
	if f.Verdict == oracle.Fail {
		c.wanted = slices.DeleteFunc(c.wanted, func(id string) bool { return id == f.ID })
	}
}

func (c *curious) Suffices(a *evidence.Attempt) bool { return hung(a) }

func ends(scenario.Scenario) (int, error) { return 0, nil }

func TestOnlyWhatIsAskedForIsLaunched(t *testing.T) {
	for name, c := range map[string]struct {
		body     string
		wanted   []string
		attempts []int // by number
		heard    []string
	}{
		"one of two": {"launch times=2\ncheck T14.01 exit 1\nlaunch\ncheck T14.02 exit 1\n", []string{"T14.02"}, []int{2},
			[]string{"T14.01 not-run", "T14.02 fail"}},
		"until it failed": {"launch\ncheck T14.01 exit 1\nlaunch\ncheck T14.01 exit 0\n", []string{"T14.01"}, []int{0},
			[]string{"T14.01 fail", "T14.01 not-run"}},
		"while it passes": {"launch\ncheck T14.01 exit 0\nlaunch\ncheck T14.01 exit 1\n", []string{"T14.01"}, []int{0, 1},
			[]string{"T14.01 pass", "T14.01 fail"}},
		"the rest of a line that hangs": {"fixture send k=0\nlaunch each arg.k=1,2,3\ncheck T14.01 exit 0\n", []string{"T14.01"}, []int{0, 1},
			[]string{"T14.01 pass"}},
		"of this cell only": {"launch\n[entrypoint] check T14.01 exit 1\ncheck T14.02 exit 1\n", []string{"T14.01"}, nil, []string{"T14.02 not-run"}},
	} {
		asker := &curious{fake: &fake{t: t, exit: ends, hangs: func(attempt int) bool { return attempt == 1 }}, wanted: c.wanted}
		runAsked(t, asker, c.body)
		var attempts []int
		for _, s := range asker.asked {
			attempts = append(attempts, s.Number)
		}
		if !slices.Equal(attempts, c.attempts) || !slices.Equal(asker.heard, c.heard) {
			t.Errorf("%s: attempts %v, heard %q", name, attempts, asker.heard)
		}
	}
}

// TestWhatADocumentIsMadeOfIsLaunched: though none of its checks is asked for.
func TestWhatADocumentIsMadeOfIsLaunched(t *testing.T) {
	asker := &curious{fake: &fake{t: t, exit: ends}, wanted: []string{"T14.02"}}
	runAsked(t, asker, "launch\ncheck T14.01 exit 0\ndocument own report\nlaunch\ncheck T14.02 exit 0\n")
	if len(asker.asked) != 2 {
		t.Errorf("%d attempts, want two", len(asker.asked))
	}
}
