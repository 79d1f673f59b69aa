package scenario

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Entrypoint is the facade that makes the library itself.
const Entrypoint = "entrypoint"

// The entrypoint's tools.
const (
	Transpiler = "transpiler"
	Compiler   = "compiler"
	Binder     = "binder"
)

// Tools are their names, in the order in which they run.
var Tools = []string{Transpiler, Compiler, Binder}

// The entrypoint's mounts.
const (
	MountStrategy = "strategy"
	MountOHLCV    = "ohlcv"
)

// Source is a strategy that the launcher's own tools make a library of.
type Source struct {
	Name string `json:"name"` // ends in .cpp or .pine
	Text string `json:"text"`
}

// MountName is what the entrypoint's source is mounted as. A fixture is
// mounted as C++, unless a stand-in is to transpile it.
func (s Scenario) MountName() string {
	_, transpiled := s.Tools[Transpiler]
	if s.Source != nil {
		return MountStrategy + filepath.Ext(s.Source.Name)
	}
	if transpiled {
		return "strategy.pine"
	}
	return "strategy.cpp"
}

// StandIns are the tools whose place a program of the suite takes.
func (s Scenario) StandIns() (names []string) {
	for _, tool := range Tools {
		_, asked := s.Tools[tool]
		if asked || (tool == Compiler && s.Source == nil && s.Cell.Facade == Entrypoint) {
			names = append(names, tool)
		}
	}
	return names
}

// Builds says whether the scenario asks for anything that only an entrypoint has.
func (s Scenario) Builds() bool {
	return s.Source != nil || len(s.Tools) > 0 || len(s.Unmounted) > 0
}

// Negotiates says whether the scenario gives anything of supervision. One that
// does not asks for the legacy protocol.
func (s Scenario) Negotiates() bool {
	return len(s.Options) > 0 || !slices.Contains(s.Withheld, KnobChannel) || !slices.Contains(s.Withheld, KnobTerminal)
}

func (s Scenario) checkBuild() error {
	if s.Source != nil {
		if err := CheckSourceName(s.Source.Name); err != nil {
			return err
		}
	}
	for name := range s.Tools {
		if err := oneOf("tool", name, Tools...); err != nil {
			return err
		}
	}
	for _, name := range s.Unmounted {
		if err := oneOf("mount", name, MountStrategy, MountOHLCV); err != nil {
			return err
		}
	}
	return nil
}

// CheckSourceName says what is wrong with the name of a source.
func CheckSourceName(name string) error {
	if name != filepath.Base(name) || strings.HasPrefix(name, ".") || !slices.Contains([]string{".cpp", ".pine"}, filepath.Ext(name)) {
		return fmt.Errorf("source %q: want NAME.cpp or NAME.pine", name)
	}
	return nil
}
