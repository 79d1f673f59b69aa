package record

import (
	"touchstone/contracts"
	"touchstone/reference/outcome"
)

// ExitStatus returns the exit status of a facade.
//
// The direct one ends with 0 without a failure, 2 for a usage refusal that S
// established, else 1. A refused report mode keeps the exit of the engine's
// ordinary failure, 1.
//
// The entrypoint ends with 0 or 4. early is its own number for a genuine failure
// before the backtest, as the shell has them: 2 for a missing mount, 3 for
// compilation and binding, 5 for transpilation, 0 for no such failure.
//
// Rules: R20, C-12, C-16, C-72.
func ExitStatus(invocation string, failure *outcome.Failure, early int) int {
	switch {
	case failure == nil:
		return 0
	case invocation == contracts.InvocationEntrypoint && early != 0:
		return early
	case invocation == contracts.InvocationEntrypoint:
		return 4
	case failure.Code == contracts.CodeRunRequestInvalid:
		return 2
	}
	return 1
}

// class returns the exit class, which is not the catalog's class.
//
// Rules: R10, C-19.
func class(failure *outcome.Failure) string {
	if failure == nil {
		return contracts.ClassSuccess
	}
	switch failure.Code {
	case contracts.CodeRunRequestInvalid, contracts.CodeReportModeUnsupported:
		return contracts.ClassInputRefusal
	case contracts.CodeReportBudgetExceeded, contracts.CodeDiagnosticBudgetExceeded,
		contracts.CodeRunProcessRefused, contracts.CodeRunDeadlineExceeded,
		contracts.CodeRunIsolationUnavailable:
		return contracts.ClassResourceRefusal
	case contracts.CodeRunProducerFailed:
		return contracts.ClassProducerFailure
	case contracts.CodeReportChannelFailed, contracts.CodeReportSinkFailed,
		contracts.CodeReportResultInvalid:
		return contracts.ClassTransportFailure
	case contracts.CodeRunAborted:
		return contracts.ClassAborted
	}
	return contracts.ClassHarnessFault
}

// texts are the fixed English of the codes that S can establish: the
// contract's own for the seven it adds, this project's for the others.
var texts = map[string]string{
	contracts.CodeReportBudgetExceeded:     "The report exceeds its admitted byte budget.",
	contracts.CodeDiagnosticBudgetExceeded: "The diagnostics exceed their admitted byte budget.",
	contracts.CodeReportChannelFailed:      "A report transport could not complete.",
	contracts.CodeRunIsolationUnavailable:  "The requested report isolation is unavailable.",
	contracts.CodeRunProcessRefused:        "The native process attempted forbidden process creation.",
	contracts.CodeRunDeadlineExceeded:      "The admitted channel lifetime expired.",
	contracts.CodeRunProducerFailed:        "The native report producer did not complete successfully.",
	contracts.CodeRunRequestInvalid:        "The run request is invalid.",
	contracts.CodeReportModeUnsupported:    "The requested report mode is not supported.",
	contracts.CodeReportResultInvalid:      "The report holds a value that has no canonical form.",
	contracts.CodeReportSinkFailed:         "The report storage could not complete.",
	contracts.CodeRunAborted:               "The run was aborted.",
	contracts.CodeHarnessInternalError:     "The harness failed internally.",
}
