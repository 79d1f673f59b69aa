package oracle

const (
	digestForm  = "[0-9a-f]{64}"
	attemptForm = "[0-9a-f]{32}"
	codeForm    = "[a-z][a-z0-9_]{2,47}"
)

// Fixed limits of the record and of the policy that the contract publishes.
//
// Rules: R07, R10.
const (
	terminalBytes      = 65536
	stopGraceMS        = 1000
	relayQueueBytes    = 65536
	producerClaimBytes = 8192
)

// recordShape is the whole terminal record, closed at every level.
//
// Rules: R10, R12, C-48.
var recordShape = object("T1.35",
	field{"schema", word("T1.37", "pf-run-terminal")},
	field{"version", constant("T1.37", 1)},
	field{"contract", word("T1.37", "supervised/v1")},
	field{"attempt_id", pattern("T1.38", attemptForm)},
	field{"invocation", word("T1.39", "run_json", "entrypoint")},
	field{"complete", boolean("T1.40")},
	field{"exit_class", word("T1.41", "success", "input_refusal", "resource_refusal",
		"producer_failure", "transport_failure", "harness_fault", "aborted")},
	field{"failure", nullable(failureShape("T1.42", "supervisor"))},
	field{"exit_status", integer("T1.44", 0, 255)},
	field{"producer", object("T1.45",
		field{"stage", nullable(word("T1.46", "prepare", "compile", "run", "finalize", "publish"))},
		field{"exit_status", nullable(integer("T1.47", 0, 255))},
		field{"signal", nullable(integer("T1.47", 1, 64))},
		field{"failure", nullable(failureShape("T1.48", "producer"))},
		field{"failure_claim_omitted", boolean("T1.48")})},
	field{"limits", object("T1.49",
		field{"report_bytes", limitShape()},
		field{"diagnostic_bytes", limitShape()},
		field{"wall_ms", limitShape()},
		field{"stall_ms", limitShape()},
		field{"sink_bytes", nullable(integer("T1.52", 1, maxSafe))},
		field{"terminal_bytes", constant("T1.51", terminalBytes)},
		field{"stop_grace_ms", constant("T1.51", stopGraceMS)},
		field{"relay_queue_bytes", constant("T1.51", relayQueueBytes)},
		field{"producer_claim_bytes", constant("T1.51", producerClaimBytes)})},
	field{"report_charged_bytes", integer("T1.53", 0, maxSafe)},
	field{"channels", object("T1.54",
		field{"candidate", channelShape(nullable(count()))},
		field{"report", channelShape(count())},
		field{"sink", channelShape(count(),
			field{"accepted_sha256", digestShape()}, field{"logical_sha256", digestShape()})},
		field{"diagnostic", channelShape(count())},
		field{"status", channelShape(count())})},
	field{"sink_verification", nullable(verificationShape())},
	field{"usage", usageShape()},
	field{"cleanup", object("T1.70",
		field{"producer_reaped", cleanupShape()},
		field{"domain_empty", cleanupShape()},
		field{"artifacts_removed", cleanupShape()})},
)

func failureShape(id, authority string) shape {
	return object(id,
		field{"code", pattern(id, codeForm)},
		field{"args", anyObject(id)},
		field{"authority", word(id, authority)})
}

func limitShape() shape {
	return object("T1.50",
		field{"requested", nullable(integer("T1.50", 0, maxSafe))},
		field{"granted", nullable(integer("T1.50", 0, maxSafe))},
		field{"effective", nullable(integer("T1.50", 0, maxSafe))})
}

func count() shape { return integer("T1.56", 0, maxSafe) }

func digestShape() shape { return nullable(pattern("T1.56", digestForm)) }

func channelShape(written shape, more ...field) shape {
	return object("T1.55", append([]field{
		{"observed_bytes", count()},
		{"accepted_bytes", count()},
		{"written_bytes", written},
		{"limit_bytes", nullable(count())},
		{"truncated", boolean("T1.56")},
		{"complete", boolean("T1.56")},
		{"source_total_known", boolean("T1.56")},
		{"sha256", digestShape()},
	}, more...)...)
}

func verificationShape() shape {
	quantity := func() shape { return nullable(integer("T1.68", 0, maxSafe)) }
	counts := nullable(object("T1.68",
		field{"E", quantity()}, field{"T", quantity()}, field{"O", quantity()}, field{"V", quantity()},
		field{"K", quantity()}, field{"X", quantity()}, field{"H", quantity()}))
	return object("T1.68",
		field{"exit_status", nullable(integer("T1.68", 0, 255))},
		field{"signal", nullable(integer("T1.68", 1, 64))},
		field{"complete", boolean("T1.68")},
		field{"counts", counts},
		field{"sha256", nullable(pattern("T1.68", digestForm))},
		field{"finalizer_version", anyValue()})
}

func cleanupShape() shape {
	return object("T1.70",
		field{"value", nullable(boolean("T1.70"))},
		field{"measurement_state", word("T1.70", "measured", "unavailable")})
}
