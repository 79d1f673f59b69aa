// Package certify runs a selection of the suite against one launcher and adds
// up the verdicts; it also does the same from a recorded run, with no launcher
// present.
//
// A run is a set of jobs, one script in one cell each. Jobs run in parallel,
// the attempts of a job one after another. Everything that a job finds goes
// through Aggregate, a pure function, so that a recorded run is judged by the
// very code that judged it first.
//
// The run folder holds
//
//	meta.json      what was asked, and of which suite, launcher and machine
//	policy.json    by which rules it is judged
//	events.jsonl   what happened, as it happened (package runlog)
//	launcher.toml  the launcher file
//	launcher.json  the checked launcher file
//	scripts/       the scripts that were run
//	attempts/CELL/SCRIPT/NNN/        the evidence of each attempt
//	attempts/CELL/references/NNN/    the engine's own runs
//	report.json, junit.xml, report.tap, summary.md, report.html
//	evidence.sha256, certificate.json, ledger.json
package certify
