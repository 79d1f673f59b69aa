package contracts

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var updateLanded = flag.Bool("update", false, "take the schemas of today as released")

const landedFolder = "testdata/landed"

// TestSchemasOnlyGrowFromLanded: within a major version a schema is only added
// to, so that what was valid by the released one is valid by today's.
func TestSchemasOnlyGrowFromLanded(t *testing.T) {
	if *updateLanded {
		for _, name := range SchemaNames() {
			content, err := Schema(name)
			if err == nil {
				err = os.WriteFile(filepath.Join(landedFolder, name+schemaSuffix), content, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	paths, err := filepath.Glob(filepath.Join(landedFolder, "*"+schemaSuffix))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no released schemas: %v", err)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(path), schemaSuffix)
		released := decode(t, name, content)
		for _, problem := range tightened(released, decodeSchema(t, name), name) {
			t.Error(problem)
		}
	}
}

// tightened gives a sentence for each way in which is refuses what was
// accepts, as far as the keywords of our schemas go.
func tightened(was, is any, at string) []string {
	before, object := was.(map[string]any)
	after, still := is.(map[string]any)
	if !object || !still {
		if !reflect.DeepEqual(was, is) {
			return []string{fmt.Sprintf("%s: was %v, is %v", at, was, is)}
		}
		return nil
	}
	var problems []string
	for keyword, old := range before {
		problems = append(problems, keywordTightened(keyword, old, after[keyword], at+"/"+keyword)...)
	}
	for _, keyword := range []string{"pattern", "const", "enum", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "type", "additionalProperties", "required", "format", "not"} {
		if _, had := before[keyword]; !had && after[keyword] != nil {
			problems = append(problems, at+"/"+keyword+": a new restriction")
		}
	}
	slices.Sort(problems)
	return problems
}

func keywordTightened(keyword string, was, is any, at string) []string {
	switch keyword {
	case "title", "description", "$comment":
		return nil
	case "properties", "$defs", "patternProperties":
		return eachTightened(was.(map[string]any), is, at)
	case "required":
		return wordsOutside(is, was, at, "is now required")
	case "enum":
		return wordsOutside(was, is, at, "is no longer allowed")
	case "type":
		return wordsOutside(list(was), list(is), at, "is no longer allowed")
	case "allOf", "oneOf", "anyOf":
		return listTightened(was, is, at)
	case "minimum", "minLength", "minItems", "maximum", "maxLength", "maxItems", "pattern", "format":
		if is == nil {
			return nil
		}
	}
	return tightened(was, is, at)
}

// eachTightened: nothing of the old is gone, nor stricter.
func eachTightened(was map[string]any, is any, at string) []string {
	after, _ := is.(map[string]any)
	var problems []string
	for name, old := range was {
		if today, kept := after[name]; kept {
			problems = append(problems, tightened(old, today, at+"/"+name)...)
		} else {
			problems = append(problems, at+"/"+name+": is gone")
		}
	}
	return problems
}

// listTightened: every old entry has one of today that is no stricter. Further
// entries of allOf restrict, unless they are about values of some kind only.
func listTightened(was, is any, at string) []string {
	var problems []string
	kept := map[int]bool{}
	for i, old := range list(was) {
		found := slices.IndexFunc(list(is), func(today any) bool { return len(tightened(old, today, at)) == 0 })
		kept[found] = true
		if found < 0 {
			problems = append(problems, fmt.Sprintf("%s/%d: is gone or stricter", at, i))
		}
	}
	for i, today := range list(is) {
		entry, _ := today.(map[string]any)
		if !kept[i] && strings.HasSuffix(at, "/allOf") && entry["if"] == nil {
			problems = append(problems, fmt.Sprintf("%s/%d: a new restriction", at, i))
		}
	}
	return problems
}

// wordsOutside names the members of a that are not in b.
func wordsOutside(a, b any, at, what string) []string {
	var problems []string
	for _, word := range list(a) {
		if !slices.ContainsFunc(list(b), func(other any) bool { return reflect.DeepEqual(word, other) }) {
			problems = append(problems, fmt.Sprintf("%s: %v %s", at, word, what))
		}
	}
	return problems
}

func list(value any) []any {
	if all, ok := value.([]any); ok {
		return all
	}
	if value == nil {
		return nil
	}
	return []any{value}
}

func TestTighteningIsFound(t *testing.T) {
	const was = `{"type":["string","null"],"required":["a"],"properties":{"a":{"type":"integer","minimum":1},"b":{"enum":["x","y"]}},"$defs":{"d":{"pattern":"^a$"}},"allOf":[{"const":1}]}`
	read := func(text string) any {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(text)))
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	for change, broken := range map[string]bool{
		`"a"],"prop=>"a","b"],"prop`:                     true,  // a new required member
		`"required":["a"],=>`:                            false, // one fewer
		`"b":{"enum":["x","y"]}=>"c":{}`:                 true,  // a member gone
		`"b":{=>"c":{},"b":{`:                            false, // a member more
		`["x","y"]=>["x"]`:                               true,
		`["x","y"]=>["x","y","z"]`:                       false,
		`"minimum":1=>"minimum":2`:                       true,
		`,"minimum":1=>`:                                 false,
		`"minimum":1=>"minimum":1,"const":4`:             true,
		`["string","null"]=>"string"`:                    true,
		`["string","null"]=>["string","null","integer"]`: false,
		`"^a$"=>"^b$"`:                                   true,
		`"d":{=>"e":{},"d":{`:                            false,
		`[{"const":1}]=>[]`:                              true,
		`[{"const":1}]=>[{"const":2}]`:                   true,
		`{"type":["=>{"title":"t","type":["`:             false,
	} {
		old, today, _ := strings.Cut(change, "=>")
		text := strings.Replace(was, old, today, 1)
		if text == was || !json.Valid([]byte(text)) {
			t.Fatalf("%s: no case: %s", change, text)
		}
		if problems := tightened(read(was), read(text), "s"); (len(problems) > 0) != broken {
			t.Errorf("%s: got %q", change, problems)
		}
	}
}
