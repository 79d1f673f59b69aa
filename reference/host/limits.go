package host

import (
	"strconv"
	"strings"
	"time"

	"touchstone/contracts"
)

// The four limits that a caller may set, as they are named everywhere here.
const (
	reportBytes     = "report_bytes"
	diagnosticBytes = "diagnostic_bytes"
	wallMS          = "wall_ms"
	stallMS         = "stall_ms"
)

// Fixed limits of the contract, as this verifier reads it. Rules: R07.
const (
	terminalBytes      = 65536 // largest packet, LF included
	stopGraceMS        = 1000
	relayQueueBytes    = 65536
	producerClaimBytes = 8192
	stopGrace          = stopGraceMS * time.Millisecond
)

// defaults hold where the caller asks for nothing; they are the default grants,
// too. Rules: R07.
var defaults = map[string]int64{reportBytes: 67108864, diagnosticBytes: 1048576, wallMS: 600000, stallMS: 5000}

// Limit is one limit: what the command asks for (nil: nothing, or nothing that
// can be read), what was granted, and what must follow.
type Limit struct {
	Requested          *int64
	Granted, Effective int64
}

// Limits are the four limits by name.
type Limits map[string]Limit

// limits finds out what S is asked for the way S does: the direct facade reads
// flags and variables, flag first, the entrypoint variables only. A value that
// S must refuse bounds nothing, so the grant stands in its place.
//
// Rules: R07, C-5, C-14.
func (o *Options) limits(lookup func(string) (string, bool)) Limits {
	all := Limits{}
	for _, l := range []struct {
		name, flag, variable string
		granted              int64
	}{
		{reportBytes, "--report-max-bytes", "PINEFORGE_REPORT_MAX_BYTES", o.Grants.ReportBytes},
		{diagnosticBytes, "--diagnostic-max-bytes", "PINEFORGE_DIAGNOSTIC_MAX_BYTES", o.Grants.DiagnosticBytes},
		{wallMS, "--channel-wall-ms", "PINEFORGE_CHANNEL_WALL_MS", o.Grants.WallMS},
		{stallMS, "--channel-stall-ms", "PINEFORGE_CHANNEL_STALL_MS", o.Grants.StallMS},
	} {
		text, given := "", false
		if o.Invocation == contracts.InvocationRunJSON {
			text, given = argument(o.Command, l.flag)
		}
		if !given {
			text, given = lookup(l.variable)
		}
		limit := Limit{Granted: l.granted, Effective: l.granted}
		if n, ok := decimal(text); given && ok {
			limit.Requested = &n
			if n > 0 && n <= l.granted {
				limit.Effective = n
			}
		} else if !given {
			limit.Effective = min(l.granted, defaults[l.name])
		}
		all[l.name] = limit
	}
	return all
}

// argument finds the value of a flag in a command.
func argument(command []string, flag string) (string, bool) {
	for i, word := range command {
		if value, joined := strings.CutPrefix(word, flag+"="); joined {
			return value, true
		}
		if word == flag && i+1 < len(command) {
			return command[i+1], true
		}
	}
	return "", false
}

// decimal reads digits only, up to the largest that a caller may ask.
func decimal(text string) (int64, bool) {
	n, err := strconv.ParseUint(text, 10, 64)
	return int64(n), err == nil && n <= largest-1
}

// watch is how long the host waits for an outcome, from the spawn of S.
//
// Rules: R16, C-50.
func (l Limits) watch() time.Duration {
	return milliseconds(l[wallMS].Effective) + milliseconds(l[stallMS].Effective) + stopGrace
}

// milliseconds is a limit as a duration; more than 34 years is as good as that.
func milliseconds(n int64) time.Duration { return time.Duration(min(n, 1<<40)) * time.Millisecond }

// cancelWatch bounds what follows a cancellation: the grace, one interval for a
// failure document, one for the record.
func (l Limits) cancelWatch() time.Duration {
	return 2*milliseconds(l[stallMS].Effective) + stopGrace
}
