// Package ledger writes and checks a run as a build ledger: records of the
// kinds objective, candidate, attempt, progress, gate and decision, in the
// shape of the schema in testdata. Each record points at earlier ones by id
// and digest, and the ledger's head is a digest over all of them in order, so
// that no record can be altered, left out, added or moved unnoticed.
package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The names of the schema.
const (
	ledgerSchema = "atelier-harness-ledger@v1"
	recordSchema = "atelier-build-record@v1"
)

// Ledger is the whole document.
type Ledger struct {
	Schema  string   `json:"schema"`
	Profile string   `json:"profile"` // build
	Records []Record `json:"records"`
	Head    string   `json:"head"`
}

// Record is one entry. Data is of the kind's own shape.
type Record struct {
	Schema string         `json:"schema"`
	ID     string         `json:"id"`
	Run    string         `json:"run"`
	At     string         `json:"at"` // RFC 3339
	By     string         `json:"by"`
	Kind   string         `json:"kind"`
	Data   jsontext.Value `json:"data"`
}

// Pointer names an earlier record and pins it.
type Pointer struct {
	ID     string `json:"id"`
	Digest string `json:"digest"`
}

// canonical is a record as it is digested: compact, members in order.
func (r Record) canonical() ([]byte, error) {
	text, err := json.Marshal(r, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode record %s: %w", r.ID, err)
	}
	value := jsontext.Value(text)
	if err := value.Canonicalize(); err != nil {
		return nil, fmt.Errorf("encode record %s: %w", r.ID, err)
	}
	return value, nil
}

func (r Record) digest() (string, error) {
	text, err := r.canonical()
	return tagged(sha256.Sum256(text)), err
}

func tagged(sum [sha256.Size]byte) string { return "sha256:" + hex.EncodeToString(sum[:]) }

// head is the digest over the digests of all records, one a line.
func head(records []Record) (string, error) {
	var all bytes.Buffer
	for _, r := range records {
		digest, err := r.digest()
		if err != nil {
			return "", err
		}
		fmt.Fprintln(&all, digest)
	}
	return tagged(sha256.Sum256(all.Bytes())), nil
}

// Encode is the ledger as indented JSON.
func Encode(l Ledger) ([]byte, error) {
	text, err := json.Marshal(l, json.Deterministic(true), jsontext.WithIndent(" "))
	if err != nil {
		return nil, fmt.Errorf("encode ledger: %w", err)
	}
	return append(text, '\n'), nil
}

// Check reads a ledger and follows every pointer: it fails on the first record
// that is not as what follows it, or the head, pins it.
func Check(content []byte) error {
	var l Ledger
	if err := json.Unmarshal(content, &l, json.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("read ledger: %w", err)
	}
	if l.Schema != ledgerSchema || l.Profile != "build" || len(l.Records) == 0 {
		return fmt.Errorf("read ledger: schema %q, profile %q, %d records", l.Schema, l.Profile, len(l.Records))
	}
	known := map[string]string{}
	for _, r := range l.Records {
		if r.Schema != recordSchema || r.Run != l.Records[0].Run {
			return fmt.Errorf("record %s: schema %q, run %q", r.ID, r.Schema, r.Run)
		}
		if _, twice := known[r.ID]; twice {
			return fmt.Errorf("record %s: twice", r.ID)
		}
		pointers, err := pointersIn(r.Data)
		if err != nil {
			return fmt.Errorf("record %s: %w", r.ID, err)
		}
		for _, p := range pointers {
			if digest, earlier := known[p.ID]; !earlier || digest != p.Digest {
				return fmt.Errorf("record %s points at %s, which is not the earlier record that it names", r.ID, p.ID)
			}
		}
		if known[r.ID], err = r.digest(); err != nil {
			return err
		}
	}
	return checkHead(l, content)
}

func checkHead(l Ledger, content []byte) error {
	wanted, err := head(l.Records)
	if err != nil {
		return err
	}
	if l.Head != wanted {
		return errors.New("the head is not the digest of the records")
	}
	if again, err := Encode(l); err != nil || !bytes.Equal(again, content) {
		return errors.Join(errors.New("the ledger is spelled otherwise than it was written"), err)
	}
	return nil
}

// pointersIn finds the pointers of a record: objects with id and digest, one
// level deep or in an array.
func pointersIn(data jsontext.Value) ([]Pointer, error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, err
	}
	var all []Pointer
	for _, name := range []string{"objective", "candidate", "attempt", "decision"} {
		var p Pointer
		if json.Unmarshal(members[name], &p, json.RejectUnknownMembers(true)) == nil && p.Digest != "" {
			all = append(all, p)
		}
	}
	var gates []Pointer
	if json.Unmarshal(members["gates"], &gates, json.RejectUnknownMembers(true)) == nil {
		all = append(all, gates...)
	}
	return all, nil
}
