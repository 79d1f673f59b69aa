package launcherfile

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"touchstone/contracts"
)

// schema is the published schema of a launcher file, compiled and decoded.
func schema(t *testing.T) (compiled *jsonschema.Schema, decoded any) {
	t.Helper()
	text, err := contracts.Schema("launcher.v1")
	if err != nil {
		t.Fatal(err)
	}
	if decoded, err = jsonschema.UnmarshalJSON(bytes.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("launcher.json", decoded); err != nil {
		t.Fatal(err)
	}
	if compiled, err = compiler.Compile("launcher.json"); err != nil {
		t.Fatal(err)
	}
	return compiled, decoded
}

// asJSON is a TOML text as the JSON value that the schema speaks of.
func asJSON(t *testing.T, text []byte) any {
	t.Helper()
	var document map[string]any
	if err := toml.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	content, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// recorded is a file as an attempt folder holds it, but for the member of its
// own that it has there.
func recorded(t *testing.T, f File) any {
	t.Helper()
	text, err := Encode(f)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	delete(value.(map[string]any), "folder")
	return value
}

// TestReaderAndSchemaAcceptTheSameFiles: every launcher file of the suite and
// the example of contracts.
func TestReaderAndSchemaAcceptTheSameFiles(t *testing.T) {
	example, err := fs.ReadFile(contracts.Examples(), "launcher.toml")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string][]byte{"example": example, "minimal": []byte(minimal)}
	paths, err := filepath.Glob("../launchers/*.toml")
	if err != nil || len(paths) < 4 {
		t.Fatalf("launcher files: %q %v", paths, err)
	}
	for _, path := range paths {
		if texts[path], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	compiled, _ := schema(t)
	for name, text := range texts {
		f, err := Parse(name, "/", text)
		if err != nil {
			t.Errorf("reader: %v", err)
		}
		if err := compiled.Validate(recorded(t, f)); err != nil {
			t.Errorf("schema: %s, as it is recorded: %v", name, err)
		}
		if err := compiled.Validate(asJSON(t, text)); err != nil {
			t.Errorf("schema: %s: %v", name, err)
		}
	}
}

// TestSchemaNamesTheReadersOptions: no key of options or variables is known to
// one of them alone.
func TestSchemaNamesTheReadersOptions(t *testing.T) {
	_, decoded := schema(t)
	everything := slices.Concat(knobs, requests)
	for where, want := range map[string][]string{
		"$defs facade properties options":         everything,
		"$defs facade properties variables":       everything,
		"properties reference properties options": requests,
	} {
		at := decoded
		for _, name := range append(strings.Fields(where), "properties") {
			at = at.(map[string]any)[name]
		}
		if got, want := sorted(at.(map[string]any)), slices.Sorted(slices.Values(want)); !slices.Equal(got, want) {
			t.Errorf("%s: the schema has %q, the reader %q", where, got, want)
		}
	}
}

// TestManualListsThePlaceholders: the table of contracts/README.md has each
// placeholder once and no other.
func TestManualListsThePlaceholders(t *testing.T) {
	text, err := os.ReadFile("../../contracts/README.md")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range regexp.MustCompile("(?m)^\\| `\\{([a-z_]+)\\}` \\|").FindAllStringSubmatch(string(text), -1) {
		got = append(got, row[1])
	}
	slices.Sort(got)
	if want := slices.Sorted(slices.Values(hostPlaceholders)); !slices.Equal(got, want) {
		t.Errorf("the manual has %q, the reader %q", got, want)
	}
}
