package contracts

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAssertions(t *testing.T) {
	rows := Assertions()
	if len(rows) != 807 {
		t.Errorf("%d assertions, want 807", len(rows))
	}
	id := regexp.MustCompile(`^T([1-9]|[12][0-9]|3[0-6])\.[0-9]{2,3}$`)
	requirement := regexp.MustCompile(`^R(0[1-9]|1[0-9]|2[0-6])$`)
	subjects := []string{"S", "U", "V", "host", "suite"}
	levels := []string{"MUST", "SHOULD", "MAY"}
	needs := []string{"black-box", "fault-injection", "host-under-test", "policy", "engine-specific"}
	seen := map[string]bool{}
	for _, row := range rows {
		if !id.MatchString(row.ID) || seen[row.ID] {
			t.Errorf("%s: not an id, or twice", row.ID)
		}
		seen[row.ID] = true
		if !slices.Contains(subjects, row.Subject) || !slices.Contains(levels, row.Level) || !slices.Contains(needs, row.Needs) {
			t.Errorf("%s: subject %q, level %q, needs %q", row.ID, row.Subject, row.Level, row.Needs)
		}
		if row.Action == "" || row.Expect == "" || row.Observable == "" {
			t.Errorf("%s: an empty cell", row.ID)
		}
		for _, r := range row.Requirements {
			if !requirement.MatchString(r) {
				t.Errorf("%s: requirement %q", row.ID, r)
			}
		}
	}
}

// TestEveryTestHasAssertions: T1 to T36 and R01 to R26 are all there.
func TestEveryTestHasAssertions(t *testing.T) {
	tests, rules := map[string]int{}, map[string]int{}
	for _, row := range Assertions() {
		tests[TestOf(row.ID)]++
		for _, rule := range row.Requirements {
			rules[rule]++
		}
	}
	for n := 1; n <= 36; n++ {
		if tests[fmt.Sprintf("T%d", n)] == 0 {
			t.Errorf("T%d has no assertion", n)
		}
	}
	for n := 1; n <= 26; n++ {
		if rules[fmt.Sprintf("R%02d", n)] == 0 {
			t.Errorf("R%02d has no assertion", n)
		}
	}
}

func TestAssertionByID(t *testing.T) {
	want := Assertion{
		ID: "T14.03", Requirements: []string{"R06", "R10"}, Subject: "S", Level: "MUST", Action: "same",
		Expect:     "diagnostic.observed=D+1, accepted=D, written<=D, truncated=true, complete=false, source_total_known=false",
		Observable: "M.channels.diagnostic", Needs: "black-box",
	}
	got, found := AssertionByID("T14.03")
	if diff := cmp.Diff(want, got); diff != "" || !found {
		t.Errorf("found %t: -want +got\n%s", found, diff)
	}
	got.Requirements[0] = "R26"
	if again, _ := AssertionByID("T14.03"); again.Requirements[0] != "R06" {
		t.Error("a change to a returned assertion came back")
	}
	for _, id := range []string{"", "T14", "T14.3", "T99.01", "id"} {
		if _, found := AssertionByID(id); found {
			t.Errorf("%q was found", id)
		}
	}
}

func TestParseAssertionsRefuses(t *testing.T) {
	for what, table := range map[string]string{
		"another header": "id\tnote\nT1.01\tx\n",
		"a cell less":    assertionHeader + "\nT1.01\tR01\tS\tMUST\ta\te\to\tblack-box\n",
		"a cell more":    assertionHeader + "\nT1.01\tR01\tS\tMUST\ta\te\to\tblack-box\t\t\n",
	} {
		if rows, err := parseAssertions(table); err == nil {
			t.Errorf("%s: %v", what, rows)
		}
	}
}
