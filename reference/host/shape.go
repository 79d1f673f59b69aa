package host

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"touchstone/contracts"
)

// shape says where a value, or something in it, is not what it should be, and
// what it should have been; "" for the latter means that all is well.
type shape func(v *value) (where, wanted string)

// holds is a shape for values without members.
func holds(wanted string, ok func(v *value) bool) shape {
	return func(v *value) (string, string) {
		if v == nil || !ok(v) {
			return "", wanted
		}
		return "", ""
	}
}

// field is one member of an object.
type field struct {
	name string
	shape
}

// object is closed: these members, all of them, and no other.
func object(fields ...field) shape {
	return func(v *value) (string, string) {
		if !v.is('{') {
			return "", "an object"
		}
		for _, f := range fields {
			if where, wanted := f.shape(v.member(f.name)); wanted != "" {
				return below(f.name, where), wanted
			}
		}
		if len(v.members) > len(fields) { // each of them is there once
			return "", fmt.Sprintf("%d members, not %d", len(fields), len(v.members))
		}
		return "", ""
	}
}

func below(name, where string) string {
	if where == "" {
		return name
	}
	return name + "." + where
}

func nullable(inner shape) shape {
	return func(v *value) (string, string) {
		if v.is('n') {
			return "", ""
		}
		return inner(v)
	}
}

// all is for a value that has to be right in several ways.
func all(shapes ...shape) shape {
	return func(v *value) (string, string) {
		for _, s := range shapes {
			if where, wanted := s(v); wanted != "" {
				return where, wanted
			}
		}
		return "", ""
	}
}

func words(list ...string) shape {
	return holds("one of "+strings.Join(list, ", "), func(v *value) bool {
		return v.is('"') && slices.Contains(list, v.text)
	})
}

func constant(n int64) shape { return between(n, n) }

func between(low, high int64) shape {
	return holds(fmt.Sprintf("a whole number from %d to %d", low, high), func(v *value) bool {
		n, ok := v.number()
		return ok && low <= n && n <= high
	})
}

func hexDigits(digits int) shape {
	return holds(fmt.Sprintf("%d lowercase hex digits", digits), func(v *value) bool {
		return v.is('"') && isHex(v.text, digits)
	})
}

var (
	boolean      = holds("true or false", func(v *value) bool { return v.is('t') || v.is('f') })
	quantity     = between(0, largest)
	digest       = nullable(hexDigits(64))
	waitStatus   = nullable(between(0, 255))
	signalNumber = nullable(between(1, 64))
	anything     = holds("a value", func(*value) bool { return true })
)

// recordShape is the terminal record. Rules: R10, R12, C-48.
var recordShape = sync.OnceValue(func() shape {
	return object(
		field{"schema", words("pf-run-terminal")},
		field{"version", constant(1)},
		field{"contract", words("supervised/v1")},
		field{"attempt_id", hexDigits(32)},
		field{"invocation", words("run_json", "entrypoint")},
		field{"complete", boolean},
		field{"exit_class", words(contracts.ExitClasses()...)},
		field{"failure", nullable(failureShape("supervisor"))},
		field{"exit_status", between(0, 255)},
		field{"producer", producerShape},
		field{"limits", limitsShape},
		field{"report_charged_bytes", quantity},
		field{"channels", channelsShape},
		field{"sink_verification", nullable(verificationShape)},
		field{"usage", usageShape()},
		field{"cleanup", object(same(cleanupShape, contracts.CleanupMembers()...)...)},
	)
})

// same gives several members one shape.
func same(inner shape, names ...string) (fields []field) {
	for _, name := range names {
		fields = append(fields, field{name, inner})
	}
	return fields
}

var producerShape = object(
	field{"stage", nullable(words("prepare", "compile", "run", "finalize", "publish"))},
	field{"exit_status", waitStatus},
	field{"signal", signalNumber},
	field{"failure", nullable(failureShape("producer"))},
	field{"failure_claim_omitted", boolean},
)

var limitsShape = object(append(
	same(object(same(nullable(quantity), "requested", "granted", "effective")...), contracts.LimitTriples()...),
	field{"sink_bytes", nullable(between(1, largest))},
	field{"terminal_bytes", constant(terminalBytes)},
	field{"stop_grace_ms", constant(stopGraceMS)},
	field{"relay_queue_bytes", constant(relayQueueBytes)},
	field{"producer_claim_bytes", constant(producerClaimBytes)},
)...)

// channelShape is one entry of channels; only the candidate's writes can be unknown.
func channelShape(written shape, more ...field) shape {
	return object(append([]field{
		{"observed_bytes", quantity}, {"accepted_bytes", quantity}, {"written_bytes", written},
		{"limit_bytes", nullable(quantity)}, {"truncated", boolean}, {"complete", boolean},
		{"source_total_known", boolean}, {"sha256", digest}}, more...)...)
}

var channelsShape = object(
	field{"candidate", channelShape(nullable(quantity))},
	field{"report", channelShape(quantity)},
	field{"sink", channelShape(quantity, field{"accepted_sha256", digest}, field{"logical_sha256", digest})},
	field{"diagnostic", channelShape(quantity)},
	field{"status", channelShape(quantity)},
)

var verificationShape = object(
	field{"exit_status", waitStatus},
	field{"signal", signalNumber},
	field{"complete", boolean},
	field{"counts", object(same(nullable(quantity), contracts.SinkCounts()...)...)},
	field{"sha256", digest},
	field{"finalizer_version", anything},
)

// failureShape is a code of the catalog with the args that it needs. A claim is
// bounded, too. Rules: R10, R11.
func failureShape(authority string) shape {
	size := holds(fmt.Sprintf("at most %d bytes of args", producerClaimBytes), func(v *value) bool {
		return authority != contracts.AuthorityProducer || len(v.member("args").raw) <= producerClaimBytes
	})
	return all(object(
		field{"code", holds("a code", func(v *value) bool { return v.is('"') })},
		field{"args", holds("an object", func(v *value) bool { return v.is('{') })},
		field{"authority", words(authority)},
	), argsShape, size)
}

// cleanupShape: null means not measured, and nothing else does (C-49).
var cleanupShape = all(
	object(field{"value", nullable(boolean)}, field{"measurement_state", words("measured", "unavailable")}),
	holds("a value if and only if it was measured", func(v *value) bool {
		return v.member("value").is('n') == v.member("measurement_state").same("unavailable")
	}))

var cellStates = words("measured", "sampled_lower_bound", "unavailable", "producer_reported", "not_started")

func usageShape() shape {
	var cells []field
	for _, cell := range contracts.UsageCells() {
		cells = append(cells, field{cell.Name, cellShape(cell.Unit)})
	}
	entry := object(field{"state", cellStates}, field{"resources", object(cells...)})
	return object(field{"version", constant(1)}, field{"stages", object(same(entry, contracts.UsageStages()...)...)}, field{"job", entry})
}

// cellShape: what is not known has no number. Rules: R12.
func cellShape(unit string) shape {
	fields := append(same(nullable(quantity), "used", "requested", "limit", "peak"),
		field{"unit", words(unit)},
		field{"scope", words("stage_process", "stage_domain", "job_domain", "attachment")},
		field{"source", words("wait4", "cgroup", "filesystem", "fd_observation", "channel", "clock", "admission", "engine", "none")},
		field{"state", cellStates})
	return all(object(fields...), holds("null where nothing was measured", func(v *value) bool {
		state := v.member("state")
		blind := state.text == "unavailable" || state.text == "not_started"
		return !blind || v.member("used").is('n') && v.member("peak").is('n')
	}))
}
