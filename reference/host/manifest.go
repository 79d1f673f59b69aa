package host

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
)

// Manifest is everything that an attempt can leave outside its processes. It
// is written, and made to last, before anything starts, so that a crash of the
// host leaves nothing that `refhost reap` cannot find. It stands for an attempt
// that is not finished: it is removed behind the disposition.
//
// Rules: R15.
type Manifest struct {
	Version      int          `json:"version"`
	AttemptID    string       `json:"attempt_id"`
	Files        string       `json:"files"` // filesNone or filesMade
	Report       File         `json:"report"`
	Diagnostics  File         `json:"diagnostics"`
	Sink         File         `json:"sink"`       // the stream's, or the named one that S makes
	NamedSink    bool         `json:"named_sink"` // S itself renames the sink into place
	Before       string       `json:"before"`     // what had the named sink's name before the launch, "" for nothing
	Disposition  File         `json:"disposition"`
	Admission    Admission    `json:"admission"`
	ControlGroup ControlGroup `json:"control_group"`
}

// File is a target and its private name until then; both "" for none.
type File struct {
	Target      string `json:"target"`
	Provisional string `json:"provisional"`
}

// ControlGroup says below which groups S makes its own, as /proc/self/cgroup
// spells them, and how their names begin.
type ControlGroup struct {
	Below  string `json:"below"`
	Prefix string `json:"prefix"`
}

// What there is of the private files. Once they have been made, one that is
// gone was renamed; before that, a target is somebody else's. The words have one
// length, so that one takes the other's place in a single write.
const (
	filesNone = "none"
	filesMade = "made"
)

// manifestBytes bounds a manifest (inclusive).
const manifestBytes = 1 << 20

func newManifest(o *Options, attempt string) (Manifest, error) {
	file := func(path string) File {
		if path == "" {
			return File{}
		}
		return File{path, provisional(path, attempt)}
	}
	below, err := ownGroups()
	sink := o.Sink
	before := ""
	if o.NamedSink != "" {
		sink, before = o.NamedSink, identity(o.NamedSink)
	}
	return Manifest{Version: 1, AttemptID: attempt, Files: filesNone, Report: file(o.Report), Diagnostics: file(o.Diagnostics),
		Sink: file(sink), NamedSink: o.NamedSink != "", Before: before, Disposition: file(o.Disposition),
		Admission:    o.admission(filepath.Join(o.Spool, "attempt-"+attempt)),
		ControlGroup: ControlGroup{below, "touchstone-" + attempt + "-"}}, err
}

// stoodBefore: the named sink's name still stands for what it stood for before
// the launch, which S has never touched.
func (m *Manifest) stoodBefore() bool {
	return m.NamedSink && m.Before != "" && identity(m.Sink.Target) == m.Before
}

// identity tells a file from every other of its name; "" where there is none.
func identity(path string) string {
	var stat unix.Stat_t
	if unix.Lstat(path, &stat) != nil {
		return ""
	}
	return fmt.Sprintf("%d:%d:%d", stat.Dev, stat.Ino, stat.Ctim.Nano())
}

// write makes the manifest last and returns a locked descriptor: the lock tells
// a reaper that the host is still there.
func (m *Manifest) write(path string) (int, error) {
	content, err := json.Marshal(m, json.Deterministic(true))
	if err != nil {
		return -1, fmt.Errorf("encode manifest: %w", err)
	}
	fd, err := create(path)
	if err == nil {
		err = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
	}
	if err == nil {
		err = writeAll(fd, append(content, '\n'))
	}
	if err == nil {
		err = unix.Fsync(fd)
	}
	if err == nil {
		err = settleFolder(filepath.Dir(path))
	}
	return fd, err
}

// made notes that the private files are there.
func (m *Manifest) made(fd int) error {
	m.Files = filesMade
	content, err := json.Marshal(m, json.Deterministic(true))
	if err == nil {
		_, err = unix.Pwrite(fd, content, 0)
	}
	if err != nil {
		return fmt.Errorf("note files in manifest: %w", err)
	}
	return nil
}

// errRunning refuses to reap an attempt whose host is still there.
var errRunning = errors.New("its host is still running; cancel that one instead")

// readManifest reads a manifest strictly and locks it.
func readManifest(path string) (Manifest, *os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return Manifest{}, nil, fmt.Errorf("manifest: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return Manifest{}, f, fmt.Errorf("manifest %s: %w", path, errRunning)
	}
	content, err := io.ReadAll(io.LimitReader(f, manifestBytes+1))
	if err == nil && len(content) > manifestBytes {
		err = fmt.Errorf("more than %d bytes", manifestBytes)
	}
	m, err2 := decodeManifest(content)
	if err = cmp.Or(err, err2); err != nil {
		return m, f, fmt.Errorf("manifest %s: %w", path, err)
	}
	return m, f, nil
}

func decodeManifest(content []byte) (m Manifest, err error) {
	if err := json.Unmarshal(content, &m, json.RejectUnknownMembers(true)); err != nil {
		return m, err
	}
	return m, m.check()
}

// check refuses a manifest that would have a reaper remove what no attempt has made.
func (m *Manifest) check() error {
	if m.Version != 1 || !isHex(m.AttemptID, 32) {
		return fmt.Errorf("version %d, attempt %q: not a manifest of this host", m.Version, m.AttemptID)
	}
	if m.Files != filesNone && m.Files != filesMade {
		return fmt.Errorf("files %q: not a manifest of this host", m.Files)
	}
	for _, f := range []File{m.Report, m.Diagnostics, m.Sink, m.Disposition} {
		if f != (File{}) && (!filepath.IsAbs(f.Target) || f.Provisional != provisional(f.Target, m.AttemptID)) {
			return fmt.Errorf("file %q: not of attempt %s", f.Provisional, m.AttemptID)
		}
	}
	spool := m.Admission.Spool.Path
	if !filepath.IsAbs(spool) || filepath.Base(spool) != "attempt-"+m.AttemptID {
		return fmt.Errorf("spool %q: not of attempt %s", spool, m.AttemptID)
	}
	if m.ControlGroup.Prefix != "touchstone-"+m.AttemptID+"-" || m.Disposition == (File{}) {
		return fmt.Errorf("control groups %q: not of attempt %s", m.ControlGroup.Prefix, m.AttemptID)
	}
	return nil
}
