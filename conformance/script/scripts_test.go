package script

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// projectScripts are the scripts of testdata, parsed.
func projectScripts(t *testing.T) []Script {
	t.Helper()
	paths, err := filepath.Glob("../../testdata/T*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("list scripts: %d found: %v", len(paths), err)
	}
	var scripts []Script
	for _, path := range paths {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Parse(filepath.Base(path), source)
		if err != nil {
			t.Fatal(err)
		}
		scripts = append(scripts, s)
	}
	return scripts
}

func projectFixtures(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("../../fixtures/native/*.c")
	if err != nil || len(paths) == 0 {
		t.Fatalf("list fixtures: %v", err)
	}
	var names []string
	for _, path := range paths {
		names = append(names, strings.TrimSuffix(filepath.Base(path), ".c"))
	}
	return names
}

func TestProjectScriptsLint(t *testing.T) {
	fixtures := projectFixtures(t)
	for _, s := range projectScripts(t) {
		for _, problem := range Lint(s, fixtures) {
			t.Error(problem)
		}
	}
}

// TestGoldenStreamsAreTheContracts: what the scripts hold of the reference's
// dialect is what contracts/sink holds.
func TestGoldenStreamsAreTheContracts(t *testing.T) {
	held := map[string]bool{}
	for _, s := range projectScripts(t) {
		for name, text := range s.texts {
			stem, extension, golden := strings.Cut(name, ".touchstone.")
			if !golden {
				continue
			}
			file := strings.TrimSuffix(stem, "-receipt") + "." + extension
			if strings.HasSuffix(stem, "-receipt") {
				file = strings.TrimSuffix(stem, "-receipt") + ".receipt.json"
			}
			held[file] = true
			if want, err := os.ReadFile(filepath.Join("../../contracts/sink", file)); err != nil || string(want) != text {
				t.Errorf("%s: %s is not contracts/sink/%s: %v", s.Name, name, file, err)
			}
		}
	}
	files, err := os.ReadDir("../../contracts/sink")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !held[f.Name()] && f.Name() != "README.md" && f.Name() != "index.json" {
			t.Errorf("no script holds contracts/sink/%s", f.Name())
		}
	}
}
