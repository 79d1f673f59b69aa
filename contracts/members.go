package contracts

// TerminalMembers returns the members of the terminal record, none of them
// optional and no other allowed. Rules: R10, C-48.
func TerminalMembers() []string {
	return []string{
		"schema", "version", "contract", "attempt_id", "invocation", "complete", "exit_class",
		"failure", "exit_status", "producer", "limits", "report_charged_bytes", "channels",
		"sink_verification", "usage", "cleanup",
	}
}

// FailureMembers returns the members of failure and of producer.failure.
// Rules: R10.
func FailureMembers() []string { return []string{"code", "args", "authority"} }

// ProducerMembers returns the members of producer. Rules: R10.
func ProducerMembers() []string {
	return []string{"stage", "exit_status", "signal", "failure", "failure_claim_omitted"}
}

// LimitMembers returns the members of limits: first the four triples of
// LimitTriples, then five scalars. Rules: R10.
func LimitMembers() []string {
	return append(LimitTriples(),
		"sink_bytes", "terminal_bytes", "stop_grace_ms", "relay_queue_bytes", "producer_claim_bytes")
}

// LimitTriples returns the limits that a caller may request. Rules: R07, R10.
func LimitTriples() []string {
	return []string{"report_bytes", "diagnostic_bytes", "wall_ms", "stall_ms"}
}

// LimitTripleMembers returns the members of each of LimitTriples. Rules: R10.
func LimitTripleMembers() []string { return []string{"requested", "granted", "effective"} }

// ChannelMembers returns the members of every channel entry. Rules: R10.
func ChannelMembers() []string {
	return []string{
		"observed_bytes", "accepted_bytes", "written_bytes", "limit_bytes",
		"truncated", "complete", "source_total_known", "sha256",
	}
}

// SinkExtraMembers returns the members that the sink entry has besides
// ChannelMembers. Rules: R10, C-23.
func SinkExtraMembers() []string { return []string{"accepted_sha256", "logical_sha256"} }

// SinkVerificationMembers returns the members of sink_verification. Rules: R10.
func SinkVerificationMembers() []string {
	return []string{"exit_status", "signal", "complete", "counts", "sha256", "finalizer_version"}
}

// SinkCounts returns the seven record tags that counts holds. Rules: R10.
func SinkCounts() []string { return []string{"E", "T", "O", "V", "K", "X", "H"} }

// CleanupMembers returns the members of cleanup. Rules: R10.
func CleanupMembers() []string {
	return []string{"producer_reaped", "domain_empty", "artifacts_removed"}
}

// CleanupEntryMembers returns the members of each cleanup entry. Rules: R10.
func CleanupEntryMembers() []string { return []string{"value", "measurement_state"} }

// SnapshotMembers returns the members of the one snapshot packet. Rules: R05.
func SnapshotMembers() []string {
	return []string{"record", "version", "sink_bytes", "remaining_report_bytes", "sha256"}
}
