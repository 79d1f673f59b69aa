package certify

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"touchstone/conformance/certificate"
	"touchstone/conformance/launcherfile"
	"touchstone/reports"
)

// subject digests what a run is about, before it starts: what is certified is
// what was there then.
func subject(s Selection, p Place, r reports.Report) (certificate.Subject, error) {
	own, err := os.Executable()
	if err != nil {
		return certificate.Subject{}, fmt.Errorf("find own executable: %w", err)
	}
	program, err := fileDigest(own)
	attempt, attemptErr := fileDigest(p.Exe)
	relay, relayErr := fileDigest(filepath.Join(filepath.Dir(p.Exe), "touchstone-relay"))
	if errors.Is(relayErr, fs.ErrNotExist) {
		relay, relayErr = "", nil // no host can be asked then, and an attempt of one says so
	}
	if err := errors.Join(err, attemptErr, relayErr); err != nil {
		return certificate.Subject{}, err
	}
	assertions, err := fileDigest(filepath.Join(p.Root, "contracts", "assertions.tsv"))
	if err != nil {
		return certificate.Subject{}, err
	}
	fixtures, err := folderDigests(filepath.Join(p.Root, "fixtures", "native"))
	if err != nil {
		return certificate.Subject{}, err
	}
	scripts := map[string]string{}
	for _, one := range s.Scripts {
		scripts[one.Name] = certificate.Digest(one.Source)
	}
	binaries, err := launcherBinaries(s.File, p.Bin)
	if err != nil {
		return certificate.Subject{}, err
	}
	pairing := ""
	if s.File.Pairing.Template != "" {
		pairing = certificate.Digest([]byte(s.File.Pairing.Template))
	}
	return certificate.Subject{
		Suite: certificate.Suite{Version: r.Suite.Version, Commit: r.Suite.Commit, Program: program, Attempt: attempt, Relay: relay, Assertions: assertions, Scripts: scripts, Fixtures: fixtures},
		Launcher: certificate.Launcher{Name: r.Launcher.Name, File: r.Launcher.File, SHA256: r.Launcher.SHA256,
			Binaries: binaries, Pairing: pairing},
	}, nil
}

func fileDigest(path string) (string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("digest: %w", err)
	}
	return certificate.Digest(content), nil
}

func folderDigests(dir string) (map[string]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("digest: %w", err)
	}
	digests := map[string]string{}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		if digests[e.Name()], err = fileDigest(filepath.Join(dir, e.Name())); err != nil {
			return nil, err
		}
	}
	return digests, nil
}

// named are the files that a launcher file names: below {bin} or {here}, or
// by an absolute path.
var named = regexp.MustCompile(`(?:\{bin\}|\{here\}|)/[A-Za-z0-9._+/-]+`)

// launcherBinaries digests every file that the launcher file names. What it
// names and is not there, or is a folder, is left out: an attempt says so.
func launcherBinaries(f launcherfile.File, bin string) (map[string]string, error) {
	text, err := launcherfile.Encode(f)
	if err != nil {
		return nil, err
	}
	digests := map[string]string{}
	for _, name := range named.FindAllString(string(text), -1) {
		path := strings.NewReplacer("{bin}", bin, "{here}", f.Folder).Replace(name)
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || (err == nil && !info.Mode().IsRegular()) {
			continue
		}
		if err == nil {
			digests[name], err = fileDigest(path)
		}
		if err != nil {
			return nil, fmt.Errorf("digest %s: %w", name, err)
		}
	}
	return digests, nil
}

// binaryProblems gives a sentence for each file of the launcher in bin that is
// not the certified one.
func binaryProblems(c certificate.Certificate, f launcherfile.File, bin string) ([]string, error) {
	now, err := launcherBinaries(f, bin)
	if err != nil {
		return nil, err
	}
	return otherThan("binary", c.Launcher.Binaries, now), nil
}

// checkoutProblems gives a sentence for each fixture and the table of
// assertions in a checkout that are not those of the certificate.
func checkoutProblems(c certificate.Certificate, root string) ([]string, error) {
	now, err := folderDigests(filepath.Join(root, "fixtures", "native"))
	if err != nil {
		return nil, err
	}
	assertions, err := fileDigest(filepath.Join(root, "contracts", "assertions.tsv"))
	if err != nil {
		return nil, err
	}
	problems := otherThan("fixture", c.Suite.Fixtures, now)
	if assertions != c.Suite.Assertions {
		problems = append(problems, "assertions.tsv: not the one that was certified")
	}
	return problems, nil
}

func otherThan(what string, wanted, now map[string]string) []string {
	var problems []string
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if now[name] != wanted[name] {
			problems = append(problems, fmt.Sprintf("%s %s: not the one that was certified", what, name))
		}
	}
	return problems
}
