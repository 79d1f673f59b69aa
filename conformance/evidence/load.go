package evidence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json"

	"touchstone/conformance/scenario"
)

// Load reads the record of an attempt. It returns an error when there is no
// whole record to judge: a broken or unended events.jsonl, an unreadable
// scenario or launch document. Files that are not what was recorded are named
// in Tampered instead.
func Load(dir string) (*Attempt, error) {
	a := &Attempt{Dir: dir, files: map[string][]byte{}}
	text, err := os.ReadFile(filepath.Join(dir, EventsFile))
	if err != nil {
		return nil, fmt.Errorf("load attempt: %w", err)
	}
	events, altered, err := parseEvents(text)
	if err != nil {
		return nil, fmt.Errorf("load attempt %s: %s: %w", dir, EventsFile, err)
	}
	a.Events = events
	if altered {
		a.Tampered = append(a.Tampered, EventsFile)
	}
	if err := a.readFiles(); err != nil {
		return nil, fmt.Errorf("load attempt %s: %w", dir, err)
	}
	slices.Sort(a.Tampered)
	if err := a.readDocuments(); err != nil {
		return nil, fmt.Errorf("load attempt %s: %w", dir, err)
	}
	return a, nil
}

// readFiles reads every recorded file and compares its digest.
func (a *Attempt) readFiles() error {
	hashes, _ := First[Hashes](a)
	for name, want := range hashes.Body.Files {
		if name != filepath.Base(name) {
			return fmt.Errorf("recorded file %q: not a name within the folder", name)
		}
		sum, bytes, err := hashFile(filepath.Join(a.Dir, name), name != TranscriptFile)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err != nil || sum != want {
			a.Tampered = append(a.Tampered, name)
		}
		a.files[name] = bytes
	}
	return a.checkRecorded()
}

// checkRecorded finds events whose bytes are in no recorded file.
func (a *Attempt) checkRecorded() error {
	for _, p := range All[Packet](a) {
		text, recorded := a.files[p.Body.File]
		if !recorded || p.Body.File != PacketFile(p.Body.Index) {
			return fmt.Errorf("packet %d: its file %q is not recorded", p.Body.Index, p.Body.File)
		}
		if len(text) != p.Body.Size && !slices.Contains(a.Tampered, p.Body.File) {
			a.Tampered = append(a.Tampered, p.Body.File)
		}
	}
	for _, name := range []string{ScenarioFile, LauncherFile, LaunchFile} {
		if _, recorded := a.files[name]; !recorded {
			return fmt.Errorf("%s is not recorded", name)
		}
	}
	return nil
}

func (a *Attempt) readDocuments() (err error) {
	if a.Scenario, err = scenario.Decode(a.files[ScenarioFile]); err != nil {
		return err
	}
	a.Launcher = a.files[LauncherFile]
	if err := json.Unmarshal(a.files[LaunchFile], &a.Launch); err != nil {
		return fmt.Errorf("%s: %w", LaunchFile, err)
	}
	return nil
}
