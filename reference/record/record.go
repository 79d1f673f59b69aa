package record

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"touchstone/contracts"
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
	Stage   *string `json:"stage"`
	Exit    *int64  `json:"exit_status"`
	Signal  *int64  `json:"signal"`
	Claim   *Claim  `json:"failure"`
	Omitted bool    `json:"failure_claim_omitted"`
}

// Claim is a validated failure that the producer claims. Rules: R11.
type Claim struct {
	Code      string         `json:"code"`
	Args      jsontext.Value `json:"args"`
	Authority string         `json:"authority"`
}

// Limit is one caller limit. Requested is nil if it was omitted or is not
// representable, Effective if the request was refused (C-13).
type Limit struct {
	Requested *int64 `json:"requested"`
	Granted   *int64 `json:"granted"`
	Effective *int64 `json:"effective"`
}

// Limits is what was admitted. Rules: R07.
type Limits struct {
	ReportBytes     Limit  `json:"report_bytes"`
	DiagnosticBytes Limit  `json:"diagnostic_bytes"`
	WallMS          Limit  `json:"wall_ms"`
	StallMS         Limit  `json:"stall_ms"`
	SinkBytes       *int64 `json:"sink_bytes"`
}

// Channel is what passed one boundary. SHA256 is nil where no byte did.
type Channel struct {
	Observed         int64   `json:"observed_bytes"`
	Accepted         int64   `json:"accepted_bytes"`
	Written          *int64  `json:"written_bytes"`
	Limit            *int64  `json:"limit_bytes"`
	Truncated        bool    `json:"truncated"`
	Complete         bool    `json:"complete"`
	SourceTotalKnown bool    `json:"source_total_known"`
	SHA256           *string `json:"sha256"`
}

// Channels are the data channels; the status entry describes the record itself.
type Channels struct {
	Candidate, Report, Diagnostic Channel
	Sink                          Sink
}

// Sink is the sink's entry, with the digests of approved and verified bytes.
type Sink struct {
	Channel
	AcceptedSHA256 *string `json:"accepted_sha256"`
	LogicalSHA256  *string `json:"logical_sha256"`
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
	Exit             *int64  `json:"exit_status"`
	Signal           *int64  `json:"signal"`
	Complete         bool    `json:"complete"`
	Counts           Counts  `json:"counts"`
	SHA256           *string `json:"sha256"` // of the bytes before the trailer
	FinalizerVersion *string `json:"finalizer_version"`
}

// Counts are the records of each tag.
type Counts struct {
	E *int64 `json:"E"`
	T *int64 `json:"T"`
	O *int64 `json:"O"`
	V *int64 `json:"V"`
	K *int64 `json:"K"`
	X *int64 `json:"X"`
	H *int64 `json:"H"`
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

func (t Terminal) encode(length int64) ([]byte, error) {
	packet, err := json.Marshal(t.wire(length), json.Deterministic(true), json.FormatNilSliceAsNull(true))
	return append(packet, '\n'), err
}

// wire arranges the members in the contract's order.
func (t Terminal) wire(length int64) any {
	type failure struct {
		Code      string `json:"code"`
		Args      args   `json:"args"`
		Authority string `json:"authority"`
	}
	var cause *failure
	if t.Failure != nil {
		cause = &failure{t.Failure.Code, t.Failure.Args, contracts.AuthoritySupervisor}
	}
	return struct {
		Schema     string   `json:"schema"`
		Version    int      `json:"version"`
		Contract   string   `json:"contract"`
		AttemptID  string   `json:"attempt_id"`
		Invocation string   `json:"invocation"`
		Complete   bool     `json:"complete"`
		ExitClass  string   `json:"exit_class"`
		Failure    *failure `json:"failure"`
		ExitStatus int      `json:"exit_status"`
		Producer   Producer `json:"producer"`
		Limits     any      `json:"limits"`
		Charged    int64    `json:"report_charged_bytes"`
		Channels   any      `json:"channels"`
		Sink       any      `json:"sink_verification"`
		Usage      Usage    `json:"usage"`
		Cleanup    any      `json:"cleanup"`
	}{
		contracts.TerminalSchema, contracts.TerminalVersion, contracts.Contract, t.AttemptID, t.Invocation,
		t.Failure == nil, class(t.Failure), cause, t.ExitStatus(), t.Producer, t.Limits.wire(),
		t.Charged, t.Channels.wire(length), t.Sink, t.Usage, t.Cleanup.wire(),
	}
}

func (l Limits) wire() any {
	return struct {
		Limits
		TerminalBytes      int `json:"terminal_bytes"`
		StopGraceMS        int `json:"stop_grace_ms"`
		RelayQueueBytes    int `json:"relay_queue_bytes"`
		ProducerClaimBytes int `json:"producer_claim_bytes"`
	}{l, TerminalBytes, StopGraceMS, RelayQueueBytes, ProducerClaimBytes}
}

func (c Channels) wire(length int64) any {
	return struct {
		Candidate  Channel `json:"candidate"`
		Report     Channel `json:"report"`
		Sink       Sink    `json:"sink"`
		Diagnostic Channel `json:"diagnostic"`
		Status     Channel `json:"status"`
	}{c.Candidate, c.Report, c.Sink, c.Diagnostic, Channel{Observed: length, Accepted: length,
		Written: &length, Limit: Number(TerminalBytes), Complete: true, SourceTotalKnown: true}}
}

func (c Cleanup) wire() any {
	type entry struct {
		Value            *bool  `json:"value"`
		MeasurementState string `json:"measurement_state"`
	}
	state := func(f Fact) entry {
		if f == nil {
			return entry{nil, contracts.Unavailable}
		}
		return entry{f, contracts.Measured}
	}
	return struct {
		ProducerReaped   entry `json:"producer_reaped"`
		DomainEmpty      entry `json:"domain_empty"`
		ArtifactsRemoved entry `json:"artifacts_removed"`
	}{state(c.ProducerReaped), state(c.DomainEmpty), state(c.ArtifactsRemoved)}
}
