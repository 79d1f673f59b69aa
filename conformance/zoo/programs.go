package zoo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// goBuild builds those programs of the reference that a change reaches, all
// for no change.
type goBuild struct {
	root, stage string
	packages    map[string][]string
}

func (b goBuild) run(ctx context.Context, changed map[string][]byte) error {
	// Without the checkout's commit, so that only the sources decide.
	arguments := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags", "", "-o", filepath.Join(b.stage, "bin") + "/"}
	list, err := b.overlay(changed)
	if err != nil {
		return err
	}
	arguments = append(arguments, "-overlay", list)
	for program, packages := range b.packages {
		if len(changed) > 0 && !reaches(changed, packages) {
			continue
		}
		if err := unlink(filepath.Join(b.stage, "bin", path.Base(program))); err != nil {
			return err
		}
		arguments = append(arguments, "./"+program)
	}
	if arguments[len(arguments)-1] == list {
		return fmt.Errorf("%w: no program is made of what is changed", ErrDead)
	}
	return command(ctx, b.root, []string{"CGO_ENABLED=0"}, "go", arguments...)
}

func reaches(changed map[string][]byte, packages []string) bool {
	for file := range changed {
		if slices.ContainsFunc(packages, func(pkg string) bool { return within(path.Dir(file), pkg) }) {
			return true
		}
	}
	return false
}

// unlink takes the link to an unbroken program away, which must stay as it is.
func unlink(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("replace program: %w", err)
	}
	return nil
}

// within tells whether a folder is a package or lies below one, as embedded files do.
func within(folder, pkg string) bool { return folder == pkg || strings.HasPrefix(folder, pkg+"/") }

// overlay stores the changed files and the file that tells go build of them.
func (b goBuild) overlay(changed map[string][]byte) (string, error) {
	replace := map[string]string{}
	for file, text := range changed {
		to := filepath.Join(b.stage, "changed", file)
		if err := write(to, text); err != nil {
			return "", err
		}
		replace[filepath.Join(b.root, file)] = to
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", fmt.Errorf("encode overlay: %w", err)
	}
	list := filepath.Join(b.stage, "overlay.json")
	return list, write(list, text)
}

// programPackages are the folders of this module that each Go program of the
// reference is made of.
func programPackages(root string) (map[string][]string, error) {
	c := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Deps \" \"}}", "./reference/cmd/...")
	c.Dir, c.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	output, err := c.Output()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(ended.Stderr))
	}
	if err != nil {
		return nil, fmt.Errorf("list packages of the reference: %w", err)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(output)) {
		fields := strings.Fields(line)
		for _, path := range fields {
			if folder, own := strings.CutPrefix(path, "touchstone/"); own {
				program := strings.TrimPrefix(fields[0], "touchstone/")
				all[program] = append(all[program], folder)
			}
		}
	}
	return all, nil
}

// cProgram is one program of plain C, as scripts/build makes it: where its
// compiler is missing and it may be, it is not made.
type cProgram struct {
	names    []string // of what is made
	folder   string
	besides  []string // further files that it is made of
	command  []string // SOURCES are all *.c of the folder, OUT is what is made, FOLDER where
	optional bool
}

// The compilers' words are those of scripts/build; a test holds that.
var cPrograms = []cProgram{
	{names: []string{"jail"}, folder: "reference/jail/launcher",
		command: []string{"gcc", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-static", "-o", "OUT", "SOURCES"}},
	{names: []string{"producer"}, folder: "reference/producer", besides: []string{"fixtures/native/engine_abi.h"},
		command: []string{"gcc", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-o", "OUT", "SOURCES", "-ldl", "-lm"}},
	{names: []string{"producer-musl"}, folder: "reference/producer", besides: []string{"fixtures/native/engine_abi.h"}, optional: true,
		command: []string{"musl-gcc", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-o", "OUT", "SOURCES", "-ldl", "-lm"}},
	{names: []string{"second", "second-producer"}, folder: Folder + "/second/src", besides: []string{Folder + "/second/build"},
		command: []string{"sh", "../build", "FOLDER"}},
}

// own are the changed files that the program is made of.
func (p cProgram) own(changed map[string][]byte) map[string][]byte {
	own := map[string][]byte{}
	for file, text := range changed {
		if path.Dir(file) == p.folder {
			own[file] = text
		}
	}
	return own
}

// build makes the program from a copy of its folder with the changed files.
func (p cProgram) build(ctx context.Context, root, stage string, changed map[string][]byte) error {
	if _, err := exec.LookPath(p.command[0]); err != nil && p.optional {
		return nil
	}
	tree, bin := filepath.Join(stage, "tree", p.folder), filepath.Join(stage, "bin")
	if err := os.CopyFS(tree, os.DirFS(filepath.Join(root, p.folder))); err != nil {
		return fmt.Errorf("copy sources: %w", err)
	}
	for file, text := range changed {
		if err := write(filepath.Join(tree, path.Base(file)), text); err != nil {
			return err
		}
	}
	var err error
	for _, file := range p.besides {
		text, readErr := os.ReadFile(filepath.Join(root, file))
		err = errors.Join(err, readErr, write(filepath.Join(stage, "tree", file), text))
	}
	for _, name := range p.names {
		err = errors.Join(err, unlink(filepath.Join(bin, name)))
	}
	if err != nil {
		return fmt.Errorf("replace program: %w", err)
	}
	words, err := p.words(tree, bin)
	if err != nil {
		return err
	}
	return errors.Join(command(ctx, tree, nil, words[0], words[1:]...), os.RemoveAll(filepath.Join(stage, "tree")))
}

// words is the command with its names filled in.
func (p cProgram) words(tree, bin string) ([]string, error) {
	var words []string
	for _, w := range p.command {
		switch w {
		case "OUT":
			words = append(words, filepath.Join(bin, p.names[0]))
		case "FOLDER":
			words = append(words, bin)
		case "SOURCES":
			all, err := filepath.Glob(filepath.Join(tree, "*.c"))
			if err != nil {
				return nil, fmt.Errorf("list sources: %w", err)
			}
			words = append(words, all...)
		default:
			words = append(words, w)
		}
	}
	return words, nil
}
