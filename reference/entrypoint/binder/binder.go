// Package binder checks a built strategy library without loading it, and
// describes what was built.
//
// A library is bound if it is a shared library for this machine and defines
// every symbol that the strategy ABI needs. Loading it would run its
// constructors, so only its file is read.
package binder

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// required are the functions that every strategy library defines.
var required = []string{"pf_abi_version", "report_free", "run_backtest_full", "strategy_create", "strategy_free",
	"strategy_set_input", "strategy_set_override"}

// sinkCalls are the optional calls of the native sink (C-77). One without the
// other is no sink.
var sinkCalls = []string{"strategy_finish_report_sink", "strategy_set_report_sink_fd"}

// MaxBytes is the largest library or source that is bound (inclusive).
const MaxBytes = 64 << 20

// RefusedError says why a file is no strategy library.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return "not a strategy library: " + e.Reason }

func refuse(format string, args ...any) error {
	return &RefusedError{fmt.Sprintf(format, args...)}
}

// Manifest describes one build.
type Manifest struct {
	Manifest string   `json:"manifest"` // "touchstone-build"
	Version  int      `json:"version"`  // 1
	Library  File     `json:"library"`
	Sources  []File   `json:"sources"` // in the order of the build
	Exports  []string `json:"exports"` // every function of the library, sorted
	Needed   []string `json:"needed"`  // libraries that the loader will want, as spelled
	Sink     bool     `json:"sink"`    // the library has the calls of the native sink
}

// File is a file by its content.
type File struct {
	Name   string `json:"name"` // without folders
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Describe returns a file's entry in a manifest.
func Describe(path string, content []byte) File {
	digest := sha256.Sum256(content)
	return File{Name: path[strings.LastIndexByte(path, '/')+1:], Bytes: len(content), SHA256: hex.EncodeToString(digest[:])}
}

// Bind checks the library and returns its manifest, without sources. A library
// that is refused is a *RefusedError.
func Bind(path string, content []byte) (Manifest, error) {
	m := Manifest{Manifest: "touchstone-build", Version: 1, Library: Describe(path, content), Sources: []File{}}
	exports, needed, err := read(content)
	if err != nil {
		return m, err
	}
	var missing []string
	for _, name := range required {
		if !slices.Contains(exports, name) {
			missing = append(missing, name)
		}
	}
	has := func(name string) bool { return slices.Contains(exports, name) }
	m.Exports, m.Needed, m.Sink = exports, needed, has(sinkCalls[0]) && has(sinkCalls[1])
	switch {
	case len(missing) > 0:
		return m, refuse("it does not define %s", strings.Join(missing, ", "))
	case has(sinkCalls[0]) != has(sinkCalls[1]):
		return m, refuse("of %s it defines one", strings.Join(sinkCalls, " and "))
	}
	return m, nil
}

// read returns the functions that a shared library defines, and what it needs.
func read(content []byte) (exports, needed []string, err error) {
	file, err := elf.NewFile(bytes.NewReader(content))
	if err != nil {
		return nil, nil, refuse("%v", err)
	}
	if file.Class != elf.ELFCLASS64 || file.Machine != elf.EM_X86_64 || file.Type != elf.ET_DYN {
		return nil, nil, refuse("%s for %s of class %s", file.Type, file.Machine, file.Class)
	}
	symbols, err := file.DynamicSymbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return nil, nil, refuse("%v", err)
	}
	exports = []string{}
	for _, s := range symbols {
		bind := elf.ST_BIND(s.Info)
		if s.Section != elf.SHN_UNDEF && elf.ST_TYPE(s.Info) == elf.STT_FUNC && bind != elf.STB_LOCAL &&
			elf.ST_VISIBILITY(s.Other) != elf.STV_HIDDEN {
			exports = append(exports, s.Name)
		}
	}
	slices.Sort(exports)
	needed, err = file.ImportedLibraries()
	if err != nil {
		return nil, nil, refuse("%v", err)
	}
	return slices.Compact(exports), append([]string{}, needed...), nil
}
