// Package driver runs one attempt and records it. It judges nothing.
//
// The runner prepares an attempt folder (Prepare) and starts the attempt's own
// process (Start), which calls Run:
//
//	runner ── Start ──> attempt process, PID 1 of new pid, mount, ipc, net and uts namespaces
//	                      ├─ launcher under test (or the reference or control program)
//	                      │    └─ whatever it starts
//	                      └─ reads report, diagnostic, terminal; writes the evidence
//
// Whatever a launcher or an uncontained fixture does can reach only the
// attempt's own processes, and dies with them. Run is one goroutine around one
// ppoll: it alone owns the endpoints, the record and every wait.
package driver
