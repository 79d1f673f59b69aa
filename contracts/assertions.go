package contracts

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Assertion is one row of assertions.tsv: one thing that can be seen to be
// false about a launcher.
type Assertion struct {
	// ID is a test and a number, such as "T14.03".
	ID string
	// Requirements are the contract's rules, such as "R06".
	Requirements []string
	// Subject is whom it is about: S, U, V, host or suite.
	Subject string
	// Level is MUST, SHOULD or MAY.
	Level string
	// Action is what is set up and done, Expect what must be seen then.
	Action, Expect string
	// Observable is where it is seen.
	Observable string
	// Needs is what the observation takes: black-box, fault-injection,
	// host-under-test, policy or engine-specific.
	Needs string
	// Note is free text, often empty.
	Note string
}

const assertionHeader = "id\trequirements\tsubject\tlevel\tsetup+action\texpected observation\tobservable\tneeds\tnote"

var assertionTable = sync.OnceValue(func() []Assertion {
	rows, err := parseAssertions(string(mustRead("assertions.tsv")))
	if err != nil {
		panic("bug: " + err.Error())
	}
	return rows
})

var assertionIndex = sync.OnceValue(func() map[string]int {
	index := map[string]int{}
	for i, row := range assertionTable() {
		index[row.ID] = i
	}
	return index
})

// Assertions returns every assertion in file order.
func Assertions() []Assertion {
	rows := slices.Clone(assertionTable())
	for i := range rows {
		rows[i].Requirements = slices.Clone(rows[i].Requirements)
	}
	return rows
}

// AssertionByID returns the assertion with this id, and whether there is one.
func AssertionByID(id string) (Assertion, bool) {
	i, found := assertionIndex()[id]
	if !found {
		return Assertion{}, false
	}
	row := assertionTable()[i]
	row.Requirements = slices.Clone(row.Requirements)
	return row, true
}

// TestOf returns the test of an assertion id: "T14" for "T14.03". An id
// without a dot is returned whole; whether such a test exists is not checked.
func TestOf(id string) string {
	test, _, _ := strings.Cut(id, ".")
	return test
}

func parseAssertions(table string) ([]Assertion, error) {
	header, body, _ := strings.Cut(table, "\n")
	if header != assertionHeader {
		return nil, fmt.Errorf("parse assertions: header %q", header)
	}
	var rows []Assertion
	for line := range strings.Lines(body) {
		row, err := parseAssertion(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, fmt.Errorf("parse assertions: line %d: %w", len(rows)+2, err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func parseAssertion(line string) (Assertion, error) {
	cells := strings.Split(line, "\t")
	if want := strings.Count(assertionHeader, "\t") + 1; len(cells) != want {
		return Assertion{}, fmt.Errorf("%d cells, want %d", len(cells), want)
	}
	return Assertion{
		ID: cells[0], Requirements: strings.Split(cells[1], ","),
		Subject: cells[2], Level: cells[3], Action: cells[4], Expect: cells[5],
		Observable: cells[6], Needs: cells[7], Note: cells[8],
	}, nil
}
