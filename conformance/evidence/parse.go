package evidence

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// parseEvents reads events.jsonl. It refuses a last line without LF, a line
// that is not one event, a gap in seq, a ts_mono that falls, offsets that do
// not add up, and a file whose last two events are not hashes and end.
// altered says that the lines are not those whose digest the end carries.
func parseEvents(text []byte) (events []Event, altered bool, err error) {
	if len(text) == 0 || text[len(text)-1] != '\n' {
		return nil, false, errors.New("the last line is not complete")
	}
	var order ordering
	last := 0 // where the last line starts
	for at := 0; at < len(text); {
		end := at + bytes.IndexByte(text[at:], '\n')
		e, err := decodeEvent(text[at:end])
		if err == nil {
			err = order.accept(e)
		}
		if err != nil {
			return nil, false, fmt.Errorf("line %d: %w", len(events)+1, err)
		}
		events = append(events, e)
		last, at = at, end+1
	}
	if !order.ended {
		return nil, false, errors.New("there is no end")
	}
	sum := sha256.Sum256(text[:last])
	return events, events[len(events)-1].Body.(End).SHA256 != hex.EncodeToString(sum[:]), nil
}

// ordering is what an event must agree with that went before it.
type ordering struct {
	next    uint64
	mono    int64
	size    map[string]int64 // bytes so far, by channel
	packets int
	hashed  bool
	ended   bool
}

func (o *ordering) accept(e Event) error {
	switch {
	case o.ended:
		return errors.New("an event follows the end")
	case e.Seq != o.next:
		return fmt.Errorf("seq: got %d, want %d", e.Seq, o.next)
	case e.Mono < o.mono:
		return fmt.Errorf("ts_mono: %d after %d", e.Mono, o.mono)
	}
	_, isEnd := e.Body.(End)
	if isEnd != o.hashed || (isEnd && e.Mono != o.mono) {
		return errors.New("hashes is not followed by end at the same time, or end not preceded by hashes")
	}
	o.next, o.mono = e.Seq+1, e.Mono
	o.ended = isEnd
	return o.acceptBody(e.Body)
}

func (o *ordering) acceptBody(body Body) error {
	switch b := body.(type) {
	case Bytes:
		if b.Offset != o.size[b.Channel] || b.Size <= 0 {
			return fmt.Errorf("bytes of %s: %d at %d, but %d were read before", b.Channel, b.Size, b.Offset, o.size[b.Channel])
		}
		if o.size == nil {
			o.size = map[string]int64{}
		}
		o.size[b.Channel] += int64(b.Size)
	case Packet:
		if b.Index != o.packets {
			return fmt.Errorf("packet index: got %d, want %d", b.Index, o.packets)
		}
		o.packets++
	case Exit:
		if (b.Status == nil) == (b.Signal == nil) {
			return errors.New("exit: not exactly one of status and signal")
		}
	case ProducerExit:
		if (b.Status == nil) == (b.Signal == nil) {
			return errors.New("producer_exit: not exactly one of status and signal")
		}
	case FinalizerExit:
		if (b.Status == nil) == (b.Signal == nil) {
			return errors.New("finalizer_exit: not exactly one of status and signal")
		}
	case Hashes:
		o.hashed = true
	}
	return nil
}
