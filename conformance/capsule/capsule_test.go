package capsule

import (
	"bytes"
	"io/fs"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"touchstone/conformance/scenario"
	"touchstone/contracts"
)

const source = "# T06 A statement (R06)\nlaunch\ncheck T6.01 exit 0\n-- strategy.cpp --\nint x;\n"

func sample() Capsule {
	return Capsule{
		Head: Head{RunID: "r", Script: "T06-partial-line", Test: "T6", Cell: scenario.Cell{Facade: "direct", Profile: "jailed"},
			Launcher: Launcher{Name: "x", Request: "x", Binaries: map[string]string{}},
			Seeds:    []string{strings.Repeat("0a", 16), ""}, Attempts: []string{"attempts/x/000"}, Leaks: []string{},
			Verdicts: []Verdict{{ID: "T6.01", Rule: "R06", Expected: "pass", Seen: "fail", Line: 3, Saw: "\xff\n-- capsule.json --\n"}}},
		Source: []byte(source), Scenario: jsontext.Value(`{"version":1}`), Faults: []string{"rule a: on write", "rule b: on read"},
	}
}

func encoded(t testing.TB, c Capsule) []byte {
	t.Helper()
	text, err := Encode(c)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestCapsuleHoldsTheScript: byte for byte and first, whatever the rest says.
func TestCapsuleHoldsTheScript(t *testing.T) {
	text := encoded(t, sample())
	c, err := Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	if string(c.Source) != source || !bytes.HasPrefix(text, []byte(source)) || c.Verdicts[0].Line != 3 || len(c.Seeds) != 2 || len(c.Faults) != 2 {
		t.Errorf("got %+v", c)
	}
	if again := encoded(t, c); !bytes.Equal(again, text) {
		t.Errorf("encoded again:\n%s\nfirst:\n%s", again, text)
	}
	own := sample()
	own.Source = []byte(source + "-- capsule.json --\n{}\n")
	if _, err := Encode(own); err == nil {
		t.Error("a script with a capsule's file of its own")
	}
}

// TestBadCapsulesHaveOneClearLine: what it is that is wrong, and nothing of the rest.
func TestBadCapsulesHaveOneClearLine(t *testing.T) {
	good := string(encoded(t, sample()))
	for want, text := range map[string]string{
		"it has no file capsule.json":                            source,
		"it has capsule.json twice":                              good + "-- capsule.json --\n{}\n",
		`"touchstone-capsule" version 2, want`:                   strings.Replace(good, `"version": 1,`, `"version": 2,`, 1),
		"its script is not the recorded one: the digest differs": strings.Replace(good, "A statement", "Another", 1),
		`script "../../x"`:                                       strings.Replace(good, `"T06-partial-line"`, `"../../x"`, 1),
		`seed 0: "zz"`:                                           strings.Replace(good, strings.Repeat("0a", 16), "zz", 1),
		`verdict "failed" of "T6.01", expected "pass"`:           strings.Replace(good, `"fail"`, `"failed"`, 1),
		"capsule.json: ":                                         good[:strings.Index(good, `"cell"`)],
		"capsule-scenario.json: no JSON":                         strings.Replace(good, "-- capsule-scenario.json --\n", "-- capsule-scenario.json --\n[", 1),
		"no launcher":                                            strings.Replace(good, `"request": "x"`, `"request": ""`, 1),
		"no cell":                                                strings.Replace(good, `"facade": "direct"`, `"facade": ""`, 1),
		"4194305 bytes, at most 4194304":                         good + strings.Repeat("x", MaxBytes+1-len(good)),
		"the script has a file capsule-faults.rules of its own":  resealed(t, "-- capsule-faults.rules --\n"),
		"no verdict":                                             unjudged(t),
	} {
		_, err := Decode([]byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), "no capsule: ") || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// resealed is a capsule whose script was given more text, and its digest.
func resealed(t *testing.T, more string) string {
	c := sample()
	good := string(encoded(t, c))
	text := strings.Replace(good, source, source+more, 1)
	return strings.Replace(text, Digest([]byte(source)), Digest([]byte(source+more)), 1)
}

func unjudged(t *testing.T) string {
	c := sample()
	c.Verdicts = []Verdict{}
	return string(encoded(t, c))
}

// TestExampleIsOne: what the contracts show is what this package reads.
func TestExampleIsOne(t *testing.T) {
	text, err := fs.ReadFile(contracts.Examples(), "capsule.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if c, err := Decode(text); err != nil || c.Script != "T06-partial-line" || c.Scenario == nil {
		t.Errorf("got %+v, %v", c, err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(encoded(f, sample()))
	f.Add([]byte(source))
	f.Add([]byte("\n-- capsule.json --\n"))
	f.Add([]byte("\n-- capsule.json --\n-- --")) // no marker, though it begins and ends as one
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Decode(text)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("more than a line: %q", err)
			}
			return
		}
		again, err := Encode(c)
		if err != nil {
			t.Fatal(err)
		}
		if second, err := Decode(again); err != nil || !bytes.Equal(second.Source, c.Source) || len(second.Verdicts) != len(c.Verdicts) {
			t.Fatalf("read again: %v", err)
		}
	})
}
