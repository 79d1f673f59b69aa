package exhibit

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchstone/conformance/evidence"
	"touchstone/reports/transcript"
)

// transcribed is a recorded attempt with a transcript of what it holds, the
// report's bytes as given.
func transcribed(t *testing.T, report []byte) string {
	t.Helper()
	dir := recorded(t)
	a, err := evidence.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	start, _ := evidence.First[evidence.Start](a)
	var file bytes.Buffer
	w, err := transcript.NewWriter(&file, time.Unix(0, start.Body.Wall-start.Mono))
	if err != nil {
		t.Fatal(err)
	}
	packet := transcript.Frame{Channel: transcript.Terminal}
	err = errors.Join(w.Write(zero+10, transcript.Frame{Channel: transcript.Report}, report), w.Write(zero+30, packet, []byte("{}\n")),
		w.Write(zero+40, transcript.Frame{Channel: transcript.Report, Flags: transcript.FlagEnd, Offset: 1000}, nil), w.Close(),
		os.WriteFile(filepath.Join(dir, evidence.TranscriptFile), file.Bytes(), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestTimeLineHasTrafficAndEvents: in order, bytes beside what was done.
func TestTimeLineHasTrafficAndEvents(t *testing.T) {
	shown, err := LoadTranscript(transcribed(t, bytes.Repeat([]byte("ab"), 500)))
	if err != nil || len(shown.Problems) > 0 {
		t.Fatalf("%v, %q", err, shown.Problems)
	}
	var said []string
	for _, l := range shown.Lines() {
		said = append(said, strings.TrimSpace(fmt.Sprintf("%s %d %s", l.Channel, l.Bytes, l.Event)))
	}
	want := "0 started, pid 7: x; R 1000 bytes 0 to 1000; 0 kill producer at bytes report 7: done; " +
		"M 3 packet 0: complete=false exit_class= exit_status=0; R 0 end; 0 producer 9 exited with 0; 0 supervisor killed by signal 9; 0 left behind: process 8"
	got := strings.Join(said, "; ")
	for _, part := range strings.Split(want, "; ") {
		if !strings.Contains(got, part) {
			t.Errorf("no %q in %q", part, got)
		}
	}
	if len(said) != 8 || string(shown.Bytes(transcript.Terminal)) != "{}\n" {
		t.Errorf("%d lines: %q", len(said), got)
	}
}

func TestTranscriptOfOtherBytesIsTold(t *testing.T) {
	shown, err := LoadTranscript(transcribed(t, []byte("other")))
	if err != nil || len(shown.Problems) != 1 || shown.Problems[0] != "the transcript of report is not what the evidence holds" {
		t.Errorf("%q, %v", shown.Problems, err)
	}
	if _, err := LoadTranscript(recorded(t)); err == nil {
		t.Error("an attempt without a transcript is shown")
	}
}

func TestChannelsByLetterAndName(t *testing.T) {
	for word, want := range map[string]transcript.Channel{"R": transcript.Report, "D": transcript.Diagnostic, "M": transcript.Terminal,
		"N": transcript.Sink, "C": transcript.Candidate, "stdout": transcript.Stdout, "terminal": transcript.Terminal} {
		if got, known := ChannelOf(word); !known || got != want {
			t.Errorf("%s: %v, %t", word, got, known)
		}
	}
	if _, known := ChannelOf("Q"); known {
		t.Error("Q is a channel")
	}
}
