package contracts

// Failure codes that the contract itself uses. Each is in LoadCatalog.
//
// Rules: R20.
const (
	// The seven that the contract adds.
	CodeReportBudgetExceeded     = "report_budget_exceeded"
	CodeDiagnosticBudgetExceeded = "diagnostic_budget_exceeded"
	CodeReportChannelFailed      = "report_channel_failed"
	CodeRunIsolationUnavailable  = "run_isolation_unavailable"
	CodeRunProcessRefused        = "run_process_refused"
	CodeRunDeadlineExceeded      = "run_deadline_exceeded"
	CodeRunProducerFailed        = "run_producer_failed"

	// Existing codes that keep their meaning.
	CodeHarnessInternalError        = "harness_internal_error"
	CodeReportModeUnsupported       = "report_mode_unsupported"
	CodeReportPostExecutionFailed   = "report_post_execution_failed"
	CodeReportResultInvalid         = "report_result_invalid"
	CodeReportSinkFailed            = "report_sink_failed"
	CodeRunAborted                  = "run_aborted"
	CodeRunRequestInvalid           = "run_request_invalid"
	CodeScratchConfigurationInvalid = "scratch_configuration_invalid"
)

// ContractCodes returns the codes that the contract itself uses: the seven new
// ones in R20's order, then the existing ones by name.
//
// Rules: R20.
func ContractCodes() []string {
	return []string{
		CodeReportBudgetExceeded, CodeDiagnosticBudgetExceeded, CodeReportChannelFailed,
		CodeRunIsolationUnavailable, CodeRunProcessRefused, CodeRunDeadlineExceeded,
		CodeRunProducerFailed,
		CodeHarnessInternalError, CodeReportModeUnsupported, CodeReportPostExecutionFailed,
		CodeReportResultInvalid, CodeReportSinkFailed, CodeRunAborted, CodeRunRequestInvalid,
		CodeScratchConfigurationInvalid,
	}
}
