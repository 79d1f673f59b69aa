package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"syscall"

	"touchstone/contracts"
)

// outcome is the producer's wait status; the zero value is a success.
type outcome struct {
	status, signal int
}

func outcomeOf(exit *exec.ExitError) outcome {
	if wait, ok := exit.Sys().(syscall.WaitStatus); ok && wait.Signaled() {
		return outcome{signal: int(wait.Signal())}
	}
	return outcome{status: exit.ExitCode()}
}

func (u outcome) failed() bool { return u != outcome{} }

func (u outcome) facadeExit() int {
	if u.failed() {
		return 1
	}
	return 0
}

type object = map[string]any

// encode is the whole record: right in form, and wrong wherever only somebody
// in between could have known better. Its own length is made stable.
func encode(u outcome) []byte {
	var packet []byte
	for size := -1; size != len(packet); {
		size = len(packet)
		packet, _ = json.Marshal(record(u, size)) // only maps and scalars: it cannot fail
		packet = append(packet, '\n')
	}
	return packet
}

func record(u outcome, size int) object {
	return object{
		"schema": "pf-run-terminal", "version": 1, "contract": "supervised/v1",
		"attempt_id": os.Getenv("NAIVE_ATTEMPT_ID"), "invocation": "run_json",
		"complete": !u.failed(), "exit_class": u.class(), "failure": u.failure(), "exit_status": u.facadeExit(),
		"producer": object{
			"stage": "publish", "exit_status": u.waitStatus(), "signal": u.waitSignal(),
			"failure": nil, "failure_claim_omitted": false,
		},
		"limits":               limits(),
		"report_charged_bytes": 0,
		"channels": object{
			"candidate": channel(0, 67108864), "report": channel(0, 67108864),
			"sink": sink(), "diagnostic": channel(0, 1048576), "status": channel(size, 65536),
		},
		"sink_verification": nil,
		"usage":             usage(),
		"cleanup": object{
			"producer_reaped": known(true), "domain_empty": known(true), "artifacts_removed": known(true),
		},
	}
}

func (u outcome) class() string {
	if u.failed() {
		return "producer_failure"
	}
	return "success"
}

func (u outcome) failure() any {
	args := object{"reason": "exit", "exit_status": u.status}
	if u.signal != 0 {
		args = object{"reason": "signal", "signal": u.signal}
	}
	if !u.failed() {
		return nil
	}
	return object{"code": "run_producer_failed", "args": args, "authority": "supervisor"}
}

func (u outcome) waitStatus() any {
	if u.signal != 0 {
		return nil
	}
	return u.status
}

func (u outcome) waitSignal() any {
	if u.signal == 0 {
		return nil
	}
	return u.signal
}

func known(value bool) object { return object{"value": value, "measurement_state": "measured"} }

func channel(size, limit int) object {
	return object{
		"observed_bytes": size, "accepted_bytes": size, "written_bytes": size, "limit_bytes": limit,
		"truncated": false, "complete": true, "source_total_known": true, "sha256": nil,
	}
}

func sink() object {
	entry := channel(0, 0)
	entry["limit_bytes"], entry["accepted_sha256"], entry["logical_sha256"] = nil, nil, nil
	return entry
}

func limits() object {
	limit := func(value int) object { return object{"requested": nil, "granted": value, "effective": value} }
	return object{
		"report_bytes": limit(67108864), "diagnostic_bytes": limit(1048576), "wall_ms": limit(600000), "stall_ms": limit(5000),
		"sink_bytes": nil, "terminal_bytes": 65536, "stop_grace_ms": 1000, "relay_queue_bytes": 65536,
		"producer_claim_bytes": 8192,
	}
}

// usage has every cell that the contract lists and no measurement.
func usage() object {
	entry := func(state, scope string) object {
		resources := object{}
		for _, cell := range contracts.UsageCells() {
			resources[cell.Name] = object{
				"used": nil, "requested": nil, "limit": nil, "peak": nil,
				"unit": cell.Unit, "scope": scope, "source": "none", "state": state,
			}
		}
		return object{"state": state, "resources": resources}
	}
	stages := object{}
	for _, stage := range contracts.UsageStages() {
		stages[stage] = entry("not_started", "stage_process")
	}
	stages["run"] = entry("unavailable", "stage_process")
	return object{"version": 1, "stages": stages, "job": entry("unavailable", "job_domain")}
}
