package script

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"touchstone/conformance/oracle"
)

var update = flag.Bool("update", false, "rewrite the word lists in doc.go")

// manual is the part of doc.go that lists every word.
func manual() string {
	var out strings.Builder
	names := make([]string, 0, len(verbs))
	for name := range verbs {
		names = append(names, name)
	}
	slices.Sort(names)
	out.WriteString("// # Verbs\n//\n")
	for _, name := range names {
		fmt.Fprintf(&out, "//\t%s\n//\t\t%s\n", verbs[name].usage, verbs[name].says)
	}
	out.WriteString("//\n// # Nouns\n//\n")
	for _, n := range oracle.Nouns() {
		fmt.Fprintf(&out, "//\t%s\n//\t\t%s\n", n.Usage, n.Says)
	}
	return out.String()
}

// TestManualListsEveryWord: a word is added together with its line here.
func TestManualListsEveryWord(t *testing.T) {
	content, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	head, _, found := strings.Cut(string(content), "// # Verbs\n")
	if !found {
		t.Fatal("doc.go has no list of verbs")
	}
	wanted := head + manual() + "package script\n"
	if string(content) == wanted {
		return
	}
	if *update {
		if err := os.WriteFile("doc.go", []byte(wanted), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Error("doc.go does not list the words as they are; run go test ./conformance/script -run Manual -update")
}
