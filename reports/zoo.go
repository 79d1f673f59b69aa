package reports

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ZooVersion is the integer version of zoo.json; within it members are only added.
const ZooVersion = 1

// The files of a kill matrix.
const (
	ZooFile     = "zoo.json"
	ZooPageFile = "zoo.html"
)

// States of a record of the zoo after it was asked.
const (
	Killed          = "killed"           // an assertion that it names failed
	KilledElsewhere = "killed-elsewhere" // others failed only: no kill
	Survived        = "survived"         // nothing failed
	Dead            = "dead"             // it can no longer be made
	EquivalentGreen = "equivalent-green" // a change that is allowed, and nothing failed
	EquivalentRed   = "equivalent-red"   // a change that is allowed, and something failed
)

// ZooStates returns the six states in the order of a table.
func ZooStates() []string {
	return []string{Killed, KilledElsewhere, Survived, Dead, EquivalentGreen, EquivalentRed}
}

// Zoo is zoo.json: what became of every broken launcher that was asked.
type Zoo struct {
	Schema  string         `json:"schema"` // touchstone-zoo
	Version int            `json:"version"`
	Suite   Suite          `json:"suite"`
	Started string         `json:"started"` // RFC 3339, UTC
	Seconds float64        `json:"seconds"`
	Jobs    int            `json:"jobs"`
	Chosen  string         `json:"chosen"` // which records, in words
	Totals  map[string]int `json:"totals"` // by state
	Records []ZooRecord    `json:"records"`
	Left    []string       `json:"left"`   // records for which there was no time
	Looser  []string       `json:"looser"` // what was shown before and is not now
	IDs     ZooIDs         `json:"ids"`
	NotYet  []string       `json:"not_yet"` // assertions that nothing has shown to be able to fail
}

// ZooIDs counts assertions. Shown and Altered speak of what is on record, not
// of this run alone.
type ZooIDs struct {
	All     int `json:"all"`
	Named   int `json:"named"`   // by a record
	Shown   int `json:"shown"`   // to fail on a broken launcher
	Altered int `json:"altered"` // to fail on altered evidence only
}

// ZooRecord is one record of the zoo with what became of it.
type ZooRecord struct {
	ID           string   `json:"id"`
	Kind         string   `json:"kind"`
	Mistake      string   `json:"mistake"`
	State        string   `json:"state"`
	Named        []string `json:"named"`
	Kills        []Kill   `json:"kills"`     // one of each named assertion that failed
	Missed       []string `json:"missed"`    // named, and passed
	Undecided    []string `json:"undecided"` // named, and neither
	Others       []string `json:"others"`    // failed without being named; leak is one
	Jobs         []string `json:"jobs"`      // script and cell
	BuildSeconds float64  `json:"build_seconds"`
	Seconds      float64  `json:"seconds"`
	Problem      string   `json:"problem"`  // why it is dead or red, or what was left out
	Evidence     string   `json:"evidence"` // folder, "" when nothing is kept
}

// Kill is a named assertion that failed, as it was seen first.
type Kill struct {
	ID     string `json:"id"`
	Script string `json:"script"`
	Cell   string `json:"cell"`
	Seen   string `json:"seen"`
	Wanted string `json:"wanted"`
}

// EncodeZoo is the text of zoo.json.
func EncodeZoo(z Zoo) ([]byte, error) {
	text, err := json.Marshal(z, json.Deterministic(true), jsontext.AllowInvalidUTF8(true), jsontext.WithIndent("  "))
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", ZooFile, err)
	}
	return append(text, '\n'), nil
}

//go:embed page/zoo.html
var zooSource string

var zooTemplate = template.Must(template.New("zoo").Funcs(template.FuncMap{
	"line": oneLine, "join": strings.Join, "clip": func(text string) string { return clip(oneLine(text), 400) },
}).Parse(zooSource))

// WriteZooHTML writes the kill matrix as a page: one file that needs nothing
// else and runs no script.
func WriteZooHTML(w io.Writer, z Zoo) error {
	view := struct {
		Zoo
		Style  template.CSS
		States []string
		Good   bool
	}{z, template.CSS(pageStyle), ZooStates(), z.Good()}
	if err := zooTemplate.Execute(w, view); err != nil {
		return fmt.Errorf("write page of the zoo: %w", err)
	}
	return nil
}

// Good tells that every mistake was killed, no allowed change was red, and
// nothing is looser than it was.
func (z Zoo) Good() bool {
	return z.Totals[Killed]+z.Totals[EquivalentGreen] == len(z.Records) && len(z.Looser) == 0
}
