package driver

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

// kept are compiled files of earlier runs, each under the digest of all that
// went into it: the compiler and its C library, the flags, the sources. One
// without a folder keeps nothing; one that cannot be written to only forgets.
type kept struct {
	folder string
	common []byte // of every file: the compiler, the flags, the headers
}

// keep opens a folder of compiled files for the sources of srcDir.
func keep(folder, srcDir string) (kept, error) {
	if folder == "" {
		return kept{}, nil
	}
	// What the compiler and its C library predefine names both versions.
	common, err := exec.Command("gcc", "-dM", "-E", "-include", "features.h", "-x", "c", os.DevNull).Output()
	if err != nil {
		return kept{}, fmt.Errorf("ask gcc what it is: %w", err)
	}
	common = fmt.Appendf(common, "%q\n", compilerFlags)
	headers, err := filepath.Glob(filepath.Join(srcDir, "*.h"))
	if err != nil {
		return kept{}, fmt.Errorf("list headers: %w", err)
	}
	for _, h := range headers {
		text, err := os.ReadFile(h)
		if err != nil {
			return kept{}, fmt.Errorf("read header: %w", err)
		}
		common = fmt.Appendf(common, "%s %d\n%s", filepath.Base(h), len(text), text)
	}
	return kept{folder, common}, os.MkdirAll(folder, 0o755)
}

// part matches a source that another one is made of.
var part = regexp.MustCompile(`(?m)^#include "(.+\.c)"`)

// whole is a file's text with the texts of the sources that it includes; of an
// option, which is no file, nothing.
func whole(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, found := range part.FindAllSubmatch(text, -1) {
		included, failed := whole(filepath.Join(filepath.Dir(path), string(found[1])))
		text, err = append(text, included...), errors.Join(err, failed)
	}
	return text, err
}

// path is where the job's output is kept: its arguments name files, whose
// bytes count, or are options.
func (k kept) path(j job) (string, error) {
	digest := sha256.New()
	digest.Write(k.common)
	for _, a := range j.arguments {
		text, err := whole(a)
		if err != nil {
			return "", fmt.Errorf("digest %s: %w", j.what, err)
		}
		fmt.Fprintf(digest, "%s %d\n%s", filepath.Base(a), len(text), text)
	}
	return filepath.Join(k.folder, fmt.Sprintf("%x", digest.Sum(nil))), nil
}

// take puts what was kept of a job in its place.
func (k kept) take(path, out string) bool {
	text, err := os.ReadFile(path)
	if err != nil || len(text) <= sha256.Size {
		return false
	}
	body, sum := text[:len(text)-sha256.Size], text[len(text)-sha256.Size:]
	if own := sha256.Sum256(body); !bytes.Equal(own[:], sum) {
		return false
	}
	now := time.Now()
	return os.WriteFile(out, body, 0o755) == nil && os.Chtimes(path, now, now) == nil
}

// give keeps a job's output, with its digest behind it.
func (k kept) give(path, out string) error {
	text, err := os.ReadFile(out)
	if err != nil {
		return fmt.Errorf("keep %s: %w", out, err)
	}
	f, err := os.CreateTemp(k.folder, ".new-")
	if err != nil {
		return nil // a folder that cannot be written to only forgets
	}
	sum := sha256.Sum256(text)
	_, err = f.Write(slices.Concat(text, sum[:]))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // as above
	}
	return nil
}
