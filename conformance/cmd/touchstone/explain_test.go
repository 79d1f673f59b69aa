package main

import (
	"strings"
	"testing"

	"touchstone/contracts"
)

// TestEveryIDIsExplained: no code is unknown, and no assertion, of which a few
// are asked: each reads all scripts.
func TestEveryIDIsExplained(t *testing.T) {
	for i, a := range contracts.Assertions() {
		if i%40 > 0 {
			continue
		}
		if e, err := explained(a.ID); err != nil || e.Assertion == nil || e.Text.Title == "" || len(e.Rules) == 0 {
			t.Fatalf("%s: %+v, %v", a.ID, e, err)
		}
	}
	for code := range contracts.LoadCatalog().Codes {
		if e, err := explained(code); err != nil || e.Code == nil {
			t.Errorf("%s: %+v, %v", code, e, err)
		}
	}
}

func TestExplainSaysWhereItIsChecked(t *testing.T) {
	for id, wants := range map[string][]string{
		"T6.03":                 {"T6.03 ", "rules     R", "whom      MUST of S", "wanted    ", "cause     ", "look at   ", "checked   T06-partial-line.txtar:"},
		"T14":                   {"T14 Gigabytes", "rules     R04 R06 ", "sent      ", "checked   T14-"},
		"R06":                   {"R06 ", "tests     T4 ", " T14 ", "rule      "},
		"T1.29":                 {"every attempt"},
		"run_deadline_exceeded": {"run_deadline_exceeded The admitted", "class     resource, retryable false", "arg       stage vocab prepare,compile,run,finalize,publish", "means     "},
	} {
		status, stdout, stderr := call("explain", id)
		for _, want := range wants {
			if !strings.Contains(stdout, want) {
				t.Errorf("%s: no %q in\n%s%s", id, want, stdout, stderr)
			}
		}
		if status != 0 {
			t.Errorf("%s: status %d", id, status)
		}
	}
	if got := (terminal{width: 40}).wrapped("one two three four five six seven eight nine", 10); got != "one two three four five six\n          seven eight nine" {
		t.Errorf("got %q", got)
	}
}
