package contracts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// exampleSchemas says by which schema each example is valid.
var exampleSchemas = map[string]string{
	"success.json":                    "terminal.v1",
	"diagnostic_budget_exceeded.json": "terminal.v1",
	"diagnostic_replacement_R.json":   "failure.v1",
	"failure.json":                    "failure.v1",
	"failure-legacy.json":             "failure.v1",
	"report-full.json":                "report-full.v1",
	"capabilities.json":               "capabilities.v1",
	"validation.json":                 "validation.v1",
	"launch.json":                     "launch.v1",
	"launcher.toml":                   "launcher.v1",
	"events.jsonl":                    "events.v1",
	"meta.json":                       "meta.v1",
	"policy.json":                     "policy.v1",
	"certificate.json":                "certificate.v1",
	"run-events.jsonl":                "run-events.v1",
	"host-disposition.json":           "host-disposition.v1",
	"capsule.txtar":                   "capsule.v1",
}

// closedSchemas refuse unknown members at every level.
var closedSchemas = []string{"host-disposition.v1", "launch.v1", "launcher.v1", "terminal.v1"}

func TestSchemaNames(t *testing.T) {
	want := []string{
		"capabilities.v1", "capsule.v1", "certificate.v1", "events.v1", "failure.v1", "host-disposition.v1", "launch.v1",
		"launcher.v1", "meta.v1", "policy.v1", "report-full.v1", "run-events.v1", "terminal.v1", "validation.v1",
	}
	if diff := cmp.Diff(want, SchemaNames()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for _, name := range want {
		schema := decodeSchema(t, name)
		if got, want := schema["$id"], "https://touchstone.invalid/"+name+".schema.json"; got != want {
			t.Errorf("%s: $id %v, want %s", name, got, want)
		}
		compile(t, name)
	}
	if _, err := Schema("terminal.v0"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an unknown schema: %v", err)
	}
}

func TestExamplesAreValid(t *testing.T) {
	entries, err := fs.ReadDir(Examples(), ".")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(exampleSchemas)), names); diff != "" {
		t.Errorf("the examples and what this test says of them: -said +there\n%s", diff)
	}
	used := map[string]bool{}
	for name, schema := range exampleSchemas {
		used[schema] = true
		for _, document := range documents(t, name) {
			if err := compile(t, schema).Validate(document); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if got := slices.Sorted(maps.Keys(used)); !slices.Equal(got, SchemaNames()) {
		t.Errorf("schemas with an example: %v, want all: %v", got, SchemaNames())
	}
}

// eventStreams are the examples of event streams with their schemas.
var eventStreams = map[string]string{"events.jsonl": "events.v1", "run-events.jsonl": "run-events.v1"}

// TestEventExamplesCoverEveryKind: an events example has each kind once, so
// that no branch of its schema goes unused.
func TestEventExamplesCoverEveryKind(t *testing.T) {
	for example, name := range eventStreams {
		var kinds, branches []string
		for _, document := range documents(t, example) {
			kinds = append(kinds, document.(map[string]any)["kind"].(string))
		}
		for _, branch := range decodeSchema(t, name)["allOf"].([]any) {
			condition := branch.(map[string]any)["if"].(map[string]any)["properties"].(map[string]any)["kind"].(map[string]any)
			branches = append(branches, condition["const"].(string))
		}
		slices.Sort(kinds)
		slices.Sort(branches)
		if diff := cmp.Diff(branches, kinds); diff != "" {
			t.Errorf("%s: -schema +example\n%s", example, diff)
		}
	}
}

// TestUnknownEventIsValid: a reader tolerates kinds and members to come.
func TestUnknownEventIsValid(t *testing.T) {
	for _, name := range eventStreams {
		event := map[string]any{"seq": 0, "ts_mono": 1, "kind": "later", "more": map[string]any{}}
		if err := compile(t, name).Validate(event); err != nil {
			t.Error(err)
		}
	}
}

// documents reads an example strictly: the validator's own reader accepts
// duplicate names and bad UTF-8.
func documents(t *testing.T, name string) []any {
	t.Helper()
	content, err := fs.ReadFile(Examples(), name)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(name, ".toml") {
		var document map[string]any
		if err := toml.Unmarshal(content, &document); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return []any{document}
	}
	if strings.HasSuffix(name, ".txtar") { // a capsule: its head
		_, head, _ := strings.Cut(string(content), "\n-- capsule.json --\n")
		head, _, _ = strings.Cut(head, "\n-- ")
		return []any{decode(t, name, []byte(head))}
	}
	if !bytes.HasSuffix(content, []byte("}\n")) {
		t.Fatalf("%s: does not end in } and LF", name)
	}
	var all []any
	for line := range bytes.Lines(content) {
		all = append(all, decode(t, name, line))
	}
	if len(all) != 1 && !strings.HasSuffix(name, ".jsonl") {
		t.Fatalf("%s: %d lines, want 1", name, len(all))
	}
	return all
}

func decode(t *testing.T, name string, content []byte) any {
	t.Helper()
	if !jsontext.Value(content).IsValid() {
		t.Fatalf("%s: not strict JSON", name)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return document
}

func decodeSchema(t *testing.T, name string) map[string]any {
	t.Helper()
	content, err := Schema(name)
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, name, content).(map[string]any)
}

func compile(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	id := "https://touchstone.invalid/" + name + ".schema.json"
	if err := compiler.AddResource(id, decodeSchema(t, name)); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile(id)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// clone copies a decoded document.
func clone(document any) any {
	content, err := json.Marshal(document)
	if err != nil {
		panic("bug: " + err.Error())
	}
	copied, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
	if err != nil {
		panic("bug: " + err.Error())
	}
	return copied
}

// visit calls f for every value of the document with its path, parents first.
func visit(value any, path []string, f func(path []string, value any)) {
	f(path, value)
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			visit(value[name], append(slices.Clone(path), name), f)
		}
	case []any:
		for i, item := range value {
			visit(item, append(slices.Clone(path), fmt.Sprint(i)), f)
		}
	}
}

// at returns the value at a path.
func at(value any, path []string) any {
	for _, name := range path {
		switch container := value.(type) {
		case map[string]any:
			value = container[name]
		case []any:
			var i int
			fmt.Sscan(name, &i)
			value = container[i]
		}
	}
	return value
}
