package contracts

import (
	"fmt"
	"io/fs"
	"strings"
)

const schemaSuffix = ".schema.json"

// SchemaNames returns the names that Schema knows, sorted, such as
// "terminal.v1".
func SchemaNames() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic("bug: list embedded files: " + err.Error())
	}
	var names []string
	for _, entry := range entries {
		if name, found := strings.CutSuffix(entry.Name(), schemaSuffix); found {
			names = append(names, name)
		}
	}
	return names
}

// Schema returns the JSON Schema (2020-12) with this name. A name that
// SchemaNames does not list gives an error that wraps fs.ErrNotExist.
func Schema(name string) ([]byte, error) {
	content, err := files.ReadFile(name + schemaSuffix)
	if err != nil {
		return nil, fmt.Errorf("read schema %q: %w", name, err)
	}
	return content, nil
}

// Examples returns the example documents, each valid by the schema that the
// README of this folder names beside it.
func Examples() fs.FS {
	examples, err := fs.Sub(files, "examples")
	if err != nil {
		panic("bug: open embedded examples: " + err.Error())
	}
	return examples
}
