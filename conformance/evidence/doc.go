// Package evidence is the record of one attempt on disk: what the driver
// writes while an attempt runs and what every verdict is later computed from.
//
// The attempt folder holds
//
//	scenario.json      what the attempt was asked to do
//	launcher.json      the launcher file as it was used
//	launch.json        argv, environment and descriptors of the started process
//	events.jsonl       what happened, one event a line, in order
//	report.bin         every byte read from the report endpoint
//	diagnostic.bin     every byte read from the diagnostic endpoint
//	packet-<n>.bin     every terminal packet
//	transcript.pcapng  the same bytes, channel by channel, for packet tools; made
//	                   of the record afterwards, and no part of it
//	stdout.bin, stderr.bin  of an unsupervised process (reference, control)
//
// An event line is {"seq":n,"ts_mono":ns,"kind":K,…}: seq counts from 0
// without gaps and ts_mono, nanoseconds of CLOCK_MONOTONIC, never falls.
// The last event but one, hashes, carries the digest of every other file; the
// last, end, the digest of all event lines before it, at the same ts_mono:
// no single change of a record goes unnoticed. Within version 1 members
// and kinds are only added: a reader skips members that it does not know and
// keeps events of unknown kinds as Unknown.
package evidence
