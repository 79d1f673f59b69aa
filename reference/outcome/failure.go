package outcome

import "touchstone/contracts"

// Failure is one authoritative cause: a catalog code and its args in the order
// of the contract's table. The supervisor alone makes one; nothing in it comes
// from the producer.
//
// Rules: R11, R20.
type Failure struct {
	Code string
	Args []Arg
}

// Arg is one typed argument. Value is a string or an int64.
type Arg struct {
	Name  string
	Value any
}

// Why a boundary is refused. Rules: R20, C-15.
const (
	ReasonPlatform   = "platform"   // the kernel lacks it
	ReasonPolicy     = "policy"     // grants, reservation or a deployed rule
	ReasonDescriptor = "descriptor" // descriptor plumbing is unavailable
)

// Why a channel failed. Rules: R20.
const (
	ReasonIO         = "io"
	ReasonPeerClosed = "peer_closed"
	ReasonDeadline   = "deadline"
	ReasonProtocol   = "protocol"
)

// What a report overflow is charged to: aggregate once native bytes have used
// any of the allowance, else json. Rules: R08, C-25.
const (
	BudgetJSON      = "json"
	BudgetAggregate = "aggregate"
)

// RequestInvalid is a usage refusal. Rules: R20.
func RequestInvalid() Failure {
	return Failure{contracts.CodeRunRequestInvalid, []Arg{{"option", "arguments"}}}
}

// ModeUnsupported refuses a report mode that has no provider. Rules: R01, C-72.
func ModeUnsupported(mode string) Failure {
	return Failure{contracts.CodeReportModeUnsupported,
		[]Arg{{"mode", mode}, {"contract", "pineforge-report/v1"}}}
}

// IsolationUnavailable refuses, or ends, a run whose boundary does not hold.
// Rules: R02, R18, C-15.
func IsolationUnavailable(reason string) Failure {
	return Failure{contracts.CodeRunIsolationUnavailable, []Arg{{"reason", reason}}}
}

// ProcessRefused names the creation call that the monitor saw. Rules: R18, C-56.
func ProcessRefused(operation string) Failure {
	return Failure{contracts.CodeRunProcessRefused, []Arg{{"operation", operation}}}
}

// ReportBudget refuses a representation: used bytes of limit are taken, and
// requested more were asked for (1, the probe, at run time). Rules: R08, R20.
func ReportBudget(channel string, limit, used, requested int64) Failure {
	return Failure{contracts.CodeReportBudgetExceeded, []Arg{{"channel", channel},
		{"cap_bytes", limit}, {"used_bytes", used}, {"requested_bytes", requested}}}
}

// DiagnosticBudget refuses byte limit+1 of the diagnostics. Rules: R06, R20.
func DiagnosticBudget(limit int64) Failure {
	return Failure{contracts.CodeDiagnosticBudgetExceeded, []Arg{
		{"cap_bytes", limit}, {"used_bytes", limit}, {"requested_bytes", int64(1)}}}
}

// ChannelFailed is a transport that could not complete. Rules: R17, R20.
func ChannelFailed(channel, reason string) Failure {
	return Failure{contracts.CodeReportChannelFailed, []Arg{{"channel", channel}, {"reason", reason}}}
}

// Why a native sink failed, short of its overflow. Rules: R20, C-20.
const (
	ReasonSinkIO         = "sink_io"          // storage, finalizer or endpoint
	ReasonSinkPeerClosed = "sink_peer_closed" // finalizer or endpoint has gone
)

// SinkFailed is an established failure of the native sink. Rules: R09, R20.
func SinkFailed(reason string) Failure {
	return Failure{contracts.CodeReportSinkFailed, []Arg{{"reason", reason}}}
}

// SinkExhausted is byte limit+1 of the native sink. Rules: R08, R20.
func SinkExhausted(limit int64) Failure {
	return Failure{contracts.CodeReportSinkFailed, []Arg{{"reason", "sink_exhausted"},
		{"sink_bytes", limit + 1}, {"cap_bytes", limit}}}
}

// ResultInvalid is a value that has no canonical form, as the finalizer found
// it in a column of the sink. Rules: R11, C-76.
func ResultInvalid(field string) Failure {
	return Failure{contracts.CodeReportResultInvalid, []Arg{{"field", field}, {"reason", "nonfinite"}}}
}

// DeadlineExceeded is the end of the admitted lifetime. Rules: R16, R20.
func DeadlineExceeded(stage string) Failure {
	return Failure{contracts.CodeRunDeadlineExceeded, []Arg{{"stage", stage}}}
}

// Aborted is a cancellation that the host asked for. Rules: R20, C-4.
func Aborted() Failure { return Failure{contracts.CodeRunAborted, nil} }

// InternalFault is S's own established fault, never U's. Rules: R11.
func InternalFault() Failure { return Failure{contracts.CodeHarnessInternalError, nil} }

// ProducerFailed names how the producer ended: claim, which carries no number
// (C-34), before signal, before exit status. Rules: R19, R20.
func ProducerFailed(status Status, claim bool) Failure {
	args := []Arg{{"reason", "exit"}, {"exit_status", int64(status.Exit)}}
	switch {
	case claim:
		args = []Arg{{"reason", "claim"}}
	case status.Signal != 0:
		args = []Arg{{"reason", "signal"}, {"signal", int64(status.Signal)}}
	}
	return Failure{contracts.CodeRunProducerFailed, args}
}

// Status is the actual wait result of the producer. Signal is 0 if it exited.
type Status struct{ Exit, Signal int }

// Clean reports exit status 0.
func (s Status) Clean() bool { return s == Status{} }
