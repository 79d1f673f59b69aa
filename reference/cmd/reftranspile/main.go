// Command reftranspile is the transpiler of the reference pairing:
//
//	reftranspile STRATEGY OUT.cpp
//
// Exit status 0: written; 1: the strategy is refused, at a place that standard
// error names; 2: wrong command line; 3: a file cannot be read or written.
package main

import (
	"errors"
	"fmt"
	"os"

	"touchstone/reference/entrypoint/transpiler"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: reftranspile STRATEGY OUT.cpp")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		if refused := (*transpiler.Error)(nil); errors.As(err, &refused) {
			os.Exit(1)
		}
		os.Exit(3)
	}
}

func run(in, out string) error {
	source, err := os.ReadFile(in)
	if err != nil {
		return err
	}
	generated, err := transpiler.Transpile(string(source))
	if err != nil {
		return fmt.Errorf("%s:%w", in, err)
	}
	return os.WriteFile(out, []byte(generated), 0o644)
}
