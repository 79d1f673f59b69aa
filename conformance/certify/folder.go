package certify

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"touchstone/conformance/launcherfile"
	"touchstone/conformance/script"
	"touchstone/reports"
)

// The files of a run folder besides those of package reports.
const (
	metaFile     = "meta.json"
	launcherFile = "launcher.json"
	launcherText = "launcher.toml"
	scriptFolder = "scripts"
)

// meta is what recheck has to know of a run besides its evidence.
type meta struct {
	Version   int               `json:"version"` // 1
	RunID     string            `json:"run_id"`
	Started   string            `json:"started"`
	Suite     reports.Suite     `json:"suite"`
	Launcher  reports.Launcher  `json:"launcher"`
	Request   Request           `json:"request"`
	Host      map[string]string `json:"host"`
	Blocked   string            `json:"blocked"`
	Selection reports.Selection `json:"selection"`
}

// NewRunID is a name for a run: a time, so that folders sort, and a few random
// digits, so that two runs of a second differ.
func NewRunID() string {
	var random [3]byte
	if _, err := rand.Read(random[:]); err != nil {
		panic("bug: no randomness: " + err.Error())
	}
	return time.Now().UTC().Format("20060102-150405-") + hex.EncodeToString(random[:])
}

func newReport(s Selection, p Place, version reports.Suite) (reports.Report, error) {
	text, err := os.ReadFile(s.Path)
	if err != nil {
		return reports.Report{}, fmt.Errorf("read launcher file: %w", err)
	}
	sum := sha256.Sum256(text)
	return reports.Report{
		Schema: reports.SchemaName, Version: reports.Version, RunID: filepath.Base(p.Run), Suite: version,
		Launcher: reports.Launcher{Name: s.File.Name, File: filepath.Base(s.Path), SHA256: hex.EncodeToString(sum[:])},
		Selection: reports.Selection{Tests: append([]string{}, s.Request.Tests...), Facade: s.Request.Facade,
			Profile: s.Request.Profile, Jobs: p.Jobs},
		Started: time.Now().UTC().Format(time.RFC3339), Host: describeHost(),
	}, nil
}

// record writes what a recheck reads besides the evidence.
func record(dir string, s Selection, r reports.Report) error {
	s.Request.Tests = append([]string{}, s.Request.Tests...) // never null
	m := meta{Version: 1, RunID: r.RunID, Started: r.Started, Suite: r.Suite, Launcher: r.Launcher, Request: s.Request,
		Host: r.Host, Blocked: obstacle(), Selection: r.Selection}
	metaText, err := json.Marshal(m, json.Deterministic(true), jsontext.WithIndent(" "))
	launcher, launcherErr := launcherfile.Encode(s.File)
	source, sourceErr := os.ReadFile(s.Path)
	policyText, policyErr := encodePolicy(r.RunID, s, r.Selection.Jobs)
	if err := errors.Join(err, launcherErr, sourceErr, policyErr, os.Mkdir(filepath.Join(dir, scriptFolder), 0o755)); err != nil {
		return fmt.Errorf("record run: %w", err)
	}
	files := map[string][]byte{metaFile: append(metaText, '\n'), launcherFile: launcher, launcherText: source, policyFile: policyText}
	for _, one := range s.Scripts {
		files[filepath.Join(scriptFolder, one.Name+".txtar")] = one.Source
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return fmt.Errorf("record run: %w", err)
		}
	}
	return nil
}

// readRecord reads what record wrote. A folder that holds none is a *UsageError.
func readRecord(dir string) (meta, Selection, error) {
	var m meta
	text, err := os.ReadFile(filepath.Join(dir, metaFile))
	if err != nil {
		return m, Selection{}, usage("%s: no run folder: %v; name a folder that certify wrote", dir, errors.Unwrap(err))
	}
	if err := json.Unmarshal(text, &m); err != nil || m.Version != 1 {
		return m, Selection{}, usage("recheck: %s: version %d: %v", metaFile, m.Version, err)
	}
	launcher, err := os.ReadFile(filepath.Join(dir, launcherFile))
	if err != nil {
		return m, Selection{}, usage("recheck: %v", err)
	}
	s := Selection{Request: m.Request}
	if s.File, err = launcherfile.Decode(launcher); err != nil {
		return m, Selection{}, usage("recheck: %v", err)
	}
	if s.Scripts, err = LoadScripts(filepath.Join(dir, scriptFolder)); err != nil {
		return m, Selection{}, usage("recheck: %v", err)
	}
	for _, one := range s.Scripts {
		if problems := script.Lint(one, nil); len(problems) > 0 {
			return m, Selection{}, usage("recheck: %v", problems[0])
		}
	}
	s, err = s.withJobs()
	return m, s, err
}
