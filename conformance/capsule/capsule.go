// Package capsule writes and reads capsules: one file that runs again what did
// not pass. A capsule is the script itself, byte for byte, so that lines count
// as they did, with further archive files behind it:
//
//	capsule.json           of what run it is, of which launcher and suite, and every verdict
//	capsule-scenario.json  the scenario of the attempt that did not pass
//	capsule-faults.rules   its fault plan, where it has one
//
// contracts/SPEC.md describes them, contracts/capsule.v1.schema.json the head.
package capsule

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/tools/txtar"

	"touchstone/conformance/scenario"
)

// SchemaName and Version are the first members of the head; within the version
// members are only added.
const (
	SchemaName = "touchstone-capsule"
	Version    = 1
)

// The archive files of a capsule. No script may have one whose name begins so.
const (
	Prefix       = "capsule"
	HeadFile     = "capsule.json"
	ScenarioFile = "capsule-scenario.json"
	FaultsFile   = "capsule-faults.rules"
)

// Capsule is one script in one cell that did not pass.
type Capsule struct {
	Head
	Source []byte // of the script
	// Scenario is that of the attempt Head.Attempt, as JSON, for people: a replay
	// makes its own from the script. nil where no attempt was made.
	Scenario jsontext.Value
	Faults   []string // the fault plan of that attempt
}

// Head is capsule.json.
type Head struct {
	Schema   string        `json:"schema"`
	Version  int           `json:"version"`
	RunID    string        `json:"run_id"`
	Started  string        `json:"started"` // of the run, RFC 3339, UTC
	Script   string        `json:"script"`
	Test     string        `json:"test"`
	Cell     scenario.Cell `json:"cell"`
	Launcher Launcher      `json:"launcher"`
	Suite    Suite         `json:"suite"`
	// Seeds are what drew the descriptor numbers of each attempt, by its number
	// from 0: 32 lowercase hexadecimal digits, "" where it is not known.
	Seeds    []string  `json:"seeds"`
	Attempts []string  `json:"attempts"` // their folders within the run, in order
	Attempt  int       `json:"attempt"`  // number of the one that the scenario is of; -1: none
	Verdicts []Verdict `json:"verdicts"` // of every id that the script spoke of
	Leaks    []string  `json:"leaks"`
}

// Launcher says what was asked. Digests are lowercase hex SHA-256.
type Launcher struct {
	Name     string            `json:"name"`
	Request  string            `json:"request"`  // as it was named: a name of conformance/launchers, or a path
	SHA256   string            `json:"sha256"`   // of the launcher file
	Binaries map[string]string `json:"binaries"` // that the launcher file names
}

// Suite says what judged.
type Suite struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"`
	Program  string `json:"program"`  // digest of touchstone
	Attempt  string `json:"attempt"`  // digest of the program of an attempt
	Fixtures string `json:"fixtures"` // digest of the list of the fixtures' digests
	Script   string `json:"script"`   // digest of the script
}

// Verdict is what was expected of an assertion, and what was seen.
type Verdict struct {
	ID       string `json:"id"`
	Rule     string `json:"rule"`
	Expected string `json:"expected"` // pass, or expected-fail where the launcher file declares a gap
	Seen     string `json:"seen"`     // a verdict of report.json
	Line     int    `json:"line"`     // of the script; 0 for a check of every attempt
	Saw      string `json:"saw"`      // of what did not pass
	Wanted   string `json:"wanted"`
	Reason   string `json:"reason"`
}

// Digest is a SHA-256 in lowercase hex.
func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// Encode is the capsule's only spelling. It fills in schema, version and the
// digest of the script.
func Encode(c Capsule) ([]byte, error) {
	if !bytes.HasSuffix(c.Source, []byte("\n")) {
		c.Source = append(bytes.Clone(c.Source), '\n')
	}
	c.Schema, c.Version, c.Suite.Script = SchemaName, Version, Digest(c.Source)
	if err := checkSource(c.Source); err != nil {
		return nil, fmt.Errorf("encode capsule: %w", err)
	}
	head, err := marshal(c.Head)
	if err != nil {
		return nil, err
	}
	files := []txtar.File{{Name: HeadFile, Data: head}}
	if c.Scenario != nil {
		text, err := marshal(c.Scenario)
		if err != nil {
			return nil, err
		}
		files = append(files, txtar.File{Name: ScenarioFile, Data: text})
	}
	if len(c.Faults) > 0 {
		files = append(files, txtar.File{Name: FaultsFile, Data: []byte(strings.Join(c.Faults, "\n") + "\n")})
	}
	return append(bytes.Clone(c.Source), txtar.Format(&txtar.Archive{Files: files})...), nil
}

func marshal(v any) ([]byte, error) {
	text, err := json.Marshal(v, json.Deterministic(true), jsontext.WithIndent(" "), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, fmt.Errorf("encode capsule: %w", err)
	}
	return append(text, '\n'), nil
}

func checkSource(source []byte) error {
	for _, f := range txtar.Parse(source).Files {
		if strings.HasPrefix(f.Name, Prefix) {
			return fmt.Errorf("the script has a file %s of its own", f.Name)
		}
	}
	return nil
}

// MaxBytes is how long a capsule may be.
const MaxBytes = 4 << 20

// marker begins the head; the script ends before it.
var marker = []byte("\n-- " + HeadFile + " --\n")

// Decode reads a capsule. What is not one, or not of this version, or whose
// script is not the recorded one, is an error of one line. Unknown members and
// further archive files are skipped.
func Decode(content []byte) (Capsule, error) {
	c, err := decode(content)
	if err != nil {
		return Capsule{}, fmt.Errorf("no capsule: %s", strings.ReplaceAll(err.Error(), "\n", " "))
	}
	return c, nil
}

func decode(content []byte) (Capsule, error) {
	if len(content) > MaxBytes {
		return Capsule{}, fmt.Errorf("%d bytes, at most %d", len(content), MaxBytes)
	}
	at := bytes.Index(content, marker)
	if at < 0 {
		return Capsule{}, fmt.Errorf("it has no file %s", HeadFile)
	}
	c := Capsule{Source: content[:at+1]}
	files := txtar.Parse(content[at+1:]).Files
	if err := json.Unmarshal(files[0].Data, &c.Head); err != nil {
		return Capsule{}, fmt.Errorf("%s: %w", HeadFile, err)
	}
	for _, f := range files[1:] {
		switch f.Name {
		case HeadFile:
			return Capsule{}, fmt.Errorf("it has %s twice", HeadFile)
		case ScenarioFile:
			if c.Scenario = bytes.TrimSpace(f.Data); !c.Scenario.IsValid() {
				return Capsule{}, fmt.Errorf("%s: no JSON", ScenarioFile)
			}
		case FaultsFile:
			c.Faults = strings.Split(strings.TrimSuffix(string(f.Data), "\n"), "\n")
		}
	}
	return c, c.check()
}

var (
	scriptName = regexp.MustCompile(`^T[0-9]{2}-[a-z0-9-]{1,100}$`)
	seed       = regexp.MustCompile(`^([0-9a-f]{32})?$`)
	verdicts   = regexp.MustCompile(`^(pass|fail|not-run|broken|expected-fail|unexpected-pass|wrong-fail)$`)
)

// check says what keeps a capsule from being run again.
func (c Capsule) check() error {
	switch {
	case c.Schema != SchemaName || c.Version != Version:
		return fmt.Errorf("%q version %d, want %q version %d", c.Schema, c.Version, SchemaName, Version)
	case !scriptName.MatchString(c.Script):
		return fmt.Errorf("script %q", c.Script)
	case c.Cell.Facade == "" || c.Cell.Profile == "":
		return errors.New("no cell")
	case c.Launcher.Request == "":
		return errors.New("no launcher")
	case len(c.Verdicts) == 0:
		return errors.New("no verdict")
	case c.Suite.Script != Digest(c.Source):
		return errors.New("its script is not the recorded one: the digest differs")
	}
	for i, s := range c.Seeds {
		if !seed.MatchString(s) {
			return fmt.Errorf("seed %d: %q", i, s)
		}
	}
	for _, v := range c.Verdicts {
		if v.ID == "" || !verdicts.MatchString(v.Seen) || !verdicts.MatchString(v.Expected) {
			return fmt.Errorf("verdict %q of %q, expected %q", v.Seen, v.ID, v.Expected)
		}
	}
	return checkSource(c.Source)
}
