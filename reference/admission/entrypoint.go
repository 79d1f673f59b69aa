package admission

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Build is what the entrypoint makes a library of. All paths are absolute.
type Build struct {
	Folder string // holds strategy.pine, which is preferred, or strategy.cpp, and ohlcv.csv
	Prefix string // holds include/, for the compiler
	Source string // set by Mounts
}

// Names of the mounts.
const (
	strategyName = "strategy.pine"
	codeName     = "strategy.cpp"
	chartName    = "ohlcv.csv"
)

// Variables of the entrypoint that are no flag of the direct facade.
const (
	folderVariable    = "PINEFORGE_IN_DIR"
	prefixVariable    = "PINEFORGE_PREFIX"
	transpileVariable = "PINEFORGE_TRANSPILE_ONLY"
)

// unsupported are variables of the public entrypoint that this pairing's
// producer has no flag for. They are refused, never ignored.
var unsupported = []string{"PINEFORGE_BAR_MAGNIFIER", "PINEFORGE_MAGNIFIER_SAMPLES", "PINEFORGE_MAGNIFIER_DIST",
	"PINEFORGE_MAGNIFIER_VOLUME_WEIGHTED", "PINEFORGE_SYMINFO", "PINEFORGE_SYMBOL_FEEDS", "PINEFORGE_BENCH",
	"PINEFORGE_REQUEST_FEED_INVENTORY"}

// ParseEntrypoint reads the entrypoint's request: variables only. The library
// that is to be built will be at library for the producer. Otherwise it is as
// Parse.
//
// Rules: R01, C-5, C-71.
func ParseEntrypoint(args []string, library string, lookup func(string) (string, bool)) (Request, error) {
	var refusals []error
	if len(args) > 0 {
		refusals = append(refusals, fmt.Errorf("argument %q: the entrypoint takes none", args[0]))
	}
	for _, name := range unsupported {
		if value, _ := lookup(name); value != "" {
			refusals = append(refusals, fmt.Errorf("variable %s: not supported by this pairing", name))
		}
	}
	build, err := newBuild(lookup)
	if inside := filepath.Dir(library); build.Folder == inside || build.Prefix == inside {
		refusals = append(refusals, fmt.Errorf("folder %s: the tools' own", inside))
	}
	given := values{"--so": library, "--ohlcv": filepath.Join(build.Folder, chartName)}
	for _, o := range options {
		if value, set := lookup(o.env); o.env != "" && set {
			given[o.flag] = value
		}
		if value, _ := lookup(o.shell); o.shell != "" && value != "" {
			given[o.flag] = value
		}
	}
	r, refusal := interpret(given, nil)
	if r.Negotiated && TranspileOnly(lookup) {
		refusals = append(refusals, fmt.Errorf("variable %s: another protocol", transpileVariable))
	}
	if !r.Negotiated {
		_ = r.engine(given) // what is wrong in it, the engine's own parser says
		if r.Mode != ModeFull {
			r.Engine = append(r.Engine, "--report-mode", r.Mode)
		}
	}
	r.Build = &build
	return r, errors.Join(append(refusals, err, refusal)...)
}

// TranspileOnly reports whether C++ is asked for instead of a run.
func TranspileOnly(lookup func(string) (string, bool)) bool {
	value, _ := lookup(transpileVariable)
	return value == "1" || value == "true"
}

func newBuild(lookup func(string) (string, bool)) (b Build, err error) {
	for _, each := range []struct {
		path               *string
		variable, standard string
	}{{&b.Folder, folderVariable, "/in"}, {&b.Prefix, prefixVariable, "/opt/pineforge"}} {
		value, _ := lookup(each.variable)
		if value == "" {
			value = each.standard
		}
		absolute, wrong := filepath.Abs(value)
		*each.path, err = absolute, errors.Join(err, wrong)
	}
	return b, err
}

// Mounts looks for the strategy and for the chart, and chooses the source.
//
// Rules: R20.
func (b *Build) Mounts() error {
	if err := b.Pick(); err != nil {
		return err
	}
	return regular(b.Chart())
}

// Pick chooses the source: a strategy before C++.
func (b *Build) Pick() error {
	for _, name := range []string{strategyName, codeName} {
		if b.Source = filepath.Join(b.Folder, name); regular(b.Source) == nil {
			return nil
		}
	}
	b.Source = ""
	return fmt.Errorf("missing mount: %s holds neither %s nor %s", b.Folder, strategyName, codeName)
}

// Chart is where the bars are.
func (b *Build) Chart() string { return filepath.Join(b.Folder, chartName) }

// Transpiled reports whether the source is a strategy that becomes C++ first.
func (b *Build) Transpiled() bool { return filepath.Base(b.Source) == strategyName }

func regular(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		return fmt.Errorf("missing mount: %s: %w", path, err)
	}
	return nil
}
