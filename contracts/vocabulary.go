package contracts

// Identity of the terminal record and of the contract it belongs to.
//
// Rules: R01, R10.
const (
	Contract        = "supervised/v1"
	TerminalSchema  = "pf-run-terminal"
	TerminalVersion = 1
)

// Exit classes: terminal dispositions, separate from catalog classes.
//
// Rules: R10.
const (
	ClassSuccess          = "success"
	ClassInputRefusal     = "input_refusal"
	ClassResourceRefusal  = "resource_refusal"
	ClassProducerFailure  = "producer_failure"
	ClassTransportFailure = "transport_failure"
	ClassHarnessFault     = "harness_fault"
	ClassAborted          = "aborted"
)

// ExitClasses returns the seven values of exit_class. Rules: R10.
func ExitClasses() []string {
	return []string{
		ClassSuccess, ClassInputRefusal, ClassResourceRefusal, ClassProducerFailure,
		ClassTransportFailure, ClassHarnessFault, ClassAborted,
	}
}

// Who vouches for a failure: the supervisor for the authoritative one, the
// producer for its own claim. Rules: R10, R11.
const (
	AuthoritySupervisor = "supervisor"
	AuthorityProducer   = "producer"
)

// Authorities returns the two values of authority. Rules: R10, R11.
func Authorities() []string { return []string{AuthoritySupervisor, AuthorityProducer} }

// The two facades. Rules: R01, R10.
const (
	InvocationRunJSON    = "run_json"
	InvocationEntrypoint = "entrypoint"
)

// Invocations returns the two values of invocation. Rules: R10.
func Invocations() []string { return []string{InvocationRunJSON, InvocationEntrypoint} }

// The stages, in the order in which they begin. Rules: R10, R12, R16.
const (
	StagePrepare  = "prepare"
	StageCompile  = "compile"
	StageRun      = "run"
	StageFinalize = "finalize"
	StagePublish  = "publish"
)

// Stages returns the five stages in order; producer.stage may also be null.
// Rules: R10, R16.
func Stages() []string {
	return []string{StagePrepare, StageCompile, StageRun, StageFinalize, StagePublish}
}

// The channels of the terminal record. Rules: R10.
const (
	ChannelCandidate  = "candidate"
	ChannelReport     = "report"
	ChannelSink       = "sink"
	ChannelDiagnostic = "diagnostic"
	ChannelStatus     = "status"
)

// Channels returns the five entries of channels. Rules: R10.
func Channels() []string {
	return []string{ChannelCandidate, ChannelReport, ChannelSink, ChannelDiagnostic, ChannelStatus}
}

// Whether a cleanup fact was seen. Rules: R10, C-49.
const (
	Measured    = "measured"
	Unavailable = "unavailable"
)

// MeasurementStates returns the two values of measurement_state. Rules: R10.
func MeasurementStates() []string { return []string{Measured, Unavailable} }
