package supervisor

import (
	"bytes"
	"errors"

	"touchstone/reference/outcome"
	"touchstone/reference/record"
)

// relay publishes the retained document, byte for byte: the accepted report,
// or the producer's own failure. It was charged when it was captured.
//
// Rules: R04, R08, C-33.
func (a *attempt) relay() []outcome.Observation {
	if !a.admitted.ReportUsable || !a.report.open() {
		return a.finishReport()
	}
	if err := a.worker.publish(); err != nil {
		return append(a.finishReport(), outcome.Fault())
	}
	a.relaying = true
	a.selected = a.candidate.meter.Accepted()
	return nil
}

// onDocument takes retained bytes for the report. What comes back must be what
// went in: the same count and digest as the captured candidate's.
func (a *attempt) onDocument() []outcome.Observation {
	b, err := a.worker.pull()
	switch {
	case errors.Is(err, errAgain):
		return nil
	case err == nil && len(b) > 0:
		a.report.offer(b, a.now())
		return a.flush(a.report)
	}
	a.relaying = false
	same := a.report.written == a.selected &&
		bytes.Equal(a.report.digest.Sum(nil), a.candidate.digest.Sum(nil))
	if err != nil || !same {
		return append(a.finishReport(), outcome.Fault())
	}
	return a.finishReport()
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
		a.report.pending, a.diagnosticOut.pending, a.relaying = nil, nil, false
		seen = append(seen, a.stopReading()...)
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
	return append(seen, a.followDiagnostics()...)
}

// closeStreams closes what is read of the producer and of the tools.
func (a *attempt) closeStreams() (err error) {
	if a.diagnostics != nil {
		err = a.diagnostics.close()
	}
	if a.candidate != nil {
		err = errors.Join(err, a.candidate.close())
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
	a.told.report, a.relaying, a.report.pending = true, false, nil
	return append(a.closePublisher(a.report), outcome.ReportDone())
}

// closePublisher closes a channel once; a close that fails is a failed
// delivery, however whole the bytes look (R17).
func (a *attempt) closePublisher(p *publisher) []outcome.Observation {
	return p.failure(p.close())
}
