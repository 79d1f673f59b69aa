// Package faultinject is a small language for syscall faults: parse, print,
// check and explain rules. It is pure: no file, process or kernel is touched.
//
// A plan is a list of lines. A rule line says which calls it watches, at
// which of them it fires and what happens then:
//
//	rule r1: on %write fd report; at bytes 4096; do errno EIO
//
// Package engine decides with a plan, package tracer applies the decisions
// to running processes, and cmd/faultinject is the command. The language and
// its limits are described in README.md of this folder.
package faultinject
