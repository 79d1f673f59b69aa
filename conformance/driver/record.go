package driver

import (
	"errors"

	"touchstone/conformance/evidence"
)

// record writes the evidence of an attempt. Its first error sticks and comes
// out of close.
type record struct {
	evidence *evidence.Writer
	err      error
}

func newRecord(dir string) (*record, error) {
	w, err := evidence.NewWriter(dir)
	if err != nil {
		return nil, err
	}
	return &record{evidence: w}, nil
}

func (r *record) keep(err error) {
	if err != nil && r.err == nil {
		r.err = err
	}
}

func (r *record) event(b evidence.Body) { r.keep(r.evidence.Event(b)) }

func (r *record) eventAt(mono int64, b evidence.Body) { r.keep(r.evidence.EventAt(mono, b)) }

// fault records that the driver could not do its part.
func (r *record) fault(operation string, err error) {
	r.event(evidence.Fault{Operation: operation, Cause: err.Error()})
}

// bytes records what was read from a data channel.
func (r *record) bytes(mono int64, channel, file string, p []byte) {
	r.keep(r.evidence.Append(mono, channel, file, p))
}

// ended records the end of a data channel. errno is "" for a plain end.
func (r *record) ended(mono int64, channel, errno string) {
	r.eventAt(mono, evidence.EOF{Channel: channel, Error: errno})
}

func (r *record) packet(mono int64, p evidence.Packet, message []byte) {
	r.keep(r.evidence.Packet(mono, p, message))
}

// close ends the record; included are finished files of other hands.
func (r *record) close(included []string) error {
	for _, name := range included {
		r.evidence.Include(name)
	}
	return errors.Join(r.err, r.evidence.Close())
}
