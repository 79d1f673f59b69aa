package transcript

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

// LayerTypeRecord is the layer of a terminal packet.
var LayerTypeRecord = gopacket.RegisterLayerType(1981, gopacket.LayerTypeMetadata{
	Name: "TouchstoneTerminalRecord", Decoder: gopacket.DecodeFunc(decodeRecord)})

// Record is a terminal packet's head, for display. It judges nothing: members
// that are absent are zero here.
type Record struct {
	layers.BaseLayer `json:"-"`
	Schema           string   `json:"schema"`
	Version          int      `json:"version"`
	Contract         string   `json:"contract"`
	AttemptID        string   `json:"attempt_id"`
	Invocation       string   `json:"invocation"`
	Complete         bool     `json:"complete"`
	ExitClass        string   `json:"exit_class"`
	ExitStatus       int      `json:"exit_status"`
	Failure          *Failure `json:"failure"`
}

// Failure is the failure member of a Record.
type Failure struct {
	Code      string `json:"code"`
	Authority string `json:"authority"`
}

// LayerType is LayerTypeRecord.
func (r *Record) LayerType() gopacket.LayerType { return LayerTypeRecord }

// Payload is the whole packet.
func (r *Record) Payload() []byte { return r.Contents }

// DecodeFromBytes reads a packet. It fails on what is not one JSON object with
// members of these types.
func (r *Record) DecodeFromBytes(data []byte, _ gopacket.DecodeFeedback) error {
	if err := json.Unmarshal(data, r); err != nil {
		return fmt.Errorf("decode terminal record: %w", err)
	}
	r.BaseLayer = layers.BaseLayer{Contents: data}
	return nil
}

func decodeRecord(data []byte, p gopacket.PacketBuilder) error {
	r := &Record{}
	if err := r.DecodeFromBytes(data, p); err != nil {
		return err
	}
	p.AddLayer(r)
	p.SetApplicationLayer(r)
	return nil
}
