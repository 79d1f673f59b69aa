package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"touchstone/contracts"
)

var failureCatalog = sync.OnceValue(contracts.LoadCatalog)

// argsFault says why args are not what the catalog row of code allows; empty
// when they are. Code is known, every required argument is there, no other is,
// kinds and vocabularies are kept. The args that the contract leaves open
// (C-46) are only required to be scalars.
//
// Rules: R10, R11, R20.
func argsFault(code string, args *node) string {
	row, known := failureCatalog().Codes[code]
	if !known {
		return fmt.Sprintf("code %q is not in the catalog", code)
	}
	if !args.isObject() {
		return "args are not an object: " + args.String()
	}
	if code == "report_mode_unsupported" || code == "report_result_invalid" {
		return openArgsFault(args)
	}
	for _, m := range args.members {
		arg, declared := row.Args[m.name]
		if !declared {
			return fmt.Sprintf("arg %q is not declared for %s", m.name, code)
		}
		if problem := kindFault(arg, m.value); problem != "" {
			return fmt.Sprintf("arg %q: got %s, want %s", m.name, m.value, problem)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(row.Args)) {
		if !row.Args[name].Optional && args.member(name) == nil {
			return fmt.Sprintf("required arg %q is absent", name)
		}
	}
	return ""
}

func openArgsFault(args *node) string {
	for _, m := range args.members {
		if m.value.kind == '{' || m.value.kind == '[' {
			return fmt.Sprintf("arg %q is not a scalar", m.name)
		}
	}
	return ""
}

// kindFault says what an argument should have been; empty when it is that.
func kindFault(arg contracts.Arg, value *node) string {
	switch arg.Kind {
	case "integer":
		if value.kind != '0' || !signedInteger(value.text) {
			return "an integer"
		}
	case "number":
		if value.kind != '0' {
			return "a number"
		}
	case "vocab":
		if !value.isString() || !slices.Contains(arg.Values, value.text) {
			return "one of " + strings.Join(arg.Values, ", ")
		}
	case "nullable_string":
		if !value.isString() && !value.isNull() {
			return "text or null"
		}
	case "scalar":
		if value.kind == '{' || value.kind == '[' {
			return "a scalar"
		}
	case "identifier", "keyword", "pine_source", "string", "symbol", "timeframe":
		if !value.isString() {
			return "text"
		}
	default:
		return "a kind that this oracle knows, not " + arg.Kind
	}
	return ""
}

// signedInteger is a plainly spelled integer within ±(2^53−1).
func signedInteger(text string) bool {
	_, ok := (&node{kind: '0', text: strings.TrimPrefix(text, "-")}).uint()
	return ok && text != "-0"
}
