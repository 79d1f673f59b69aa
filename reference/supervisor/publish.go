package supervisor

import (
	"bytes"
	"errors"
	"hash"

	"touchstone/reference/outcome"
	"touchstone/reference/record"
)

// delivery is retained bytes on their way from the worker to an endpoint. What
// comes back must be what went in: the same count, the same digest.
type delivery struct {
	to     *publisher
	size   int64
	digest hash.Hash // of the bytes as they were captured
	pulled int64
	done   func() []outcome.Observation
}

// wants reports whether the next bytes can be taken from the worker.
func (d *delivery) wants() bool { return d != nil && len(d.to.pending) == 0 && d.pulled < d.size }

// delivered reports whether all is written.
func (d *delivery) delivered() bool { return d != nil && len(d.to.pending) == 0 && d.pulled == d.size }

// same reports whether what was written is what was captured.
func (d *delivery) same() bool {
	return d.to.written == d.size && bytes.Equal(d.to.digest.Sum(nil), d.digest.Sum(nil))
}

// export publishes the verified sink on the host's endpoint.
//
// Rules: R13, R15.
func (a *attempt) export() []outcome.Observation {
	a.exporting = true
	return a.give(orderSink, &delivery{to: a.sinkOut, size: a.sink.meter.Accepted(), digest: a.sink.digest, done: a.finishSink})
}

// relay publishes the retained document, byte for byte: the accepted report,
// or the producer's own failure. It was charged when it was captured.
//
// Rules: R04, R08, C-33.
func (a *attempt) relay() []outcome.Observation {
	if !a.admitted.ReportUsable || !a.report.open() {
		return a.finishReport()
	}
	a.selected = a.candidate.meter.Accepted()
	return a.give(orderDocument, &delivery{to: a.report, size: a.selected, digest: a.candidate.digest, done: a.finishReport})
}

// give has the worker give back what it retained.
func (a *attempt) give(word string, d *delivery) []outcome.Observation {
	if err := a.worker.order(order{word: word}); err != nil {
		return append(d.done(), outcome.Fault())
	}
	a.delivering = d
	return nil
}

// onRetained takes retained bytes for their endpoint.
func (a *attempt) onRetained() []outcome.Observation {
	d := a.delivering
	b, err := a.worker.pull(d.size - d.pulled)
	switch {
	case errors.Is(err, errAgain):
		return nil
	case err != nil || len(b) == 0:
		return append(d.done(), outcome.Fault())
	}
	d.pulled += int64(len(b))
	d.to.offer(b, a.now())
	return a.flush(d.to)
}

// followDelivery ends a delivery behind its last byte.
func (a *attempt) followDelivery() []outcome.Observation {
	d := a.delivering
	switch {
	case !d.delivered() || d.to.failed:
		return nil
	case !d.same():
		return append(d.done(), outcome.Fault())
	}
	return d.done()
}

// replace publishes S's own failure document, if it fits what is left of the
// report allowance; otherwise the report carries nothing.
//
// Rules: R08, R15.
func (a *attempt) replace() []outcome.Observation {
	document, err := record.FailureDocument(*a.machine.Failure())
	if err != nil {
		return append(a.finishReport(), outcome.Fault())
	}
	if !a.admitted.ReportUsable || !a.report.open() || !a.ledger.Charge(int64(len(document))) {
		return a.finishReport()
	}
	a.replaced, a.selected = document, int64(len(document))
	a.report.offer(document, a.now())
	return a.flush(a.report)
}

// follow does what follows from facts alone: it closes what has served, stops
// what can no longer matter, and tells the machine.
func (a *attempt) follow() (seen []outcome.Observation) {
	if a.machine.Expired() || a.domain != nil && a.told.domain && !a.emptied {
		// No data work after W, and none for a domain that would not end.
		for _, p := range a.publishers() {
			p.pending = nil
		}
		a.delivering = nil
		seen = append(seen, a.stopReading()...)
	}
	seen = append(seen, a.followDelivery()...)
	if a.sink != nil && !a.machine.AwaitsSink() {
		seen = append(seen, a.faulty(a.sink.stop())...)
	}
	if a.candidate != nil && a.candidate.open() && !a.machine.AwaitsCandidate() {
		seen = append(seen, a.faulty(a.candidate.close())...)
	}
	if a.diagnosticOut.failed && a.diagnostics != nil {
		seen = append(seen, a.faulty(a.diagnostics.close())...)
	}
	// A failure after publication has begun is terminal-only (R15).
	late := a.machine.Publishing() && a.machine.Failure() != nil
	if late || a.report.failed || a.replaced != nil && len(a.report.pending) == 0 {
		seen = append(seen, a.finishReport()...)
	}
	if a.exporting && (late || a.sinkOut.failed) {
		seen = append(seen, a.finishSink()...)
	}
	return append(seen, a.followDiagnostics()...)
}

// closeStreams closes every private stream.
func (a *attempt) closeStreams() (err error) {
	if a.diagnostics != nil {
		err = a.diagnostics.close()
	}
	if a.candidate != nil {
		err = errors.Join(err, a.candidate.close())
	}
	if a.sink != nil {
		err = errors.Join(err, a.sink.stop())
	}
	return err
}

func (a *attempt) stopReading() []outcome.Observation {
	return a.faulty(a.closeStreams())
}

// followDiagnostics closes the diagnostic stream behind its last byte.
func (a *attempt) followDiagnostics() (seen []outcome.Observation) {
	if a.diagnostics != nil && !a.diagnostics.open() && !a.told.read {
		a.told.read = true
		seen = append(seen, outcome.DiagnosticsRead())
	}
	if !a.told.read || a.told.diagnostics || len(a.diagnosticOut.pending) > 0 {
		return seen
	}
	a.told.diagnostics = true
	return append(seen, append(a.closePublisher(a.diagnosticOut), outcome.DiagnosticsDone())...)
}

// finishReport closes the report; nothing is written to it any more.
func (a *attempt) finishReport() []outcome.Observation {
	if a.told.report {
		return nil
	}
	a.told.report, a.delivering, a.report.pending = true, nil, nil
	return append(a.closePublisher(a.report), outcome.ReportDone())
}

// finishSink closes the sink's endpoint; nothing is written to it any more.
func (a *attempt) finishSink() []outcome.Observation {
	if a.told.sink {
		return nil
	}
	a.told.sink, a.delivering, a.sinkOut.pending = true, nil, nil
	return append(a.closePublisher(a.sinkOut), outcome.SinkDelivered())
}

// closePublisher closes a channel once; a close that fails is a failed
// delivery, however whole the bytes look (R17).
func (a *attempt) closePublisher(p *publisher) []outcome.Observation {
	return p.failure(p.close())
}
