package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchstone/conformance/certify"
	"touchstone/reports"
)

func TestAnInterruptSaysSo(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("terminated"))
	var stderr bytes.Buffer
	if status := ended(&program{ctx: ctx, stderr: &stderr}, errors.New("attempt 4: killed")); status != certify.Interrupted || !strings.HasPrefix(stderr.String(), "touchstone: interrupted: ") {
		t.Errorf("status %d, %q", status, stderr.String())
	}
}

// TestLauncherFilesAreRefusedInWords: one line, which names the key and the cure.
func TestLauncherFilesAreRefusedInWords(t *testing.T) {
	reference, err := os.ReadFile("../../launchers/reference.toml")
	if err != nil {
		t.Fatal(err)
	}
	gap := "[[gap]]\nid = \"%\"\nreason = \"r\"\nowner = \"o\"\nexpiry = \"2030-01-01\"\n"
	for wanted, text := range map[string]string{
		"no launcher is excused from T1.33":                              string(reference) + strings.Replace(gap, "%", "T1.33", 1),
		"no launcher is excused from T22.01":                             string(reference) + strings.Replace(gap, "%", "T22.01", 1),
		"T14.99 is no assertion":                                         string(reference) + strings.Replace(gap, "%", "T14.99", 1),
		"slack_ms: got a TOML string, want a whole number":               strings.Replace(string(reference), "slack_ms = 1500", "slack_ms = \"soon\"", 1),
		"facade.direct.command: got a TOML string, want a list of texts": "version = 1\nname = \"x\"\n[facade.direct]\ncommand = \"x\"\n",
	} {
		path := filepath.Join(t.TempDir(), "mine.toml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		status, _, stderr := call("certify", "--launcher", path)
		if status != certify.Usage || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, wanted) {
			t.Errorf("status %d, %q, want %q", status, stderr, wanted)
		}
	}
	if _, _, stderr := call("certify", "--launcher", "nosuch"); !strings.Contains(stderr, "known are naive-exec, ") {
		t.Errorf("%q does not name the launchers", stderr)
	}
}

func TestALauncherIsNamedFromAnywhere(t *testing.T) {
	if got, err := fromAnywhere("reference"); got != "reference" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for _, name := range []string{"mine.toml", "launchers/mine.toml"} {
		if got, err := fromAnywhere(name); !filepath.IsAbs(got) || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
}

func TestDifferencesThatLookAlikeAreOne(t *testing.T) {
	lines := grouped([]certify.Difference{{What: "T1.19", Recorded: "pass", Now: "fail"}, {What: "T1.20", Recorded: "fail", Now: "pass"}, {What: "T1.21", Recorded: "pass", Now: "fail"}})
	if len(lines) != 2 || lines[0] != "T1.19: recorded pass, now fail (and 1 more alike: T1.21)" {
		t.Errorf("%q", lines)
	}
}

// TestWhatFollowsFromAnAbsentRecordIsCounted: and what does not, is told.
func TestWhatFollowsFromAnAbsentRecordIsCounted(t *testing.T) {
	failed := func(id, seen, attempt string) reports.Assertion {
		return reports.Assertion{ID: id, Rule: "R10", Cell: "direct/jailed", Verdict: reports.Fail,
			Findings: []reports.Finding{{Verdict: reports.Fail, Script: "T14-s", Seen: seen, Wanted: "w" + id, Attempt: attempt}}}
	}
	r := reports.Report{Assertions: []reports.Assertion{failed("T1.19", "0 terminal packets; the launcher exited with 3", "a/0"), failed("T14.01", "failure=absent", "a/0"),
		failed("T14.02", "9 bytes", "a/0"), failed("T14.03", "failure=absent", "a/1")}}
	var out bytes.Buffer
	if err := printTable(&out, terminal{}, r, "/run"); err != nil {
		t.Fatal(err)
	}
	for wanted, there := range map[string]bool{"follows  1 more from T1.19, which left no record: T14.01\n": true, "fail T14.01 ": false, "fail T14.02 ": true, "fail T14.03 ": true,
		"T14-s: in every attempt: ": true} {
		if strings.Contains(out.String(), wanted) != there {
			t.Errorf("%q: want %t in\n%s", wanted, there, out.String())
		}
	}
}
