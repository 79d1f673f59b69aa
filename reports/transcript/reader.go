package transcript

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/pcapgo"
)

// Entry is a frame with its time. The bytes read are its LayerPayload.
type Entry struct {
	Time time.Time
	Frame
}

// Read reads a transcript from its beginning to its end. A file that is cut
// ends before the cut, as for every packet tool; what is no transcript is an
// error beside what was read before.
func Read(r io.Reader) (all []Entry, err error) {
	defer func() {
		if damage := recover(); damage != nil { // pcapgo's way with some damaged blocks
			err = fmt.Errorf("read transcript: frame %d: damaged: %v", len(all), damage)
		}
	}()
	in, err := pcapgo.NewNgReader(r, pcapgo.NgReaderOptions{WantMixedLinkType: true})
	if err != nil {
		return nil, fmt.Errorf("read transcript: %w", err)
	}
	for {
		data, info, err := in.ReadPacketData()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		e := Entry{Time: info.Timestamp}
		if err == nil {
			err = e.DecodeFromBytes(data, gopacket.NilDecodeFeedback)
		}
		if err != nil {
			return all, fmt.Errorf("read transcript: frame %d: %w", len(all), err)
		}
		all = append(all, e)
	}
}
