package zoo

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"touchstone/conformance/certify"
	"touchstone/reports"
)

const root = "../.."

// Every record must apply to the sources as they are, reach a program, and
// have a script to face.
func TestRecordsApply(t *testing.T) {
	all, err := LoadAll(root)
	if err != nil {
		t.Fatal(err)
	}
	suites := map[string]suite{}
	count := map[Kind]int{}
	for _, m := range all {
		count[m.Kind]++
		changed, err := m.Patch(root)
		if err != nil {
			t.Error(err)
		}
		for file, text := range changed {
			before, err := os.ReadFile(filepath.Join(root, file))
			if err != nil || string(before) == string(text) {
				t.Errorf("%s: %s unchanged (%v)", m.ID, file, err)
			}
		}
		if diff, err := m.Diff(root); err != nil || strings.Count(diff, "@@ -") != len(m.Pieces) {
			t.Errorf("%s: %v: %s", m.ID, err, diff)
		}
		if _, known := suites[m.Launcher()]; !known {
			selection, err := certify.Select(root, certify.Request{Launcher: m.Launcher()})
			if err != nil {
				t.Fatal(err)
			}
			suites[m.Launcher()] = newSuite(selection)
		}
		if _, _, err := suites[m.Launcher()].jobs(m); err != nil {
			t.Error(err)
		}
	}
	for kind, least := range map[Kind]int{Reference: 12, Host: 3, Second: 12, Equivalent: 25} {
		if count[kind] < least {
			t.Errorf("%d of kind %s, want at least %d", count[kind], kind, least)
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
		if _, err := m.Diff(root); !errors.Is(err, ErrDead) {
			t.Errorf("%s: %v, want a dead mutant", name, err)
		}
	}
	m := Mutant{ID: "MUT001", Pieces: []Piece{{"reference/a.go", "one", "1"}, {"reference/a.go", "1 two", "12"}}}
	changed, err := m.Patch(root)
	if err != nil || string(changed["reference/a.go"]) != "12 two\n" {
		t.Errorf("got %q, %v", changed["reference/a.go"], err)
	}
	diff, err := m.Diff(root)
	want := "--- a/reference/a.go\n+++ b/reference/a.go\n@@ -1,1 +1,1 @@\n-one two two\n+1 two two\n" +
		"--- a/reference/a.go\n+++ b/reference/a.go\n@@ -1,1 +1,1 @@\n-1 two two\n+12 two\n"
	if err != nil || diff != want {
		t.Errorf("got %q, %v", diff, err)
	}
}

const goodMutant = `version = 1
id = "MUT001"
mistake = "m"
reason = "r"
caught_by = ["T14.03"]
[[piece]]
file = "reference/a.go"
old = "x"
new = "y"
`

func TestLoadRefusesWrongRecords(t *testing.T) {
	equivalent := strings.NewReplacer("MUT001", "EQU001", "mistake", "change", "caught_by", "scripts").Replace(goodMutant)
	for name, c := range map[string]struct {
		kind Kind
		text string
	}{
		"unknown key":             {Reference, goodMutant + "extra = 1\n"},
		"duplicate key":           {Reference, "version = 1\n" + goodMutant},
		"unknown assertion":       {Reference, strings.Replace(goodMutant, "T14.03", "T14.99", 1)},
		"another file's":          {Reference, strings.Replace(goodMutant, "MUT001", "MUT002", 1)},
		"outside":                 {Reference, strings.Replace(goodMutant, "reference/a.go", "reference/../conformance/a.go", 1)},
		"no change":               {Reference, strings.Replace(goodMutant, `"y"`, `"x"`, 1)},
		"no reason":               {Reference, strings.Replace(goodMutant, `reason = "r"`, `reason = ""`, 1)},
		"later version":           {Reference, strings.Replace(goodMutant, "version = 1", "version = 2", 1)},
		"mutant as equivalent":    {Equivalent, goodMutant},
		"equivalent that catches": {Equivalent, strings.Replace(equivalent, "scripts", "caught_by", 1)},
		"no scripts":              {Equivalent, strings.Replace(equivalent, `["T14.03"]`, "[]", 1)},
	} {
		if _, err := loadOne(t, c.text, c.kind); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for kind, text := range map[Kind]string{Reference: goodMutant, Equivalent: equivalent} {
		if m, err := loadOne(t, text, kind); err != nil || len(m) != 1 || m[0].Mistake != "m" {
			t.Errorf("the good one: %v, %v", m, err)
		}
	}
	if _, err := load(t.TempDir(), Reference); err == nil {
		t.Error("an empty folder: accepted")
	}
}

func loadOne(t *testing.T, text string, kind Kind) ([]Mutant, error) {
	t.Helper()
	name := "MUT001.toml"
	if kind == Equivalent {
		name = "EQU001.toml"
	}
	folder := t.TempDir()
	if err := write(filepath.Join(folder, name), []byte(text)); err != nil {
		t.Fatal(err)
	}
	return load(folder, kind)
}

func TestChoice(t *testing.T) {
	piece := []Piece{{"reference/a.go", "x", "y"}}
	all := []Mutant{{ID: "MUT001", Kind: Reference, Pieces: piece}, {ID: "MUT002", Kind: Reference, Pieces: []Piece{{"reference/b.go", "x", "y"}}},
		{ID: "EQU001", Kind: Equivalent, Pieces: piece}, {ID: "second/MUT001", Kind: Second, Pieces: []Piece{{secondSources + "c.c", "x", "y"}}}}
	ids := func(records []Mutant) string {
		var all []string
		for _, m := range records {
			all = append(all, m.ID)
		}
		return strings.Join(all, " ")
	}
	for globs, want := range map[string]string{"MUT*": "MUT001 MUT002", "second/*": "second/MUT001", "MUT002,EQU*": "MUT002 EQU001"} {
		if got, err := Choose(all, strings.Split(globs, ",")); err != nil || ids(got) != want {
			t.Errorf("%s: got %s, %v", globs, ids(got), err)
		}
	}
	if _, err := Choose(all, []string{"MUT001", "MUT9*"}); err == nil {
		t.Error("a glob of nothing: accepted")
	}
	if got := ids(Part(all, all, 0, 3)) + "; " + ids(Part(all, all[1:], 1, 3)) + "; " + ids(Part(all, all, 2, 3)); got != "MUT001 second/MUT001; MUT002; EQU001" {
		t.Errorf("parts: got %s", got)
	}
	for file, want := range map[string]string{"reference/a.go": "MUT001 EQU001", Folder + "/mutants/MUT002.toml": "MUT002", secondSources + "c.c": "second/MUT001",
		Folder + "/second/mistakes.toml": "second/MUT001", "README.md": ""} {
		if got := ids(Touched(all, []string{file})); got != want {
			t.Errorf("%s: touches %s, want %s", file, got, want)
		}
	}
}

// The C programs of mutants are compiled with the words of the build script.
func TestCompilersAreThoseOfTheBuild(t *testing.T) {
	script, err := os.ReadFile(filepath.Join(root, "scripts", "build"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"compiler=gcc\n", "\"$compiler\" -std=c11 -O2 -Wall -Wextra -Werror \"$@\"", "c producer-musl '-ldl -lm' reference/producer\n", "c jail '' reference/jail/launcher -static\n", "c producer '-ldl -lm' reference/producer\n",
		"conformance/zoo/second/build \"$bin\"\n", "ref*) cgo=0 ;;\n", "go build -trimpath"} {
		if !strings.Contains(string(script), line) {
			t.Errorf("scripts/build has no %q: build it here as there", line)
		}
	}
}

func TestConclusions(t *testing.T) {
	type seen = map[string]verdicts
	kill := []reports.Kill{{ID: "T14.03"}}
	for name, c := range map[string]struct {
		kind  Kind
		kills []reports.Kill
		other []string
		seen  seen
		want  string
	}{
		"a named one failed":     {Reference, kill, []string{"T1.57"}, seen{"T11.03": {passed: true}, "T12.03": {passed: true, noted: true}}, reports.Killed},
		"another one only":       {Reference, nil, []string{"T1.57"}, seen{"T14.03": {passed: true}}, reports.KilledElsewhere},
		"a leak only":            {Host, nil, []string{leak}, seen{"T14.03": {passed: true}}, reports.KilledElsewhere},
		"none":                   {Second, nil, nil, seen{"T14.03": {passed: true}}, reports.Survived},
		"broken is no kill":      {Reference, nil, nil, seen{"T14.03": {undecided: true}}, reports.Survived},
		"allowed, all passed":    {Equivalent, nil, nil, seen{"T14.03": {passed: true}}, reports.EquivalentGreen},
		"allowed, one failed":    {Equivalent, nil, []string{"T14.03"}, seen{"T14.03": {failed: true}, "T1.01": {passed: true}}, reports.EquivalentRed},
		"allowed, one broken":    {Equivalent, nil, nil, seen{"T14.03": {undecided: true}, "T1.01": {passed: true}}, reports.EquivalentRed},
		"allowed, nothing asked": {Equivalent, nil, nil, seen{}, reports.EquivalentRed},
	} {
		m := Mutant{Kind: c.kind}
		if c.kind != Equivalent {
			m.CaughtBy = []string{"T14.03", "T11.03", "T12.03"}
		}
		row := reports.ZooRecord{Kills: c.kills, Others: c.other}
		a := asked{record: m, row: &row, seen: c.seen}
		a.conclude()
		if row.State != c.want {
			t.Errorf("%s: got %s, want %s", name, row.State, c.want)
		}
		if name == "a named one failed" && (!slices.Equal(row.Missed, []string{"T11.03"}) || !slices.Equal(row.Undecided, []string{"T12.03"})) {
			t.Errorf("%s: missed %v, undecided %v", name, row.Missed, row.Undecided)
		}
	}
}
