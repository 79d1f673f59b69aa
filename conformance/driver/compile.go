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

	"touchstone/conformance/scenario"
)

// Compiled are the fixtures of one run: library paths by fixture name, or NAME@musl, the
// control programs by C library and the stand-in. A fixture that asks for a further seam which the ABI lacks
// has no library, but a reason.
type Compiled struct {
	Library map[string]string
	Lacking map[string]string
	Control map[string]string
	Tool    string // stands in for a tool of the entrypoint
	// Finalizer stands in for the finalizer.
	Finalizer string
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

// Seams are the ABIs NAME of srcDir's abi_NAME.c, sorted, without the further
// seams abi_NAME_WORD.c of an ABI.
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
	return slices.DeleteFunc(slices.Clone(seams), func(name string) bool {
		base, _, further := strings.Cut(name, "_")
		return further && slices.Contains(seams, base)
	}), nil
}

// furtherSeams are the words of a fixture's line " * Seams: WORD…." in its
// first comment.
func furtherSeams(source string) []string {
	text, _ := os.ReadFile(source) // the compiler says it better
	comment, _, _ := strings.Cut(string(text), "*/")
	_, line, _ := strings.Cut(comment, "\n * Seams:")
	line, _, _ = strings.Cut(line, "\n")
	return strings.Fields(strings.TrimSuffix(strings.TrimSpace(line), "."))
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
// abi_<abi>.c and the further ones that each asks for, and the control program, into cacheDir, as many at a time as
// there are processors. What the cache already holds is kept: use a new folder
// for each run. What an earlier run compiled from the very same is taken from
// keptDir, if that is not "". A name may be given twice. The compilers' complaints are in the
// error; an ABI without a seam is a *SeamError, before any compile.
func CompileFixtures(cacheDir, keptDir, srcDir, abi string, names []string) (Compiled, error) {
	if err := CheckSeam(srcDir, abi); err != nil {
		return Compiled{}, fmt.Errorf("compile fixtures: %w", err)
	}
	if err := os.MkdirAll(cacheDir, 0o755); err != nil {
		return Compiled{}, fmt.Errorf("compile fixtures: %w", err)
	}
	own := plan{cache: cacheDir, folder: srcDir, abi: abi, compiler: "gcc"}
	compiled := Compiled{Library: map[string]string{}, Lacking: map[string]string{}, Control: map[string]string{},
		Tool: own.out("tool"), Finalizer: own.out("finalizer")}
	own.libraries = append(own.libraries, job{"stand-in for a tool", "gcc", compiled.Tool, []string{"-rdynamic", own.source("tool"), own.object("fixture")}},
		job{"stand-in for the finalizer", "gcc", compiled.Finalizer, []string{"-rdynamic", own.source("finalizer"), own.object("fixture")}})
	own.add(compiled, "", names)
	musl := plan{cache: cacheDir, tag: scenario.Musl + "-", folder: srcDir, abi: abi, compiler: "musl-gcc"}
	musl.add(compiled, scenario.Musl, names)
	earlier, err := keep(keptDir, srcDir)
	if err != nil {
		return Compiled{}, fmt.Errorf("compile fixtures: %w", err)
	}
	if err := compileAll(append(own.shared, musl.shared...), earlier); err != nil {
		return Compiled{}, err
	}
	if err := compileAll(append(own.libraries, musl.libraries...), earlier); err != nil {
		return Compiled{}, err
	}
	return compiled, nil
}

// plan is what is to be compiled: shared objects, then the libraries of them.
type plan struct {
	cache, tag, folder, abi, compiler string
	shared, libraries                 []job
}

// add plans the names that are of one C library, and their control program; or
// it says what is lacking for them.
func (p *plan) add(compiled Compiled, libc string, names []string) {
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		source, of, _ := strings.Cut(name, "@")
		if of != libc {
			continue
		}
		if _, err := exec.LookPath(p.compiler); err != nil && libc != "" {
			compiled.Lacking[name] = "needs " + p.compiler + ": install musl-tools and build again"
			continue
		}
		if compiled.Control[libc] == "" {
			compiled.Control[libc] = p.out("control")
			p.shared = append(p.shared, job{"control program", p.compiler, compiled.Control[libc], []string{p.source("control"), "-ldl"}})
		}
		further, lacking := p.further(source)
		if lacking != "" {
			compiled.Lacking[name] = lacking
			continue
		}
		compiled.Library[name] = p.out(source + "." + p.abi + ".so")
		base := []string{"-shared", p.source(source), p.object("fixture"), p.object("abi_" + p.abi)}
		p.libraries = append(p.libraries, job{"fixture " + name, p.compiler, compiled.Library[name], slices.Concat(base, further)})
	}
}

func (p *plan) source(name string) string { return filepath.Join(p.folder, name+".c") }
func (p *plan) out(name string) string    { return filepath.Join(p.cache, p.tag+name) }

// object is the path of a source's object file, which is made once.
func (p *plan) object(name string) string {
	out := p.out(name + ".o")
	if !slices.ContainsFunc(p.shared, func(j job) bool { return j.out == out }) {
		p.shared = append(p.shared, job{name + ".c", p.compiler, out, []string{"-c", p.source(name)}})
	}
	return out
}

// further are the objects of the seams that a fixture asks for, abi_NAME_WORD.c,
// and of the sink's writer; or it says which of them the ABI lacks.
func (p *plan) further(name string) (objects []string, lacking string) {
	for _, word := range furtherSeams(p.source(name)) {
		seam := "abi_" + p.abi + "_" + word
		if _, err := os.Stat(p.source(seam)); err != nil {
			return nil, fmt.Sprintf("no seam %s.c for fixture %s", seam, name)
		}
		objects = append(objects, p.object(seam))
	}
	if len(objects) > 0 {
		objects = append(objects, p.object("sink_writer"))
	}
	return objects, ""
}

// job is one run of the compiler.
type job struct {
	what      string
	compiler  string
	out       string
	arguments []string
}

// compileAll does the jobs, which must not need one another.
func compileAll(jobs []job, earlier kept) error {
	errs := make([]error, len(jobs))
	slots := make(chan struct{}, runtime.NumCPU())
	var all sync.WaitGroup
	for i, j := range jobs {
		all.Go(func() {
			slots <- struct{}{}
			errs[i] = j.compile(earlier)
			<-slots
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func (j job) compile(earlier kept) error {
	if _, err := os.Stat(j.out); err == nil {
		return nil
	}
	if earlier.folder == "" || j.compiler != "gcc" { // what is kept does not tell another C library's version
		return j.make()
	}
	path, err := earlier.path(j)
	if err != nil || earlier.take(path, j.out) {
		return err
	}
	if err := j.make(); err != nil {
		return err
	}
	return earlier.give(path, j.out)
}

func (j job) make() error {
	partial := j.out + ".new" // a broken compile must not look like a cached one
	c := exec.Command(j.compiler, slices.Concat(compilerFlags, []string{"-o", partial}, j.arguments)...)
	if said, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("compile %s: %s: %w: %s", j.what, j.compiler, err, bytes.TrimSpace(said))
	}
	if err := os.Rename(partial, j.out); err != nil {
		return fmt.Errorf("compile %s: %w", j.what, err)
	}
	return nil
}
