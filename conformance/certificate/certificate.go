package certificate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"touchstone/reports"
)

// The files that stand beside the evidence.
const (
	File       = "certificate.json"
	SumsFile   = "evidence.sha256"
	LedgerFile = "ledger.json"
)

// SchemaName and Version are the first members of certificate.json; within the
// version members are only added.
const (
	SchemaName = "touchstone-certificate"
	Version    = 1
)

// DefaultDays is how long a certificate is worth believing, in days from the
// start of its run: machines, kernels and launchers change under it.
const DefaultDays = 90

// The scopes of a certificate (C-80).
const (
	Full    = "full"    // every planned assertion passed, and no test, facade or profile was left out
	Partial = "partial" // it conforms as far as it was asked
	None    = "none"    // it does not conform, or nothing was decided
)

// Certificate is certificate.json.
type Certificate struct {
	Schema     string            `json:"schema"`
	Version    int               `json:"version"`
	RunID      string            `json:"run_id"`
	Started    string            `json:"started"` // RFC 3339, UTC
	Expires    string            `json:"expires"` // the age limit, exclusive
	Conclusion string            `json:"conclusion"`
	ExitStatus int               `json:"exit_status"`
	Scope      string            `json:"scope"`
	Suite      Suite             `json:"suite"`
	Launcher   Launcher          `json:"launcher"`
	Host       map[string]string `json:"host"`
	Seeds      []string          `json:"seeds"` // that a run of the same evidence needs; none: a run draws no random choice
	Selection  reports.Selection `json:"selection"`
	Totals     reports.Totals    `json:"totals"`
	// Verdicts are the ids of each verdict in each cell.
	Verdicts map[string]map[string][]string `json:"verdicts"`
	// Seconds is how long each script took in each cell.
	Seconds  map[string]map[string]float64 `json:"seconds"`
	Evidence Evidence                      `json:"evidence"`
	// SHA256 is the digest of this document with "" in this place.
	SHA256 string `json:"sha256"`
}

// Suite is what judged. Digests are lowercase hex SHA-256.
type Suite struct {
	Version    string            `json:"version"`
	Commit     string            `json:"commit"`
	Program    string            `json:"program"`        // digest of touchstone
	Attempt    string            `json:"attempt"`        // digest of the program of an attempt
	Relay      string            `json:"relay,omitzero"` // touchstone-relay, in the supervisor's place for a host under test
	Assertions string            `json:"assertions"`     // digest of assertions.tsv
	Scripts    map[string]string `json:"scripts"`        // by name
	Fixtures   map[string]string `json:"fixtures"`       // sources by name
}

// Launcher is what was certified.
type Launcher struct {
	Name     string            `json:"name"`
	File     string            `json:"file"`
	SHA256   string            `json:"sha256"`   // of the launcher file
	Binaries map[string]string `json:"binaries"` // that the launcher file names
	Pairing  string            `json:"pairing"`  // digest of the pairing template, "" when there is none
}

// Evidence pins the run folder.
type Evidence struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
	Files  int    `json:"files"`
	Bytes  int64  `json:"bytes"`
}

// Digest is a SHA-256 in lowercase hex.
func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// Encode is the certificate's only spelling, its own digest filled in.
func Encode(c Certificate) ([]byte, error) {
	c.SHA256 = ""
	blank, err := marshal(c)
	if err != nil {
		return nil, err
	}
	c.SHA256 = Digest(blank)
	return marshal(c)
}

func marshal(c Certificate) ([]byte, error) {
	content, err := json.Marshal(c, json.Deterministic(true), jsontext.WithIndent(" "), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, fmt.Errorf("encode certificate: %w", err)
	}
	return append(content, '\n'), nil
}

// ErrAltered is what Decode says of a certificate that was changed.
var ErrAltered = errors.New("decode certificate: altered: its own digest is not that of its content")

// Decode reads a certificate and refuses one in which a single byte is not as
// Encode wrote it.
func Decode(content []byte) (Certificate, error) {
	var c Certificate
	if err := json.Unmarshal(content, &c); err != nil {
		return c, fmt.Errorf("decode certificate: %w", err)
	}
	if c.Schema != SchemaName || c.Version != Version {
		return c, fmt.Errorf("decode certificate: %q version %d, want %q version %d", c.Schema, c.Version, SchemaName, Version)
	}
	again, err := Encode(c)
	if err != nil {
		return c, err
	}
	if !bytes.Equal(again, content) {
		return c, ErrAltered
	}
	return c, nil
}

// scope says how far a report's conclusion reaches.
func scope(r reports.Report) string {
	switch {
	case r.ExitStatus != 0:
		return None
	case r.Full && !r.Selection.Narrowed():
		return Full
	}
	return Partial
}

// verdicts sorts a report's assertions by cell and verdict.
func verdicts(r reports.Report) map[string]map[string][]string {
	all := map[string]map[string][]string{}
	for _, a := range r.Assertions {
		if all[a.Cell] == nil {
			all[a.Cell] = map[string][]string{}
		}
		all[a.Cell][a.Verdict] = append(all[a.Cell][a.Verdict], a.ID)
	}
	return all
}

func scriptSeconds(r reports.Report) map[string]map[string]float64 {
	all := map[string]map[string]float64{}
	for _, s := range r.Scripts {
		if all[s.Cell] == nil {
			all[s.Cell] = map[string]float64{}
		}
		all[s.Cell][s.Script] = s.Seconds
	}
	return all
}

// Expired tells whether a certificate's age limit has passed. One whose limit
// cannot be read has.
func (c Certificate) Expired(now time.Time) bool {
	limit, err := time.Parse(time.RFC3339, c.Expires)
	return err != nil || !now.Before(limit)
}

// Count is the number of assertions with a verdict.
func (c Certificate) Count(verdict string) int {
	n := 0
	for _, cell := range c.Verdicts {
		n += len(cell[verdict])
	}
	return n
}

// keys of a map in order.
func sorted[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
