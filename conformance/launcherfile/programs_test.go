package launcherfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAbsentProgramsAreNamed: the key, the file and what to do, in one line.
func TestAbsentProgramsAreNamed(t *testing.T) {
	bin := t.TempDir()
	f, err := Parse("x.toml", bin, []byte(minimal))
	if err != nil {
		t.Fatal(err)
	}
	f.Facade["direct"] = Facade{Command: []string{"{bin}/launcher"}}
	f.Pairing.Template = `{"producer":"{bin}/producer"}`
	f.Reference.Command = []string{"sh", "-c", "{here}/script"}
	for _, wanted := range []string{"facade.direct.command: " + bin + "/launcher is not there", "facade.direct.command: " + bin + "/launcher is no program",
		"pairing.template: " + bin + "/producer is not there", "reference.command: " + bin + "/script is not there", ""} {
		problem := f.Absent("x.toml", bin)
		if wanted == "" && problem == nil {
			return
		}
		if problem == nil || !strings.HasPrefix(problem.Error(), "launcher file x.toml: "+wanted) || problem.Fix == "" {
			t.Fatalf("got %v, want %q", problem, wanted)
		}
		name := filepath.Join(bin, filepath.Base(strings.Fields(wanted)[1]))
		mode := os.FileMode(0o755)
		if strings.Contains(wanted, "launcher is not there") {
			mode = 0o644
		}
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Error("it is never content")
}
