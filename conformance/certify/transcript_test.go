package certify

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/pcapgo"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
	"touchstone/reports/transcript"
)

// TestTranscriptIsTheRecord: every byte, end and packet in order, at its own
// time; written twice it is the same file.
func TestTranscriptIsTheRecord(t *testing.T) {
	fake := fakeAttempts{t, t.TempDir()}
	a, err := fake.Run(scenario.Scenario{Version: 1, Kind: scenario.Launch, Script: "T06-x", Test: "T6",
		Cell: scenario.Cell{Facade: "direct", Profile: "jailed"}, Fixture: scenario.Fixture{Name: "plain"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeTranscript(a); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(a.Dir, evidence.TranscriptFile))
	if err != nil {
		t.Fatal(err)
	}
	again, err := renderTranscript(a)
	if err != nil || !bytes.Equal(text, again) {
		t.Errorf("written otherwise the second time, %v", err)
	}
	in, err := pcapgo.NewNgReader(bytes.NewReader(text), pcapgo.NgReaderOptions{WantMixedLinkType: true})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		data, _, err := in.ReadPacketData()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		frame, ok := gopacket.NewPacket(data, transcript.LayerTypeFrame, gopacket.Default).Layer(transcript.LayerTypeFrame).(*transcript.Frame)
		if !ok {
			t.Fatalf("no frame in % x", data)
		}
		got = append(got, frame.Channel.String()+" "+string(frame.LayerPayload()))
	}
	if len(got) != 1 || got[0] != "report {\"engine\":\"x\"}\n" {
		t.Errorf("got %q", got)
	}
}
