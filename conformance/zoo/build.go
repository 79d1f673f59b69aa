package zoo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Builder makes the binaries of mutants. The zero value is not usable.
type Builder struct {
	Root  string // of the source tree; it is only read
	Cache string // folder of what was built before; made when missing
}

// sources are the folders and files that decide what a build gives.
var sources = []string{
	"reference", "contracts", "fixtures/native", "scripts", "go.mod", "go.sum",
	"conformance/zoo/naive", "conformance/zoo/second", // the script builds them too
}

// Build returns the folder that holds the mutant's programs. What was built
// from the same sources before is used again. A mutant whose pieces do not
// apply or that does not compile is ErrDead.
func (b Builder) Build(ctx context.Context, m Mutant) (string, error) {
	changed, err := m.Patch(b.Root)
	if err != nil {
		return "", err
	}
	key, err := b.key(m, changed)
	if err != nil {
		return "", fmt.Errorf("build %s: %w", m.ID, err)
	}
	done := filepath.Join(b.Cache, m.ID+"-"+key)
	if _, err := os.Stat(done); err == nil {
		return filepath.Join(done, "bin"), nil
	}
	if err := os.MkdirAll(b.Cache, 0o755); err != nil {
		return "", fmt.Errorf("build %s: %w", m.ID, err)
	}
	stage, err := os.MkdirTemp(b.Cache, "stage-")
	if err != nil {
		return "", fmt.Errorf("build %s: %w", m.ID, err)
	}
	err = b.make(ctx, stage, changed)
	if err == nil {
		err = os.Rename(stage, done) // last, so that a folder of this name is whole
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("build %s: %w", m.ID, err), os.RemoveAll(stage))
	}
	return filepath.Join(done, "bin"), nil
}

// make compiles a copy of the sources by their own build script: C as it is
// changed in the copy, Go as an overlay changes it.
func (b Builder) make(ctx context.Context, stage string, changed map[string][]byte) error {
	tree := filepath.Join(stage, "tree")
	overlay := map[string][]byte{}
	edited := map[string][]byte{}
	for file, text := range changed {
		if strings.HasSuffix(file, ".go") {
			overlay[file] = text
		} else {
			edited[file] = text
		}
	}
	if err := copyTree(b.Root, tree, edited); err != nil {
		return err
	}
	kept := []string{"second", "second-producer"} // the script keeps C programs that are newer than their sources
	if len(edited) == 0 {
		kept = append(kept, "jail", "producer")
	}
	for _, program := range kept {
		if err := copyFile(filepath.Join(b.Root, built, program), filepath.Join(tree, built, program)); err != nil {
			return err
		}
	}
	list, err := writeOverlay(tree, stage, overlay)
	if err != nil {
		return err
	}
	if err := compile(ctx, tree, "GOFLAGS=-overlay="+list); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(tree, built), filepath.Join(stage, "bin")); err != nil {
		return fmt.Errorf("keep programs: %w", err)
	}
	return os.RemoveAll(tree)
}

// built is where the build script of a tree puts its programs.
const built = ".build/bin"

func compile(ctx context.Context, tree string, environment ...string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(tree, "scripts", "build"))
	cmd.Dir = tree
	cmd.Env = append(os.Environ(), environment...)
	output, err := cmd.CombinedOutput()
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%w: compile: %w\n%s", ErrDead, err, output)
	}
	return nil
}

// writeOverlay stores the changed files and the file that tells go build of them.
func writeOverlay(root, stage string, changed map[string][]byte) (string, error) {
	replace := map[string]string{}
	for file, text := range changed {
		path := filepath.Join(stage, "changed", file)
		if err := write(path, text); err != nil {
			return "", err
		}
		replace[filepath.Join(root, file)] = path
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", fmt.Errorf("encode overlay: %w", err)
	}
	path := filepath.Join(stage, "overlay.json")
	return path, write(path, text)
}

// copyTree copies the sources with the changed files in place.
func copyTree(root, tree string, changed map[string][]byte) error {
	err := walk(root, func(file string) error {
		return copyFile(filepath.Join(root, file), filepath.Join(tree, file))
	})
	for file, text := range changed {
		err = errors.Join(err, write(filepath.Join(tree, file), text))
	}
	return err
}

// key tells builds of different sources apart.
func (b Builder) key(m Mutant, changed map[string][]byte) (string, error) {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n", m.ID)
	err := walk(b.Root, func(file string) error {
		text, err := os.ReadFile(filepath.Join(b.Root, file))
		fmt.Fprintf(sum, "%s %d\n%s", file, len(text), text)
		return err
	})
	for _, file := range slices.Sorted(maps.Keys(changed)) {
		fmt.Fprintf(sum, "%s %d\n%s", file, len(changed[file]), changed[file])
	}
	return hex.EncodeToString(sum.Sum(nil))[:16], err
}

// walk visits the regular files of the sources, by path from root.
func walk(root string, visit func(file string) error) error {
	for _, source := range sources {
		err := filepath.WalkDir(filepath.Join(root, source), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			file, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			return visit(file)
		})
		if err != nil {
			return fmt.Errorf("walk %s: %w", source, err)
		}
	}
	return nil
}

func copyFile(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return fmt.Errorf("copy %s: %w", filepath.Base(from), err)
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("copy %s: %w", filepath.Base(from), err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return fmt.Errorf("copy %s: %w", filepath.Base(from), err)
	}
	return os.WriteFile(to, text, info.Mode().Perm())
}

func write(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return os.WriteFile(path, text, 0o644)
}
