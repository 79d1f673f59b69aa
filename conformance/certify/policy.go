package certify

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"touchstone/conformance/certificate"
	"touchstone/conformance/launcherfile"
)

const policyFile = "policy.json"

// policy is policy.json: what a run was asked to do and by which rules it is
// judged, so that a reader need not know the launcher file.
type policy struct {
	Version      int            `json:"version"` // 1
	RunID        string         `json:"run_id"`
	Request      Request        `json:"request"`
	Cells        []string       `json:"cells"`
	Scripts      []string       `json:"scripts"`
	Planned      map[string]int `json:"planned"` // assertions by cell
	Jobs         int            `json:"jobs"`    // scripts at a time
	SlackMS      uint64         `json:"slack_ms"`
	Gaps         []gapRule      `json:"gaps"`
	AgeLimitDays int            `json:"age_limit_days"`
	ExitStatuses map[string]int `json:"exit_statuses"`
}

// gapRule is a declared gap.
type gapRule struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
	Owner  string `json:"owner"`
	Expiry string `json:"expiry"`
}

func encodePolicy(runID string, s Selection, jobs int) ([]byte, error) {
	p := policy{Version: 1, RunID: runID, Request: s.Request, Planned: map[string]int{}, Jobs: jobs, SlackMS: uint64(s.File.Tolerance.SlackMS),
		Gaps: gapRules(s.File.Gap), AgeLimitDays: certificate.DefaultDays,
		ExitStatuses: map[string]int{"conforming": Conforming, "not_conforming": NotConforming, "undecided": Undecided, "stale": Stale, "usage": Usage, "internal": Internal}}
	p.Request.Tests = append([]string{}, p.Request.Tests...)
	for _, cell := range s.cells {
		p.Cells = append(p.Cells, cell.String())
		p.Planned[cell.String()] = len(tally{selection: s}.planned(cell))
	}
	for _, one := range s.Scripts {
		p.Scripts = append(p.Scripts, one.Name)
	}
	text, err := json.Marshal(p, json.Deterministic(true), jsontext.WithIndent(" "))
	if err != nil {
		return nil, fmt.Errorf("encode policy: %w", err)
	}
	return append(text, '\n'), nil
}

func gapRules(gaps []launcherfile.Gap) []gapRule {
	rules := []gapRule{}
	for _, g := range gaps {
		rules = append(rules, gapRule{g.ID, g.Reason, g.Owner, g.Expiry})
	}
	return rules
}
