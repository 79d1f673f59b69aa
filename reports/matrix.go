package reports

import (
	"fmt"
	"slices"
	"strings"
)

// IsBad tells whether a verdict is bad news: neither a pass, nor undecided for
// a reason, nor as declared.
func IsBad(verdict string) bool {
	return verdict == Fail || verdict == Broken || verdict == UnexpectedPass || verdict == WrongFail
}

// matrix is tests by cells of facade and profile.
type matrix struct {
	Cells []string
	Rows  []matrixRow
}

type matrixRow struct {
	Test    string
	Verdict string
	Cells   []matrixCell // as matrix.Cells
}

// matrixCell adds up the assertions of a test in a cell; Planned 0 says that
// there are none.
type matrixCell struct {
	Verdict string
	Totals  Totals
	Worst   string // the badge of its first bad assertion, "" when there is none
}

func (c matrixCell) words() string {
	if c.Totals.Planned == 0 {
		return "–"
	}
	return fmt.Sprintf("%s %d/%d", c.Verdict, c.Totals.Pass, c.Totals.Planned)
}

// Words are the cell's verdict and how many of its assertions passed.
func (c matrixCell) Words() string { return c.words() }

// matrixOf adds a report up by test and cell, both in order of first appearance.
func matrixOf(r Report) matrix {
	var m matrix
	rows := map[string]int{}
	for _, a := range r.Assertions {
		if !slices.Contains(m.Cells, a.Cell) {
			m.Cells = append(m.Cells, a.Cell)
		}
	}
	for _, a := range r.Assertions {
		test := testOf(a)
		i, known := rows[test]
		if !known {
			i = len(m.Rows)
			rows[test] = i
			m.Rows = append(m.Rows, matrixRow{Test: test, Cells: make([]matrixCell, len(m.Cells))})
		}
		c := &m.Rows[i].Cells[slices.Index(m.Cells, a.Cell)]
		c.Totals.Count(a.Verdict)
		if c.Worst == "" && IsBad(a.Verdict) {
			c.Worst = badge(a)
		}
	}
	for i := range m.Rows {
		var sum Totals
		for j, c := range m.Rows[i].Cells {
			m.Rows[i].Cells[j].Verdict = c.Totals.Worst()
			sum.add(c.Totals)
		}
		m.Rows[i].Verdict = sum.Worst()
	}
	return m
}

// testOf is the test of an assertion: T14 of T14.03.
func testOf(a Assertion) string {
	test, _, _ := strings.Cut(a.ID, ".")
	return test
}

func (t *Totals) add(other Totals) {
	t.Planned += other.Planned
	t.Pass += other.Pass
	t.Fail += other.Fail
	t.NotRun += other.NotRun
	t.Broken += other.Broken
	t.ExpectedFail += other.ExpectedFail
	t.UnexpectedPass += other.UnexpectedPass
	t.WrongFail += other.WrongFail
}

// Worst is one word for many verdicts: fail before broken before stale
// declarations; pass only when all passed; partial when some were not run.
func (t Totals) Worst() string {
	switch {
	case t.Fail > 0:
		return Fail
	case t.Broken > 0:
		return Broken
	case t.WrongFail > 0:
		return WrongFail
	case t.UnexpectedPass > 0:
		return UnexpectedPass
	case t.Pass > 0 && t.NotRun == 0 && t.ExpectedFail == 0:
		return Pass
	case t.ExpectedFail > 0:
		return ExpectedFail
	case t.Pass == 0:
		return NotRun
	}
	return "partial"
}
