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

// argsShape is what the catalog says of the args of a failure's code: those it
// needs, no other than those it has, each of its kind.
//
// Rules: R10, R11, R20.
func argsShape(failure *value) (where, wanted string) {
	code, args := failure.member("code").text, failure.member("args")
	row, known := catalog().Codes[code]
	open := slices.Contains(openArgs, code)
	if !known {
		return "code", "a code of the catalog"
	}
	for _, arg := range args.members {
		kind, declared := row.Args[arg.name]
		form := kindShape(kind)
		switch {
		case open:
			form = scalar
		case !declared:
			return below("args", arg.name), "no such argument"
		}
		if _, wanted := form(arg.value); wanted != "" {
			return below("args", arg.name), wanted
		}
	}
	for name, arg := range row.Args {
		if !arg.Optional && args.member(name) == nil && !open {
			return below("args", name), "an argument"
		}
	}
	return "", ""
}

var scalar = holds("a scalar", func(v *value) bool { return !v.is('{') && !v.is('[') })

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
		return scalar
	}
	return holds("text", func(v *value) bool { return v.is('"') })
}
