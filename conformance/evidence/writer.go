package evidence

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// Writer writes one attempt's events and channel files into its folder. Its
// methods may be called concurrently; the order of the calls is the order of
// the events. An error sticks: Close returns the first one.
type Writer struct {
	mu     sync.Mutex
	dir    string
	events *os.File
	digest hash.Hash
	seq    uint64
	mono   int64
	files  map[string]*channelFile
	others []string
	err    error
}

// channelFile is an open file whose digest is kept as it grows.
type channelFile struct {
	*os.File
	digest hash.Hash
	size   int64
}

// NewWriter starts the record of an attempt in an existing folder. It refuses
// a folder that already holds events.
func NewWriter(dir string) (*Writer, error) {
	f, err := os.OpenFile(filepath.Join(dir, EventsFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("start evidence: %w", err)
	}
	return &Writer{dir: dir, events: f, digest: sha256.New(), files: map[string]*channelFile{}}, nil
}

// Monotonic is the time that events are stamped with, in nanoseconds of
// CLOCK_MONOTONIC.
func Monotonic() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic("bug: no monotonic clock: " + err.Error())
	}
	return t.Nano()
}

// Event appends an event stamped now.
func (w *Writer) Event(b Body) error { return w.EventAt(Monotonic(), b) }

// EventAt appends an event that was seen at an earlier stamp. A stamp before
// that of the event written last is raised to it: order is never lost.
func (w *Writer) EventAt(mono int64, b Body) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.event(mono, b)
}

func (w *Writer) event(mono int64, b Body) error {
	if w.err != nil {
		return w.err
	}
	w.mono = max(w.mono, mono)
	text, err := encodeEvent(Event{Seq: w.seq, Mono: w.mono, Body: b})
	if err != nil {
		return w.fail(err)
	}
	if _, err := w.events.Write(text); err != nil {
		return w.fail(fmt.Errorf("write event: %w", err))
	}
	w.digest.Write(text)
	w.seq++
	return nil
}

func (w *Writer) fail(err error) error {
	w.err = err
	return err
}

// Open creates a channel's file, so that an empty channel has one too.
func (w *Writer) Open(name string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.open(name)
	return err
}

func (w *Writer) open(name string) (*channelFile, error) {
	if f, open := w.files[name]; open {
		return f, nil
	}
	f, err := os.OpenFile(filepath.Join(w.dir, name), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, w.fail(fmt.Errorf("create evidence: %w", err))
	}
	w.files[name] = &channelFile{File: f, digest: sha256.New()}
	return w.files[name], nil
}

// Append adds bytes read from a channel to its file, then the bytes event.
func (w *Writer) Append(mono int64, channel, file string, p []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	f, err := w.open(file)
	if err != nil {
		return err
	}
	offset := f.size
	if err := w.put(f, p); err != nil {
		return err
	}
	return w.event(mono, Bytes{Channel: channel, Offset: offset, Size: len(p)})
}

// Packet writes a terminal packet's file, then its event. Size and File are
// filled in here.
func (w *Writer) Packet(mono int64, p Packet, message []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	p.File, p.Size = PacketFile(p.Index), len(message)
	f, err := w.open(p.File)
	if err != nil {
		return err
	}
	if err := w.put(f, message); err != nil {
		return err
	}
	return w.event(mono, p)
}

func (w *Writer) put(f *channelFile, p []byte) error {
	if _, err := f.Write(p); err != nil {
		return w.fail(fmt.Errorf("write evidence %s: %w", f.Name(), err))
	}
	f.digest.Write(p)
	f.size += int64(len(p))
	return nil
}

// Include names a finished file that another hand wrote into the folder; its
// digest is taken at Close.
func (w *Writer) Include(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.others = append(w.others, name)
}

// Close writes the digests and the end and closes every file. It returns the
// first error of the whole record; then the record has no end and Load
// refuses it.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	hashes, err := w.hashes()
	if err == nil && w.err == nil {
		_ = w.event(Monotonic(), Hashes{Files: hashes}) // kept in w.err
		_ = w.event(w.mono, End{SHA256: hex.EncodeToString(w.digest.Sum(nil))})
	}
	return errors.Join(w.err, err, w.events.Close())
}

func (w *Writer) hashes() (map[string]string, error) {
	sums := map[string]string{}
	var errs []error
	for name, f := range w.files {
		sums[name] = hex.EncodeToString(f.digest.Sum(nil))
		errs = append(errs, f.Close())
	}
	for _, name := range w.others {
		sum, _, err := hashFile(filepath.Join(w.dir, name), false)
		errs = append(errs, err)
		sums[name] = sum
	}
	return sums, errors.Join(errs...)
}

// hashFile is a file's digest, and its bytes if they are to be kept.
func hashFile(path string, keep bool) (sum string, text []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	digest := sha256.New()
	if keep {
		if text, err = io.ReadAll(f); err != nil {
			return "", nil, fmt.Errorf("read %s: %w", path, err)
		}
		digest.Write(text)
	} else if _, err = io.Copy(digest, f); err != nil {
		return "", nil, fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(digest.Sum(nil)), text, nil
}
