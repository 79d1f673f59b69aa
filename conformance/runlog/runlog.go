// Package runlog is the event stream of a run: events.jsonl of a run folder,
// and what `touchstone certify --events -` prints while it runs.
//
// An event is one line: {"seq":n,"ts_mono":ns,"kind":K,…}. seq counts from 0
// without gaps; ts_mono, nanoseconds of CLOCK_MONOTONIC, never falls and is
// the ordering authority. The last event, end, carries the digest of every
// line before it. Within version 1 kinds and members are only added: a reader
// keeps kinds that it does not know and skips such members.
package runlog

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"touchstone/conformance/evidence"
)

// The kinds that this version writes.
const (
	RunBegin     = "run_begin"
	ScriptBegin  = "script_begin"
	AttemptBegin = "attempt_begin"
	AttemptEnd   = "attempt_end"
	Finding      = "finding" // that is no pass
	Leak         = "leak"
	ScriptEnd    = "script_end"
	RunEnd       = "run_end"
	End          = "end"
)

// Writer writes events to a file and to a stream that may be nil. Its methods
// may be called concurrently. An error sticks: Close returns the first one.
type Writer struct {
	mu     sync.Mutex
	out    io.Writer
	digest hash.Hash
	seq    uint64
	mono   int64
	err    error
}

// NewWriter starts a stream with version and the members of the run.
func NewWriter(file io.Writer, stream io.Writer, run map[string]any) *Writer {
	w := &Writer{out: file, digest: sha256.New()}
	if stream != nil {
		w.out = io.MultiWriter(file, stream)
	}
	run["version"] = 1
	w.Event(RunBegin, run)
	return w
}

// Event writes one event, stamped now. Members must not be called seq, ts_mono
// or kind.
func (w *Writer) Event(kind string, members map[string]any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.event(evidence.Monotonic(), kind, members)
}

func (w *Writer) event(mono int64, kind string, members map[string]any) {
	if w.err != nil {
		return
	}
	w.mono = mono
	line, err := encode(w.seq, mono, kind, members)
	if err == nil {
		_, err = w.out.Write(line)
	}
	if err != nil {
		w.err = fmt.Errorf("write run event: %w", err)
		return
	}
	w.digest.Write(line)
	w.seq++
}

// encode puts the head first, then the members by name.
func encode(seq uint64, mono int64, kind string, members map[string]any) ([]byte, error) {
	head, err := json.Marshal(struct {
		Seq  uint64 `json:"seq"`
		Mono int64  `json:"ts_mono"`
		Kind string `json:"kind"`
	}{seq, mono, kind})
	body, bodyErr := json.Marshal(members, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err := errors.Join(err, bodyErr); err != nil {
		return nil, err
	}
	line := head[:len(head)-1]
	if len(members) > 0 {
		line = append(append(line, ','), body[1:len(body)-1]...)
	}
	return append(line, '}', '\n'), nil
}

// Close writes the end, at the time of the event before it, so that no byte of
// it is free. The stream stays open: it is its owner's.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.event(w.mono, End, map[string]any{"sha256": hex.EncodeToString(w.digest.Sum(nil))})
	return w.err
}

// Event is one line as it was read. Line is all of it, without LF.
type Event struct {
	Seq  uint64
	Mono int64
	Kind string
	Line jsontext.Value
}

// Reader reads a stream, which may still be growing.
type Reader struct {
	in     *bufio.Reader
	digest hash.Hash
	next   uint64
	mono   int64
	ended  bool
}

// NewReader reads from the beginning of a stream.
func NewReader(r io.Reader) *Reader { return &Reader{in: bufio.NewReader(r), digest: sha256.New()} }

// Next is the next event. It returns io.EOF after the end, and only then;
// io.ErrUnexpectedEOF where the stream stops before; another error on a gap, a
// falling stamp, a line that is no event, or an end with another digest.
func (r *Reader) Next() (Event, error) {
	line, err := r.in.ReadBytes('\n')
	switch {
	case errors.Is(err, io.EOF) && len(line) == 0 && r.ended:
		return Event{}, io.EOF
	case errors.Is(err, io.EOF):
		return Event{}, io.ErrUnexpectedEOF
	case err != nil:
		return Event{}, fmt.Errorf("read run events: %w", err)
	}
	e, err := r.accept(line)
	if err != nil {
		return Event{}, fmt.Errorf("run event %d: %w", r.next, err)
	}
	r.next, r.mono, r.ended = r.next+1, e.Mono, e.Kind == End
	r.digest.Write(line)
	return e, nil
}

func (r *Reader) accept(line []byte) (Event, error) {
	var head struct {
		Seq    *uint64 `json:"seq"`
		Mono   *int64  `json:"ts_mono"`
		Kind   *string `json:"kind"`
		SHA256 string  `json:"sha256"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return Event{}, err
	}
	switch {
	case head.Seq == nil || head.Mono == nil || head.Kind == nil:
		return Event{}, errors.New("seq, ts_mono or kind is missing")
	case r.ended:
		return Event{}, errors.New("an event follows the end")
	case *head.Seq != r.next:
		return Event{}, fmt.Errorf("seq: got %d, want %d", *head.Seq, r.next)
	case *head.Mono < r.mono:
		return Event{}, fmt.Errorf("ts_mono: %d after %d", *head.Mono, r.mono)
	case r.next == 0 && *head.Kind != RunBegin:
		return Event{}, fmt.Errorf("the first event is %s, want %s", *head.Kind, RunBegin)
	case *head.Kind == End && *head.Mono != r.mono:
		return Event{}, errors.New("the end is not at the time of the event before it")
	case *head.Kind == End && head.SHA256 != hex.EncodeToString(r.digest.Sum(nil)):
		return Event{}, errors.New("the lines are not those whose digest the end carries")
	}
	return Event{Seq: *head.Seq, Mono: *head.Mono, Kind: *head.Kind, Line: line[:len(line)-1]}, nil
}
