package supervisor

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"touchstone/contracts"
	"touchstone/reference/ledger"
	"touchstone/reference/outcome"
	"touchstone/reference/record"
)

// boundary is where bytes are counted and hashed, within one budget, whatever
// the number of streams that bring them. It holds one queue (R09).
type boundary struct {
	meter  ledger.Meter
	digest hash.Hash // of accepted bytes
	buffer []byte
}

func newBoundary(limit int64) *boundary {
	return &boundary{meter: ledger.NewMeter(limit), digest: sha256.New(), buffer: make([]byte, record.RelayQueueBytes)}
}

// intake reads one private stream into a boundary, and owns its read end. It
// is read only when what the boundary holds has been passed on.
type intake struct {
	*boundary
	fd    int
	ended bool // the end was read
}

func newIntake(fd int, limit int64) *intake {
	return &intake{boundary: newBoundary(limit), fd: fd}
}

// read makes one read and returns the accepted bytes, valid until the next. At
// the end, and at an overflow, it closes the stream: nothing is drained.
//
// Rules: R06, R08.
func (in *intake) read() ([]byte, error) {
	n, err := transfer(unix.Read, in.fd, in.buffer[:in.meter.Want(len(in.buffer))])
	if err != nil {
		return nil, err
	}
	kept := in.buffer[:in.meter.Take(n)]
	in.digest.Write(kept)
	in.ended = n == 0
	if in.ended || in.meter.Overflowed() {
		return kept, in.close()
	}
	return kept, nil
}

func (in *intake) open() bool { return in.fd >= 0 }

// close may be called of one that was never made: a setup can fail between
// two streams.
func (in *intake) close() error {
	if in == nil {
		return nil
	}
	return shut(&in.fd)
}

// diagnostics are the private streams of all diagnostic sources: one budget,
// one digest, one queue. Rules: R06.
type diagnostics struct {
	*boundary
	sources []*intake
}

func newDiagnostics(limit int64) *diagnostics { return &diagnostics{boundary: newBoundary(limit)} }

// add takes the read end of one more source.
func (d *diagnostics) add(fd int) {
	d.sources = append(d.sources, &intake{boundary: d.boundary, fd: fd})
}

// open reports whether any source may still bring bytes.
func (d *diagnostics) open() bool { return slices.ContainsFunc(d.sources, (*intake).open) }

// ended reports whether every source was read to its end.
func (d *diagnostics) ended() bool {
	return !slices.ContainsFunc(d.sources, func(in *intake) bool { return !in.ended })
}

func (d *diagnostics) close() (err error) {
	for _, source := range d.sources {
		err = errors.Join(err, source.close())
	}
	return err
}

// publisher writes one channel to the host and owns its descriptor. What it
// holds is someone's queue; it takes more only when that is written.
type publisher struct {
	channel string
	fd      int
	stall   time.Duration // P
	pending []byte
	since   time.Duration // last progress, or when bytes became pending
	written int64
	digest  hash.Hash // of written bytes
	failed  bool      // a write or the deadline; nothing more is tried
}

func newPublisher(channel string, fd int, stall time.Duration) *publisher {
	return &publisher{channel: channel, fd: fd, stall: stall, digest: sha256.New()}
}

// offer hands over bytes; none may be pending.
func (p *publisher) offer(b []byte, now time.Duration) {
	p.pending, p.since = b, now
}

// flush makes one write. Only what the kernel took is counted, and only that
// renews the interval.
//
// Rules: R16, R17.
func (p *publisher) flush(now time.Duration) error {
	n, err := transfer(unix.Write, p.fd, p.pending)
	switch {
	case err != nil:
		return err
	case n == 0:
		return errZero
	}
	p.digest.Write(p.pending[:n])
	p.pending, p.since = p.pending[n:], now
	p.written += int64(n)
	return nil
}

// deadline is when a stall is a failure; ok is false while nothing is pending.
func (p *publisher) deadline() (at time.Duration, ok bool) {
	return p.since + p.stall, p.open() && len(p.pending) > 0
}

func (p *publisher) open() bool   { return p.fd >= 0 }
func (p *publisher) close() error { return shut(&p.fd) }

// fail gives up what is pending.
func (p *publisher) fail() { p.failed, p.pending = true, nil }

// failure turns a failed write into evidence; a retry is none.
func (p *publisher) failure(err error) []outcome.Observation {
	if err == nil || errors.Is(err, errAgain) {
		return nil
	}
	p.fail()
	switch why := reason(err); {
	case p.channel != contracts.ChannelSink:
		return []outcome.Observation{outcome.TransportFailure(p.channel, why)}
	case why == outcome.ReasonPeerClosed: // codes of its own (C-20)
		return []outcome.Observation{outcome.SinkFailure(outcome.ReasonSinkPeerClosed)}
	}
	return []outcome.Observation{outcome.SinkFailure(outcome.ReasonSinkIO)}
}

// sum is a digest in hex, nil where no byte was digested.
func sum(digest hash.Hash, bytes int64) *string {
	if bytes == 0 {
		return nil
	}
	return new(hex.EncodeToString(digest.Sum(nil)))
}
