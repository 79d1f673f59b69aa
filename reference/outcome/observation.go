package outcome

import (
	"cmp"
	"slices"
	"time"

	"touchstone/contracts"
)

// Observation is one thing that S saw in one return of its poll. Some are
// evidence of a failure, some are facts that let the attempt go on.
type Observation struct {
	kind       kind
	rank       rank
	tie        int           // order within a rank
	at         time.Duration // instant of an expiry, from the start of the attempt
	failure    Failure
	status     Status
	settlement Settlement
	sink       SinkSettlement
	survivors  bool
}

type kind uint8

const (
	evidence kind = iota // its failure, by its rank
	producerEnded
	candidateSettled
	sinkOverflowed
	sinkSettled
	finalizerEnded
	sinkDelivered
	targetNamed
	survivorsAnswered
	domainEnded
	diagnosticsRead
	diagnosticsDone
	reportDone
	graceOver
	lifetimeOver
)

// rank is R19's order of the evidence of one batch, first wins.
type rank uint8

const (
	rankCancellation rank = iota
	rankViolation
	rankBudget
	rankTransport
	rankExpiry
	rankProducer
	rankEndOfFile
)

// transportTies is R19's stable order within transport failures. S's own fault
// is no channel and precedes them.
var transportTies = []string{
	contracts.ChannelStatus, contracts.ChannelReport, contracts.ChannelSink,
	contracts.ChannelDiagnostic, contracts.ChannelCandidate,
}

// Settlement is what became of the candidate once no more of it is awaited.
type Settlement uint8

const (
	// Unsettled is a candidate that is still being read or scanned.
	Unsettled Settlement = iota
	// Successful is a whole document of the requested operation.
	Successful
	// Claimed is a whole, valid failure document.
	Claimed
	// Malformed is a value that no further byte could repair: independent
	// evidence, whatever the producer's exit.
	Malformed
	// Fragment is empty or unfinished at EOF: judged after the wait status.
	Fragment
	// Overflowed crossed the report allowance.
	Overflowed
	// Lost is a candidate that S gave up, as its time was over.
	Lost
)

// Cancellation is the host's request to stop. Rules: R19, C-4.
func Cancellation() Observation {
	return Observation{rank: rankCancellation, failure: Aborted()}
}

// Refusal is what admission or setup refuses with. No producer has started: it
// goes with DomainEnded, DiagnosticsRead and DiagnosticsDone.
func Refusal(failure Failure) Observation {
	return Observation{rank: rankCancellation, failure: failure}
}

// CreationCall is a notified fork, vfork, clone or clone3. Rules: R18.
func CreationCall(operation string) Observation {
	return Observation{rank: rankViolation, failure: ProcessRefused(operation)}
}

// Violation is any other breach of the boundary. Rules: R18, C-63.
func Violation() Observation {
	return Observation{rank: rankViolation, failure: IsolationUnavailable(ReasonPolicy)}
}

// DiagnosticOverflow is byte limit+1 of the diagnostics. Rules: R06.
func DiagnosticOverflow(limit int64) Observation {
	return Observation{rank: rankBudget, failure: DiagnosticBudget(limit)}
}

// TransportFailure is a channel that failed by itself. Rules: R17.
func TransportFailure(channel, reason string) Observation {
	return Observation{rank: rankTransport, tie: 1 + slices.Index(transportTies, channel),
		failure: ChannelFailed(channel, reason)}
}

// SinkFailure is a native sink that failed by itself: its finalizer, its
// endpoint, its storage. Rules: R09, R17, R19.
func SinkFailure(reason string) Observation {
	return Observation{rank: rankTransport, tie: 1 + slices.Index(transportTies, contracts.ChannelSink),
		failure: SinkFailed(reason)}
}

// SinkOverflow is byte limit+1 of the native sink. It is S's own evidence,
// whatever becomes of the finalizer. Rules: R08, R19.
func SinkOverflow(limit int64) Observation {
	o := SinkFailure("")
	o.kind, o.failure = sinkOverflowed, SinkExhausted(limit)
	return o
}

// SpoolFailure is an I/O error of the retained storage. Rules: R09.
func SpoolFailure() Observation { return SinkFailure(ReasonSinkIO) }

// Fault is an internal failure of S itself. Rules: R11.
func Fault() Observation {
	return Observation{rank: rankTransport, failure: InternalFault()}
}

// Stall is a publication without progress since P before at. Rules: R16, C-52.
func Stall(channel string, at time.Duration) Observation {
	return Observation{rank: rankExpiry, at: at, tie: slices.Index(transportTies, channel),
		failure: ChannelFailed(channel, ReasonDeadline)}
}

// Expiry is the end of the whole lifetime in a stage. Rules: R16, C-52.
func Expiry(stage string, at time.Duration) Observation {
	return Observation{kind: lifetimeOver, rank: rankExpiry, at: at, tie: len(transportTies),
		failure: DeadlineExceeded(stage)}
}

// ProducerEnded is the producer's wait result. Rules: R19.
func ProducerEnded(status Status) Observation {
	return Observation{kind: producerEnded, rank: rankProducer, status: status}
}

// CandidateSettled ends the wait for the candidate. refusal is what an
// Overflowed one latches, and is ignored for any other.
func CandidateSettled(settlement Settlement, refusal Failure) Observation {
	return Observation{kind: candidateSettled, settlement: settlement, failure: refusal}
}

// SinkSettlement is what became of a native sink that was read to its end.
type SinkSettlement uint8

const (
	// SinkUnsettled is a sink that is still being captured or verified.
	SinkUnsettled SinkSettlement = iota
	// SinkUnused carried no byte, and none was asked for (C-27).
	SinkUnused
	// SinkVerified is complete, and retained.
	SinkVerified
	// SinkRefused is refused for what it held, or did not hold, at its end:
	// judged after the wait status (C-67).
	SinkRefused
)

// SinkSettled ends the wait for the sink. refusal is what a refused one
// latches, and is ignored for any other.
func SinkSettled(settlement SinkSettlement, refusal Failure) Observation {
	return Observation{kind: sinkSettled, sink: settlement, failure: refusal}
}

// FinalizerEnded says that the finalizer was reaped, or that S stopped waiting
// for it.
func FinalizerEnded() Observation { return Observation{kind: finalizerEnded} }

// SinkDelivered says that nothing more is written to the host's sink endpoint.
func SinkDelivered() Observation { return Observation{kind: sinkDelivered} }

// TargetNamed says that the retained sink has its caller's name. Rules: C-35.
func TargetNamed() Observation { return Observation{kind: targetNamed} }

// SurvivorsAnswered says whether any task but the init outlived the producer.
// Rules: R18, C-66.
func SurvivorsAnswered(survivors bool) Observation {
	return Observation{kind: survivorsAnswered, rank: rankViolation, survivors: survivors,
		failure: IsolationUnavailable(ReasonPolicy)}
}

// DomainEnded says that the init was reaped, or that S stopped waiting for it.
func DomainEnded() Observation { return Observation{kind: domainEnded} }

// DiagnosticsRead is the end of the private diagnostic stream.
func DiagnosticsRead() Observation { return Observation{kind: diagnosticsRead} }

// DiagnosticsDone says that nothing more is written to the host's diagnostics.
func DiagnosticsDone() Observation { return Observation{kind: diagnosticsDone} }

// ReportDone says that nothing more is written to the host's report.
func ReportDone() Observation { return Observation{kind: reportDone} }

// GraceOver is the end of the time given to a requested stop. Rules: C-73.
func GraceOver() Observation { return Observation{kind: graceOver} }

// first returns the observation that ranks first of several.
func first(batch []Observation) Observation {
	return slices.MinFunc(batch, func(a, b Observation) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.at, b.at), cmp.Compare(a.tie, b.tie))
	})
}
