package contracts

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Unsettled is an assertion that no run of a launcher can answer: it is about
// documents, releases or a design. It is counted by no certificate.
type Unsettled struct {
	ID      string // of an assertion
	Why     string // a running launcher cannot be asked
	Instead string // what this project does about it
}

const unsettledHeader = "id\twhy\tinstead"

var unsettledTable = sync.OnceValue(func() []Unsettled {
	rows, err := parseUnsettled(string(mustRead("unsettled.tsv")))
	if err != nil {
		panic("bug: " + err.Error())
	}
	return rows
})

// UnsettledAssertions returns the rows of unsettled.tsv in file order.
func UnsettledAssertions() []Unsettled { return slices.Clone(unsettledTable()) }

func parseUnsettled(table string) ([]Unsettled, error) {
	header, body, _ := strings.Cut(table, "\n")
	if header != unsettledHeader {
		return nil, fmt.Errorf("parse unsettled: header %q", header)
	}
	var rows []Unsettled
	for line := range strings.Lines(body) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(cells) != 3 {
			return nil, fmt.Errorf("parse unsettled: line %d: %d cells, want 3", len(rows)+2, len(cells))
		}
		rows = append(rows, Unsettled{ID: cells[0], Why: cells[1], Instead: cells[2]})
	}
	return rows, nil
}
