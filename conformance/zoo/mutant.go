package zoo

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"touchstone/contracts"
)

// Kind is what a record is.
type Kind string

// The kinds of records, and the folders or the file that they lie in.
const (
	Reference  Kind = "reference"  // mutants/: a mistake of the reference
	Host       Kind = "host"       // hosts/: a mistake of its host
	Second     Kind = "second"     // second/mistakes.toml: a mistake of the second launcher
	Equivalent Kind = "equivalent" // equivalents/: a change that the contract allows
)

// Mutant is one single-rule mistake of a launcher, or a change that is none.
type Mutant struct {
	Version int    `toml:"version"` // 1
	ID      string `toml:"id"`      // MUT058, EQU001; second/MUT017 of the second launcher
	Mistake string `toml:"mistake"` // what it does wrong, in a few words
	Reason  string `toml:"reason"`  // why the pieces make exactly that mistake

	// CaughtBy are the assertions of which at least one must fail.
	CaughtBy []string `toml:"caught_by"`
	// Scripts are the scripts to run, by name. Empty: those that check an id
	// of CaughtBy. Assertions that are checked on every attempt need it.
	Scripts []string `toml:"scripts"`
	// Facade and Profile narrow the cells. Empty: one cell of each script, and
	// the others only when nothing was caught there.
	Facade  string `toml:"facade"`
	Profile string `toml:"profile"`
	// Pieces are applied in order, each exactly once.
	Pieces []Piece `toml:"piece"`

	Kind Kind `toml:"-"`
}

// Launcher is the name of the launcher that the record changes.
func (m Mutant) Launcher() string {
	if m.Kind == Second {
		return "second"
	}
	return "reference"
}

// Piece is one search and replacement.
type Piece struct {
	File string `toml:"file"` // from the root
	Old  string `toml:"old"`  // stands exactly once in the file
	New  string `toml:"new"`
}

// ErrDead is the cause of a mutant that can no longer be made.
var ErrDead = errors.New("dead mutant")

var recordName = map[Kind]*regexp.Regexp{
	Reference:  regexp.MustCompile(`^MUT[0-9]{3}$`),
	Host:       regexp.MustCompile(`^MUT[0-9]{3}$`),
	Second:     regexp.MustCompile(`^second/MUT[0-9]{3}$`),
	Equivalent: regexp.MustCompile(`^EQU[0-9]{3}$`),
}

func (m Mutant) check() error {
	switch {
	case m.Version != 1:
		return fmt.Errorf("version %d, want 1", m.Version)
	case !recordName[m.Kind].MatchString(m.ID):
		return fmt.Errorf("id %q, want %s", m.ID, recordName[m.Kind])
	case m.Mistake == "" || m.Reason == "":
		return errors.New("mistake (or change) or reason missing")
	case len(m.Pieces) == 0:
		return errors.New("piece missing")
	case (m.Kind == Equivalent) != (len(m.CaughtBy) == 0):
		return errors.New("caught_by: a mistake names assertions, an equivalent change none")
	case m.Kind == Equivalent && len(m.Scripts) == 0:
		return errors.New("scripts: an equivalent change names those that it could upset")
	}
	for _, id := range m.CaughtBy {
		if _, known := contracts.AssertionByID(id); !known {
			return fmt.Errorf("caught_by: unknown assertion %q", id)
		}
	}
	for i, p := range m.Pieces {
		if err := p.check(m.Kind); err != nil {
			return fmt.Errorf("piece %d: %w", i, err)
		}
	}
	return nil
}

func (p Piece) check(kind Kind) error {
	below := "reference/"
	if kind == Second {
		below = secondSources
	}
	clean := filepath.ToSlash(filepath.Clean(p.File))
	if clean != p.File || !strings.HasPrefix(clean, below) {
		return fmt.Errorf("file %q is not below %s", p.File, below)
	}
	if p.Old == "" || p.Old == p.New {
		return errors.New("changes nothing")
	}
	return nil
}

// Patch gives the changed files of a source tree, by their path from root. A
// piece that does not stand exactly once is ErrDead.
func (m Mutant) Patch(root string) (map[string][]byte, error) {
	changed := map[string][]byte{}
	for i, p := range m.Pieces {
		text, known := changed[p.File]
		if !known {
			var err error
			if text, err = os.ReadFile(filepath.Join(root, p.File)); err != nil {
				return nil, fmt.Errorf("%w %s: piece %d: %w", ErrDead, m.ID, i, err)
			}
		}
		if n := bytes.Count(text, []byte(p.Old)); n != 1 {
			return nil, fmt.Errorf("%w %s: piece %d: stands %d times in %s, want once", ErrDead, m.ID, i, n, p.File)
		}
		changed[p.File] = bytes.Replace(text, []byte(p.Old), []byte(p.New), 1)
	}
	return changed, nil
}
