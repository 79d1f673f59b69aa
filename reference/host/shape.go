package host

import (
	"fmt"
	"strings"

	"touchstone/contracts"
)

// shape says what a value at a path should have been, if it is not that.
type shape func(path string, v *value, wrong func(path, wanted string))

// holds is a shape for values without members.
func holds(wanted string, ok func(v *value) bool) shape {
	return func(path string, v *value, wrong func(string, string)) {
		if v == nil || !ok(v) {
			wrong(path, wanted)
		}
	}
}

type members map[string]shape

// object is closed: these members, all of them, and no other.
func object(all members) shape {
	return func(path string, v *value, wrong func(string, string)) {
		if !v.is('{') {
			wrong(path, "an object")
			return
		}
		for name := range v.members {
			if all[name] == nil {
				wrong(path+"."+name, "no such member")
			}
		}
		for name, inner := range all {
			inner(path+"."+name, v.members[name], wrong)
		}
	}
}

func nullable(inner shape) shape {
	return func(path string, v *value, wrong func(string, string)) {
		if !v.is('n') {
			inner(path, v, wrong)
		}
	}
}

func words(list ...string) shape {
	return holds("one of "+strings.Join(list, ", "), func(v *value) bool {
		for _, word := range list {
			if v.same(word) {
				return true
			}
		}
		return false
	})
}

func constant(n int64) shape {
	return holds(fmt.Sprint(n), func(v *value) bool { return v.same(n) })
}

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
var recordShape = object(members{
	"schema":               words("pf-run-terminal"),
	"version":              constant(1),
	"contract":             words("supervised/v1"),
	"attempt_id":           hexDigits(32),
	"invocation":           words("run_json", "entrypoint"),
	"complete":             boolean,
	"exit_class":           words(contracts.ExitClasses()...),
	"failure":              nullable(failureShape("supervisor")),
	"exit_status":          between(0, 255),
	"report_charged_bytes": quantity,
	"producer": object(members{
		"stage": nullable(stageName), "exit_status": waitStatus, "signal": signalNumber,
		"failure": nullable(failureShape("producer")), "failure_claim_omitted": boolean}),
	"limits": object(members{
		reportBytes: limitShape, diagnosticBytes: limitShape, wallMS: limitShape, stallMS: limitShape,
		"sink_bytes": nullable(between(1, largest)), "terminal_bytes": constant(terminalBytes),
		"stop_grace_ms": constant(stopGraceMS), "relay_queue_bytes": constant(relayQueueBytes),
		"producer_claim_bytes": constant(producerClaimBytes)}),
	"channels": object(members{
		"candidate": object(channelMembers(nullable(quantity))), "report": object(channelMembers(quantity)),
		"diagnostic": object(channelMembers(quantity)), "status": object(channelMembers(quantity)), "sink": object(sinkMembers())}),
	"sink_verification": nullable(object(members{
		"exit_status": waitStatus, "signal": signalNumber, "complete": boolean, "sha256": digest, "finalizer_version": anything,
		"counts": object(same(nullable(quantity), contracts.SinkCounts()...))})),
	"usage": object(members{
		"version": constant(1), "stages": object(same(usageShape, contracts.UsageStages()...)), "job": usageShape}),
	"cleanup": object(same(cleanupShape, "producer_reaped", "domain_empty", "artifacts_removed")),
})

var stageName = words("prepare", "compile", "run", "finalize", "publish")

var limitShape = object(same(nullable(quantity), "requested", "granted", "effective"))

// same gives several members one shape.
func same(inner shape, names ...string) members {
	all := members{}
	for _, name := range names {
		all[name] = inner
	}
	return all
}

func channelMembers(written shape) members {
	return members{"observed_bytes": quantity, "accepted_bytes": quantity, "written_bytes": written,
		"limit_bytes": nullable(quantity), "truncated": boolean, "complete": boolean, "source_total_known": boolean, "sha256": digest}
}

func sinkMembers() members {
	all := channelMembers(quantity)
	all["accepted_sha256"], all["logical_sha256"] = digest, digest
	return all
}

// failureShape is a code of the catalog with the args that it needs.
func failureShape(authority string) shape {
	form := object(members{"code": holds("a code", func(v *value) bool { return v.is('"') }),
		"args": holds("an object", func(v *value) bool { return v.is('{') }), "authority": words(authority)})
	return func(path string, v *value, wrong func(string, string)) {
		before := false
		form(path, v, func(path, wanted string) { before = true; wrong(path, wanted) })
		if before {
			return
		}
		argsShape(v.at("code").text)(path+".args", v.at("args"), wrong)
		if size := len(v.at("args").raw); authority == "producer" && size > producerClaimBytes {
			wrong(path+".args", fmt.Sprintf("at most %d bytes", producerClaimBytes))
		}
	}
}

// cleanupShape: null means not measured, and nothing else does (C-49).
func cleanupShape(path string, v *value, wrong func(string, string)) {
	object(members{"value": nullable(boolean), "measurement_state": words("measured", "unavailable")})(path, v, wrong)
	if v.at("value").is('n') != v.at("measurement_state").same("unavailable") {
		wrong(path, "a value if and only if it was measured")
	}
}

var cellStates = words("measured", "sampled_lower_bound", "unavailable", "producer_reported", "not_started")

var usageShape = func() shape {
	cells := members{}
	for _, cell := range contracts.UsageCells() {
		cells[cell.Name] = cellShape(cell.Unit)
	}
	return object(members{"state": cellStates, "resources": object(cells)})
}()

// cellShape: what is not known has no number.
func cellShape(unit string) shape {
	form := object(members{
		"used": nullable(quantity), "requested": nullable(quantity), "limit": nullable(quantity), "peak": nullable(quantity),
		"unit": words(unit), "state": cellStates,
		"scope": words("stage_process", "stage_domain", "job_domain", "attachment"),
		"source": words("wait4", "cgroup", "filesystem", "fd_observation", "channel", "clock", "admission", "engine",
			"none")})
	return func(path string, v *value, wrong func(string, string)) {
		form(path, v, wrong)
		blind := v.at("state").same("unavailable") || v.at("state").same("not_started")
		if blind && !(v.at("used").is('n') && v.at("peak").is('n')) {
			wrong(path, "null where nothing was measured")
		}
	}
}
