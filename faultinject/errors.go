package faultinject

import (
	"errors"
	"strings"
)

// Error is a refusal or a warning about one place of a plan.
type Error struct {
	Pos     Pos
	Rule    string // empty before a rule is known
	Text    string
	Warning bool
}

// Error returns "line:col: rule ID: text", with "warning: " where it is one.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Pos.String() + ": ")
	if e.Rule != "" {
		b.WriteString("rule " + e.Rule + ": ")
	}
	if e.Warning {
		b.WriteString("warning: ")
	}
	b.WriteString(e.Text)
	return b.String()
}

// join turns the refusals among found into one error, or nil.
func join(found []*Error) error {
	var errs []error
	for _, e := range found {
		if !e.Warning {
			errs = append(errs, e)
		}
	}
	return errors.Join(errs...)
}
