package alter

import (
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"touchstone/contracts"
)

//go:embed operators.tsv
var table string

// Operator is one line of operators.tsv.
type Operator struct {
	Name string
	Kind string   // what sort of thing it alters
	Args []string // what of it, and how
	// Every says that on any good attempt on which it can act some alteration of
	// it is noticed; otherwise only where a script asks for what is altered.
	Every bool
	// Broad says that so much is altered that a check may fail for want of
	// anything to look at: only the named assertions are covered by it.
	Broad bool
	IDs   []string // of which at least one must notice
	Says  string

	rank int // its line: the first that upsets a check is the one that counts
}

// Operators are the operators in the order of the table.
func Operators() []Operator {
	all, err := parse(table)
	if err != nil {
		panic("bug: operators.tsv: " + err.Error())
	}
	return all
}

const heading = "name\talters\tfound\tids\tsays"

func parse(text string) ([]Operator, error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if lines[0] != heading {
		return nil, fmt.Errorf("heading %q", lines[0])
	}
	var all []Operator
	for i, line := range lines[1:] {
		o, err := parseOperator(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+2, err)
		}
		if slices.ContainsFunc(all, func(p Operator) bool { return p.Name == o.Name }) {
			return nil, fmt.Errorf("line %d: %s twice", i+2, o.Name)
		}
		o.rank = i
		all = append(all, o)
	}
	return all, nil
}

func parseOperator(line string) (Operator, error) {
	cells := strings.Split(line, "\t")
	if len(cells) != 5 || cells[0] == "" || cells[4] == "" {
		return Operator{}, fmt.Errorf("%d cells, or no name or text", len(cells))
	}
	words := strings.Fields(cells[1])
	o := Operator{Name: cells[0], Says: cells[4], Every: cells[2] == "every", Broad: cells[2] == "broad"}
	if len(words) == 0 || (cells[2] != "every" && cells[2] != "broad" && cells[2] != "asked") {
		return o, fmt.Errorf("%s: alters nothing, or found %q", o.Name, cells[2])
	}
	if o.Kind, o.Args = words[0], words[1:]; kinds[o.Kind] == nil {
		return o, fmt.Errorf("%s: unknown kind %q", o.Name, o.Kind)
	}
	for _, id := range strings.Fields(cells[3]) {
		if _, known := contracts.AssertionByID(id); !known {
			return o, fmt.Errorf("%s: unknown assertion %q", o.Name, id)
		}
		o.IDs = append(o.IDs, id)
	}
	return o, nil
}

// Matching are the operators whose names match a glob.
func Matching(glob string) []Operator {
	return slices.DeleteFunc(Operators(), func(o Operator) bool {
		ok, err := path.Match(glob, o.Name)
		return !ok || err != nil
	})
}

// kinds are the functions behind the first word of what an operator alters.
var kinds map[string]func(s *subject, words []string, yield yielding)

func init() {
	kinds = map[string]func(*subject, []string, yielding){
		"member": alterRecord, "packet": alterPackets, "bytes": alterBytes, "exit": alterExit, "time": alterTime,
		"event": alterEvents, "observed": alterObserved, "left": leave, "ended": alterEnded, "rendezvous": alterRendezvous,
		"producer": alterProducer, "faults": alterFaults, "disposition": alterDisposition, "catalog": alterCatalog, "launch": alterLaunch, "profile": alterProfile, "suite": alterSuite, "result": alterResults, "relay": alterRelay,
	}
}

// apply gives every whole record that the operator makes of an attempt.
func (o Operator) apply(s *subject, yield func(target string, as variant)) {
	kinds[o.Kind](s, o.Args, func(a alteration) {
		events := a.events
		if events == nil {
			events = s.attempt.Events
		}
		made, err := s.attempt.With(events, a.files)
		if err != nil {
			return
		}
		if a.launch != nil {
			made.Launch = *a.launch
		}
		if a.cell != "" {
			made.Scenario.Cell.Profile = a.cell
		}
		yield(a.target, variant{made, a.lost})
	})
}
