package supervisor

import (
	"encoding/hex"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"touchstone/reference/finalizer"
	"touchstone/reference/ledger"
	"touchstone/reference/outcome"
	"touchstone/reference/record"
)

// sink is the capture of the native sink: the producer's stream, which is
// counted and hashed within the cap and relayed to the finalizer. It owns every
// descriptor of that and the finalizer.
//
// Rules: R05, R08.
type sink struct {
	*intake
	fold      *fold // the intake's digest
	route     outcome.Route
	finalizer *verifier
	handoff   int // S's end of the snapshot socket; -1 without one
	snapshot  int // the retained sink, read-only; -1 without one

	receipt  finalizer.Receipt
	verified bool // the finalizer's word agrees with S's own account
	retired  bool // nothing more is captured: the candidate may follow
	silent   bool // the candidate ended before the sink did
	named    bool // the caller's name is given
}

// used reports whether the attempt has a sink to speak of: an internal one
// without a byte is the producer's array route (C-27).
func (s *sink) used() bool { return s.meter.Accepted() > 0 || s.route != outcome.Internal }

// reading reports whether the next bytes can be passed on.
func (s *sink) reading() bool { return s.open() && !s.finalizer.broken && s.finalizer.input.idle() }

// quiet reports whether the stream is open and holds nothing, seen after
// whatever the caller has seen before.
func (s *sink) quiet() (bool, error) {
	now := unix.Timespec{}
	n, err := unix.Ppoll([]unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLIN}}, &now, nil)
	if errors.Is(err, unix.EINTR) {
		return false, nil // not seen: the next batch looks again
	}
	return n == 0, err
}

// stop ends the capture: what was not passed on is given up.
func (s *sink) stop() error {
	return errors.Join(s.close(), s.finalizer.input.close(), shut(&s.handoff), shut(&s.snapshot))
}

// connectSink makes the sink's streams between S and the producer.
func (a *attempt) connectSink(in *inside) (err error) {
	route := a.admitted.Route
	if route == outcome.NoSink {
		return nil
	}
	a.sink = &sink{intake: newIntake(-1, *a.admitted.Limits.SinkBytes), route: route, finalizer: newVerifier(), handoff: -1, snapshot: -1}
	a.sink.fold = newFold()
	a.sink.digest = a.sink.fold
	if a.sink.fd, in.sink, err = pipe(true, false); err != nil {
		return err
	}
	if route == outcome.Internal {
		a.sink.handoff, in.snapshot, err = handoff()
	}
	return err
}

// verify starts the finalizer on the file that the worker has reserved.
// Without a sink, the candidate may come at once.
func (a *attempt) verify(null int) error {
	s := a.sink
	if s == nil {
		return a.worker.retain(0)
	}
	retained, snapshot, err := a.worker.retained(s.route == outcome.Internal)
	if err != nil {
		return err
	}
	s.snapshot = snapshot
	diagnostics, err := s.finalizer.start(a.admitted.Pairing.Finalizer.Path, s.meter.Limit(), retained, null)
	a.diagnostics.add(diagnostics)
	return errors.Join(err, shut(&retained))
}

// handoff makes the snapshot socket. S only sends on it: a descriptor that is
// sent the other way would keep a stream open that nobody reads (C-69).
func handoff() (own, other int, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, -1, fmt.Errorf("make snapshot socket: %w", err)
	}
	err = errors.Join(unix.SetNonblock(pair[0], true), unix.Shutdown(pair[0], unix.SHUT_RD))
	return pair[0], pair[1], err
}

// handOver sends the verified sink to the producer, once. A producer that has
// gone, has closed its end or refuses what comes harms only itself.
//
// Rules: R05, C-69.
func (a *attempt) handOver() []outcome.Observation {
	s := a.sink
	if s.handoff < 0 { // an explicit sink, or a producer that is stopped
		return nil
	}
	packet := fmt.Appendf(nil, `{"record":"snapshot","version":1,"sink_bytes":%d,"remaining_report_bytes":%d,"sha256":%q}`,
		s.meter.Accepted(), a.ledger.Remaining(), hex.EncodeToString(s.digest.Sum(nil)))
	_, err := unix.SendmsgN(s.handoff, packet, unix.UnixRights(s.snapshot), nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
	// EPERM is a receiver that takes no descriptors (SO_PASSRIGHTS).
	if errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) || errors.Is(err, unix.EPERM) {
		err = nil
	}
	return a.faulty(errors.Join(err, shut(&s.handoff), shut(&s.snapshot)))
}

// retire ends the capture: what is left of the allowance is the candidate's,
// and the worker keeps so many bytes of the sink.
func (a *attempt) retire(keep int64) []outcome.Observation {
	if a.sink.retired {
		return nil
	}
	a.sink.retired = true
	a.candidate.meter = ledger.NewMeter(a.ledger.Remaining())
	return a.faulty(a.worker.retain(keep))
}

// captured reports whether the candidate may be read (R08).
func (a *attempt) captured() bool { return a.sink == nil || a.sink.retired }

// sinkEntry is the sink's entry, in its absent form where there is none.
//
// Rules: R10, C-23, C-40, C-45, C-82.
func (a *attempt) sinkEntry() record.Sink {
	s := a.sink
	if s == nil || a.times.run == 0 || !s.used() {
		entry := record.NoSink()
		entry.Limit = a.admitted.Limits.SinkBytes
		return entry
	}
	meter, written := s.meter, a.sinkOut.written
	entry := record.Sink{AcceptedSHA256: sum(s.digest, meter.Accepted())}
	entry.Observed, entry.Accepted, entry.Limit = meter.Observed(), meter.Accepted(), record.Number(meter.Limit())
	entry.SHA256 = sum(a.sinkOut.digest, written)
	if s.named {
		written, entry.SHA256 = meter.Accepted(), entry.AcceptedSHA256
	}
	entry.Written = &written
	entry.Truncated = meter.Overflowed() || a.exporting && written < meter.Accepted()
	entry.Complete = s.verified && !a.sinkOut.failed && (s.route == outcome.Internal || written == meter.Accepted())
	entry.SourceTotalKnown = s.ended && (s.verified || a.undisturbed())
	if s.verified {
		entry.LogicalSHA256 = new(hex.EncodeToString(s.receipt.SHA256[:]))
	}
	return entry
}

// verification is what the finalizer said, nil where there is no sink.
func (a *attempt) verification() *record.Verification {
	s := a.sink
	if s == nil || a.times.run == 0 || !s.used() {
		return nil
	}
	v := record.Verification{Complete: s.verified}
	switch status := s.finalizer.status; {
	case !s.finalizer.ended:
	case status.Signaled():
		v.Signal = record.Number(int64(status.Signal()))
	default:
		v.Exit = record.Number(int64(status.ExitStatus()))
	}
	if s.receipt.FinalizerVersion != "" {
		v.FinalizerVersion = &s.receipt.FinalizerVersion
	}
	if s.verified {
		n := s.receipt.Counts
		v.Counts = record.Counts{E: &n[0], T: &n[1], O: &n[2], V: &n[3], K: &n[4], X: &n[5], H: &n[6]}
		v.SHA256 = new(hex.EncodeToString(s.receipt.SHA256[:]))
	}
	return &v
}
