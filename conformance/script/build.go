package script

import (
	"fmt"
	"slices"

	"touchstone/conformance/scenario"
)

func lintSource(arguments []string) error {
	if len(arguments) != 1 {
		return fmt.Errorf("%d arguments, want a file of the script", len(arguments))
	}
	return scenario.CheckSourceName(arguments[0])
}

func (s *session) source(arguments []string) error {
	if err := lintSource(arguments); err != nil {
		return err
	}
	text, found := s.script.texts[arguments[0]]
	if !found {
		return fmt.Errorf("no file %q in the script", arguments[0])
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
