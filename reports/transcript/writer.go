package transcript

import (
	"fmt"
	"io"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/pcapgo"
)

// Writer writes frames. It is not safe for concurrent use.
type Writer struct {
	ng   *pcapgo.NgWriter
	zero time.Time
	last int64 // stamp of the last frame
}

// NewWriter starts a transcript on w. zero is the wall-clock time of monotonic
// stamp 0.
func NewWriter(w io.Writer, zero time.Time) (*Writer, error) {
	options := pcapgo.NgWriterOptions{SectionInfo: pcapgo.NgSectionInfo{Application: "touchstone"}}
	ng, err := pcapgo.NewNgWriterInterface(w, interfaceOf(Report), options)
	if err != nil {
		return nil, fmt.Errorf("start transcript: %w", err)
	}
	for c := Diagnostic; c <= lastChannel; c++ {
		if _, err := ng.AddInterface(interfaceOf(c)); err != nil {
			return nil, fmt.Errorf("start transcript: interface %s: %w", c, err)
		}
	}
	return &Writer{ng: ng, zero: zero}, nil
}

func interfaceOf(c Channel) pcapgo.NgInterface {
	return pcapgo.NgInterface{Name: c.String(), LinkType: linkType, TimestampResolution: 9}
}

// Write adds a frame with the bytes read at a monotonic stamp in nanoseconds,
// or one nanosecond after the frame before it: readers sort by time.
func (w *Writer) Write(mono int64, f Frame, payload []byte) error {
	if f.Channel < Report || f.Channel > lastChannel {
		return fmt.Errorf("write transcript: %s is unknown", f.Channel)
	}
	mono = max(mono, w.last+1)
	w.last = mono
	data := append(f.header(), payload...)
	info := gopacket.CaptureInfo{Timestamp: w.zero.Add(time.Duration(mono)), CaptureLength: len(data), Length: len(data),
		InterfaceIndex: int(f.Channel - Report)}
	if err := w.ng.WritePacket(info, data); err != nil {
		return fmt.Errorf("write transcript: %w", err)
	}
	return nil
}

// Close writes out what is buffered. The file below stays its owner's.
func (w *Writer) Close() error {
	if err := w.ng.Flush(); err != nil {
		return fmt.Errorf("close transcript: %w", err)
	}
	return nil
}
