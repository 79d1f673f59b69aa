package admission

import (
	"errors"
	"fmt"

	"touchstone/reference/record"
)

// Defaults of omitted limits. Rules: R07.
const (
	defaultReportBytes     = 67108864
	defaultDiagnosticBytes = 1048576
	defaultWallMS          = 600000
	defaultStallMS         = 5000
)

// errAboveGrant refuses a request that the host did not grant; it is a usage
// refusal, never a clamp.
var errAboveGrant = errors.New("above the host's grant")

// errNoGrant refuses a run for which the host granted nothing.
var errNoGrant = errors.New("no positive grant")

// resolve returns the limits as far as they are known, and why they do not
// admit the run. A limit that does not resolve has no effective value.
//
// Rules: R07, C-13, C-14.
func resolve(r Request, g Grants) (record.Limits, error) {
	var l record.Limits
	var refusals []error
	for _, each := range []struct {
		name      string
		limit     *record.Limit
		requested *int64
		granted   *int64
		standard  int64
	}{
		{"report_bytes", &l.ReportBytes, r.ReportBytes, g.ReportBytes, defaultReportBytes},
		{"diagnostic_bytes", &l.DiagnosticBytes, r.DiagnosticBytes, g.DiagnosticBytes, defaultDiagnosticBytes},
		{"wall_ms", &l.WallMS, r.WallMS, g.WallMS, defaultWallMS},
		{"stall_ms", &l.StallMS, r.StallMS, g.StallMS, defaultStallMS},
	} {
		effective, err := effectiveLimit(each.requested, each.granted, each.standard)
		if err != nil {
			refusals = append(refusals, fmt.Errorf("limit %s: %w", each.name, err))
		}
		*each.limit = record.Limit{Requested: each.requested, Granted: each.granted, Effective: effective}
	}
	return l, errors.Join(refusals...)
}

// effectiveLimit: omitted is the standard value within the grant, zero is the
// grant, a positive request is taken exactly or not at all.
func effectiveLimit(requested, granted *int64, standard int64) (*int64, error) {
	if granted == nil || *granted <= 0 {
		return nil, errNoGrant
	}
	effective := min(standard, *granted)
	if requested != nil {
		effective = *requested
		if effective == 0 {
			effective = *granted
		}
	}
	if effective > *granted {
		return nil, errAboveGrant
	}
	return &effective, nil
}
