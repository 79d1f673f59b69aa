package zoo

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// Each mutant of the reference must fail one of the assertions that its record names,
// where the unbroken reference passes it.
func TestMutantsAreKilled(t *testing.T) { killAll(t, "mutants") }

// The wrong hosts must fail rows about a host, where the reference's own host passes them.
func TestWrongHostsAreKilled(t *testing.T) { killAll(t, "hosts") }

func killAll(t *testing.T, records string) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	runner := Runner{Root: root, Program: filepath.Join(root, built, "touchstone"), Profile: "unjailed"}
	switch _, err := os.Stat(runner.Program); {
	case testing.Short():
		t.Skip("not run: -short")
	case os.Geteuid() != 0:
		t.Skip("not run: the reference needs root")
	case err != nil:
		t.Fatalf("run scripts/build first: %v", err)
	}
	mutants, err := Load(records)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	sound, err := runner.Reference(ctx, filepath.Join(t.TempDir(), "reference"), mutants...)
	if err != nil {
		t.Fatal(err)
	}
	builder := Builder{Root: root, Cache: filepath.Join(root, ".build", "zoo")}
	t.Run("each", func(t *testing.T) { // keeps ctx until the parallel ones are done
		for _, m := range mutants {
			t.Run(m.ID, func(t *testing.T) {
				t.Parallel()
				kill(ctx, t, builder, runner, m, sound)
			})
		}
	})
}

func kill(ctx context.Context, t *testing.T, builder Builder, runner Runner, m Mutant, sound Outcome) {
	bin, err := builder.Build(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	o, err := runner.Mutant(ctx, m, bin, filepath.Join(t.TempDir(), "run"))
	if err != nil {
		t.Fatal(err)
	}
	k := m.Judge(o)
	k.Caught = slices.DeleteFunc(k.Caught, func(id string) bool { return !slices.Contains(sound.Passed, id) || slices.Contains(sound.Failed, id) })
	if len(k.Caught) == 0 {
		t.Errorf("%s: %s: survived; passed %v, undecided %v, failed without being named %v", m.ID, m.Mistake, k.Missed, o.Undecided, k.Others)
		return
	}
	t.Logf("%s: caught by %v; besides %v", m.Mistake, k.Caught, k.Others)
}
