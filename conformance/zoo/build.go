package zoo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Builder makes the binaries of mutants, several at once if asked. Only what a
// change touches is compiled: Go by an overlay over the checkout, with go's
// own build cache; C in a copy of its folder. Every other program is a link to
// that of the unbroken launcher.
type Builder struct {
	root, cache string
	base        func() (base, error)
}

// base is what all builds share: known once.
type base struct {
	key      string              // of the sources
	bin      string              // the unbroken programs
	packages map[string][]string // folders, from the root, that each Go program is made of
}

// NewBuilder builds from the checkout in root, which is only read, into cache.
func NewBuilder(root, cache string) *Builder {
	b := &Builder{root: root, cache: cache}
	b.base = sync.OnceValues(b.prepare)
	return b
}

// sources are the folders and files that decide what a build gives.
var sources = []string{"reference", "contracts", "go.mod", "go.sum", Folder + "/second/src", Folder + "/second/build",
	"fixtures/native/engine_abi.h"}

func (b *Builder) prepare() (base, error) {
	key, err := b.key()
	if err != nil {
		return base{}, err
	}
	shared := base{key: key, bin: filepath.Join(b.cache, "unbroken-"+key)}
	if shared.packages, err = programPackages(b.root); err != nil {
		return base{}, err
	}
	if _, err := os.Stat(shared.bin); err == nil {
		return shared, nil
	}
	err = errors.Join(os.MkdirAll(b.cache, 0o755), b.sweep("unbroken-*"))
	stage, stageErr := os.MkdirTemp(b.cache, "stage-") // another run may build, too
	if err := errors.Join(err, stageErr, os.MkdirAll(filepath.Join(stage, "bin"), 0o755)); err != nil {
		return base{}, fmt.Errorf("build unbroken programs: %w", err)
	}
	ctx := context.Background()
	err = goBuild{root: b.root, stage: stage, packages: shared.packages}.run(ctx, nil)
	for _, p := range cPrograms {
		err = errors.Join(err, p.build(ctx, b.root, stage, nil))
	}
	if err != nil {
		return base{}, fmt.Errorf("build unbroken programs: %w", err)
	}
	err = os.Rename(filepath.Join(stage, "bin"), shared.bin)
	if _, there := os.Stat(shared.bin); there == nil { // the other one was first
		err = nil
	}
	return shared, errors.Join(err, os.RemoveAll(stage))
}

// key digests the sources.
func (b *Builder) key() (string, error) {
	sum := sha256.New()
	for _, source := range sources {
		err := filepath.WalkDir(filepath.Join(b.root, source), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(path)
			fmt.Fprintf(sum, "%s %d\n%s", strings.TrimPrefix(path, b.root), len(text), text)
			return err
		})
		if err != nil {
			return "", fmt.Errorf("digest sources: %w", err)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))[:16], nil
}

// sweep removes builds that are no longer asked for.
func (b *Builder) sweep(pattern string) error {
	old, err := filepath.Glob(filepath.Join(b.cache, pattern))
	for _, path := range old {
		err = errors.Join(err, os.RemoveAll(path))
	}
	return err
}

// Unbroken is the folder of the launchers as they are.
func (b *Builder) Unbroken() (string, error) {
	shared, err := b.base()
	return shared.bin, err
}

// Build returns the folder that holds the mutant's programs. What was built
// from the same sources before is used again. A mutant whose pieces do not
// apply or that does not compile is ErrDead.
func (b *Builder) Build(ctx context.Context, m Mutant) (string, error) {
	changed, err := m.Patch(b.root)
	if err != nil {
		return "", err
	}
	shared, err := b.base()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, file := range slices.Sorted(maps.Keys(changed)) {
		fmt.Fprintf(sum, "%s %d\n%s", file, len(changed[file]), changed[file])
	}
	name := strings.ReplaceAll(m.ID, "/", "-") + "-"
	done := filepath.Join(b.cache, name+shared.key+"-"+hex.EncodeToString(sum.Sum(nil))[:16])
	if _, err := os.Stat(done); err == nil {
		return filepath.Join(done, "bin"), nil
	}
	if err := b.sweep(name + "*"); err != nil {
		return "", fmt.Errorf("build %s: %w", m.ID, err)
	}
	stage, err := os.MkdirTemp(b.cache, "stage-")
	if err != nil {
		return "", fmt.Errorf("build %s: %w", m.ID, err)
	}
	// The producer's own user has to reach what lies in it.
	if err = errors.Join(os.Chmod(stage, 0o755), b.make(ctx, shared, stage, changed)); err == nil {
		err = os.Rename(stage, done) // last, so that a folder of this name is whole
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("build %s: %w", m.ID, err), os.RemoveAll(stage))
	}
	return filepath.Join(done, "bin"), nil
}

// make fills stage/bin.
func (b *Builder) make(ctx context.Context, shared base, stage string, changed map[string][]byte) error {
	if err := linkAll(shared.bin, filepath.Join(stage, "bin")); err != nil {
		return err
	}
	overlay := map[string][]byte{}
	for file, text := range changed {
		if !slices.ContainsFunc(cPrograms, func(p cProgram) bool { return p.folder == path.Dir(file) }) {
			overlay[file] = text
		}
	}
	if len(overlay) > 0 {
		if err := (goBuild{root: b.root, stage: stage, packages: shared.packages}).run(ctx, overlay); err != nil {
			return err
		}
	}
	for _, p := range cPrograms {
		if own := p.own(changed); len(own) > 0 {
			if err := p.build(ctx, b.root, stage, own); err != nil {
				return err
			}
		}
	}
	return nil
}

// linkAll gives a folder all files of another, without a copy.
func linkAll(from, to string) error {
	entries, err := os.ReadDir(from)
	if err == nil {
		err = os.MkdirAll(to, 0o755)
	}
	for _, entry := range entries {
		if err == nil {
			err = os.Link(filepath.Join(from, entry.Name()), filepath.Join(to, entry.Name()))
		}
	}
	if err != nil {
		return fmt.Errorf("link programs: %w", err)
	}
	return nil
}

// command runs a compiler; what it refuses is dead.
func command(ctx context.Context, dir string, environment []string, name string, arguments ...string) error {
	c := exec.CommandContext(ctx, name, arguments...)
	c.Dir, c.Env = dir, append(os.Environ(), environment...)
	output, err := c.CombinedOutput()
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%w: compile: %w\n%s", ErrDead, err, output)
	}
	return nil
}

func write(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return os.WriteFile(path, text, 0o644)
}
