package certify

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"touchstone/conformance/evidence"
	"touchstone/reports/transcript"
)

// writeTranscript adds the transcript to an attempt's folder. It is the record
// seen another way: nothing judges by it.
func writeTranscript(a *evidence.Attempt) error {
	text, err := renderTranscript(a)
	if err == nil {
		err = os.WriteFile(filepath.Join(a.Dir, evidence.TranscriptFile), text, 0o644)
	}
	if err != nil {
		return fmt.Errorf("transcribe %s: %w", a.Dir, err)
	}
	return nil
}

// renderTranscript is a pure function of the record.
func renderTranscript(a *evidence.Attempt) ([]byte, error) {
	// Of a process that was never started nothing was read.
	start, _ := evidence.First[evidence.Start](a)
	var file bytes.Buffer
	w, err := transcript.NewWriter(&file, time.Unix(0, start.Body.Wall-start.Mono))
	if err != nil {
		return nil, err
	}
	frames := framing{attempt: a, size: map[string]int64{}}
	for _, e := range a.Events {
		channel, frame, payload := frames.of(e)
		named, known := transcript.ChannelNamed(channel)
		if !known {
			continue // no bytes, or a channel of a later version
		}
		frame.Channel = named
		if err := w.Write(e.Mono, frame, payload); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return file.Bytes(), nil
}

// framing makes frames of events, in their order.
type framing struct {
	attempt *evidence.Attempt
	size    map[string]int64 // of a channel, so far
	packets int
}

// of is an event's frame; no channel: it has none.
func (f *framing) of(e evidence.Event) (channel string, frame transcript.Frame, payload []byte) {
	switch b := e.Body.(type) {
	case evidence.Bytes:
		f.size[b.Channel] += int64(b.Size)
		return b.Channel, transcript.Frame{Offset: uint64(b.Offset)}, within(f.attempt.File(b.Channel+".bin"), b.Offset, b.Size)
	case evidence.EOF:
		return b.Channel, transcript.Frame{Flags: transcript.FlagEnd, Offset: uint64(f.size[b.Channel])}, nil
	case evidence.Packet:
		f.packets++
		frame.Offset = uint64(b.Index)
		if len(b.Flags) > 0 {
			frame.Flags = transcript.FlagTruncated
		}
		return "terminal", frame, f.attempt.File(b.File)
	case evidence.TerminalEOF:
		return "terminal", transcript.Frame{Flags: transcript.FlagEnd, Offset: uint64(f.packets)}, nil
	}
	return "", frame, nil
}

// within is a part of a file, whatever of it is there.
func within(text []byte, offset int64, size int) []byte {
	from := min(offset, int64(len(text)))
	return text[from:min(from+int64(size), int64(len(text)))]
}
