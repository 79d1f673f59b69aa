// Package scenario says, in plain values, what one attempt does: which
// launch, with which fixture, limits, grants, endpoints, readers and
// controls. A scenario is written into the attempt folder as scenario.json
// and is part of the evidence; it names no path outside that folder.
//
// The zero value of every optional member means the contract's default.
package scenario
