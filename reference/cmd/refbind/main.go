// Command refbind is the binder of the reference pairing:
//
//	refbind LIBRARY MANIFEST SOURCE…
//
// Exit status 0: the library can be bound, and its manifest is written; 1: it
// is refused, for a reason on standard error; 2: wrong command line; 3: a file
// cannot be read or written.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/go-json-experiment/json"

	"touchstone/reference/entrypoint/binder"
)

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: refbind LIBRARY MANIFEST SOURCE...")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, "refbind:", err)
		if refused := (*binder.RefusedError)(nil); errors.As(err, &refused) {
			os.Exit(1)
		}
		os.Exit(3)
	}
}

func run(library, manifest string, sources []string) error {
	content, err := read(library)
	if err != nil {
		return err
	}
	m, err := binder.Bind(library, content)
	if err != nil {
		return fmt.Errorf("%s: %w", library, err)
	}
	for _, source := range sources {
		text, err := read(source)
		if err != nil {
			return err
		}
		m.Sources = append(m.Sources, binder.Describe(source, text))
	}
	document, err := json.Marshal(m, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("encode manifest: %w", err)
	}
	return os.WriteFile(manifest, append(document, '\n'), 0o644)
}

// read returns a file of bounded size.
func read(path string) (content []byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	content, err = io.ReadAll(io.LimitReader(file, binder.MaxBytes+1))
	if err == nil && len(content) > binder.MaxBytes {
		err = fmt.Errorf("read %s: more than %d bytes", path, binder.MaxBytes)
	}
	return content, err
}
