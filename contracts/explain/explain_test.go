package explain

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"touchstone/contracts"
)

// known are every requirement and test of the assertions, and every code.
func known() map[string]bool {
	all := map[string]bool{}
	for _, a := range contracts.Assertions() {
		all[contracts.TestOf(a.ID)] = true
		for _, r := range a.Requirements {
			all[r] = true
		}
	}
	for code := range contracts.LoadCatalog().Codes {
		all[code] = true
	}
	return all
}

// TestEverythingIsExplained: each requirement, test and new code is whole, and
// nothing else is there.
func TestEverythingIsExplained(t *testing.T) {
	texts, err := Texts()
	if err != nil {
		t.Fatal(err)
	}
	ids := known()
	requirements, tests, added := 0, 0, 0
	for id := range ids {
		text, there := texts[id]
		switch {
		case id[0] == 'R':
			requirements++
			if !there || text.Title == "" || text.Rule == "" || text.Sent == "" || text.Allowed == "" || len(text.Causes) == 0 || len(text.Look) == 0 {
				t.Errorf("%s: %+v", id, text)
			}
		case id[0] == 'T':
			tests++
			if !there || text.Title == "" || text.Sent == "" || text.Allowed == "" || len(text.Causes) == 0 || len(text.Look) == 0 {
				t.Errorf("%s: %+v", id, text)
			}
		case contracts.LoadCatalog().Codes[id].Origin == contracts.OriginContractNew:
			added++
			if !there || text.Means == "" || len(text.Causes) == 0 || len(text.Look) == 0 {
				t.Errorf("%s: %+v", id, text)
			}
		}
	}
	if requirements != 26 || tests != 36 || added != 7 {
		t.Errorf("%d requirements, %d tests, %d new codes", requirements, tests, added)
	}
	for id := range texts {
		if !ids[id] {
			t.Errorf("%s is explained, but there is none", id)
		}
	}
}

var reference = regexp.MustCompile(`\b([RT][0-9]{1,2})(\.[0-9]+)?\b`)

// TestNothingRefersToTheUnknown: by id, in any text, and no key that nobody reads.
func TestNothingRefersToTheUnknown(t *testing.T) {
	ids := known()
	for _, name := range []string{"requirements.toml", "tests.toml", "codes.toml"} {
		content, err := files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range reference.FindAllStringSubmatch(string(content), -1) {
			if !ids[match[1]] {
				t.Errorf("%s refers to %s", name, match[0])
			}
		}
		var strict map[string]Text
		if err := toml.NewDecoder(strings.NewReader(string(content))).DisallowUnknownFields().Decode(&strict); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	texts, err := Texts()
	if err != nil {
		t.Fatal(err)
	}
	for id, text := range texts {
		if slices.ContainsFunc(text.Rules, func(rule string) bool { return !ids[rule] }) {
			t.Errorf("%s belongs to %q", id, text.Rules)
		}
	}
}
