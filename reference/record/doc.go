// Package record writes what S says about an attempt: the terminal record
// pf-run-terminal/v1 and the failure document that may take a report's place.
//
// It only encodes. The exit class and the facade's exit status follow from the
// failure code and are derived here, so that no record can contradict itself.
// These maps stand here as literals; the suite's oracle has its own.
//
// Rules: R10, R12, R20.
package record
