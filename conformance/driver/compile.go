package driver

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Compiled are the fixtures of one run: library paths by fixture name, and the
// control program.
type Compiled struct {
	Library map[string]string
	Control string
}

var compilerFlags = []string{"-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror"}

// CompileFixtures compiles the named fixtures of srcDir with the seam
// abi_<abi>.c, and the control program, into cacheDir. What the cache already
// holds is kept: use a new folder for each run. The compiler's complaint is in
// the error.
func CompileFixtures(cacheDir, srcDir, abi string, names []string) (Compiled, error) {
	if err := os.MkdirAll(cacheDir, 0o755); err != nil {
		return Compiled{}, fmt.Errorf("compile fixtures: %w", err)
	}
	compiled := Compiled{Library: map[string]string{}, Control: filepath.Join(cacheDir, "control")}
	for _, name := range names {
		out := filepath.Join(cacheDir, name+"."+abi+".so")
		compiled.Library[name] = out
		sources := []string{filepath.Join(srcDir, name+".c"), filepath.Join(srcDir, "fixture.c"), filepath.Join(srcDir, "abi_"+abi+".c")}
		if err := compile(out, sources, "-shared", "-fPIC", "-fvisibility=hidden"); err != nil {
			return Compiled{}, fmt.Errorf("compile fixture %s: %w", name, err)
		}
	}
	if err := compile(compiled.Control, []string{filepath.Join(srcDir, "control.c")}, "-ldl"); err != nil {
		return Compiled{}, fmt.Errorf("compile control program: %w", err)
	}
	return compiled, nil
}

func compile(out string, sources []string, flags ...string) error {
	if _, err := os.Stat(out); err == nil {
		return nil
	}
	partial := out + ".new" // a broken compile must not look like a cached one
	arguments := append(append([]string{"-o", partial}, compilerFlags...), sources...)
	c := exec.Command("gcc", append(arguments, flags...)...)
	if said, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("gcc: %w: %s", err, bytes.TrimSpace(said))
	}
	return os.Rename(partial, out)
}
