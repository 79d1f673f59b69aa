package supervisor

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"time"

	"golang.org/x/sys/unix"

	"touchstone/reference/ledger"
	"touchstone/reference/outcome"
	"touchstone/reference/record"
)

// intake reads one private stream of the producer, within a budget, and owns
// its read end. It reads only when the bytes read before have been passed on,
// so that it never holds more than one queue (R09).
type intake struct {
	fd     int
	meter  ledger.Meter
	digest hash.Hash // of accepted bytes
	buffer []byte
	ended  bool // the end was read
}

func newIntake(fd int, limit int64) *intake {
	return &intake{fd: fd, meter: ledger.NewMeter(limit), digest: sha256.New(),
		buffer: make([]byte, record.RelayQueueBytes)}
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

func (in *intake) open() bool   { return in.fd >= 0 }
func (in *intake) close() error { return shut(&in.fd) }

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
	return []outcome.Observation{outcome.TransportFailure(p.channel, reason(err))}
}

// sum is a digest in hex, nil where no byte was digested.
func sum(digest hash.Hash, bytes int64) *string {
	if bytes == 0 {
		return nil
	}
	return new(hex.EncodeToString(digest.Sum(nil)))
}
