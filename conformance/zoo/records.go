package zoo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Folder is where the records lie, from the root of the checkout.
const Folder = "conformance/zoo"

const (
	secondMistakes = "second/mistakes.toml"
	secondSources  = "conformance/zoo/second/src/"
)

// LoadAll reads every record of a checkout: mutants, wrong hosts, mistakes of
// the second launcher, equivalent changes, each kind in the order of its ids.
// An id that stands twice is an error.
func LoadAll(root string) ([]Mutant, error) {
	var all []Mutant
	for _, one := range []struct {
		kind   Kind
		folder string
	}{{Reference, "mutants"}, {Host, "hosts"}, {Equivalent, "equivalents"}} {
		records, err := load(filepath.Join(root, Folder, one.folder), one.kind)
		if err != nil {
			return nil, err
		}
		all = append(all, records...)
	}
	second, err := loadSecond(filepath.Join(root, Folder, secondMistakes))
	if err != nil {
		return nil, err
	}
	all = append(all, second...)
	seen := map[string]bool{}
	for _, m := range all {
		if seen[m.ID] {
			return nil, fmt.Errorf("read mutants: %s stands twice", m.ID)
		}
		seen[m.ID] = true
	}
	return all, nil
}

// load reads the records *.toml of a folder, in the order of their names.
// Unknown keys, a wrong file name and unknown assertions are errors.
func load(folder string, kind Kind) ([]Mutant, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.toml"))
	if err != nil {
		return nil, fmt.Errorf("list mutants: %w", err)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("list mutants: none in %s", folder)
	}
	mutants := make([]Mutant, 0, len(paths))
	for _, path := range paths {
		m, err := read(path, kind)
		if err != nil {
			return nil, fmt.Errorf("read mutant %s: %w", filepath.Base(path), err)
		}
		mutants = append(mutants, m)
	}
	return mutants, nil
}

// equivalent is the record of an equivalent change.
type equivalent struct {
	Version int      `toml:"version"`
	ID      string   `toml:"id"`
	Change  string   `toml:"change"`
	Reason  string   `toml:"reason"` // why the contract allows it
	Scripts []string `toml:"scripts"`
	Facade  string   `toml:"facade"`
	Profile string   `toml:"profile"`
	Pieces  []Piece  `toml:"piece"`
}

func read(path string, kind Kind) (Mutant, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Mutant{}, err
	}
	var m Mutant
	if kind == Equivalent {
		var e equivalent
		err = decode(bytes.NewReader(text), &e)
		m = Mutant{Version: e.Version, ID: e.ID, Mistake: e.Change, Reason: e.Reason, Scripts: e.Scripts, Facade: e.Facade, Profile: e.Profile, Pieces: e.Pieces}
	} else {
		err = decode(bytes.NewReader(text), &m)
	}
	if err != nil {
		return Mutant{}, err
	}
	if want := m.ID + ".toml"; filepath.Base(path) != want {
		return Mutant{}, fmt.Errorf("id %q belongs into %s", m.ID, want)
	}
	m.Kind = kind
	return m, m.check()
}

func decode(r io.Reader, value any) error {
	return toml.NewDecoder(r).DisallowUnknownFields().Decode(value)
}

// loadSecond reads the mistakes of the second launcher, which stand in one
// file; their pieces are named from its sources.
func loadSecond(file string) ([]Mutant, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("list mistakes: %w", err)
	}
	var all struct {
		Version int      `toml:"version"`
		Mistake []Mutant `toml:"mistake"`
	}
	if err := decode(bytes.NewReader(text), &all); err != nil {
		return nil, fmt.Errorf("read mistakes: %w", err)
	}
	if len(all.Mistake) == 0 {
		return nil, errors.New("read mistakes: none")
	}
	for i := range all.Mistake {
		m := &all.Mistake[i]
		m.Version, m.Kind, m.ID = all.Version, Second, "second/"+m.ID
		if m.Reason == "" {
			m.Reason = m.Mistake // the pieces say it
		}
		for j := range m.Pieces {
			m.Pieces[j].File = secondSources + m.Pieces[j].File
		}
		if err := m.check(); err != nil {
			return nil, fmt.Errorf("read mistake %s: %w", m.ID, err)
		}
	}
	return all.Mistake, nil
}

// Choose picks records by globs over their ids, all when there are none. A
// glob that picks nothing is an error.
func Choose(all []Mutant, globs []string) ([]Mutant, error) {
	if len(globs) == 0 {
		return all, nil
	}
	chosen := map[string]bool{}
	for _, glob := range globs {
		hits := 0
		for _, m := range all {
			if ok, err := path.Match(glob, m.ID); ok && err == nil {
				chosen[m.ID] = true
				hits++
			}
		}
		if hits == 0 {
			return nil, noRecord(glob, all)
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(m Mutant) bool { return !chosen[m.ID] }), nil
}

func noRecord(glob string, all []Mutant) error {
	for _, m := range all {
		if strings.EqualFold(m.ID, glob) {
			return fmt.Errorf("mutant %q: no such record; write %s", glob, m.ID)
		}
	}
	return fmt.Errorf("mutant %q: no such record; touchstone zoo list names them", glob)
}

// Part picks every nth record by its place among all, so that n parts are
// everything: number is from 0 to n-1.
func Part(all, chosen []Mutant, number, n int) []Mutant {
	return slices.DeleteFunc(slices.Clone(chosen), func(m Mutant) bool {
		return slices.IndexFunc(all, func(o Mutant) bool { return o.ID == m.ID })%n != number
	})
}

// sourceOf is the file of a record, from the root.
func (m Mutant) sourceOf() string {
	if m.Kind == Second {
		return Folder + "/" + secondMistakes
	}
	folder := map[Kind]string{Reference: "mutants", Host: "hosts", Equivalent: "equivalents"}[m.Kind]
	return Folder + "/" + folder + "/" + strings.TrimPrefix(m.ID, "/") + ".toml"
}

// Touched picks the records that a change of files concerns: those whose own
// file it changes, or a file that they have a piece of.
func Touched(all []Mutant, files []string) []Mutant {
	return slices.DeleteFunc(slices.Clone(all), func(m Mutant) bool {
		own := []string{m.sourceOf()}
		for _, p := range m.Pieces {
			own = append(own, p.File)
		}
		return !slices.ContainsFunc(own, func(file string) bool { return slices.Contains(files, file) })
	})
}
