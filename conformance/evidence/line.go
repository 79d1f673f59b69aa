package evidence

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
)

// line is the encoded form of an event: the head's members, then the body's.
type line[B Body] struct {
	Seq  uint64 `json:"seq"`
	Mono int64  `json:"ts_mono"`
	Kind string `json:"kind"`
	Body B      `json:",embed"`
}

// codec encodes and decodes the events of one kind.
type codec struct {
	encode func(Event) ([]byte, error)
	decode func([]byte) (Event, error)
}

var codecs = map[string]codec{
	"start":                          codecOf[Start](),
	"bytes":                          codecOf[Bytes](),
	"eof":                            codecOf[EOF](),
	"packet":                         codecOf[Packet](),
	"terminal_eof":                   codecOf[TerminalEOF](),
	"rendezvous":                     codecOf[Rendezvous](),
	"control":                        codecOf[Control](),
	"observe":                        codecOf[Observe](),
	"producers_at_first_report_byte": codecOf[Producers](),
	"exit":                           codecOf[Exit](),
	"producer_mounts":                codecOf[ProducerMounts](),
	"producer_exit":                  codecOf[ProducerExit](),
	"finalizer_exit":                 codecOf[FinalizerExit](),
	"producer_tracer":                codecOf[ProducerTracer](),
	"injection":                      codecOf[Injection](),
	"watchdog":                       codecOf[Watchdog](),
	"lateness":                       codecOf[Lateness](),
	"leftover":                       codecOf[Leftover](),
	"relayed":                        codecOf[Relayed](),
	"result":                         codecOf[Result](),
	"finalized":                      codecOf[Finalized](),
	"storage":                        codecOf[Storage](),
	"target":                         codecOf[Target](),
	"fault":                          codecOf[Fault](),
	"hashes":                         codecOf[Hashes](),
	"end":                            codecOf[End](),
}

func codecOf[B Body]() codec {
	return codec{
		encode: func(e Event) ([]byte, error) {
			return json.Marshal(line[B]{e.Seq, e.Mono, e.Body.Kind(), e.Body.(B)}, json.Deterministic(true))
		},
		decode: func(text []byte) (Event, error) {
			var l line[B]
			if err := json.Unmarshal(text, &l); err != nil {
				return Event{}, err
			}
			return Event{Seq: l.Seq, Mono: l.Mono, Body: l.Body}, nil
		},
	}
}

// encodeEvent is the event's line with its LF.
func encodeEvent(e Event) ([]byte, error) {
	c, known := codecs[e.Body.Kind()]
	if !known {
		return nil, fmt.Errorf("encode event %d: kind %q is not ours to write", e.Seq, e.Body.Kind())
	}
	text, err := c.encode(e)
	if err != nil {
		return nil, fmt.Errorf("encode event %d %s: %w", e.Seq, e.Body.Kind(), err)
	}
	return append(text, '\n'), nil
}

// head is what every event line must have.
type head struct {
	Seq  *uint64 `json:"seq"`
	Mono *int64  `json:"ts_mono"`
	Kind *string `json:"kind"`
}

// decodeEvent reads one line without its LF.
func decodeEvent(text []byte) (Event, error) {
	var h head
	if err := json.Unmarshal(text, &h); err != nil {
		return Event{}, err
	}
	if h.Seq == nil || h.Mono == nil || h.Kind == nil {
		return Event{}, errors.New("seq, ts_mono or kind is missing")
	}
	c, known := codecs[*h.Kind]
	if !known {
		return Event{Seq: *h.Seq, Mono: *h.Mono, Body: Unknown{*h.Kind, bytes.Clone(text)}}, nil
	}
	e, err := c.decode(text)
	if err != nil {
		return Event{}, fmt.Errorf("%s: %w", *h.Kind, err)
	}
	return e, nil
}
