package alter

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"

	"touchstone/conformance/certify"
	"touchstone/conformance/script"
)

// exhibit is a good attempt with what was asked of it, and passed.
type exhibit struct {
	subject *subject
	asked   []question
}

// recordExhibits runs a script on the reference and gives its attempts.
func recordExhibits(t *testing.T) (all []exhibit) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("not run: attempts need root")
	}
	program, err := filepath.Abs("../../../.build/bin/touchstone")
	if err != nil {
		t.Fatal(err)
	}
	run := filepath.Join(t.TempDir(), "run")
	certified := exec.Command(program, "certify", "--launcher", "reference", "--tests", "T04-descriptors-seen-outside", "--facade", "direct",
		"--profile", "unjailed", "--out", run, "--quiet")
	certified.Dir = filepath.Join("..", "..", "..")
	if said, err := certified.CombinedOutput(); err != nil {
		t.Fatalf("certify, with what scripts/build makes: %v\n%s", err, said)
	}
	err = certify.Rejudge(run, nil, func(r script.Result, asked []script.Judgement) {
		c := Case{Script: r.Script, Cell: r.Cell.String(), Asked: asked}
		for _, a := range c.attempts() {
			all = append(all, exhibit{newSubject(a, asked), c.asks(a)})
		}
	})
	if err != nil || len(all) == 0 {
		t.Fatalf("%d attempts: %v", len(all), err)
	}
	return all
}

// TestOperatorsAreFound takes operators that name something which was asked of a
// good attempt: one of what they name must notice one of their alterations, and
// nothing may notice the attempt as it was.
func TestOperatorsAreFound(t *testing.T) {
	exhibits := recordExhibits(t)
	var pairs []pair
	for _, e := range exhibits {
		for _, o := range Operators() {
			if !o.Every {
				continue
			}
			if named := slices.DeleteFunc(slices.Clone(e.asked), func(q question) bool { return !slices.Contains(o.IDs, q.id) }); len(named) > 0 {
				pairs = append(pairs, pair{e, o, named})
			}
		}
	}
	if len(pairs) < 40 {
		t.Fatalf("%d operators to ask, want at least 40", len(pairs))
	}
	parameters := gopter.DefaultTestParametersWithSeed(time.Now().UnixNano())
	parameters.MinSuccessfulTests = 30
	t.Logf("seed %d", parameters.Seed())
	properties := gopter.NewProperties(parameters)
	properties.Property("found", prop.ForAll(func(i int) string { return pairs[i].problem() }, gen.IntRange(0, len(pairs)-1)))
	properties.TestingRun(t)
}

// pair is an operator with what it has to upset.
type pair struct {
	exhibit
	operator Operator
	named    []question
}

// problem is why the operator was not found; empty when it was.
func (p pair) problem() string {
	if unaltered := fails(p.named, p.subject.attempt, variant{attempt: p.subject.attempt}); len(unaltered) > 0 {
		return unaltered[0].id + " fails on the attempt as it was recorded"
	}
	made, noticed := 0, false
	p.operator.apply(p.subject, func(_ string, as variant) {
		made++
		noticed = noticed || len(fails(p.named, p.subject.attempt, as)) > 0
	})
	if made > 0 && !noticed {
		return p.operator.Name + ": nothing that it names noticed"
	}
	return ""
}
