package transcript

import (
	"encoding/binary"
	"fmt"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

// Channel is the channel of a frame.
type Channel uint8

// The channels, which are also the interfaces of the file in this order.
const (
	Report Channel = iota + 1
	Diagnostic
	Terminal
	Stdout
	Stderr
	Candidate
	Sink
)

const lastChannel = Sink

var channelNames = []string{"report", "diagnostic", "terminal", "stdout", "stderr", "candidate", "sink"}

func (c Channel) String() string {
	if c < Report || c > lastChannel {
		return fmt.Sprintf("channel %d", uint8(c))
	}
	return channelNames[c-1]
}

// ChannelNamed is the channel of a name.
func ChannelNamed(name string) (Channel, bool) {
	for i, n := range channelNames {
		if n == name {
			return Channel(i + 1), true
		}
	}
	return 0, false
}

// The flags of a frame.
const (
	FlagEnd       uint16 = 1 << iota // the channel has ended
	FlagTruncated                    // the message was longer than what was read
)

const (
	headerBytes   = 16
	headerVersion = 1
	linkType      = layers.LinkType(147) // USER0
)

// LayerTypeFrame is the layer of our header.
var LayerTypeFrame = gopacket.RegisterLayerType(1980, gopacket.LayerTypeMetadata{
	Name: "TouchstoneFrame", Decoder: gopacket.DecodeFunc(decodeFrame)})

func init() {
	layers.LinkTypeMetadata[linkType] = layers.EnumMetadata{
		DecodeWith: gopacket.DecodeFunc(decodeFrame), Name: "Touchstone", LayerType: LayerTypeFrame}
}

// Frame is our header with the bytes read behind it.
type Frame struct {
	layers.BaseLayer
	Channel Channel
	Flags   uint16
	Offset  uint64
}

// LayerType is LayerTypeFrame.
func (f *Frame) LayerType() gopacket.LayerType { return LayerTypeFrame }

// header is the frame's first 16 bytes.
func (f *Frame) header() []byte {
	h := make([]byte, headerBytes)
	copy(h, "TS")
	h[2], h[3] = headerVersion, byte(f.Channel)
	binary.BigEndian.PutUint16(h[4:], f.Flags)
	binary.BigEndian.PutUint64(h[8:], f.Offset)
	return h
}

// DecodeFromBytes reads a frame. It fails on a short or foreign header.
func (f *Frame) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if len(data) < headerBytes {
		df.SetTruncated()
		return fmt.Errorf("decode frame: %d bytes, want a header of %d", len(data), headerBytes)
	}
	if string(data[:2]) != "TS" || data[2] != headerVersion {
		return fmt.Errorf("decode frame: header % x is not ours", data[:3])
	}
	f.BaseLayer = layers.BaseLayer{Contents: data[:headerBytes], Payload: data[headerBytes:]}
	f.Channel = Channel(data[3])
	f.Flags = binary.BigEndian.Uint16(data[4:])
	f.Offset = binary.BigEndian.Uint64(data[8:])
	return nil
}

func decodeFrame(data []byte, p gopacket.PacketBuilder) error {
	f := &Frame{}
	if err := f.DecodeFromBytes(data, p); err != nil {
		return err
	}
	p.AddLayer(f)
	switch {
	case f.Flags&FlagEnd != 0:
		return nil
	case f.Channel == Terminal:
		return p.NextDecoder(LayerTypeRecord)
	}
	return p.NextDecoder(gopacket.LayerTypePayload)
}
