package oracle

// exitClass gives the exit class of a failure code that a supervisor may
// establish; false for any other code.
//
// Rules: R10, R20, C-19.
func exitClass(code string) (string, bool) {
	switch code {
	case "run_request_invalid", "report_mode_unsupported", "scratch_configuration_invalid":
		return "input_refusal", true
	case "report_budget_exceeded", "diagnostic_budget_exceeded", "run_process_refused",
		"run_deadline_exceeded", "run_isolation_unavailable":
		return "resource_refusal", true
	case "run_producer_failed":
		return "producer_failure", true
	case "report_channel_failed", "report_sink_failed", "report_result_invalid":
		return "transport_failure", true
	case "harness_internal_error":
		return "harness_fault", true
	case "run_aborted":
		return "aborted", true
	}
	return "", false
}

// facadeExit gives the exit statuses that a facade may end with for an exit
// class and code. The entrypoint keeps its early-stage numbers, 3 and 5, for a
// tool that failed, by the stage that the record names ("" for none), and 2 for
// a missing mount; a strategy may have been loaded in the stage prepare, too. An unsupported report mode
// keeps the exit of an ordinary failure (T36.01).
//
// Rules: R01, R20, C-16.
func facadeExit(invocation, class, code, stage string) []uint64 {
	switch {
	case code == "report_mode_unsupported" && invocation != "entrypoint":
		return []uint64{1}
	case class == "success":
		return []uint64{0}
	case invocation == "entrypoint" && class == "producer_failure" && stage == "compile":
		return []uint64{3, 5}
	case invocation == "entrypoint" && class == "producer_failure" && stage == "prepare":
		return []uint64{5, 3, 4}
	case invocation == "entrypoint" && class == "producer_failure" && stage == "":
		return []uint64{2, 4}
	case invocation == "entrypoint" && class == "input_refusal":
		return []uint64{4, 2}
	case invocation == "entrypoint":
		return []uint64{4}
	case class == "input_refusal":
		return []uint64{2}
	}
	return []uint64{1}
}

// Defaults of the four limits that a caller may set, which are also the
// default grants.
//
// Rules: R07.
const (
	defaultReportBytes     = 67108864
	defaultDiagnosticBytes = 1048576
	defaultWallMS          = 600000
	defaultStallMS         = 5000
)

// limitTable names the four limits: member of the record, knob of a script.
var limitTable = []struct {
	member, knob string
	otherwise    uint64
}{
	{"report_bytes", "report", defaultReportBytes},
	{"diagnostic_bytes", "diagnostic", defaultDiagnosticBytes},
	{"wall_ms", "wall", defaultWallMS},
	{"stall_ms", "stall", defaultStallMS},
}
