package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"touchstone/conformance/certify"
	"touchstone/contracts"
)

// unwrittenFile lists the assertions that are still to be written. It only gets
// shorter: an id that a script checks, or that holds of every attempt, has to go.
const unwrittenFile = "../../../contracts/testdata/unwritten.txt"

// occasioned hold of every attempt, and a script makes sure that there is one
// which can show them.
var occasioned = []string{"T1.61", "T1.62", "T22.13", "T34.12"}

// kinds are the ways in which an assertion is accounted for. A script may check
// an id in several launches and cells, and so may several scripts: it is one kind.
func kinds(id string, checked map[string]bool, unwritten []string) []string {
	var is []string
	if universal := slices.Contains(certify.UniversalIDs(), id); universal {
		is = append(is, "every attempt")
	}
	if checked[id] && !slices.Contains(occasioned, id) {
		is = append(is, "a script's check")
	}
	if slices.ContainsFunc(contracts.UnsettledAssertions(), func(u contracts.Unsettled) bool { return u.ID == id }) {
		is = append(is, "contracts/unsettled.tsv")
	}
	if slices.Contains(unwritten, id) {
		is = append(is, unwrittenFile)
	}
	return is
}

// TestSettled: each assertion is accounted for in exactly one way.
func TestSettled(t *testing.T) {
	_, checked, err := checkedByScripts()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(unwrittenFile)
	if err != nil {
		t.Fatal(err)
	}
	unwritten := strings.Fields(string(content))
	if *update {
		unwritten = slices.DeleteFunc(unwritten, func(id string) bool { return len(kinds(id, checked, nil)) > 0 })
		text := strings.Join(append(unwritten, ""), "\n")
		if err := os.WriteFile(unwrittenFile, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, a := range contracts.Assertions() {
		switch is := kinds(a.ID, checked, unwritten); {
		case len(is) == 0:
			t.Errorf("%s: no script checks it, no attempt is judged by it, and contracts/unsettled.tsv does not say why", a.ID)
		case len(is) > 1:
			t.Errorf("%s: both %s; an id that is written goes from the list by go test ./conformance/cmd/touchstone -run Settled -update", a.ID, strings.Join(is, " and "))
		}
	}
	for i, id := range unwritten {
		if _, found := contracts.AssertionByID(id); !found || slices.Contains(unwritten[:i], id) {
			t.Errorf("%s in %s: no assertion, or twice", id, unwrittenFile)
		}
	}
}

// TestSettledIsExact: neither none nor two goes unnoticed.
func TestSettledIsExact(t *testing.T) {
	for id, c := range map[string]struct {
		checked, listed bool
		kinds           int
	}{
		"T14.03": {false, false, 0}, // an id of no kind
		"T14.04": {true, false, 1},
		"T14.05": {true, true, 2},
		"T1.19":  {false, false, 1},
		"T1.33":  {true, false, 2},
		"T1.61":  {true, false, 1}, // occasioned
		"T2.57":  {true, false, 2},
	} {
		var unwritten []string
		if c.listed {
			unwritten = []string{id}
		}
		if is := kinds(id, map[string]bool{id: c.checked}, unwritten); len(is) != c.kinds {
			t.Errorf("%s: %q, want %d", id, is, c.kinds)
		}
	}
}
