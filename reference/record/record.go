package record

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"touchstone/reference/outcome"
)

// Fixed limits of this contract version. Rules: R07.
const (
	TerminalBytes      = 65536 // H: largest terminal packet, LF included
	StopGraceMS        = 1000  // G
	RelayQueueBytes    = 65536 // pending bytes in S per relay direction
	ProducerClaimBytes = 8192  // encoded args of a claim, inclusive
)

// Terminal is everything that one attempt reports. What can be derived is not
// a field.
type Terminal struct {
	AttemptID  string
	Invocation string
	Failure    *outcome.Failure // nil for success
	Early      int              // the entrypoint's own exit for Failure, 0 for none: see ExitStatus
	Producer   Producer
	Limits     Limits
	Charged    int64 // bytes charged against the report allowance
	Channels   Channels
	Sink       *Verification // nil without a native sink
	Usage      Usage
	Cleanup    Cleanup
}

// ExitStatus is the facade's.
func (t Terminal) ExitStatus() int { return ExitStatus(t.Invocation, t.Failure, t.Early) }

// Producer is the untrusted process as S saw it. Exit and Signal are what wait
// said, both nil if it said nothing.
type Producer struct {
	Stage   *string
	Exit    *int64
	Signal  *int64
	Claim   *Claim
	Omitted bool
}

// Claim is a validated failure that the producer claims. Rules: R11.
type Claim struct {
	Code      string
	Args      jsontext.Value
	Authority string
}

// Limit is one caller limit. Requested is nil if it was omitted or is not
// representable, Effective if the request was refused (C-13).
type Limit struct {
	Requested *int64
	Granted   *int64
	Effective *int64
}

// Limits is what was admitted. Rules: R07.
type Limits struct {
	ReportBytes     Limit
	DiagnosticBytes Limit
	WallMS          Limit
	StallMS         Limit
	SinkBytes       *int64
}

// Channel is what passed one boundary. SHA256 is nil where no byte did.
type Channel struct {
	Observed         int64
	Accepted         int64
	Written          *int64
	Limit            *int64
	Truncated        bool
	Complete         bool
	SourceTotalKnown bool
	SHA256           *string
}

// Channels are the data channels; the status entry describes the record itself.
type Channels struct {
	Candidate, Report, Diagnostic Channel
	Sink                          Sink
}

// Sink is the sink's entry, with the digests of approved and verified bytes.
type Sink struct {
	Channel
	AcceptedSHA256 *string
	LogicalSHA256  *string
}

// NoSink is the entry of a run without a sink: complete, and nothing in it.
func NoSink() Sink {
	return Sink{Channel: Channel{Written: Number(0), Complete: true, SourceTotalKnown: true}}
}

// Verification is what the finalizer said of the native sink. Exit and Signal
// are what wait said of it; what it did not say is nil.
//
// Rules: R10, C-46.
type Verification struct {
	Exit             *int64
	Signal           *int64
	Complete         bool
	Counts           Counts
	SHA256           *string // of the bytes before the trailer
	FinalizerVersion *string
}

// Counts are the records of each tag.
type Counts struct {
	E *int64
	T *int64
	O *int64
	V *int64
	K *int64
	X *int64
	H *int64
}

// Fact is one cleanup fact, nil if it was not measured.
type Fact *bool

// Cleanup is what is left of the attempt. Rules: C-49.
type Cleanup struct{ ProducerReaped, DomainEmpty, ArtifactsRemoved Fact }

// Encode returns the one packet, LF included, at most TerminalBytes long. The
// optional claim is omitted, and marked so, if it alone would not fit.
//
// Rules: R10, R12, C-37.
func (t Terminal) Encode() ([]byte, error) {
	packet, err := t.fixPoint()
	if err == nil && len(packet) > TerminalBytes && t.Producer.Claim != nil {
		t.Producer.Claim, t.Producer.Omitted = nil, true
		packet, err = t.fixPoint()
	}
	if err != nil {
		return nil, fmt.Errorf("encode terminal record: %w", err)
	}
	if len(packet) > TerminalBytes {
		return nil, fmt.Errorf("encode terminal record: %d bytes, limit %d bytes", len(packet), TerminalBytes)
	}
	return packet, nil
}

// fixPoint encodes until the stated length is the actual one. A longer number
// only lengthens the packet, so it converges (C-37); it begins with a number of
// as many digits as every record's length has, because of its fixed cells.
func (t Terminal) fixPoint() ([]byte, error) {
	for stated := 10000; ; {
		packet, err := t.encode(int64(stated))
		if err != nil || len(packet) == stated {
			return packet, err
		}
		stated = len(packet)
	}
}
