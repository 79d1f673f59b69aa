package second

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"touchstone/contracts"
)

const root = "../../.."

// mistake is one record of mistakes.toml.
type mistake struct {
	ID       string   `toml:"id"`
	Mistake  string   `toml:"mistake"`
	CaughtBy []string `toml:"caught_by"` // at least one of them must fail
	Scripts  []string `toml:"scripts"`
	Pieces   []piece  `toml:"piece"`
}

// piece is one search and replacement; Old stands exactly once.
type piece struct {
	File string `toml:"file"` // in src/
	Old  string `toml:"old"`
	New  string `toml:"new"`
}

func readMistakes(t *testing.T) []mistake {
	t.Helper()
	text, err := os.ReadFile("mistakes.toml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Version int       `toml:"version"`
		Mistake []mistake `toml:"mistake"`
	}
	if err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&file); err != nil {
		t.Fatal(err)
	}
	if file.Version != 1 {
		t.Fatalf("mistakes.toml: version %d, want 1", file.Version)
	}
	return file.Mistake
}

// touchstone is the suite's own program, built once.
var touchstone = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "second-")
	if err != nil {
		return "", err
	}
	// The program of attempts lies beside it.
	out, err := exec.Command("go", "build", "-o", dir+"/", "touchstone/conformance/cmd/touchstone",
		"touchstone/conformance/cmd/touchstone-attempt").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build touchstone: %w: %s", err, out)
	}
	return filepath.Join(dir, "touchstone"), nil
})

func TestMain(m *testing.M) {
	status := m.Run()
	if path, err := touchstone(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path)) // a remnant in the temporary folder harms nobody
	}
	os.Exit(status)
}

func TestRecordsAreWellFormed(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range readMistakes(t) {
		if seen[m.ID] || m.Mistake == "" || len(m.CaughtBy) == 0 || len(m.Scripts) == 0 || len(m.Pieces) == 0 {
			t.Errorf("%s: twice, or something is missing", m.ID)
		}
		seen[m.ID] = true
		for _, id := range m.CaughtBy {
			if _, known := contracts.AssertionByID(id); !known {
				t.Errorf("%s: unknown assertion %s", m.ID, id)
			}
		}
		if err := m.apply(copySources(t)); err != nil {
			t.Error(err)
		}
	}
	if len(seen) < 12 {
		t.Errorf("%d mistakes, want at least 12", len(seen))
	}
}

// The unchanged launcher passes everything that a mistake is asked to fail.
func TestUnchangedPasses(t *testing.T) {
	needs(t)
	var scripts []string
	for _, m := range readMistakes(t) {
		scripts = append(scripts, m.Scripts...)
	}
	slices.Sort(scripts)
	failed := certify(t, build(t, copySources(t)), slices.Compact(scripts))
	if len(failed) > 0 {
		t.Errorf("the unchanged launcher fails %v", failed)
	}
}

func TestMistakesAreCaught(t *testing.T) {
	needs(t)
	for _, m := range readMistakes(t) {
		t.Run(m.ID, func(t *testing.T) {
			tree := copySources(t)
			if err := m.apply(tree); err != nil {
				t.Fatal(err)
			}
			failed := certify(t, build(t, tree), m.Scripts)
			if !slices.ContainsFunc(m.CaughtBy, func(id string) bool { return slices.Contains(failed, id) }) {
				t.Errorf("%s: failed are %v, want one of %v", m.Mistake, failed, m.CaughtBy)
			}
		})
	}
}

func needs(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("not run: builds and certifies a launcher many times")
	}
	if os.Geteuid() != 0 {
		t.Skip("not run: needs root")
	}
}

func copySources(t *testing.T) string {
	t.Helper()
	tree := t.TempDir()
	if err := os.CopyFS(filepath.Join(tree, "src"), os.DirFS("src")); err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("build")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tree, "build"), script, 0o755); err != nil {
		t.Fatal(err)
	}
	return tree
}

// apply makes the mistake. A piece that does not stand exactly once is dead.
func (m mistake) apply(tree string) error {
	for i, p := range m.Pieces {
		path := filepath.Join(tree, "src", p.File)
		text, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("dead mistake %s: piece %d: %w", m.ID, i, err)
		}
		if n := strings.Count(string(text), p.Old); n != 1 || p.Old == p.New {
			return fmt.Errorf("dead mistake %s: piece %d stands %d times in %s, want once", m.ID, i, n, p.File)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(text), p.Old, p.New, 1)), 0o644); err != nil {
			return fmt.Errorf("make mistake %s: %w", m.ID, err)
		}
	}
	return nil
}

func build(t *testing.T, tree string) (bin string) {
	t.Helper()
	bin = filepath.Join(tree, "bin")
	if out, err := exec.Command("sh", filepath.Join(tree, "build"), bin).CombinedOutput(); err != nil {
		t.Fatalf("build: %v: %s", err, out)
	}
	return bin
}

// certify runs scripts against the launcher in bin and gives the assertions
// that failed, sorted. Anything but a verdict on each of them is an error.
func certify(t *testing.T, bin string, scripts []string) (failed []string) {
	t.Helper()
	program, err := touchstone()
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "run")
	command := exec.Command(program, "certify", "--launcher", "second", "--bin", bin, "--out", out,
		"--profile", "unjailed", "--jobs", "2", "--tests", strings.Join(scripts, ","))
	command.Dir = root
	said, runErr := command.CombinedOutput()
	text, err := os.ReadFile(filepath.Join(out, "report.json"))
	if err != nil {
		t.Fatalf("certify: %v: %v: %s", runErr, err, said)
	}
	var report struct {
		Assertions []struct{ ID, Verdict, Reason string }
	}
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	for _, a := range report.Assertions {
		switch a.Verdict {
		case "fail":
			failed = append(failed, a.ID)
		case "broken":
			t.Errorf("certify: %s is broken: %s", a.ID, a.Reason)
		}
	}
	slices.Sort(failed)
	return slices.Compact(failed)
}
