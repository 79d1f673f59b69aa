package contracts

import (
	"slices"
	"strings"
	"testing"
)

// maxUnsettled keeps the exception an exception.
const maxUnsettled = 25

// TestUnsettledAreArgued: few rows, each of a known assertion that needs no
// black box, with a sentence why and one on what is done instead.
func TestUnsettledAreArgued(t *testing.T) {
	rows := UnsettledAssertions()
	if len(rows) == 0 || len(rows) > maxUnsettled {
		t.Errorf("%d rows, want 1 to %d", len(rows), maxUnsettled)
	}
	order := map[string]int{}
	for i, a := range Assertions() {
		order[a.ID] = i
	}
	for i, row := range rows {
		a, found := AssertionByID(row.ID)
		if !found || a.Needs == "black-box" || a.Needs == "fault-injection" {
			t.Errorf("%s: no assertion, or one that a launcher can be asked: needs %q", row.ID, a.Needs)
		}
		if i > 0 && order[row.ID] <= order[rows[i-1].ID] {
			t.Errorf("%s: twice, or out of the order of assertions.tsv", row.ID)
		}
		for _, text := range []string{row.Why, row.Instead} {
			if n := strings.Count(text, ". ") + 1; len(text) < 30 || !strings.HasSuffix(text, ".") || n > 2 {
				t.Errorf("%s: %q is not one or two sentences", row.ID, text)
			}
		}
	}
}

func TestUnsettledIsTheCallersOwn(t *testing.T) {
	first := UnsettledAssertions()
	kept := slices.Clone(first)
	first[0].ID = "T99.01"
	if !slices.Equal(UnsettledAssertions(), kept) {
		t.Error("a change to a returned row came back")
	}
}

func TestParseUnsettledRefuses(t *testing.T) {
	for what, table := range map[string]string{
		"another header": "id\twhy\n",
		"a cell less":    unsettledHeader + "\nT1.01\twhy\n",
		"a cell more":    unsettledHeader + "\nT1.01\twhy\tinstead\tmore\n",
	} {
		if rows, err := parseUnsettled(table); err == nil {
			t.Errorf("%s: %v", what, rows)
		}
	}
}
