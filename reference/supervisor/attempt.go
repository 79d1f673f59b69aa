package supervisor

import (
	"errors"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"touchstone/contracts"
	"touchstone/reference/admission"
	"touchstone/reference/jail"
	"touchstone/reference/ledger"
	"touchstone/reference/outcome"
	"touchstone/reference/record"
)

// Defaults for the writes of a refusal whose limits did not resolve.
const (
	refusalWall  = 600 * time.Second
	refusalStall = 5 * time.Second
)

const stopGrace = record.StopGraceMS * time.Millisecond // G

// patientGrace is how long a process has that is about to end by itself, and
// whose own end says more than a kill.
const patientGrace = stopGrace * 3 / 4

// attempt is one supervised run, from admission to the terminal record. It is
// used by the one locked thread alone, and owns everything below.
type attempt struct {
	started  time.Time // the origin of every instant below
	admitted admission.Admission
	wall     time.Duration // W
	machine  outcome.Machine
	seen     []outcome.Observation // for the next batch
	cancel   *canceller

	worker        *link
	folder        *folder        // the tools' work folder; nil in the direct facade
	ran           []*toolRun     // in order
	stuck         []*jail.Domain // that would not end, of tools or never released
	early         int            // the entrypoint's own exit for its cause, 0 for none
	domain        *jail.Domain
	diagnostics   *diagnostics
	candidate     *intake
	sink          *sink // nil without a native sink
	report        *publisher
	sinkOut       *publisher
	diagnosticOut *publisher
	ledger        ledger.Report

	explained   int64         // bytes of S's own diagnostics
	stored      bool          // the worker has reserved the storage
	claim       message       // the worker's verdict
	replaced    []byte        // S's own failure document, if chosen
	selected    int64         // bytes of the chosen document
	delivering  *delivery     // what the worker gives back now, nil for nothing
	exporting   bool          // the sink's publication has begun
	graceAt     time.Duration // when a requested stop becomes a kill; 0 for never
	stopBy      time.Duration // when S stops waiting for the domain; 0 for never
	waitAt      time.Duration // when a wait that has failed is tried again
	finalizerBy time.Duration // when S stops waiting for the finalizer; 0 for never
	asked       bool          // the survivor question is open
	withdrawn   bool          // a creation call whose name was lost
	terminated  bool          // the producer got a signal of S
	causeStage  string        // where the attempt stood when its cause was latched
	told        told
	times       times
	spent       stageCPU
	held        int // descriptors of the producer at its start
	status      jail.Status
	reaped      bool // the producer
	emptied     bool // the init
}

// told marks the facts that the machine was told; each is told once.
type told struct{ domain, finalizer, read, diagnostics, sink, report, expiry bool }

// times are the instants at which stages began and ended, 0 for not yet.
type times struct{ compile, run, captured, ended, publish, closed time.Duration }

func newAttempt(started time.Time, admitted admission.Admission, cancel *canceller) *attempt {
	stall := duration(admitted.Limits.StallMS, refusalStall)
	a := &attempt{started: started, admitted: admitted, cancel: cancel,
		wall:          duration(admitted.Limits.WallMS, refusalWall),
		report:        newPublisher(contracts.ChannelReport, admission.ReportFD, stall),
		sinkOut:       newPublisher(contracts.ChannelSink, -1, stall),
		diagnosticOut: newPublisher(contracts.ChannelDiagnostic, admission.DiagnosticFD, stall),
	}
	if admitted.SinkUsable {
		a.sinkOut.fd = admitted.Request.SinkFD
	}
	a.ledger = ledger.NewReport(a.allowance())
	return a
}

// duration is an effective limit as the clock can hold it; longest never comes.
func duration(l record.Limit, unresolved time.Duration) time.Duration {
	const longest = time.Duration(1 << 61)
	if l.Effective == nil {
		return unresolved
	}
	return time.Duration(min(*l.Effective, int64(longest/time.Millisecond))) * time.Millisecond
}

// allowance is R, or what a refusal may write where R did not resolve (C-13).
func (a *attempt) allowance() int64 {
	switch limit := a.admitted.Limits.ReportBytes; {
	case limit.Effective != nil:
		return *limit.Effective
	case limit.Granted != nil:
		return *limit.Granted
	}
	return record.TerminalBytes
}

func (a *attempt) now() time.Duration { return time.Since(a.started) }

// stage is where the attempt stands by S's own state, never by the producer's
// word. Rules: R16, C-17, C-18.
func (a *attempt) stage() string {
	switch {
	case a.times.publish > 0:
		return contracts.StagePublish
	case a.times.ended > 0, a.times.captured > 0:
		return contracts.StageFinalize
	case a.times.run > 0:
		return contracts.StageRun
	case a.times.compile > 0:
		return contracts.StageCompile
	}
	return contracts.StagePrepare
}

// ExplainVariable asks for a refusal's reason, as one line on the diagnostics.
// Without it they carry nothing of S's own.
const ExplainVariable = "TOUCHSTONE_EXPLAIN"

// refuse ends an attempt of which no producer has started.
func (a *attempt) refuse(failure outcome.Failure) {
	if a.domain != nil { // parked, and nothing of the customer's has run in it
		if a.domain.Close() != nil {
			a.note([]outcome.Observation{outcome.Fault()}) // the refusal ranks before it
			a.stuck = append(a.stuck, a.domain)
		}
		a.domain = nil
	}
	a.note(a.stopReading())
	a.explain(failure)
	a.told.domain, a.told.read = true, true
	a.seen = append(a.seen, outcome.Refusal(failure), outcome.DomainEnded(), outcome.DiagnosticsRead())
}

// explain writes S's own diagnostics, if they were asked for and fit (R06).
func (a *attempt) explain(failure outcome.Failure) {
	if os.Getenv(ExplainVariable) == "" || !a.admitted.DiagnosticUsable || a.admitted.Why == nil {
		return
	}
	reason := strings.ReplaceAll(a.admitted.Why.Error(), "\n", "; ")
	line := []byte("refsup: " + failure.Code + ": " + reason + "\n")
	told := int64(len(line))
	if a.diagnostics != nil {
		told += a.diagnostics.meter.Accepted()
	}
	limit := a.limit(a.admitted.Limits.DiagnosticBytes)
	if (limit == nil || told <= *limit) && len(a.diagnosticOut.pending) == 0 {
		a.explained = int64(len(line))
		a.diagnosticOut.offer(line, a.now())
	}
}

// start builds everything up to the producer's first instruction and lets it
// go. What fails here is refused: no customer code has run.
//
// Rules: R02, R09, R13.
func (a *attempt) start() *outcome.Failure {
	if failure := a.build(); failure != nil {
		return failure
	}
	err := a.prepare()
	if failure := a.interrupted(err); failure != nil {
		return failure
	}
	if err := a.domain.Release(); err != nil { // the lifetime may end here, too
		return a.interrupted(err)
	}
	a.times.run, a.spent.run = a.now(), spent()
	a.machine = outcome.New(a.admitted.Route)
	a.worker.sampler.begin()
	return nil
}

// interrupted is what stands against going on after a step of the setup: the
// host's wish, the lifetime, or that the step failed.
func (a *attempt) interrupted(err error) *outcome.Failure {
	switch {
	case a.cancel.requested():
		return new(outcome.Aborted())
	case a.now() >= a.wall:
		return new(outcome.DeadlineExceeded(a.stage()))
	case err != nil:
		return a.unavailable(err)
	}
	return nil
}

// unavailable is the refusal for a boundary that could not be built.
func (a *attempt) unavailable(err error) *outcome.Failure {
	a.admitted.Why = err
	reason := outcome.ReasonPolicy
	var refused *jail.RefusedError
	switch {
	case errors.As(err, &refused):
		reason = string(refused.Reason)
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		reason = outcome.ReasonDescriptor
	}
	return new(outcome.IsolationUnavailable(reason))
}
