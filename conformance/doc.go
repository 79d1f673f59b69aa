// Package conformance holds no code: its tests run the suite's scripts against
// the reference launcher, and hold the import edges between the parts of the
// project.
//
//	go test ./conformance -run 'TestContract/T14'
//
// runs the scripts of one acceptance test. The parts are in the folders below;
// the command is conformance/cmd/touchstone.
package conformance
