package host

import (
	"slices"
	"strings"
	"sync"

	"touchstone/contracts"
)

// catalog is read only when a record has a failure.
var catalog = sync.OnceValue(contracts.LoadCatalog)

// openArgs are the codes whose args the contract leaves open (C-46, C-72).
var openArgs = []string{contracts.CodeReportResultInvalid, contracts.CodeReportModeUnsupported}

// argsShape is what the catalog says of a code's args: those it needs, no other
// than those it has, each of its kind.
//
// Rules: R10, R11, R20.
func argsShape(code string) shape {
	row, known := catalog().Codes[code]
	return func(path string, v *value, wrong func(string, string)) {
		if !known {
			wrong(path, "args of a code that the catalog has")
			return
		}
		for name, arg := range v.members {
			kind, declared := row.Args[name]
			switch {
			case slices.Contains(openArgs, code):
				if arg.is('{') || arg.is('[') {
					wrong(path+"."+name, "a scalar")
				}
			case !declared:
				wrong(path+"."+name, "no such argument")
			default:
				kindShape(kind)(path+"."+name, arg, wrong)
			}
		}
		for name, arg := range row.Args {
			if !arg.Optional && v.members[name] == nil && !slices.Contains(openArgs, code) {
				wrong(path+"."+name, "an argument")
			}
		}
	}
}

func kindShape(arg contracts.Arg) shape {
	switch arg.Kind {
	case "integer":
		return holds("a whole number", func(v *value) bool {
			positive := &value{kind: v.kind, text: strings.TrimPrefix(v.text, "-")}
			_, ok := positive.number()
			return ok && v.text != "-0"
		})
	case "number":
		return holds("a number", func(v *value) bool { return v.is('0') })
	case "vocab":
		return words(arg.Values...)
	case "nullable_string":
		return holds("text or null", func(v *value) bool { return v.is('"') || v.is('n') })
	case "scalar":
		return holds("a scalar", func(v *value) bool { return !v.is('{') && !v.is('[') })
	}
	return holds("text", func(v *value) bool { return v.is('"') })
}
