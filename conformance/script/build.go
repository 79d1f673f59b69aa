package script

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"touchstone/conformance/scenario"
)

func lintSource(arguments []string) error {
	if len(arguments) != 1 {
		return fmt.Errorf("%d arguments, want a file of the script", len(arguments))
	}
	return scenario.CheckSourceName(arguments[0])
}

// sourceFor is the archive file that holds a source for one strategy ABI:
// NAME.ABI.cpp. A source that needs no ABI is NAME.cpp.
func sourceFor(name, abi string) string {
	extension := filepath.Ext(name)
	return strings.TrimSuffix(name, extension) + "." + abi + extension
}

// holdsSource says whether an archive file is what a source line reads, for
// whatever ABI.
func holdsSource(file, name string) bool {
	parts := strings.Split(file, ".")
	return file == name || (len(parts) == 3 && sourceFor(name, parts[1]) == file)
}

func (s *session) source(arguments []string) error {
	if err := lintSource(arguments); err != nil {
		return err
	}
	text, found := s.script.texts[sourceFor(arguments[0], s.file.Producer.ABI)]
	if !found {
		text, found = s.script.texts[arguments[0]]
	}
	if !found {
		return &needsError{"the script has no source " + arguments[0] + " for ABI " + s.file.Producer.ABI}
	}
	s.next.Source = &scenario.Source{Name: arguments[0], Text: text}
	return nil
}

func setTool(s *scenario.Scenario, words []string) error {
	if len(words) == 0 {
		return fmt.Errorf("no tool")
	}
	if err := oneOf(words[0], scenario.Tools...); err != nil {
		return err
	}
	args, err := pairs(words[1:])
	if err != nil {
		return err
	}
	tools := map[string]map[string]string{words[0]: args}
	for name, other := range s.Tools {
		if name != words[0] {
			tools[name] = other
		}
	}
	s.Tools = tools
	return nil
}

func setUnmounted(s *scenario.Scenario, words []string) error {
	for _, w := range words {
		if err := oneOf(w, scenario.MountStrategy, scenario.MountOHLCV); err != nil {
			return err
		}
	}
	if len(words) == 0 {
		return fmt.Errorf("want strategy or ohlcv")
	}
	s.Unmounted = slices.Clone(words)
	return nil
}
