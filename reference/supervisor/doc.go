// Package supervisor runs one attempt under supervised/v1: it is S.
//
// # Processes
//
//	host ── starts ──> S (refsup run_json, refsup entrypoint): one locked thread, one loop
//	                   ├── worker     S's own binary; reserves and keeps everything, judges the candidate; ends with S
//	                   ├── finalizer  verifies the native sink into a file of the worker's; loads no customer code
//	                   ├── keeper     S's own binary; entrypoint only: makes the tools' work folder, and removes it
//	                   ├── tools      entrypoint only, one after another, before the producer, each in a domain of its own
//	                   ├── init       PID 1 of the producer's namespaces (package jail)
//	                   └── producer   loads the strategy; contained; never trusted
//
// # Streams
//
// Each arrow names who owns which end; every end has one owner, which closes
// it once.
//
//	producer 1, 2 ──diagnostics──> S ─────────────────────────> host 2   first D bytes, then nothing
//	tools    1, 2 ──diagnostics──> S                                     of the same D
//	finalizer 2 ──diagnostics────> S                                     of the same D
//	producer K ──────sink────────> S ──input──> finalizer                first B bytes and at most one probe
//	                               S <─receipt─ finalizer                one line, bounded
//	producer <─────snapshot─────── S                                     internal sink: one packet, one descriptor
//	producer C ────candidate─────> S ──input──> worker                   first bytes that the sink leaves of R
//	                               S ──control─ worker                   orders; what came of each; one verdict
//	                               S <─output── worker                   the kept sink, the kept document
//	                               S ─────────────sink───────> host N    inherited sink: before the report
//	                               S ────────────report───────> host 1   one document, or none
//	                               S ────────────terminal─────> host M   one packet, last of all
//	host ──SIGTERM──> S                                                  cancellation
//
// S writes the host's endpoints and nobody else does. It reads a stream only
// when what it read before has been passed on: a queue is one buffer of 64 KiB
// and backpressure is the absence of a read. At a budget it reads one byte
// more, the probe, closes the stream and drains nothing.
//
// # One loop
//
// One return of ppoll is one batch. Handlers turn what is ready into
// observations, deadlines that have passed are observations too, and package
// outcome ranks them, latches one cause and says what to do next. Nothing in
// the loop blocks: descriptors are nonblocking, deadlines are absolute, and a
// call that a signal interrupts is simply not ready yet. Filesystem work
// happens in the worker and the finalizer, which S can kill (C-74).
//
// # States, and what ends each
//
//	admission   everything of the host is looked at    refused, or admitted
//	prepare     storage reserved; transpiler           refused, or released
//	compile     compiler, binder (entrypoint only);    refused, or released
//	            the producer's domain built, attested
//	            from outside, in either facade
//	run         the producer runs; its sink is open    the sink's end, without one the
//	                                                   producer's; a latched cause
//	stopping    asked (W, cancellation) or killed      its end, at most G
//	finalize    the finalizer's verdict, snapshot,     all of them known
//	            candidate, survivors, init, rest of
//	            the diagnostics
//	publish     the sink on its endpoint, then the     delivered, closed; P or W; a failure
//	            accepted report, then the sink's own
//	            name; or, after a failure, one
//	            failure document
//	finish      streams closed, facts frozen, record   one packet, at most P; exit
//
// After W no data byte is written; what remains is at most G to stop the
// domain and at most P for the record. A failure after the first byte of a sink
// or report is told in the record alone.
//
// # The native sink
//
// Sink, then verdict, then candidate: each is read only when the one before is
// over, so that the candidate's allowance is what the sink left. A candidate
// that is ready while the sink is open is looked at only when the sink was found
// empty after it, with nothing of it waiting for the finalizer: then its bytes
// came too early. Otherwise it waits, and may turn out to be in order (C-26).
//
// S believes the finalizer's exit status, and a receipt only if it agrees with
// that and with S's own count; the worker then looks at the file itself. What
// the finalizer finds at the end of the stream waits for the producer's own end
// (C-67). A producer that waits for a snapshot which will not come sees the end
// of its socket, and has a while to end by itself. S's own evidence of an
// overflow waits for nobody, but the finalizer has a while to tell of it, too.
//
// The file of the sink is made and reserved by the worker, written by the
// finalizer, and never changed afterwards but to cut what was reserved beyond
// its end. It has a name only beside a caller's target: .NAME.ATTEMPT.partial,
// which becomes NAME last of all, or is removed.
//
// # Tools
//
// A tool has the loop of the attempt to itself, and package outcome ranks what
// happens to it in the same way. Its own failure is told last, when its domain
// is empty and its last byte delivered, so that no failure of a channel can hide
// behind it. What it leaves behind ends with it. The work folder lies in the
// host's spool; the producer gets a copy of the library, in its own root.
//
// # What S does not say
//
// S prints nothing. TOUCHSTONE_EXPLAIN=1 in its environment adds one metered
// line with the reason of a refusal to the diagnostics, for people.
//
// Rules: R02 to R10, R13, R15 to R19.
package supervisor
