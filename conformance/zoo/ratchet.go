package zoo

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"touchstone/contracts"
	"touchstone/reports"
)

// Ratchet is what has been shown once, by record: it may only grow. It is kept
// in ratchet.tsv, which `touchstone zoo run --ratchet` writes.
type Ratchet map[string]Shown

// Shown is what a record has been shown to do.
type Shown struct {
	State string   // killed or equivalent-green
	IDs   []string // that failed as named, sorted
}

const (
	ratchetFile   = "ratchet.tsv"
	ratchetHeader = "# What the zoo has shown; touchstone zoo run --ratchet adds to it, nothing may be taken away.\nrecord\tstate\tfailed as named\n"
)

// ReadRatchet reads a checkout's.
func ReadRatchet(root string) (Ratchet, error) {
	text, err := os.ReadFile(filepath.Join(root, Folder, ratchetFile))
	if err != nil {
		return nil, fmt.Errorf("read ratchet: %w", err)
	}
	return parseRatchet(text)
}

func parseRatchet(text []byte) (Ratchet, error) {
	rows, found := bytes.CutPrefix(text, []byte(ratchetHeader))
	if !found {
		return nil, fmt.Errorf("read ratchet: not its header")
	}
	r := Ratchet{}
	for line := range strings.Lines(string(rows)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 3 {
			return nil, fmt.Errorf("read ratchet: %q: %d columns, want 3", line, len(fields))
		}
		ids := strings.Fields(fields[2])
		switch _, twice := r[fields[0]]; {
		case twice:
			return nil, fmt.Errorf("read ratchet: %s stands twice", fields[0])
		case fields[1] == reports.Killed && len(ids) > 0, fields[1] == reports.EquivalentGreen && len(ids) == 0:
		default:
			return nil, fmt.Errorf("read ratchet: %s: %s with %d assertions", fields[0], fields[1], len(ids))
		}
		for _, id := range ids {
			if _, known := contracts.AssertionByID(id); !known {
				return nil, fmt.Errorf("read ratchet: %s: unknown assertion %q", fields[0], id)
			}
		}
		r[fields[0]] = Shown{fields[1], ids}
	}
	return r, nil
}

// Write keeps a checkout's ratchet.
func (r Ratchet) Write(root string) error {
	if err := write(filepath.Join(root, Folder, ratchetFile), r.encode()); err != nil {
		return fmt.Errorf("write ratchet: %w", err)
	}
	return nil
}

func (r Ratchet) encode() []byte {
	var out bytes.Buffer
	out.WriteString(ratchetHeader)
	for _, id := range slices.Sorted(maps.Keys(r)) {
		fmt.Fprintf(&out, "%s\t%s\t%s\n", id, r[id].State, strings.Join(r[id].IDs, " "))
	}
	return out.Bytes()
}

// Than gives a sentence for everything in which the ratchet is looser than an
// earlier one.
func (r Ratchet) Than(earlier Ratchet) []string {
	looser := []string{}
	for _, id := range slices.Sorted(maps.Keys(earlier)) {
		now, there := r[id]
		switch {
		case !there:
			looser = append(looser, id+": gone")
		case now.State != earlier[id].State:
			looser = append(looser, fmt.Sprintf("%s: %s, was %s", id, now.State, earlier[id].State))
		}
		for _, assertion := range earlier[id].IDs {
			if there && !slices.Contains(now.IDs, assertion) {
				looser = append(looser, fmt.Sprintf("%s: %s failed before", id, assertion))
			}
		}
	}
	return looser
}

// Hear holds what a run saw against the ratchet, and gives a sentence for
// everything that was shown before and is not now. What the run had no occasion
// to ask is as before. What is new is added.
func (r Ratchet) Hear(rows []reports.ZooRecord) []string {
	looser := []string{}
	for _, row := range rows {
		before, known := r[row.ID]
		if row.State != reports.Killed && row.State != reports.EquivalentGreen {
			if known {
				looser = append(looser, fmt.Sprintf("%s: %s, was %s", row.ID, row.State, before.State))
			}
			continue
		}
		for _, id := range row.Missed {
			if slices.Contains(before.IDs, id) {
				looser = append(looser, fmt.Sprintf("%s: %s passed, and failed before", row.ID, id))
			}
		}
		now := Shown{row.State, slices.Clone(before.IDs)}
		for _, k := range row.Kills {
			if !slices.Contains(now.IDs, k.ID) {
				now.IDs = append(now.IDs, k.ID)
			}
		}
		slices.SortFunc(now.IDs, func(a, b string) int { return placeOf(a) - placeOf(b) })
		r[row.ID] = now
	}
	return looser
}

// placeOf is an assertion's place in the contract's table.
func placeOf(id string) int {
	return slices.IndexFunc(contracts.Assertions(), func(a contracts.Assertion) bool { return a.ID == id })
}
