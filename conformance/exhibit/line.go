package exhibit

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/gopacket"

	"touchstone/conformance/evidence"
	"touchstone/reports/transcript"
)

// Line is one line of the time line of an attempt.
type Line struct {
	AtMS      float64 `json:"at_ms"`     // from the start of its process
	Channel   string  `json:"channel"`   // letter or name; "" for what is no traffic
	Direction string  `json:"direction"` // "" for what is no traffic
	Bytes     int     `json:"bytes"`
	Event     string  `json:"event"`
}

// letters are the contract's for the host's endpoints.
var letters = map[string]string{"R": "report", "D": "diagnostic", "M": "terminal", "N": "sink", "C": "candidate"}

// ChannelOf is the channel of a contract's letter, or of a name.
func ChannelOf(word string) (transcript.Channel, bool) {
	if name, known := letters[word]; known {
		word = name
	}
	return transcript.ChannelNamed(word)
}

// letter is the contract's for a channel, or its name.
func letter(c transcript.Channel) string {
	for letter, name := range letters {
		if name == c.String() {
			return letter
		}
	}
	return c.String()
}

// Transcript is an attempt with its transcript.
type Transcript struct {
	attempt *evidence.Attempt
	entries []transcript.Entry
	// Problems say where the transcript is not what the evidence holds.
	Problems []string
}

// LoadTranscript reads the evidence and the transcript of the attempt in dir.
func LoadTranscript(dir string) (t Transcript, err error) {
	if t.attempt, err = evidence.Load(dir); err != nil {
		return t, err
	}
	content, err := os.ReadFile(filepath.Join(dir, evidence.TranscriptFile))
	if err != nil {
		return t, err
	}
	if t.entries, err = transcript.Read(bytes.NewReader(content)); err != nil {
		return t, err
	}
	for _, name := range t.attempt.Tampered {
		t.Problems = append(t.Problems, "evidence altered: "+name)
	}
	for c := transcript.Report; c <= transcript.Sink; c++ {
		if !bytes.Equal(t.Bytes(c), t.recorded(c)) {
			t.Problems = append(t.Problems, fmt.Sprintf("the transcript of %s is not what the evidence holds", c))
		}
	}
	return t, nil
}

// recorded is what the evidence holds of a channel.
func (t Transcript) recorded(c transcript.Channel) []byte {
	if c != transcript.Terminal {
		return t.attempt.File(evidence.ChannelFile(c.String()))
	}
	var all []byte
	for _, p := range t.attempt.Packets() {
		all = append(all, p.Bytes...)
	}
	return all
}

// Bytes are all bytes of a channel, in order.
func (t Transcript) Bytes(c transcript.Channel) []byte {
	var all []byte
	for _, e := range t.entries {
		if e.Channel == c {
			all = append(all, e.LayerPayload()...)
		}
	}
	return all
}

// Lines are everything that happened, in order of time.
func (t Transcript) Lines() []Line {
	start, started := evidence.First[evidence.Start](t.attempt)
	if !started {
		return nil
	}
	all := []Line{{Event: fmt.Sprintf("started, pid %d: %s", start.Body.PID, strings.Join(t.attempt.Launch.Argv, " "))}}
	for _, m := range moments(t.attempt, start.Mono) {
		all = append(all, Line{AtMS: milliseconds(time.Duration(m.At)), Event: m.Text})
	}
	packets := 0
	for _, e := range t.entries {
		l := Line{AtMS: milliseconds(e.Time.Sub(time.Unix(0, start.Body.Wall))), Channel: letter(e.Channel), Direction: t.direction(), Bytes: len(e.LayerPayload())}
		switch {
		case e.Flags&transcript.FlagEnd != 0:
			l.Event = "end"
		case e.Channel == transcript.Terminal:
			l.Event = fmt.Sprintf("packet %d: %s", packets, recordText(e.LayerPayload()))
			packets++
		default:
			l.Event = fmt.Sprintf("bytes %d to %d", e.Offset, e.Offset+uint64(l.Bytes))
		}
		if e.Flags&transcript.FlagTruncated != 0 {
			l.Event += ", cut"
		}
		all = append(all, l)
	}
	slices.SortStableFunc(all[1:], func(a, b Line) int { return cmp.Compare(a.AtMS, b.AtMS) })
	return all
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// direction is who wrote what a frame holds, and who read it.
func (t Transcript) direction() string {
	if exit, found := t.attempt.Exit(); found && exit.Body.Who != "process" {
		return "S -> host"
	}
	return "process -> suite"
}

// recordText is a terminal packet in a few words.
func recordText(packet []byte) string {
	var r transcript.Record
	if err := r.DecodeFromBytes(packet, gopacket.NilDecodeFeedback); err != nil {
		return "no record"
	}
	text := fmt.Sprintf("complete=%t exit_class=%s exit_status=%d", r.Complete, r.ExitClass, r.ExitStatus)
	if r.Failure != nil {
		text += fmt.Sprintf(" failure=%s by %s", r.Failure.Code, r.Failure.Authority)
	}
	return text
}
