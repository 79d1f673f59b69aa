package zoo

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"touchstone/contracts"
)

// Mutant is one single-rule mistake of the reference.
type Mutant struct {
	Version int    `toml:"version"` // 1
	ID      string `toml:"id"`      // MUT058
	Mistake string `toml:"mistake"` // what it does wrong, in a few words
	Reason  string `toml:"reason"`  // why the pieces make exactly that mistake

	// CaughtBy are the assertions of which at least one must fail.
	CaughtBy []string `toml:"caught_by"`
	// Scripts are the scripts to run, by name. Empty: those that check an id
	// of CaughtBy. Assertions that are checked on every attempt need it.
	Scripts []string `toml:"scripts"`
	// Pieces are applied in order, each exactly once.
	Pieces []Piece `toml:"piece"`
}

// Piece is one search and replacement.
type Piece struct {
	File string `toml:"file"` // from the root, below reference/
	Old  string `toml:"old"`  // stands exactly once in the file
	New  string `toml:"new"`
}

// ErrDead is the cause of a mutant that can no longer be made.
var ErrDead = errors.New("dead mutant")

var mutantName = regexp.MustCompile(`^MUT[0-9]{3}$`)

// Load reads the records *.toml of a folder, in the order of their names.
// Unknown keys, a wrong file name and unknown assertions are errors.
func Load(folder string) ([]Mutant, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.toml"))
	if err != nil {
		return nil, fmt.Errorf("list mutants: %w", err)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("list mutants: none in %s", folder)
	}
	mutants := make([]Mutant, 0, len(paths))
	for _, path := range paths {
		m, err := read(path)
		if err != nil {
			return nil, fmt.Errorf("read mutant %s: %w", filepath.Base(path), err)
		}
		mutants = append(mutants, m)
	}
	return mutants, nil
}

func read(path string) (Mutant, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Mutant{}, err
	}
	var m Mutant
	if err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&m); err != nil {
		return Mutant{}, err
	}
	if want := m.ID + ".toml"; filepath.Base(path) != want {
		return Mutant{}, fmt.Errorf("id %q belongs into %s", m.ID, want)
	}
	return m, m.check()
}

func (m Mutant) check() error {
	switch {
	case m.Version != 1:
		return fmt.Errorf("version %d, want 1", m.Version)
	case !mutantName.MatchString(m.ID):
		return fmt.Errorf("id %q, want MUTnnn", m.ID)
	case m.Mistake == "" || m.Reason == "":
		return errors.New("mistake or reason missing")
	case len(m.CaughtBy) == 0 || len(m.Pieces) == 0:
		return errors.New("caught_by or piece missing")
	}
	for _, id := range m.CaughtBy {
		if _, known := contracts.AssertionByID(id); !known {
			return fmt.Errorf("caught_by: unknown assertion %q", id)
		}
	}
	for i, p := range m.Pieces {
		clean := filepath.ToSlash(filepath.Clean(p.File))
		if clean != p.File || !strings.HasPrefix(clean, "reference/") {
			return fmt.Errorf("piece %d: file %q is not below reference/", i, p.File)
		}
		if p.Old == "" || p.Old == p.New {
			return fmt.Errorf("piece %d: changes nothing", i)
		}
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

// scriptsOf are the scripts that the mutant has to face: those it names, or
// those of the folder that check one of its assertions.
func (m Mutant) scriptsOf(folder string) ([]string, error) {
	if len(m.Scripts) > 0 {
		return m.Scripts, nil
	}
	paths, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil {
		return nil, fmt.Errorf("list scripts: %w", err)
	}
	var names []string
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read script: %w", err)
		}
		if slices.ContainsFunc(m.CaughtBy, func(id string) bool { return bytes.Contains(text, []byte("check "+id+" ")) }) {
			names = append(names, strings.TrimSuffix(filepath.Base(path), ".txtar"))
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%w %s: no script checks %s", ErrDead, m.ID, strings.Join(m.CaughtBy, ", "))
	}
	return names, nil
}
