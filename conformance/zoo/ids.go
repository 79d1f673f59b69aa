package zoo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"touchstone/contracts"
	"touchstone/reports"
)

// Ability says of one assertion what shows that it can fail.
type Ability struct {
	ID      string   `json:"id"`
	Shown   []string `json:"shown"`   // records on which it failed, from the ratchet
	Named   []string `json:"named"`   // records that name it, without having shown it
	Altered []string `json:"altered"` // alterations of recorded evidence that it noticed
}

// Word is how it is known to fail: shown, altered, named or not yet.
func (a Ability) Word() string {
	switch {
	case len(a.Shown) > 0:
		return "shown"
	case len(a.Altered) > 0:
		return "altered"
	case len(a.Named) > 0:
		return "named"
	}
	return "not yet"
}

// Abilities says of every assertion of the contract, in order, what shows that
// it can fail.
func Abilities(root string, records []Mutant, shown Ratchet) ([]Ability, error) {
	altered, err := readAlterations(filepath.Join(root, Folder, alterationsFile))
	if err != nil {
		return nil, err
	}
	var all []Ability
	for _, a := range contracts.Assertions() {
		one := Ability{ID: a.ID, Shown: []string{}, Named: []string{}, Altered: append([]string{}, altered[a.ID]...)}
		for _, m := range records {
			switch {
			case slices.Contains(shown[m.ID].IDs, a.ID):
				one.Shown = append(one.Shown, m.ID)
			case slices.Contains(m.CaughtBy, a.ID):
				one.Named = append(one.Named, m.ID)
			}
		}
		all = append(all, one)
	}
	return all, nil
}

// Count adds abilities up.
func Count(all []Ability) reports.ZooIDs {
	n := reports.ZooIDs{All: len(all)}
	for _, a := range all {
		if len(a.Shown)+len(a.Named) > 0 {
			n.Named++
		}
		switch a.Word() {
		case "shown":
			n.Shown++
		case "altered":
			n.Altered++
		}
	}
	return n
}

// alterationsFile names for each assertion a change of recorded evidence that
// upset it: assertion, operator, and where, in columns under a header.
const alterationsFile = "alter/coverage.tsv"

func readAlterations(path string) (map[string][]string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read alterations: %w", err)
	}
	header, rows, _ := strings.Cut(string(text), "\n")
	if !strings.HasPrefix(header, "id\toperator") {
		return nil, fmt.Errorf("read alterations: header %q", header)
	}
	noticed := map[string][]string{}
	for line := range strings.Lines(rows) {
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if _, known := contracts.AssertionByID(columns[0]); !known || len(columns) < 2 || columns[1] == "" {
			return nil, fmt.Errorf("read alterations: %q: no assertion and operator", line)
		}
		if !slices.Contains(noticed[columns[0]], columns[1]) {
			noticed[columns[0]] = append(noticed[columns[0]], columns[1])
		}
	}
	return noticed, nil
}
