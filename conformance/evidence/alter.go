package evidence

import (
	"errors"
	"maps"
	"strings"
)

// With is a copy of the record with other events, and with other bytes in the
// files that are named; nil takes a file away. The events are numbered anew.
// What would not be read as one whole record is refused, so that a check that
// fails on the copy has noticed what it says, and not a broken record.
func (a *Attempt) With(events []Event, files map[string][]byte) (*Attempt, error) {
	altered := *a
	altered.Events = make([]Event, len(events))
	altered.Tampered = nil
	altered.files = maps.Clone(a.files)
	for name, content := range files {
		if altered.files[name] = content; content == nil {
			delete(altered.files, name)
		}
	}
	var order ordering
	for i, e := range events {
		e.Seq = uint64(i)
		if err := order.accept(e); err != nil {
			return nil, err
		}
		altered.Events[i] = e
	}
	if !order.ended {
		return nil, errors.New("there is no end")
	}
	if err := altered.checkRecorded(); err != nil {
		return nil, err
	}
	if len(altered.Tampered) > 0 {
		return nil, errors.New("sizes differ from " + strings.Join(altered.Tampered, ", "))
	}
	return &altered, nil
}
