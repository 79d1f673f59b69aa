package transcript

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/pcapgo"
)

type sent struct {
	mono    int64
	frame   Frame
	payload string
}

var zero = time.Unix(1_700_000_000, 5)

func write(t *testing.T, w io.Writer, frames []sent) {
	t.Helper()
	out, err := NewWriter(w, zero)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range frames {
		if err := out.Write(s.mono, s.frame, []byte(s.payload)); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// read decodes every frame by the file's own link type.
func read(t *testing.T, r io.Reader) (packets []gopacket.Packet, names []string) {
	t.Helper()
	in, err := pcapgo.NewNgReader(r, pcapgo.NgReaderOptions{WantMixedLinkType: true})
	if err != nil {
		t.Fatal(err)
	}
	for {
		data, info, err := in.ReadPacketData()
		if errors.Is(err, io.EOF) {
			return packets, names
		}
		if err != nil {
			t.Fatal(err)
		}
		from, err := in.Interface(info.InterfaceIndex)
		if err != nil {
			t.Fatal(err)
		}
		p := gopacket.NewPacket(data, from.LinkType, gopacket.Default)
		p.Metadata().CaptureInfo = info
		packets, names = append(packets, p), append(names, from.Name)
	}
}

func TestFramesComeBackAsWritten(t *testing.T) {
	frames := []sent{
		{1, Frame{Channel: Diagnostic}, "a\x00b"},
		{2, Frame{Channel: Report, Offset: 1 << 40}, "{}\n"},
		{2, Frame{Channel: Report, Flags: FlagEnd, Offset: 1<<40 + 3}, ""},
		{5_000_000_007, Frame{Channel: Candidate, Flags: FlagTruncated}, string(make([]byte, 70000))},
	}
	var file bytes.Buffer
	write(t, &file, frames)
	packets, names := read(t, &file)
	if len(packets) != len(frames) {
		t.Fatalf("got %d frames, want %d", len(packets), len(frames))
	}
	last := int64(0)
	for i, want := range frames {
		got, ok := packets[i].Layer(LayerTypeFrame).(*Frame)
		if !ok {
			t.Fatalf("frame %d: no frame layer in %v", i, packets[i])
		}
		if got.Channel != want.frame.Channel || got.Flags != want.frame.Flags || got.Offset != want.frame.Offset ||
			string(got.LayerPayload()) != want.payload {
			t.Errorf("frame %d: got %v %d %d, %d bytes", i, got.Channel, got.Flags, got.Offset, len(got.LayerPayload()))
		}
		if names[i] != want.frame.Channel.String() {
			t.Errorf("frame %d: interface %q, want %q", i, names[i], want.frame.Channel)
		}
		last = max(want.mono, last+1)
		if at := packets[i].Metadata().Timestamp; !at.Equal(zero.Add(time.Duration(last))) {
			t.Errorf("frame %d: at %v, want %v ns after %v", i, at, last, zero)
		}
		if packets[i].ErrorLayer() != nil {
			t.Errorf("frame %d: %v", i, packets[i].ErrorLayer().Error())
		}
	}
}

func TestTerminalPacketsAreDecoded(t *testing.T) {
	good := `{"schema":"pf-run-terminal","version":1,"attempt_id":"00","complete":false,"exit_class":"resource_refusal",` +
		`"exit_status":1,"failure":{"code":"report_budget_exceeded","args":{},"authority":"supervisor"}}` + "\n"
	var file bytes.Buffer
	write(t, &file, []sent{
		{1, Frame{Channel: Terminal}, good},
		{2, Frame{Channel: Terminal, Offset: 1}, "not json"},
		{3, Frame{Channel: Terminal, Offset: 2}, ""},
		{4, Frame{Channel: Terminal, Flags: FlagEnd}, ""},
	})
	packets, _ := read(t, &file)
	record, ok := packets[0].ApplicationLayer().(*Record)
	if !ok {
		t.Fatalf("no record in %v", packets[0])
	}
	if record.Schema != "pf-run-terminal" || record.ExitClass != "resource_refusal" || record.ExitStatus != 1 ||
		record.Failure == nil || record.Failure.Code != "report_budget_exceeded" || string(record.Payload()) != good {
		t.Errorf("got %+v", record)
	}
	for i, broken := range []bool{false, true, false, false} { // gopacket asks no decoder about zero bytes
		if got := packets[i].ErrorLayer() != nil; got != broken {
			t.Errorf("packet %d: decode failed %v, want %v", i, got, broken)
		}
		if i > 0 && packets[i].ApplicationLayer() != nil {
			t.Errorf("packet %d: a record was made of it", i)
		}
	}
}

func TestNothingReachesTheFileBeforeClose(t *testing.T) {
	var file bytes.Buffer
	out, err := NewWriter(&file, zero)
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Write(1, Frame{Channel: Report}, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if file.Len() != 0 {
		t.Errorf("%d bytes were written early: say so in the package comment", file.Len())
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if packets, _ := read(t, &file); len(packets) != 1 {
		t.Errorf("got %d frames after Close, want 1", len(packets))
	}
}

func TestForeignFramesAreRefused(t *testing.T) {
	for _, data := range []string{"", "TS", "XX\x01\x01" + string(make([]byte, 12)), "TS\x02\x01" + string(make([]byte, 12))} {
		if p := gopacket.NewPacket([]byte(data), LayerTypeFrame, gopacket.Default); p.ErrorLayer() == nil {
			t.Errorf("%q was decoded: %v", data, p)
		}
	}
	out, err := NewWriter(io.Discard, zero)
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Write(1, Frame{Channel: 9}, nil); err == nil {
		t.Error("an unknown channel was written")
	}
}

func TestChannelNames(t *testing.T) {
	for c := Report; c <= lastChannel; c++ {
		if got, known := ChannelNamed(c.String()); !known || got != c {
			t.Errorf("%s: got %v %v", c, got, known)
		}
	}
	if _, known := ChannelNamed("phase"); known {
		t.Error("phase is no channel here")
	}
}

func FuzzFrame(f *testing.F) {
	f.Add([]byte("TS\x01\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p := gopacket.NewPacket(data, LayerTypeFrame, gopacket.Default)
		frame, ok := p.Layer(LayerTypeFrame).(*Frame)
		if ok && frame.Channel >= Report && frame.Channel <= lastChannel {
			again := append(frame.header(), frame.LayerPayload()...)
			again[6], again[7] = data[6], data[7] // not ours to keep
			if !bytes.Equal(again, data) {
				t.Errorf("got % x, want % x", again, data)
			}
		}
	})
}

// TestReadGivesWhatWasWritten: every frame at its time, up to a cut.
func TestReadGivesWhatWasWritten(t *testing.T) {
	var file bytes.Buffer
	out, err := NewWriter(&file, zero)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []Channel{Report, Terminal, Sink} {
		if err := out.Write(int64(1000*i), Frame{Channel: c, Offset: 7}, []byte("abc")[:i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	all, err := Read(bytes.NewReader(file.Bytes()))
	if err != nil || len(all) != 3 || all[2].Channel != Sink || string(all[2].LayerPayload()) != "abc" || all[2].Offset != 7 || all[2].Time.Sub(zero) != 2000 {
		t.Errorf("got %+v, %v", all, err)
	}
	if all, err := Read(bytes.NewReader(file.Bytes()[:file.Len()-5])); len(all) != 2 {
		t.Errorf("a cut file: %d frames, %v", len(all), err)
	}
	// Of an interface whose ticks are too short to count in 64 bits.
	ticks := []byte{9, 0, 1, 0, 9}
	damaged := bytes.Replace(file.Bytes(), ticks, []byte{9, 0, 1, 0, 64}, 1)
	if _, err := Read(bytes.NewReader(damaged)); err == nil || !strings.Contains(err.Error(), "frame 0: damaged") {
		t.Errorf("a damaged file: %v", err)
	}
	if _, err := Read(bytes.NewReader(nil)); err == nil {
		t.Error("an empty file is a transcript")
	}
}

func FuzzRead(f *testing.F) {
	var file bytes.Buffer
	out, err := NewWriter(&file, zero)
	if err == nil {
		err = errors.Join(out.Write(1, Frame{Channel: Report}, []byte("x")), out.Close())
	}
	if err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) { _, _ = Read(bytes.NewReader(data)) })
}
