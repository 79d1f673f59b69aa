package certificate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// outside are the files of a run folder that the list cannot cover: itself and
// what holds its digest.
func outside(name string) bool { return name == File || name == SumsFile || name == LedgerFile }

// sums lists every file below dir with its digest, sorted by name.
func sums(dir string) (text []byte, files int, size int64, err error) {
	var out bytes.Buffer
	err = walk(dir, func(name string) error {
		sum, n, err := hashFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		files, size = files+1, size+n
		fmt.Fprintf(&out, "%s  %s\n", sum, name)
		return nil
	})
	if err != nil {
		return nil, 0, 0, fmt.Errorf("list evidence: %w", err)
	}
	return out.Bytes(), files, size, nil
}

// walk visits every evidence file, by its name below dir with slashes.
func walk(dir string, visit func(name string) error) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if name = filepath.ToSlash(name); outside(name) {
			return nil
		}
		if !entry.Type().IsRegular() || strings.ContainsAny(name, "\n\\") {
			return fmt.Errorf("%q: not a plain file with a plain name", name)
		}
		return visit(name)
	})
}

func hashFile(path string) (sum string, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	digest := sha256.New()
	if size, err = io.Copy(digest, f); err != nil {
		return "", 0, fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(digest.Sum(nil)), size, nil
}

// readSums reads a list as sums writes it, and nothing looser.
func readSums(text []byte) (map[string]string, error) {
	listed := map[string]string{}
	for line := range strings.Lines(string(text)) {
		sum, name, found := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if raw, err := hex.DecodeString(sum); !found || err != nil || len(raw) != sha256.Size || !filepath.IsLocal(name) || outside(name) {
			return nil, fmt.Errorf("%s: %q is not a digest and a name", SumsFile, line)
		}
		if _, twice := listed[name]; twice {
			return nil, fmt.Errorf("%s: %s is listed twice", SumsFile, name)
		}
		listed[name] = sum
	}
	return listed, nil
}

// checkSums compares the folder with its list, both ways, and gives a sentence
// for each difference.
func checkSums(dir string, listed map[string]string) (problems []string, err error) {
	seen := map[string]bool{}
	err = walk(dir, func(name string) error {
		seen[name] = true
		sum, _, err := hashFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		switch wanted, known := listed[name]; {
		case !known:
			problems = append(problems, name+": not part of the evidence")
		case sum != wanted:
			problems = append(problems, fmt.Sprintf("%s: altered: digest %s, recorded %s", name, sum[:12], wanted[:12]))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("check evidence: %w", err)
	}
	for _, name := range sorted(listed) {
		if !seen[name] {
			problems = append(problems, name+": missing")
		}
	}
	return problems, nil
}
