package engine

import (
	"fmt"

	"touchstone/faultinject"
)

// Tally is what became of one rule.
type Tally struct {
	ID           string `json:"id"`
	Seen         uint64 `json:"seen"`         // logical calls counted
	Fired        uint64 `json:"fired"`        // firings realised; a storm is one
	First        uint64 `json:"first"`        // ordinal of the first firing, 0 none
	Refunded     uint64 `json:"refunded"`     // firings given back
	Delivered    uint64 `json:"delivered"`    // calls acted on; a storm has many
	Inapplicable uint64 `json:"inapplicable"` // due calls that the action did not fit
	OtherRole    uint64 `json:"other_role"`   // calls left alone only for their role
	Bytes        uint64 `json:"bytes"`        // moved before the rule was done, scope rule
	AsAsked      bool   `json:"as_asked"`
	Why          string `json:"why,omitempty"`
}

// Tallies returns what became of every rule, in file order.
func (e *Engine) Tallies() []Tally {
	var out []Tally
	for _, r := range e.rules {
		t := Tally{ID: r.ID, Seen: r.seen, Fired: r.realised, First: r.first, Refunded: r.refunded, Delivered: r.delivered,
			Inapplicable: r.inapplicable, OtherRole: r.otherRole, Bytes: r.sole.bytes}
		t.Why = r.complaint()
		t.AsAsked = t.Why == ""
		out = append(out, t)
	}
	return out
}

// complaint returns how the rule did not do as asked, or "".
func (r *rule) complaint() string {
	switch {
	case r.overfired:
		return fmt.Sprintf("fired %d times, asked for %d", r.realised, r.Times)
	case r.inexact != "":
		return "byte count not exact: " + r.inexact
	case r.realised == 0 && r.after != nil && r.after.realised == 0:
		return "never fired: rule " + r.after.ID + " never did"
	case r.realised == 0 && r.seen == 0 && r.otherRole > 0:
		return fmt.Sprintf("never fired: %d calls, all by another role", r.otherRole)
	case r.realised == 0 && r.inapplicable > 0:
		return fmt.Sprintf("never fired: the action did not fit %d calls", r.inapplicable)
	case r.realised == 0:
		return fmt.Sprintf("never fired: %d calls seen", r.seen)
	case r.Scope == faultinject.PerRule && r.Times != faultinject.Unlimited && r.realised < uint64(r.Times):
		return fmt.Sprintf("fired %d times, asked for %d", r.realised, r.Times)
	case r.Do.Storm > 1 && r.Do.StormFor == 0 && r.delivered < r.realised*r.Do.Storm:
		return fmt.Sprintf("storm of %d calls, asked for %d", r.delivered, r.realised*r.Do.Storm)
	}
	return ""
}
