package driver

import (
	"debug/elf"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What is kept is used again for the very same sources only, and only whole.
func TestKeptFixturesAreThoseOfTheirSources(t *testing.T) {
	sources, store := t.TempDir(), filepath.Join(t.TempDir(), "kept")
	program := "int main(void) { return 0; }\n"
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(sources, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	compile := func() string {
		t.Helper()
		c, err := CompileFixtures(t.TempDir(), store, sources, "a", []string{"word"})
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(c.Library["word"])
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	kept := func() map[string]string {
		t.Helper()
		all := map[string]string{}
		entries, err := os.ReadDir(store)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			text, err := os.ReadFile(filepath.Join(store, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			all[e.Name()] = string(text)
		}
		return all
	}
	for name, text := range map[string]string{"fixture.c": "", "abi_a.c": "", "control.c": program, "tool.c": program, "finalizer.c": program,
		"word.h": "#define WORD \"first\"\n", "word.c": "#include \"part.c\"\n", "part.c": "#include \"word.h\"\nconst char *word = WORD;\n"} {
		write(name, text)
	}
	first, before := compile(), kept()
	if again := compile(); again != first || !maps.Equal(kept(), before) {
		t.Error("the same sources were compiled again, or gave another library")
	}
	write("word.h", "#define WORD \"other\"\n")
	if other := compile(); !strings.Contains(other, "other") || len(kept()) != 2*len(before) {
		t.Errorf("after a change of a header: %d kept, want %d; library with the new word: %t", len(kept()), 2*len(before), strings.Contains(other, "other"))
	}
	write("part.c", "const char *word = \"third\";\n")
	if third := compile(); !strings.Contains(third, "third") {
		t.Error("after a change of an included source: the library of the earlier one")
	}
	for name, text := range kept() {
		if err := os.WriteFile(filepath.Join(store, name), []byte(text[1:]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if mended := compile(); !strings.Contains(mended, "third") || !strings.HasPrefix(mended, "\x7fELF") {
		t.Error("a damaged file was taken for a library")
	}
}

// Of musl there are only the fixtures that are asked for by it, or a reason.
func TestAnotherCLibraryHasItsOwnFixtures(t *testing.T) {
	c, err := CompileFixtures(t.TempDir(), "", "../../fixtures/native", "reference", []string{"plain", "plain@musl"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("musl-gcc"); err != nil {
		if want := "needs musl-gcc: install musl-tools and build again"; c.Lacking["plain@musl"] != want || c.Library["plain@musl"] != "" {
			t.Errorf("without musl-gcc: %+v, want %q", c, want)
		}
		return
	}
	for name, needs := range map[string]string{"plain": "libc.so.6", "plain@musl": "libc.so"} {
		f, err := elf.Open(c.Library[name])
		if err != nil {
			t.Fatal(err)
		}
		libraries, err := f.ImportedLibraries()
		if err = errors.Join(err, f.Close()); err != nil || !slices.Contains(libraries, needs) {
			t.Errorf("%s needs %q, want %s: %v", name, libraries, needs, err)
		}
	}
	if own, other := c.Control[""], c.Control["musl"]; own == "" || other == "" || own == other {
		t.Errorf("control programs %q and %q, want one of each library", own, other)
	}
}
