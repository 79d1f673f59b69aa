package alter

import (
	"maps"
	"slices"
	"strings"

	"touchstone/contracts"
)

// vocabularies are the words that a member of the record may hold, by the last
// name of its path.
var vocabularies = map[string][]string{
	"schema": {"pf-run-terminal", "pf-run-report"}, "contract": {"supervised/v1", "supervised/v2"},
	"invocation": contracts.Invocations(), "exit_class": contracts.ExitClasses(), "stage": contracts.Stages(),
	"authority": {"supervisor", "producer"}, "measurement_state": contracts.MeasurementStates(),
	"unit": contracts.CellUnits(), "scope": contracts.CellScopes(), "source": contracts.CellSources(), "state": contracts.CellStates(),
	"code": codes(),
}

func codes() []string {
	return slices.Sorted(maps.Keys(contracts.LoadCatalog().Codes))
}

// otherWords are the other members of a word's vocabulary: of an argument, by
// the catalog, and a strange one where there is no closed list.
func otherWords(path, word string) []string {
	name := path[strings.LastIndexByte(path, '.')+1:]
	words, closed := vocabularies[name]
	if inside, _, found := strings.Cut(path, "args."); found && inside != path {
		words, closed = argWords(name), true
	}
	if !closed {
		return []string{"altered"}
	}
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == word })
}

// argWords are the words that some code's argument of this name may have.
func argWords(name string) []string {
	words := []string{"altered"}
	for _, code := range contracts.LoadCatalog().Codes {
		words = append(words, code.Args[name].Values...)
	}
	slices.Sort(words)
	return slices.Compact(words)
}
