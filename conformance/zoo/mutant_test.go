package zoo

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every record must apply to the sources as they are, and have a script to
// face.
func TestRecordsApply(t *testing.T) {
	mutants, err := Load("mutants")
	if err != nil {
		t.Fatal(err)
	}
	hosts, err := Load("hosts")
	if err != nil {
		t.Fatal(err)
	}
	if len(mutants) < 12 || len(hosts) < 3 {
		t.Errorf("%d mutants and %d wrong hosts, want at least 12 and 3", len(mutants), len(hosts))
	}
	mutants = append(mutants, hosts...)
	for _, m := range mutants {
		changed, err := m.Patch("../..")
		if err != nil {
			t.Error(err)
		}
		for file, text := range changed {
			before, err := os.ReadFile(filepath.Join("../..", file))
			if err != nil || string(before) == string(text) {
				t.Errorf("%s: %s unchanged (%v)", m.ID, file, err)
			}
		}
		scripts, err := m.scriptsOf("../../testdata")
		if err != nil {
			t.Error(err)
		}
		for _, name := range scripts {
			if _, err := os.Stat(filepath.Join("../../testdata", name+".txtar")); err != nil {
				t.Errorf("%s: script %s: %v", m.ID, name, err)
			}
		}
	}
}

func TestPatchRefusesDeadPieces(t *testing.T) {
	root := t.TempDir()
	if err := write(filepath.Join(root, "reference", "a.go"), []byte("one two two\n")); err != nil {
		t.Fatal(err)
	}
	for name, piece := range map[string]Piece{
		"gone":      {"reference/a.go", "three", "3"},
		"ambiguous": {"reference/a.go", "two", "2"},
		"no file":   {"reference/b.go", "one", "1"},
	} {
		m := Mutant{ID: "MUT001", Pieces: []Piece{piece}}
		if _, err := m.Patch(root); !errors.Is(err, ErrDead) {
			t.Errorf("%s: %v, want a dead mutant", name, err)
		}
	}
	m := Mutant{ID: "MUT001", Pieces: []Piece{{"reference/a.go", "one", "1"}, {"reference/a.go", "1 two", "12"}}}
	changed, err := m.Patch(root)
	if err != nil || string(changed["reference/a.go"]) != "12 two\n" {
		t.Errorf("got %q, %v", changed["reference/a.go"], err)
	}
}

func TestLoadRefusesWrongRecords(t *testing.T) {
	good := `version = 1
id = "MUT001"
mistake = "m"
reason = "r"
caught_by = ["T14.03"]
[[piece]]
file = "reference/a.go"
old = "x"
new = "y"
`
	for name, text := range map[string]string{
		"unknown key":       good + "extra = 1\n",
		"duplicate key":     "version = 1\n" + good,
		"unknown assertion": strings.Replace(good, "T14.03", "T14.99", 1),
		"another file's":    strings.Replace(good, "MUT001", "MUT002", 1),
		"outside":           strings.Replace(good, "reference/a.go", "reference/../conformance/a.go", 1),
		"no change":         strings.Replace(good, `"y"`, `"x"`, 1),
		"no reason":         strings.Replace(good, `reason = "r"`, `reason = ""`, 1),
		"later version":     strings.Replace(good, "version = 1", "version = 2", 1),
	} {
		folder := t.TempDir()
		if err := write(filepath.Join(folder, "MUT001.toml"), []byte(text)); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(folder); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	folder := t.TempDir()
	if err := write(filepath.Join(folder, "MUT001.toml"), []byte(good)); err != nil {
		t.Fatal(err)
	}
	if m, err := Load(folder); err != nil || len(m) != 1 {
		t.Errorf("the good one: %v, %v", m, err)
	}
	if _, err := Load(t.TempDir()); err == nil {
		t.Error("an empty folder: accepted")
	}
}

func TestJudgeCountsNamedFailuresOnly(t *testing.T) {
	m := Mutant{CaughtBy: []string{"T14.03", "T11.03", "T12.03"}}
	k := m.Judge(Outcome{Passed: []string{"T11.03", "T14.01"}, Failed: []string{"T1.57", "T14.03"}})
	if !slices.Equal(k.Caught, []string{"T14.03"}) || !slices.Equal(k.Missed, []string{"T11.03"}) || !slices.Equal(k.Others, []string{"T1.57"}) {
		t.Errorf("got %+v", k)
	}
	if k := m.Judge(Outcome{Passed: []string{"T14.03"}, Failed: []string{"T1.57"}}); len(k.Caught) != 0 {
		t.Errorf("killed by an assertion that it does not name: %+v", k)
	}
}
