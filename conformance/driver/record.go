package driver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"touchstone/conformance/evidence"
	"touchstone/reports/transcript"
)

// record writes the evidence and the transcript of an attempt side by side.
// Its first error sticks and comes out of close.
type record struct {
	evidence   *evidence.Writer
	file       *os.File
	transcript *transcript.Writer
	err        error
}

func newRecord(dir string) (*record, error) {
	w, err := evidence.NewWriter(dir)
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(dir, evidence.TranscriptFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start transcript: %w", err), w.Close())
	}
	zero := time.Now().Add(-time.Duration(evidence.Monotonic()))
	t, err := transcript.NewWriter(file, zero)
	if err != nil {
		return nil, errors.Join(err, file.Close(), w.Close())
	}
	return &record{evidence: w, file: file, transcript: t}, nil
}

func (r *record) keep(err error) {
	if err != nil && r.err == nil {
		r.err = err
	}
}

func (r *record) event(b evidence.Body) { r.keep(r.evidence.Event(b)) }

func (r *record) eventAt(mono int64, b evidence.Body) { r.keep(r.evidence.EventAt(mono, b)) }

// fault records that the driver could not do its part.
func (r *record) fault(operation string, err error) {
	r.event(evidence.Fault{Operation: operation, Cause: err.Error()})
}

// bytes records what was read from a data channel, at offset.
func (r *record) bytes(mono int64, channel, file string, offset int64, p []byte) {
	r.keep(r.evidence.Append(mono, channel, file, p))
	r.frame(mono, channel, transcript.Frame{Offset: uint64(offset)}, p)
}

// ended records the end of a data channel. errno is "" for a plain end.
func (r *record) ended(mono int64, channel string, offset int64, errno string) {
	r.eventAt(mono, evidence.EOF{Channel: channel, Error: errno})
	r.frame(mono, channel, transcript.Frame{Flags: transcript.FlagEnd, Offset: uint64(offset)}, nil)
}

func (r *record) packet(mono int64, p evidence.Packet, message []byte) {
	r.keep(r.evidence.Packet(mono, p, message))
	frame := transcript.Frame{Offset: uint64(p.Index)}
	if len(p.Flags) > 0 {
		frame.Flags = transcript.FlagTruncated
	}
	r.frame(mono, "terminal", frame, message)
}

func (r *record) terminalEnded(mono int64, packets int, errno string) {
	r.eventAt(mono, evidence.TerminalEOF{Error: errno})
	r.frame(mono, "terminal", transcript.Frame{Flags: transcript.FlagEnd, Offset: uint64(packets)}, nil)
}

func (r *record) frame(mono int64, channel string, f transcript.Frame, payload []byte) {
	named, known := transcript.ChannelNamed(channel)
	if !known {
		panic("bug: no transcript channel " + channel)
	}
	f.Channel = named
	r.keep(r.transcript.Write(mono, f, payload))
}

// close ends the record; included are finished files of other hands.
func (r *record) close(included []string) error {
	r.keep(r.transcript.Close())
	r.keep(r.file.Close())
	for _, name := range append(included, evidence.TranscriptFile) {
		r.evidence.Include(name)
	}
	return errors.Join(r.err, r.evidence.Close())
}
