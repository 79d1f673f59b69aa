package reports

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/leanovate/gopter/prop"
)

func sample(text string) Report {
	r := Report{Schema: SchemaName, Version: Version, RunID: "20260101-000000-abcdef", Started: "2026-01-01T00:00:00Z", Seconds: 1.5,
		Launcher: Launcher{Name: text}, Host: map[string]string{"kernel": text}, Conclusion: "not conforming", ExitStatus: 1}
	for i, verdict := range Verdicts() {
		a := Assertion{ID: fmt.Sprintf("T14.%02d", i+1), Rule: "R06", Cell: "direct/unjailed", Verdict: verdict, Reason: text, Checks: 1,
			Findings: []Finding{{Script: text, Line: i, Phase: text, Verdict: verdict, Seen: text, Wanted: text, Attempt: text}}, Replay: text}
		r.Assertions = append(r.Assertions, a)
		r.Totals.Count(verdict)
	}
	r.Scripts = []Script{{Script: text, Cell: "direct/unjailed", Seconds: 0.25, Attempts: []string{text}}}
	r.Leaks = []Leak{{Cell: "direct/jailed", Script: text, What: text, Attempt: text, Replay: text}}
	return r
}

// wellFormed reads a whole document with a reader that knows nothing of ours.
func wellFormed(content []byte) error {
	decoder := xml.NewDecoder(bytes.NewReader(content))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// TestAnyTextGivesAValidDocumentProperty: bytes of a hostile strategy reach
// messages and names; no reader may see zero tests because of them.
func TestAnyTextGivesAValidDocumentProperty(t *testing.T) {
	properties := seeded(t)
	properties.Property("junit.xml is XML 1.0 with every case in it", prop.ForAll(func(content string) bool {
		var out bytes.Buffer
		if err := WriteJUnit(&out, sample(content)); err != nil {
			return false
		}
		var read junitSuites
		return wellFormed(out.Bytes()) == nil && xml.Unmarshal(out.Bytes(), &read) == nil &&
			read.Tests == len(Verdicts())+2 && len(read.Suites) == 3 && len(read.Suites[1].Cases) == len(Verdicts())
	}, anyText()))
	properties.Property("report.json reads back", prop.ForAll(func(content string) bool {
		text, err := Encode(sample(content))
		if err != nil {
			return false
		}
		r, err := Decode(text)
		again, againErr := Encode(r)
		return err == nil && againErr == nil && bytes.Equal(text, again)
	}, anyText()))
	properties.TestingRun(t)
}

func TestScrub(t *testing.T) {
	for text, wanted := range map[string]string{
		"plain é漢🌲\t\n": "plain é漢🌲\t\n", "\x00\x1b": `\u0000\u001b`, "\xff\xfe": `\xff\xfe`, "\ufffe": `\ufffe`, "\ufffd": "\ufffd", "": "",
	} {
		if got := scrub(text); got != wanted {
			t.Errorf("%q: got %q, want %q", text, got, wanted)
		}
	}
}

func TestJUnitCounts(t *testing.T) {
	var out bytes.Buffer
	if err := WriteJUnit(&out, sample("x")); err != nil {
		t.Fatal(err)
	}
	var read junitSuites
	if err := xml.Unmarshal(out.Bytes(), &read); err != nil {
		t.Fatal(err)
	}
	got := [4]int{read.Tests, read.Failures, read.Errors, read.Skipped}
	if want := [4]int{9, 4, 2, 2}; got != want { // fail, unexpected pass, wrong fail, leak; broken, conclusion; not run, expected fail
		t.Errorf("tests, failures, errors, skipped: got %v, want %v", got, want)
	}
	for _, c := range read.Suites[1].Cases {
		if c.Failure != nil && !strings.Contains(c.Failure.Text, "replay: x") {
			t.Errorf("%s: no way to run it again in %q", c.Name, c.Failure.Text)
		}
	}
}

func TestTotalsAreTheirSum(t *testing.T) {
	totals := sample("x").Totals
	if totals.Planned != len(Verdicts()) || totals.Sum() != totals.Planned {
		t.Errorf("planned %d, sum %d", totals.Planned, totals.Sum())
	}
}

func TestWriteReplacesAndReads(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{"first", "second"} {
		if err := Write(dir, Page{Report: sample(text)}); err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(filepath.Join(dir, ReportFile))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Decode(content)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sample("second"), r, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{ReportFile, JUnitFile, TAPFile, SummaryFile, PageFile} {
		blocked := filepath.Join(dir, name+".new")
		if err := errors.Join(os.Mkdir(blocked, 0o755), os.WriteFile(filepath.Join(blocked, "x"), nil, 0o644)); err != nil {
			t.Fatal(err)
		}
		if err := Write(dir, Page{Report: sample("x")}); err == nil {
			t.Errorf("%s cannot be written and no error", name)
		}
		if err := os.RemoveAll(blocked); err != nil {
			t.Fatal(err)
		}
	}
	if err := Write(filepath.Join(dir, "missing"), Page{Report: sample("x")}); err == nil {
		t.Error("a report that cannot be written is no error")
	}
}

func TestDecodeRefusesOtherDocuments(t *testing.T) {
	for _, text := range []string{"", "{}", `{"schema":"touchstone-report","version":2}`, `{"schema":"x","version":1}`, `{"schema":"touchstone-report","schema":"touchstone-report","version":1}`} {
		if _, err := Decode([]byte(text)); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

func FuzzJUnit(f *testing.F) {
	f.Add("plain")
	f.Add("]]> \x00 \xff <a> &amp; \ufffe")
	f.Fuzz(func(t *testing.T, text string) {
		var out bytes.Buffer
		if err := WriteJUnit(&out, sample(text)); err != nil {
			t.Fatal(err)
		}
		if err := wellFormed(out.Bytes()); err != nil {
			t.Errorf("%v: %q", err, out.Bytes())
		}
	})
}
