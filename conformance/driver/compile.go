package driver

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
)

// Compiled are the fixtures of one run: library paths by fixture name, and the
// control program.
type Compiled struct {
	Library map[string]string
	Control string
}

var compilerFlags = []string{"-std=gnu11", "-O1", "-g", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror"}

// CompileFixtures compiles the named fixtures of srcDir with the seam
// abi_<abi>.c, and the control program, into cacheDir, as many at a time as
// there are processors. What the cache already holds is kept: use a new folder
// for each run. A name may be given twice. The compilers' complaints are in the
// error.
func CompileFixtures(cacheDir, srcDir, abi string, names []string) (Compiled, error) {
	if err := os.MkdirAll(cacheDir, 0o755); err != nil {
		return Compiled{}, fmt.Errorf("compile fixtures: %w", err)
	}
	in := func(name string) string { return filepath.Join(srcDir, name) }
	out := func(name string) string { return filepath.Join(cacheDir, name) }
	shared := []job{
		{"fixture.c", out("fixture.o"), []string{"-c", in("fixture.c")}},
		{"seam " + abi, out("abi_" + abi + ".o"), []string{"-c", in("abi_" + abi + ".c")}},
		{"control program", out("control"), []string{in("control.c"), "-ldl"}},
	}
	compiled := Compiled{Library: map[string]string{}, Control: out("control")}
	var libraries []job
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		compiled.Library[name] = out(name + "." + abi + ".so")
		libraries = append(libraries, job{"fixture " + name, compiled.Library[name],
			[]string{"-shared", in(name + ".c"), shared[0].out, shared[1].out}})
	}
	if err := compileAll(shared); err != nil {
		return Compiled{}, err
	}
	if err := compileAll(libraries); err != nil {
		return Compiled{}, err
	}
	return compiled, nil
}

// job is one run of the compiler.
type job struct {
	what      string
	out       string
	arguments []string
}

// compileAll does the jobs, which must not need one another.
func compileAll(jobs []job) error {
	errs := make([]error, len(jobs))
	slots := make(chan struct{}, runtime.NumCPU())
	var all sync.WaitGroup
	for i, j := range jobs {
		all.Go(func() {
			slots <- struct{}{}
			errs[i] = j.compile()
			<-slots
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func (j job) compile() error {
	if _, err := os.Stat(j.out); err == nil {
		return nil
	}
	partial := j.out + ".new" // a broken compile must not look like a cached one
	c := exec.Command("gcc", slices.Concat(compilerFlags, []string{"-o", partial}, j.arguments)...)
	if said, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("compile %s: gcc: %w: %s", j.what, err, bytes.TrimSpace(said))
	}
	if err := os.Rename(partial, j.out); err != nil {
		return fmt.Errorf("compile %s: %w", j.what, err)
	}
	return nil
}
