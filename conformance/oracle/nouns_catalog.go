package oracle

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"touchstone/conformance/evidence"
	"touchstone/contracts"
)

// catalogName is the form of a code that the public catalog prescribes.
var catalogName = regexp.MustCompile(`^[a-z][a-z0-9_]{2,47}$`)

// parseCatalog reads what the launcher's failure catalog has to hold.
//
// Rules: R20, R22, R26.
func parseCatalog(words []string) (test, error) {
	switch {
	case len(words) == 1 && words[0] == "kept":
		return each(catalogKept)
	case len(words) > 1 && words[0] == "spelled":
		return each(func(v *view, w *wants) { catalogSpelled(v, w, words[1:]) })
	case len(words) < 3:
		return test{}, fmt.Errorf("%d words, want a code, its class and its text", len(words))
	}
	english, found := strings.CutPrefix(words[len(words)-1], "english=")
	if !found || english == "" {
		return test{}, fmt.Errorf("no english=TEXT at the end")
	}
	row := contracts.Code{Class: words[1], Since: "1.8.0", Args: map[string]contracts.Arg{}}
	for _, w := range words[2 : len(words)-1] {
		name, kind, given := strings.Cut(w, "=")
		if !given || kind == "" {
			return test{}, fmt.Errorf("%q: want ARG=KIND", w)
		}
		arg := contracts.Arg{Kind: kind, Optional: strings.HasSuffix(name, "?")}
		if kind != "integer" {
			arg.Kind, arg.Values = "vocab", strings.Split(kind, ",")
		}
		row.Args[strings.TrimSuffix(name, "?")] = arg
	}
	return each(func(v *view, w *wants) {
		catalog, readable := v.catalog(w)
		if !readable {
			return
		}
		seen := catalog.Codes[words[0]]
		w.that(describeCode(seen) == describeCode(row), words[0]+": "+describeCode(seen), describeCode(row))
		w.that(slices.Contains(seen.English, english), fmt.Sprintf("%s: english %q", words[0], seen.English), fmt.Sprintf("%q", english))
	})
}

// catalog is the recorded catalog; false, with the fault, where it is none.
func (v *view) catalog(w *wants) (contracts.Catalog, bool) {
	if !v.attempt.Scenario.Catalog {
		w.undecided(Broken, "no catalog was asked for before this launch")
		return contracts.Catalog{}, false
	}
	catalog, err := contracts.ParseCatalog(v.attempt.File(evidence.CatalogFile))
	if err != nil {
		w.that(false, err.Error(), "a catalog of the layout "+contracts.CatalogSchema)
	}
	return catalog, err == nil
}

// describeCode is a row in one line, its fixed texts apart.
func describeCode(c contracts.Code) string {
	text := fmt.Sprintf("class %s, retryable %t, since %s", c.Class, c.Retryable, c.Since)
	for _, name := range keysOf(c.Args) {
		arg := c.Args[name]
		text += fmt.Sprintf(", %s %s %s", name, arg.Kind, strings.Join(slices.Sorted(slices.Values(arg.Values)), ","))
		if arg.Optional {
			text += " optional"
		}
	}
	return text
}

func keysOf(args map[string]contracts.Arg) []string {
	names := make([]string, 0, len(args))
	for name := range args {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func catalogSpelled(v *view, w *wants, codes []string) {
	catalog, readable := v.catalog(w)
	if !readable {
		return
	}
	for _, name := range codes {
		row, there := catalog.Codes[name]
		w.that(there && catalogName.MatchString(name), fmt.Sprintf("%s: in the catalog %t", name, there), "a row by a name of the form "+catalogName.String())
		for _, arg := range keysOf(row.Args) {
			kind := row.Args[arg].Kind
			w.that(kind == "integer" || kind == "vocab", fmt.Sprintf("%s: %s of kind %s", name, arg, kind), "integer or vocab")
		}
	}
}

// catalogKept: what was in the catalog before the contract is in it as it was.
func catalogKept(v *view, w *wants) {
	catalog, readable := v.catalog(w)
	if !readable {
		return
	}
	for name, was := range failureCatalog().Codes {
		if was.Origin == contracts.OriginContractNew {
			continue
		}
		is, there := catalog.Codes[name]
		w.that(there && describeCode(is) == describeCode(was) && slices.Equal(is.English, was.English),
			fmt.Sprintf("%s: in the catalog %t, %s", name, there, describeCode(is)), describeCode(was))
	}
}
