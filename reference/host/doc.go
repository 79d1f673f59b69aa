// Package host is the host of the reference pairing, refhost: it launches S,
// receives what S says, verifies it on its own, and decides once.
//
//	refhost --report FILE --disposition FILE --spool FOLDER --pairing FILE [flags] -- COMMAND…
//	refhost reap MANIFEST
//
// # Processes and channels
//
//	caller ──SIGTERM, SIGINT──> refhost ──SIGTERM──> S          cancellation; refhost stays for the outcome
//	                            refhost <──report──── S 1        counted, hashed, kept under a private name
//	                            refhost <─diagnostic─ S 2        counted, hashed, kept if asked for
//	                            refhost <──terminal── S 3        one packet, then the end
//	                            refhost ──launch────> S 4        the launch descriptor (C-3), a file without a name
//	                            refhost ──arena─────> S 5        shared memory, with --arena-bytes (C-70)
//	                            refhost <───sink───── S 6        with --sink: as the report
//
// One locked thread waits in one poll for all of them, for the end of S and for
// the caller's signals. S dies with that thread, and everything that S leaves
// becomes refhost's child (it is a subreaper).
//
// # The command
//
// COMMAND is S's command line. {terminal_fd}, {launch_fd}, {attempt_id}, and
// {sink_fd} or {named_sink} where that flag is given, are replaced in it; other
// braces are literal. The environment is refhost's own, with
// PINEFORGE_REPORT_CHANNEL, PINEFORGE_TERMINAL_STATUS_FD and
// TOUCHSTONE_LAUNCH_FD set: every attempt is negotiated, and one that does not
// answer with a record is rejected.
//
//	--report FILE               what an accepted report becomes
//	--disposition FILE          the one document about the attempt (host-disposition.v1)
//	--spool FOLDER              bounded storage; S gets a folder of its own in it
//	--pairing FILE              the pairing file, for S
//	--manifest FILE             default: the disposition's name and ".manifest"
//	--diagnostics FILE          keep the diagnostics, whatever the outcome
//	--sink FILE                 offer a sink stream; what an accepted one becomes
//	--named-sink FILE           S publishes the sink itself, at this path
//	--invocation WORD           run_json (default) or entrypoint
//	--grant-report-bytes N, --grant-diagnostic-bytes N, --grant-wall-ms N, --grant-stall-ms N
//	                            what is granted; the defaults are the contract's
//	--grant-memory-bytes N, --planned-sink-bytes N, --arena-bytes N
//	                            default: none
//	--spool-bytes N             default: the granted report bytes and 1 MiB
//
// What the attempt will make must not exist before, and no rename of refhost
// replaces a file: one that somebody else puts there meanwhile stays, and the
// attempt is rejected. Files are made with mode 0600.
//
// # Order, and what is atomic
//
//  1. the manifest is written and synced, with its folder: nothing has started
//  2. channels, private files, S; the watch of W+G+P runs from here
//  3. everything ends, or the watch does; S is reaped by its own pid
//  4. what S left is ended: descendants, then control groups of the attempt
//  5. Judge, a pure function of what was seen, decides
//  6. only if accepted: sink synced and renamed, then report synced and renamed
//  7. the diagnostics are renamed, if kept; private files and the spool folder
//     go; without acceptance the results that have their names, too, and the
//     named sink, which S had to name before it could be accepted (C-35)
//  8. the disposition is written, synced and renamed into place
//  9. the manifest is removed
//
// Each rename is atomic and replaces nothing; several of them are not. A result
// therefore counts only with a disposition that says accepted, and until step 8
// there is none. Where refhost is killed, the manifest remains, and
// `refhost reap` goes on: with an accepted disposition it keeps the results,
// without one it removes them and writes the disposition "uncertain".
//
// S starts with SIGTERM and SIGINT blocked: a stop that comes before S takes
// them waits. A cancellation asks S and decides nothing: if S had already succeeded, the
// result is accepted.
//
// # Verification
//
// Judge believes a record if it is exactly one packet, sent by the process that
// was started and reaped, followed by an end; if it has the closed shape of
// terminal.v1, compact, with args as the catalog says; if identity, facade,
// requested, granted and effective limits are those of this launch; if counts
// and digests of report, diagnostics and external sink are the host's own; if
// every channel ended without the host's doing; if class, code and exit status
// agree with each other and with how S ended; and if the counters agree with
// each other. A successful record must also show nothing lost, nothing unknown
// and nothing left behind, and a report that is the candidate byte for byte.
//
// What a host cannot check is listed by Attested: an altered value there that
// keeps its shape is not seen. In a failed record also the counters of candidate and of
// an internal sink, flags, producer, cleanup and the failure's own args are S's word
// alone; there nothing is accepted anyway.
//
// # Decision
//
//	more or less than one record, a record that disagrees     rejected, status/protocol, authority host
//	no outcome within W+G+P                                   rejected, status/deadline, authority host
//	no packet                                                 rejected, status/io, authority host
//	a verified record of a failure                            rejected, S's own code and args
//	a verified success that could not be stored               rejected, report/io or sink/io, authority host
//	a verified success                                        accepted
//
// Exits: 0 accepted; 1 rejected; 64 wrong use, nothing started, no disposition;
// 70 the disposition could not be written, the manifest remains. For reap: 0
// nothing is left; 1 something is; 64; 70.
//
// # Limits of this host
//
// It writes its files from the loop: on a filesystem that hangs, it hangs.
// Bytes in flight are bounded by the channels' own buffers, and files by the
// effective limits; one byte more is read as evidence, and S is killed.
//
// Rules: R13 to R16, R21, C-35, C-50.
package host
