package alter

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"touchstone/contracts"
)

//go:embed coverage.tsv
var coverage string

const coverageHeading = "id\toperator\ttarget\tcell\tscript\tattempt"

// Coverage is what coverage.tsv says, in the order of the assertions.
func Coverage() ([]Upset, error) { return parseCoverage(coverage) }

func parseCoverage(text string) ([]Upset, error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if lines[0] != coverageHeading {
		return nil, fmt.Errorf("coverage: heading %q", lines[0])
	}
	var all []Upset
	for i, line := range lines[1:] {
		cells := strings.Split(line, "\t")
		if len(cells) != 6 {
			return nil, fmt.Errorf("coverage: line %d: %d cells", i+2, len(cells))
		}
		number, err := strconv.Atoi(cells[5])
		if _, known := contracts.AssertionByID(cells[0]); !known || err != nil {
			return nil, fmt.Errorf("coverage: line %d: no assertion %q, or no attempt %q", i+2, cells[0], cells[5])
		}
		all = append(all, Upset{cells[0], cells[1], cells[2], cells[3], cells[4], number})
	}
	return all, nil
}

// Know takes rows as found: only what they lack is searched for.
func (s *Search) Know(rows []Upset) {
	for _, u := range rows {
		if !s.known(u.Operator) {
			continue
		}
		if _, before := s.Upset[u.ID]; !before {
			s.Upset[u.ID] = u
		}
		s.First[u.Operator] = u
		s.notice(u.Operator, u.ID)
	}
}

// Merged is coverage with what a search found: a row of the search takes the
// place of an assertion's first. An operator that is nobody's first has a row
// of its own.
func (s *Search) Merged(before []Upset) []Upset {
	first, more := map[string]Upset{}, map[string]Upset{} // by assertion, by operator
	for _, u := range before {
		if _, known := first[u.ID]; !known {
			first[u.ID] = u
		}
		more[u.Operator] = u
	}
	maps.Copy(first, s.Upset)
	maps.Copy(more, s.First)
	used := map[string]bool{}
	for _, u := range first {
		used[u.Operator] = true
	}
	var all []Upset
	for _, id := range ids() {
		if u, covered := first[id]; covered {
			all = append(all, u)
		}
		for _, o := range Operators() {
			if u, found := more[o.Name]; found && u.ID == id && !used[o.Name] {
				all = append(all, u)
			}
		}
	}
	return all
}

func (s *Search) known(operator string) bool {
	return slices.ContainsFunc(s.Operators, func(o Operator) bool { return o.Name == operator })
}

// Spell is the text of coverage.tsv.
func Spell(all []Upset) string {
	var text strings.Builder
	text.WriteString(coverageHeading + "\n")
	for _, u := range all {
		fmt.Fprintf(&text, "%s\t%s\t%s\t%s\t%s\t%d\n", u.ID, u.Operator, u.Target, u.Cell, u.Script, u.Attempt)
	}
	return text.String()
}

// Open are the assertions that passed and that nothing upset, in order.
func (s *Search) Open() []string {
	var open []string
	for _, a := range contracts.Assertions() {
		if _, upset := s.Upset[a.ID]; s.Passed[a.ID] && !upset {
			open = append(open, a.ID)
		}
	}
	return open
}

// Idle are the operators that nothing noticed.
func (s *Search) Idle() []string {
	var idle []string
	for _, o := range s.Operators {
		if len(s.Noticed[o.Name]) == 0 {
			idle = append(idle, o.Name)
		}
	}
	return idle
}

// NoticedBy are the assertions that noticed an operator, in order.
func (s *Search) NoticedBy(operator string) []string {
	return slices.DeleteFunc(ids(), func(id string) bool { return !s.Noticed[operator][id] })
}

func ids() []string {
	var all []string
	for _, a := range contracts.Assertions() {
		all = append(all, a.ID)
	}
	return all
}
