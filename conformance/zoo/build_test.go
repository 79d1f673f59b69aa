package zoo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// testBuilder builds from this checkout, with stand-ins for the unbroken programs.
func testBuilder(t *testing.T) *Builder {
	t.Helper()
	absolute, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	b := NewBuilder(absolute, t.TempDir())
	unbroken := filepath.Join(b.cache, "unbroken")
	for _, name := range []string{"reffinal", "refsup", "refbind", "jail"} {
		if err := write(filepath.Join(unbroken, name), []byte("unbroken")); err != nil {
			t.Fatal(err)
		}
	}
	b.base = func() (base, error) {
		packages, err := programPackages(absolute)
		return base{key: "k", bin: unbroken, packages: packages}, err
	}
	return b
}

func TestBuildMakesOnlyWhatIsReached(t *testing.T) {
	b := testBuilder(t)
	m := Mutant{ID: "MUT001", Pieces: []Piece{{"reference/finalizer/finalizer.go", "const chunkBytes = 256 << 10", "const chunkBytes = 255 << 10"},
		{"reference/jail/launcher/producer.c", "umask(022)", "umask(027)"}}}
	bin, err := b.Build(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	for name, made := range map[string]bool{"reffinal": true, "jail": true, "refbind": false} {
		text, err := os.ReadFile(filepath.Join(bin, name))
		if err != nil || (string(text) != "unbroken") != made {
			t.Errorf("%s: made %t, want %t (%v)", name, !made, made, err)
		}
		if text, err := os.ReadFile(filepath.Join(b.cache, "unbroken", name)); err != nil || string(text) != "unbroken" {
			t.Errorf("the unbroken %s was overwritten (%v)", name, err)
		}
	}
	again, err := b.Build(t.Context(), m)
	if err != nil || again != bin {
		t.Errorf("built again: %s, was %s (%v)", again, bin, err)
	}
	m.Pieces = m.Pieces[1:]
	other, err := b.Build(t.Context(), m)
	if err != nil || other == bin {
		t.Errorf("another change, the same build: %s (%v)", other, err)
	}
	if _, err := os.Stat(bin); err == nil {
		t.Error("the build of an earlier change is kept for ever")
	}
}

func TestWhatDoesNotCompileIsDead(t *testing.T) {
	b := testBuilder(t)
	for name, piece := range map[string]Piece{
		"Go":                    {"reference/finalizer/finalizer.go", "const chunkBytes = 256 << 10", "const chunkBytes = 256 <<"},
		"C":                     {"reference/jail/launcher/producer.c", "umask(022);", "umask(022)"},
		"reached by no program": {"reference/entrypoint/README.md", "# ", "#  "},
	} {
		text, err := os.ReadFile(filepath.Join(root, piece.File))
		if err != nil {
			t.Fatal(err)
		}
		if name == "reached by no program" { // its first line, whatever it is
			piece.Old, piece.New = string(text), string(text)+"\n"
		}
		if _, err := b.Build(t.Context(), Mutant{ID: "MUT001", Pieces: []Piece{piece}}); !errors.Is(err, ErrDead) {
			t.Errorf("%s: %v, want a dead mutant", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := Mutant{ID: "MUT001", Pieces: []Piece{{"reference/finalizer/finalizer.go", "const chunkBytes = 256 << 10", "const chunkBytes = 254 << 10"}}}
	if _, err := b.Build(ctx, m); err == nil || errors.Is(err, ErrDead) {
		t.Errorf("interrupted: %v, want no dead mutant", err)
	}
}
