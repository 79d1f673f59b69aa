package doctor

import (
	"strings"
	"testing"
)

// TestEveryAnswerHelps: what is missing comes with what follows and what to do.
func TestEveryAnswerHelps(t *testing.T) {
	names := map[string]bool{}
	for _, q := range questions(t.TempDir(), t.TempDir()) {
		if q.consequence == "" || q.fix == "" || names[q.name] {
			t.Errorf("%s: consequence %q, fix %q", q.name, q.consequence, q.fix)
		}
		names[q.name] = true
	}
	for _, a := range Examine(t.TempDir(), t.TempDir()) {
		if a.Seen == "" || a.OK != (a.Consequence == "") || a.OK != (a.Fix == "") {
			t.Errorf("%+v", a)
		}
	}
	if len(names) < 18 {
		t.Errorf("%d questions", len(names))
	}
}

func TestMissingBinariesAreSaid(t *testing.T) {
	for _, a := range Examine(t.TempDir(), t.TempDir()) {
		if a.Name == "launcher binaries" && (a.OK || a.Required) {
			t.Errorf("%+v", a)
		}
	}
}

func TestThresholds(t *testing.T) {
	if _, err := atLeast(1<<20, 2<<20, "free"); err == nil || !strings.Contains(err.Error(), "1 MiB free, want 2 MiB") {
		t.Errorf("got %v", err)
	}
	if got, err := atLeast(2<<20, 2<<20, "free"); err != nil || got != "2 MiB free" {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := disk("/nowhere/at/all"); err == nil && !strings.Contains(got, "free in /") {
		t.Errorf("got %q", got)
	}
}
