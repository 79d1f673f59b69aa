package relay

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"touchstone/conformance/scenario"
)

// counters are the members by which a record counts itself (C-37).
var counters = []string{"observed_bytes", "accepted_bytes", "written_bytes"}

// Packet is what the host gets in place of a received packet. Only what the plan
// names is wrong with it: where a record was changed, it counts itself anew,
// but for counters that the plan sets.
func Packet(received []byte, r scenario.Relay) ([]byte, error) {
	sent := received
	if len(r.Edits) > 0 || r.Raw != "" || r.Append != "" || r.Pad > 0 {
		var err error
		if sent, err = edited(received, r); err != nil {
			return nil, err
		}
	}
	switch {
	case r.Empty:
		return nil, nil
	case r.Cut > 0 && r.Cut < len(sent):
		sent = sent[:r.Cut]
	}
	return sent, nil
}

func edited(received []byte, r scenario.Relay) ([]byte, error) {
	record := jsontext.Value(bytes.TrimSuffix(received, []byte("\n")))
	fixed := map[string]bool{}
	for _, e := range r.Edits {
		next, err := put(record, e.Path, e.Raw)
		if err != nil {
			return nil, fmt.Errorf("edit record: %w", err)
		}
		record = next
		if len(e.Path) == 3 && e.Path[0] == "channels" && e.Path[1] == "status" {
			fixed[e.Path[2]] = true
		}
	}
	return counted(record, r, fixed)
}

// counted gives the packet the length that it states: each round may only make
// the number longer, so that it ends.
func counted(record jsontext.Value, r scenario.Relay, fixed map[string]bool) ([]byte, error) {
	for length := 0; ; {
		next := record
		for _, name := range counters {
			if fixed[name] {
				continue
			}
			var err error
			if next, err = put(next, []string{"channels", "status", name}, fmt.Sprint(length)); err != nil {
				return nil, fmt.Errorf("count record: %w", err)
			}
		}
		packet := append(append(bytes.Clone(next), '\n'), r.Append...)
		packet = slices.Insert(packet, 1, []byte(r.Raw)...)
		packet = padded(packet, r.Pad-len(packet))
		if len(packet) == length {
			return packet, nil
		}
		length = len(packet)
	}
}

// padded makes a packet longer by more bytes: in its free text, so that nothing
// but its length is wrong, or where it has none by blanks.
func padded(packet []byte, more int) []byte {
	if more <= 0 {
		return packet
	}
	at, filler := 1, " "
	const free = `"finalizer_version":"`
	if i := bytes.Index(packet, []byte(free)); i >= 0 {
		at, filler = i+len(free), "x"
	}
	return slices.Concat(packet[:at], bytes.Repeat([]byte(filler), more), packet[at:])
}

// put sets the member at a path to raw JSON, or takes it out where raw is
// empty. A member that is not there is made.
func put(object jsontext.Value, path []string, raw string) (jsontext.Value, error) {
	members := map[string]jsontext.Value{}
	if err := json.Unmarshal(object, &members); err != nil {
		return nil, fmt.Errorf("no object at %s: %w", path[0], err)
	}
	switch {
	case len(path) > 1:
		inner, err := put(members[path[0]], path[1:], raw)
		if err != nil {
			return nil, err
		}
		members[path[0]] = inner
	case raw == "":
		if _, there := members[path[0]]; !there {
			return nil, fmt.Errorf("no member %s to drop", path[0])
		}
		delete(members, path[0])
	default:
		members[path[0]] = jsontext.Value(raw)
	}
	return json.Marshal(members, json.Deterministic(true))
}
