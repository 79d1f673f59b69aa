package script

import (
	"fmt"
	"path/filepath"
	"strings"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

// setStandIn puts a program of the suite in the finalizer's place.
func setStandIn(s *scenario.Scenario, words []string) error {
	args, err := pairs(words)
	if err != nil {
		return err
	}
	s.Finalizer = args
	return scenario.CheckStandIn(args)
}

func lintFinalize(arguments []string) error {
	_, err := parseFinalize(arguments)
	return err
}

// parseFinalize reads: stream|file [cap=N] [receipt=full|closed].
func parseFinalize(arguments []string) (scenario.ByItself, error) {
	if len(arguments) == 0 {
		return scenario.ByItself{}, fmt.Errorf("want stream or file")
	}
	values, err := pairs(arguments[1:])
	if err != nil {
		return scenario.ByItself{}, err
	}
	for key := range values {
		if err := oneOf(key, "cap", "receipt"); err != nil {
			return scenario.ByItself{}, err
		}
	}
	b := scenario.ByItself{Mode: arguments[0], Cap: values["cap"], Receipt: values["receipt"]}
	return b, b.Check()
}

// finalize runs the finalizer by itself, once. That attempt becomes the
// current one.
func (s *session) finalize(arguments []string) error {
	plan, err := parseFinalize(arguments)
	if err != nil {
		return err
	}
	next := scenario.Scenario{Version: 1, Test: s.next.Test, Script: s.next.Script, Cell: s.cell, Kind: scenario.Alone,
		Fixture: scenario.Fixture{Name: "plain"}, Alone: plan}
	s.current, s.request, s.skipped = nil, next, false
	if s.payloadName == "" {
		return fmt.Errorf("no payload")
	}
	a, err := s.run(next, s.payloadName)
	if err != nil {
		return err
	}
	s.current = []*evidence.Attempt{a}
	return nil
}

// goldenFile is the archive file that holds a golden stream, or its receipt, in
// the launcher's own dialect: NAME.DIALECT.EXTENSION.
func goldenFile(name, dialect string) string {
	extension := filepath.Ext(name)
	return strings.TrimSuffix(name, extension) + "." + dialect + extension
}

func (s *session) golden(name string) ([]byte, error) {
	text, found := s.script.texts[goldenFile(name, s.file.Finalizer.Dialect)]
	if !found {
		return nil, &needsError{"the script has no " + name + " of dialect " + s.file.Finalizer.Dialect}
	}
	return []byte(text), nil
}

// holdsGolden says whether an archive file is a golden stream of that name, in
// whatever dialect.
func holdsGolden(file, name string) bool {
	parts := strings.Split(file, ".")
	return len(parts) == 3 && goldenFile(name, parts[1]) == file
}
