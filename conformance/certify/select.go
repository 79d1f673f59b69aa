package certify

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"touchstone/conformance/driver"
	"touchstone/conformance/launcherfile"
	"touchstone/conformance/oracle"
	"touchstone/conformance/scenario"
	"touchstone/conformance/script"
	"touchstone/contracts"
)

// UsageError is a request that cannot be meant: exit 64.
type UsageError struct{ Problem string }

func (e *UsageError) Error() string { return e.Problem }

func usage(format string, args ...any) error {
	return &UsageError{strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " ")}
}

// Request is what to run.
type Request struct {
	Launcher string   `json:"launcher"` // a name of conformance/launchers, or a path
	Tests    []string `json:"tests"`    // globs over T14 or script names; empty is all
	Facade   string   `json:"facade"`   // "" is all of the launcher's
	Profile  string   `json:"profile"`
	FailFast bool     `json:"fail_fast"` // no new attempt after the first failure
	// Only are the jobs to run of those that the rest selects, each SCRIPT CELL;
	// empty is all.
	Only []string `json:"only,omitzero"`
}

// job is one script in one cell.
type job struct {
	script script.Script
	cell   scenario.Cell
}

// Selection is a checked request: at least one job.
type Selection struct {
	Request Request
	File    launcherfile.File
	Path    string // of the launcher file
	Scripts []script.Script
	jobs    []job
	cells   []scenario.Cell // that have a job, in order
}

// LauncherPath finds a launcher by name, or by path when it looks like one.
func LauncherPath(root, launcher string) string {
	if strings.ContainsRune(launcher, filepath.Separator) || strings.HasSuffix(launcher, ".toml") {
		return launcher
	}
	return filepath.Join(root, "conformance", "launchers", launcher+".toml")
}

// Select checks a request. A launcher file that is refused, an unknown test and
// an empty selection are *UsageError; a script that the linter refuses is a
// fault of the suite.
func Select(root string, r Request) (Selection, error) {
	selection, err := launcherOf(root, r)
	if err != nil {
		return Selection{}, err
	}
	all, err := LoadScripts(filepath.Join(root, "testdata"))
	if err != nil {
		return Selection{}, err
	}
	if selection.Scripts, err = matching(all, r.Tests); err != nil {
		return Selection{}, err
	}
	if selection, err = selection.withJobs(); err != nil {
		return Selection{}, err
	}
	return selection, lint(root, selection.Scripts)
}

// launcherOf is a selection of no script yet.
func launcherOf(root string, r Request) (Selection, error) {
	selection := Selection{Request: r, Path: LauncherPath(root, r.Launcher)}
	var err error
	if selection.File, err = launcherfile.Read(selection.Path); err != nil {
		return Selection{}, usage("%v%s", err, knownLaunchers(root, selection.Path))
	}
	if err := refuseGaps(selection.File, selection.Path); err != nil {
		return Selection{}, err
	}
	var seam *driver.SeamError
	switch err := driver.CheckSeam(filepath.Join(root, "fixtures", "native"), selection.File.Producer.ABI); {
	case errors.As(err, &seam):
		return Selection{}, usage("launcher file %s: %v", selection.Path, seam)
	case err != nil:
		return Selection{}, err
	}
	return selection, nil
}

// knownLaunchers names the launchers that there are, where the asked one is not.
func knownLaunchers(root, path string) string {
	if _, err := os.Stat(path); err == nil {
		return ""
	}
	found, _ := filepath.Glob(filepath.Join(root, "conformance", "launchers", "*.toml")) // the pattern is sound
	var names []string
	for _, path := range found {
		names = append(names, strings.TrimSuffix(filepath.Base(path), ".toml"))
	}
	return "; known are " + strings.Join(names, ", ")
}

// refuseGaps: what holds of every attempt, and the isolation that all else rests
// on, no launcher is excused from.
func refuseGaps(f launcherfile.File, path string) error {
	for i, gap := range f.Gap {
		if _, known := contracts.AssertionByID(gap.ID); !known {
			return usage("launcher file %s: gap[%d].id: %s is no assertion; contracts/assertions.tsv lists them", path, i, gap.ID)
		}
		if !excusable(gap.ID) {
			return usage("launcher file %s: gap[%d].id: no launcher is excused from %s; remove the gap and mend the launcher", path, i, gap.ID)
		}
	}
	return nil
}

// lint refuses scripts that could give a false verdict: a fault of the suite.
func lint(root string, scripts []script.Script) error {
	fixtures, err := FixtureNames(root)
	if err != nil {
		return err
	}
	var problems []error
	for _, s := range scripts {
		for _, p := range script.Lint(s, fixtures) {
			problems = append(problems, errors.New(p.String()))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("lint scripts: %w", err)
	}
	return nil
}

// LoadScripts reads the scripts of a folder in order of their names.
func LoadScripts(dir string) ([]script.Script, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "T*.txtar"))
	if err != nil {
		return nil, fmt.Errorf("list scripts: %w", err)
	}
	var scripts []script.Script
	for _, p := range paths {
		source, err := os.ReadFile(p)
		if err != nil {
			return nil, fmt.Errorf("read script: %w", err)
		}
		s, err := script.Parse(filepath.Base(p), source)
		if err != nil {
			return nil, fmt.Errorf("parse script: %w", err)
		}
		scripts = append(scripts, s)
	}
	return scripts, nil
}

// FixtureNames are the fixtures that can be compiled, by their files.
func FixtureNames(root string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(root, "fixtures", "native", "*.c"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("list fixtures in %s: none found: %w", root, err)
	}
	var names []string
	for _, p := range paths {
		name := strings.TrimSuffix(filepath.Base(p), ".c")
		shared := []string{"fixture", "control", "tool", "sink_writer"} // code of all, the control program and the stand-in
		if !slices.Contains(shared, name) && !strings.HasPrefix(name, "abi_") {
			names = append(names, name)
		}
	}
	return names, nil
}

// matching are the scripts that some pattern names. A pattern that names none
// is an error, so that a misspelt test cannot be taken for a passed one.
func matching(all []script.Script, patterns []string) ([]script.Script, error) {
	if len(patterns) == 0 {
		if len(all) == 0 {
			return nil, usage("no scripts at all")
		}
		return all, nil
	}
	chosen := map[string]bool{}
	for _, pattern := range patterns {
		if _, err := path.Match(pattern, ""); err != nil {
			return nil, usage("test %q: %v; close its [ or leave it out", pattern, err)
		}
		hits := 0
		for _, s := range all {
			if matches(pattern, s.Test) || matches(pattern, s.Name) {
				chosen[s.Name] = true
				hits++
			}
		}
		if hits == 0 {
			return nil, unknownTest(pattern, all)
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(s script.Script) bool { return !chosen[s.Name] }), nil
}

func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

func unknownTest(pattern string, all []script.Script) error {
	if pattern == "" {
		return usage("--tests: a name is empty; remove the comma too many, or leave out --tests for all")
	}
	if name := meant(pattern, all); name != "" {
		return usage("test %q: no such test or script; write %s", pattern, name)
	}
	return usage("test %q: no such test or script; tests are %s to %s, touchstone list names their scripts", pattern, all[0].Test, all[len(all)-1].Test)
}

// meant is the script or test that a name stands for but for case, zeros, a
// folder, an ending or the number of an assertion; "" where none is near.
func meant(name string, all []script.Script) string {
	name = strings.TrimSuffix(path.Base(name), ".txtar")
	test, _, _ := strings.Cut(strings.ToUpper(name), ".")
	test = "T" + strings.TrimLeft(strings.TrimPrefix(test, "T"), "0")
	for _, s := range all {
		switch {
		case strings.EqualFold(s.Name, name):
			return s.Name
		case s.Test == test:
			return test
		}
	}
	return ""
}

func (s Selection) withJobs() (Selection, error) {
	cells, err := s.wantedCells()
	if err != nil {
		return Selection{}, err
	}
	for _, cell := range cells {
		before := len(s.jobs)
		for _, one := range s.Scripts {
			if len(one.Cells([]scenario.Cell{cell})) > 0 && s.wants(one.Name, cell) {
				s.jobs = append(s.jobs, job{one, cell})
			}
		}
		if len(s.jobs) > before {
			s.cells = append(s.cells, cell)
		}
	}
	if len(s.jobs) == 0 {
		return Selection{}, s.nothingSelected()
	}
	return s, nil
}

// nothingSelected names the launcher's cells that would do.
func (s Selection) nothingSelected() error {
	var fit []scenario.Cell
	for _, one := range s.Scripts {
		fit = append(fit, one.Cells(s.File.Cells())...)
	}
	tests := strings.Join(s.Request.Tests, ", ")
	if len(fit) == 0 {
		return usage("nothing selected: no script of %s runs in a cell of launcher %s: %s", tests, s.File.Name, cellNames(s.File.Cells()))
	}
	return usage("nothing selected: no script of %s runs in the chosen cells; choose from %s", tests, cellNames(fit))
}

// cellNames names each cell once.
func cellNames(cells []scenario.Cell) string {
	var names []string
	for _, c := range cells {
		if !slices.Contains(names, c.String()) {
			names = append(names, c.String())
		}
	}
	return strings.Join(names, ", ")
}

// wants says whether a job is among those that the request names.
func (s Selection) wants(script string, cell scenario.Cell) bool {
	return len(s.Request.Only) == 0 || slices.Contains(s.Request.Only, jobName(script, cell.String()))
}

// jobName is how Request.Only spells a job.
func jobName(script, cell string) string { return script + " " + cell }

func (s Selection) wantedCells() ([]scenario.Cell, error) {
	var cells []scenario.Cell
	for _, c := range s.File.Cells() {
		if (s.Request.Facade == "" || s.Request.Facade == c.Facade) && (s.Request.Profile == "" || s.Request.Profile == c.Profile) {
			cells = append(cells, c)
		}
	}
	if len(cells) == 0 {
		return nil, usage("launcher %s: no cell %s/%s; it has %s", s.File.Name, cmp.Or(s.Request.Facade, "*"), cmp.Or(s.Request.Profile, "*"), cellNames(s.File.Cells()))
	}
	return cells, nil
}

// fixtures are the names that the selection's scripts use, and plain.
func (s Selection) fixtures() []string {
	names := []string{"plain"}
	for _, one := range s.Scripts {
		names = append(names, one.Fixtures()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// UniversalIDs are the assertions that every attempt is checked for.
func UniversalIDs() []string { return oracle.UniversalIDs() }
