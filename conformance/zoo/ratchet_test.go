package zoo

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"touchstone/reports"
)

// TestRatchetSpeaksOfRecords: what is on record was shown by a record that
// there is, for an assertion that it names.
func TestRatchetSpeaksOfRecords(t *testing.T) {
	all, err := LoadAll(root)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := ReadRatchet(root)
	if err != nil {
		t.Fatal(err)
	}
	for id, shown := range kept {
		i := slices.IndexFunc(all, func(m Mutant) bool { return m.ID == id })
		if i < 0 {
			t.Errorf("%s: no such record: it was shown once and may not go", id)
			continue
		}
		for _, assertion := range shown.IDs {
			if !slices.Contains(all[i].CaughtBy, assertion) {
				t.Errorf("%s: %s is not named by the record", id, assertion)
			}
		}
		if (all[i].Kind == Equivalent) != (shown.State == reports.EquivalentGreen) {
			t.Errorf("%s: of kind %s, %s", id, all[i].Kind, shown.State)
		}
	}
	if text, err := os.ReadFile(filepath.Join(root, Folder, ratchetFile)); err != nil || string(text) != string(kept.encode()) {
		t.Errorf("%s is not as it is written (%v)", ratchetFile, err)
	}
}

// TestRatchetIsNoLooserThanBefore holds the file against those of the last commits.
func TestRatchetIsNoLooserThanBefore(t *testing.T) {
	now, err := ReadRatchet(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, revision := range []string{"HEAD", "HEAD~1"} {
		c := exec.Command("git", "show", revision+":./"+ratchetFile)
		text, err := c.Output()
		if err != nil {
			t.Logf("not compared with %s: no such commit, or it has no ratchet", revision)
			continue
		}
		before, err := parseRatchet(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range now.Than(before) {
			t.Errorf("looser than %s: %s", revision, l)
		}
	}
}

func TestRatchetOnlyTightens(t *testing.T) {
	base := ratchetHeader + "EQU001\tequivalent-green\t\nMUT001\tkilled\tT2.01 T14.03\n"
	row := func(id, state string, kills []string, missed ...string) reports.ZooRecord {
		r := reports.ZooRecord{ID: id, State: state, Missed: missed}
		for _, k := range kills {
			r.Kills = append(r.Kills, reports.Kill{ID: k})
		}
		return r
	}
	for name, c := range map[string]struct {
		row    reports.ZooRecord
		looser string
		after  string
	}{
		"the same":               {row("MUT001", reports.Killed, []string{"T14.03", "T2.01"}), "", base},
		"one more":               {row("MUT001", reports.Killed, []string{"T2.41", "T14.03", "T2.01"}), "", strings.Replace(base, "T2.01 T14", "T2.01 T2.41 T14", 1)},
		"one was not asked":      {row("MUT001", reports.Killed, []string{"T14.03"}), "", base},
		"a new one":              {row("MUT002", reports.Killed, []string{"T2.01"}), "", base + "MUT002\tkilled\tT2.01\n"},
		"one passed":             {row("MUT001", reports.Killed, []string{"T14.03"}, "T2.01"), "MUT001: T2.01 passed, and failed before", base},
		"survived":               {row("MUT001", reports.Survived, nil, "T2.01", "T14.03"), "MUT001: survived, was killed", base},
		"a new one that lives":   {row("MUT003", reports.Survived, nil), "", base},
		"allowed, and green":     {row("EQU001", reports.EquivalentGreen, nil), "", base},
		"allowed, and now red":   {row("EQU001", reports.EquivalentRed, nil), "EQU001: equivalent-red, was equivalent-green", base},
		"killed for others only": {row("MUT001", reports.KilledElsewhere, nil), "MUT001: killed-elsewhere, was killed", base},
	} {
		kept, err := parseRatchet([]byte(base))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(kept.Hear([]reports.ZooRecord{c.row}), "; "); got != c.looser || string(kept.encode()) != c.after {
			t.Errorf("%s: looser %q, want %q; kept %q", name, got, c.looser, kept.encode())
		}
	}
	before, err := parseRatchet([]byte(base))
	if err != nil {
		t.Fatal(err)
	}
	for text, looser := range map[string]int{
		base: 0, base + "MUT009\tkilled\tT2.01\n": 0,
		ratchetHeader + "MUT001\tkilled\tT2.01 T14.03\n":                       1,
		ratchetHeader + "EQU001\tequivalent-green\t\nMUT001\tkilled\tT14.03\n": 1,
		ratchetHeader: 2,
	} {
		now, err := parseRatchet([]byte(text))
		if err != nil || len(now.Than(before)) != looser {
			t.Errorf("%q: %v, %v, want %d", text, now.Than(before), err, looser)
		}
	}
	for _, text := range []string{"", base + "MUT001\tkilled\tT2.01\n", base + "MUT002\tkilled\t\n", base + "MUT002\tsurvived\tT2.01\n", base + "MUT002\tkilled\tT2.99\n", base + "MUT002\tkilled\n"} {
		if _, err := parseRatchet([]byte(text)); err == nil {
			t.Errorf("%q: accepted", text)
		}
	}
}

func TestAbilities(t *testing.T) {
	folder := t.TempDir()
	table := "id\toperator\ttarget\nT1.01\treport-flip\t0\nT14.03\treport-flip\t1\n"
	if err := write(filepath.Join(folder, Folder, alterationsFile), []byte(table)); err != nil {
		t.Fatal(err)
	}
	records := []Mutant{{ID: "MUT001", CaughtBy: []string{"T14.03", "T14.01"}}, {ID: "MUT002", CaughtBy: []string{"T14.01"}}}
	all, err := Abilities(folder, records, Ratchet{"MUT001": {reports.Killed, []string{"T14.03"}}})
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]string{}
	for _, a := range all {
		words[a.ID] = a.Word()
	}
	if words["T14.03"] != "shown" || words["T1.01"] != "altered" || words["T14.01"] != "named" || words["T2.01"] != "not yet" {
		t.Errorf("got %s %s %s %s", words["T14.03"], words["T1.01"], words["T14.01"], words["T2.01"])
	}
	if got, want := Count(all), (reports.ZooIDs{All: 807, Named: 2, Shown: 1, Altered: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, wrong := range []string{"T1.01\treport-flip\n", "id\toperator\nT1.99\treport-flip\n", "id\toperator\nT1.01\n"} {
		if err := write(filepath.Join(folder, Folder, alterationsFile), []byte(wrong)); err != nil {
			t.Fatal(err)
		}
		if _, err := Abilities(folder, records, Ratchet{}); err == nil {
			t.Errorf("%q: accepted", wrong)
		}
	}
}
