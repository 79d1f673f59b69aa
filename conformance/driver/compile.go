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
	"strings"
	"sync"
)

// Compiled are the fixtures of one run: library paths by fixture name, and the
// control program.
type Compiled struct {
	Library map[string]string
	Control string
}

var compilerFlags = []string{"-std=gnu11", "-O1", "-g", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror"}

// SeamError is a strategy ABI for which there is no seam: a mistake of the
// launcher file.
type SeamError struct {
	ABI    string
	Source string   // the folder that was looked in
	Seams  []string // the ABIs that it has, sorted
}

func (e *SeamError) Error() string {
	return fmt.Sprintf("producer.abi: %q has no seam; use one of %s, or write %s", e.ABI, strings.Join(e.Seams, " "), seamPath(e.Source, e.ABI))
}

func seamPath(srcDir, abi string) string { return filepath.Join(srcDir, "abi_"+abi+".c") }

// Seams are the ABIs NAME of srcDir's abi_NAME.c, sorted.
func Seams(srcDir string) ([]string, error) {
	entries, err := os.ReadDir(srcDir)
	if err != nil {
		return nil, fmt.Errorf("list seams: %w", err)
	}
	var seams []string
	for _, entry := range entries {
		name, seam := strings.CutPrefix(entry.Name(), "abi_")
		if name, source := strings.CutSuffix(name, ".c"); seam && source {
			seams = append(seams, name)
		}
	}
	slices.Sort(seams)
	return seams, nil
}

// CheckSeam fails with a *SeamError if srcDir has no seam for the ABI.
func CheckSeam(srcDir, abi string) error {
	seams, err := Seams(srcDir)
	if err != nil {
		return err
	}
	if !slices.Contains(seams, abi) {
		return &SeamError{abi, srcDir, seams}
	}
	return nil
}

// CompileFixtures compiles the named fixtures of srcDir with the seam
// abi_<abi>.c, and the control program, into cacheDir, as many at a time as
// there are processors. What the cache already holds is kept: use a new folder
// for each run. A name may be given twice. The compilers' complaints are in the
// error; an ABI without a seam is a *SeamError, before any compile.
func CompileFixtures(cacheDir, srcDir, abi string, names []string) (Compiled, error) {
	if err := CheckSeam(srcDir, abi); err != nil {
		return Compiled{}, fmt.Errorf("compile fixtures: %w", err)
	}
	if err := os.MkdirAll(cacheDir, 0o755); err != nil {
		return Compiled{}, fmt.Errorf("compile fixtures: %w", err)
	}
	in := func(name string) string { return filepath.Join(srcDir, name) }
	out := func(name string) string { return filepath.Join(cacheDir, name) }
	shared := []job{
		{"fixture.c", out("fixture.o"), []string{"-c", in("fixture.c")}},
		{"seam " + abi, out("abi_" + abi + ".o"), []string{"-c", seamPath(srcDir, abi)}},
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
