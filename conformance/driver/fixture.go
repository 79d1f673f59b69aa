package driver

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// The fixture's exported objects, see fixtures/native/fixture.h.
const (
	argsSymbol    = "fixture_args"
	payloadSymbol = "fixture_payload"
	stateSymbol   = "fixture_state"

	stateMagic = 0x5458495846494e54
	stateBytes = 4*8 + 4*4 + 8*8
)

// object is an exported object of a library.
type object struct {
	address uint64 // relative to where the library is mapped
	offset  int64  // in the file
	size    uint64
}

// objects finds exported objects by name. One that lies outside the file
// (zero-initialised) cannot be patched and has offset -1.
func objects(path string) (map[string]object, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read library: %w", err)
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read library %s: %w", path, err), f.Close())
	}
	found := map[string]object{}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_OBJECT && s.Section != elf.SHN_UNDEF {
			found[s.Name] = object{s.Value, fileOffset(f, s.Value, s.Size), s.Size}
		}
	}
	return found, f.Close()
}

func fileOffset(f *elf.File, address, size uint64) int64 {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && address >= p.Vaddr && address+size <= p.Vaddr+p.Filesz {
			return int64(address - p.Vaddr + p.Off)
		}
	}
	return -1
}

// argumentText is the content of fixture_args: key=value strings, each ended
// by NUL, then an empty one.
func argumentText(args map[string]string) ([]byte, error) {
	var text []byte
	for _, key := range slices.Sorted(maps.Keys(args)) {
		if key == "" || strings.ContainsAny(key, "=\x00") || strings.Contains(args[key], "\x00") {
			return nil, fmt.Errorf("fixture argument %q=%q: not expressible", key, args[key])
		}
		text = append(text, key+"="+args[key]+"\x00"...)
	}
	return append(text, 0), nil
}

// patch writes a copy of a library with its parameters filled in and returns
// where its state lies, relative to where the library is mapped (false when it
// exports none). payload may be nil.
func patch(from, to string, args map[string]string, payload []byte) (state uint64, stateful bool, err error) {
	known, err := objects(from)
	if err != nil {
		return 0, false, err
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return 0, false, fmt.Errorf("read library: %w", err)
	}
	arguments, err := argumentText(args)
	if err != nil {
		return 0, false, err
	}
	if err := put(text, known, argsSymbol, arguments); err != nil {
		return 0, false, err
	}
	if payload != nil {
		sized := append(binary.LittleEndian.AppendUint64(nil, uint64(len(payload))), payload...)
		if err := put(text, known, payloadSymbol, sized); err != nil {
			return 0, false, err
		}
	}
	if err := writeNew(to, text, 0o755); err != nil {
		return 0, false, fmt.Errorf("write library: %w", err)
	}
	at, stateful := known[stateSymbol]
	if stateful && at.size < stateBytes {
		return 0, false, fmt.Errorf("library %s: %s has %d bytes, want %d", from, stateSymbol, at.size, stateBytes)
	}
	return at.address, stateful, nil
}

func put(text []byte, known map[string]object, symbol string, value []byte) error {
	o, exported := known[symbol]
	switch {
	case !exported:
		return fmt.Errorf("fixture takes no %s: the symbol is not exported", symbol)
	case o.offset < 0 || o.offset+int64(o.size) > int64(len(text)):
		return fmt.Errorf("fixture's %s is not in the file: it must be in .data", symbol)
	case uint64(len(value)) > o.size:
		return fmt.Errorf("fixture's %s: %d bytes, room for %d", symbol, len(value), o.size)
	}
	copy(text[o.offset:], value)
	return nil
}
