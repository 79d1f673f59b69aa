package oracle

import "fmt"

// nouns are the words of the script language that assert. A word is added
// here, in the manual of package script (generated from this table) and with a
// test that shows it can fail.
var nouns = []noun{
	{"exit", "exit N | exit nonzero | exit signal N", "the wait status of the supervisor", parseExit},
	{"class", "class WORD", "exit_class of the record", parseClass},
	{"failure", "failure none | failure CODE [arg=value…] [or CODE [arg=value…]]…", "the authoritative failure with exactly these args; or: one of several, where the contract leaves a tie open", parseFailure},
	{"never", "never CODE…", "the failure is none of these", parseNever},
	{"success", "success", "the whole success predicate as a host can see it", bare(successHolds)},
	{"refused", "refused", "complete=false, a nonzero exit, a failure, and on the report nothing or one failure document", bare(refusedWhole)},
	{"report", "report equals-reference | equals DOC | prefix-of DOC | relayed DOC | contain TEXT | empty | one-document | refused | no-success | failure-document CODE | measures [size<=N] [MEMBER<=N]", "the bytes of the report endpoint; refused: none, or one failure document; relayed: exactly DOC, or refused with a code of the supervisor's own; measures: bytes of the whole, or of the text of a member (a.b of one within; none has 0), also with >= and =", parseReport},
	{"diagnostics", "diagnostics equal TEXT | size N | pattern N | first N of-pattern | contain TEXT | lack TEXT", "the bytes of the diagnostic endpoint, without what the harness may add; pattern: exactly N bytes of the fixtures' pattern, first: at most N", parseDiagnostics},
	{"fixture-line", "fixture-line TEXT", "a line of the diagnostics is exactly this", parseFixtureLine},
	{"nowhere", "nowhere TEXT on ENDPOINT,…", "bytes that stand on none of these: report, terminal, diagnostic, sink, phase", parseNowhere},
	{"channel", "channel NAME member=value…", "an entry of channels; short member names observed accepted written limit", parseChannel},
	{"sink", "sink absent | internal | exported | verified | unverified | unpublished | as-ended | equals DOC", "the native sink: the absent form of an unused one; captured and written nowhere; equal to the external sink's bytes and its trailer; by a finalizer that ended well, or that could tell nothing; no byte on the external sink; the finalizer's end as the kernel tells it, where a control awaits that; its bytes", parseSink},
	{"artifact", "artifact exported | absent | renamed", "what stands at the named sink's target in the end: the record's stream, writable by nobody else, and nothing else of that name; or nothing of that name; it got its name whole, by a rename", parseArtifact},
	{"finalizer", "finalizer given=N", "bytes that the finalizer's stand-in was given, or that a finalizer by itself read", parseFinalizer},
	{"handoff", "handoff ended", "the fixture take_snapshot saw that no snapshot would come, or its run was over at once after its rendezvous", parseHandoff},
	{"receipt", "receipt none | equals DOC | member=value…", "the finalizer's receipt, as it wrote it", parseReceipt},
	{"output", "output empty | equals DOC | first N DOC", "what a finalizer by itself gave out, on its standard output or as its target; first: at most N bytes, those of DOC", parseOutput},
	{"storage", "storage logical=N allocated=N", "bytes that stood in the spool and in anonymous files of the supervisor's side at each look", parseStorage},
	{"unread-sink-at-report", "unread-sink-at-report <=N", "bytes of the external sink that the host read after the first byte of the report", parseUnreadSink},
	{"producer", "producer member=value…", "members of producer; failure is none or a code", parseProducer},
	{"limits", "limits KNOB requested=V granted=V effective=V", "one limit of the record; knobs report diagnostic wall stall", parseLimits},
	{"catalog", "catalog CODE CLASS [ARG=KIND…] english=TEXT | catalog spelled CODE… | catalog kept", "the launcher's failure catalog: a row as of 1.8.0, not retryable, with exactly these args (KIND is integer, or a list of words; ARG? is optional) and this text; names and kinds as the catalog prescribes them; every row that was there before, unchanged", parseCatalog},
	{"charged", "charged N", "report_charged_bytes", parseCharged},
	{"usage", "usage [STAGE.]CELL member=value…", "a resource cell of the job, or of a stage", parseUsage},
	{"usage-seen", "usage-seen processor | wall | memory | descriptors | scratch | work | arena", "cells of the producer's run, and of the job, beside what the host saw of the producer at its last rendezvous, of the launch and of the spool; what may be unavailable, and is, passes with a note or is not run", parseUsageSeen},
	{"usage-filled", "usage-filled", "the job's times and channel counters are there, and a cell without a figure says so", bare(usageFilled)},
	{"job-memory", "job-memory <=N", "the peaks of the job's memory cells, where there are any", parseJobMemory},
	{"room-left", "room-left", "the record would fit its packet with every number and digest at its longest", bare(roomLeft)},
	{"cleanup", "cleanup ENTRY=value…", "values of cleanup entries", parseCleanup},
	{"record", "record PATH=value…", "a scalar of the record by its dotted path", parseRecord},
	{"elapsed", "elapsed <DUR | >DUR", "from the launch to the supervisor's exit; the launcher's slack is added to an upper bound", parseElapsed},
	{"after-last-byte", "after-last-byte CHANNEL <DUR", "from the last byte read of a channel to the supervisor's exit, with the slack", parseAfterLastByte},
	{"after-control", "after-control ACTION <DUR", "from a control that was done to the supervisor's exit, with the slack", parseAfterControl},
	{"probes", "probes denied NAME… | probes ok NAME… | probes as-control", "what the fixture's probes said; as-control: each is ok, or what it is with no supervision", parseProbes},
	{"control-probes", "control-probes ok NAME… | control-probes denied NAME… | control-probes ok-where-present NAME…", "what the same probes said with no supervision; ok-where-present: ok, or ENOSYS from a kernel that lacks it, which the report then says", parseControlProbes},
	{"descriptors", "descriptors allowed-only | stdin-null | one-diagnostic-inode | no-host-endpoint | no-extra | publishers-nonblocking | one-writer", "the producer's descriptors, as it lists them and as the host sees them; those of an observed supervisor to its host; one-writer: an observed finalizer has neither report nor terminal endpoint", parseDescriptors},
	{"identity", "identity isolated | varies", "ids of its own, no capability, no way back, a filter; seen from outside; varies: the producers of three attempts or more have not all one uid", parseIdentity},
	{"kill-domain", "kill-domain own", "the observed producer's memory control group holds neither the supervisor nor an observed finalizer", func(words []string) (test, error) {
		if len(words) != 1 || words[0] != "own" {
			return test{}, fmt.Errorf("want own")
		}
		return each(killDomain)
	}},
	{"survivors", "survivors none", "no process of the attempt outlived the supervisor, or the stop grace where it was killed", parseSurvivors},
	{"observed", "observed member=value…", "what the host saw of the producer: threads children", parseObserved},
	{"command", "command WHO has WORD… | command WHO lacks TEXT", "the command line of an observed process: these words, one after another; or no word with this text", parseCommand},
	{"memory", "memory supervisor <=N", "bytes of the supervisor's peak resident memory", parseMemory},
	{"read-bytes", "read-bytes supervisor <=N", "bytes that the supervisor read in all, by the kernel's account", parseReadBytes},
	{"namespaces", "namespaces private NAME,…", "namespaces that the producer shares neither with the supervisor nor with the host", parseNamespaces},
	{"at-rendezvous", "at-rendezvous N member=value…", "counters when the producer stopped there: candidate sink printed (by the fixture), report diagnostic (read by the host)", parseAtRendezvous},
	{"never-at-rendezvous", "never-at-rendezvous N", "the producer did not come to that point; for a fixture that stops there", parseNeverAtRendezvous},
	{"producers-at-first-report-byte", "producers-at-first-report-byte N", "live processes with the fixture's library when the report's first byte came", parseProducers},
	{"ended-before-packet", "ended-before-packet ENDPOINT,…", "data endpoints that had ended when the packet was taken", parseEndedBefore},
	{"faults", "faults N fired | faults RULE=N… | faults closed-once", "how many rules of the fault plan did all that they were asked; how often a rule acted; a descriptor whose close was made to fail is not closed again, as a rule that marks every close shows", parseFaults},
	{"disposition", "disposition accepted | none | rejected CODE [arg=value…] [authority=host|supervisor] | supervisor exit=N | supervisor signal=N | record none | record believed | record PATH=value… | prefix CHANNEL bytes=N | storage N | nothing-left | attempt-known | attempts-differ", "what the host under test decided, once, with no accepted result beside a rejection; accepted: with files that are, to the byte, what the supervisor recorded that it wrote; none: it did not come to decide, and accepted nothing; how it says the supervisor ended; what it believed, or members of that; what it saw; what storage it granted; that nothing else is left; that it names its attempt; that two attempts or more of a launch have random identities, each its own", parseDisposition},
	{"relayed", "relayed WHAT | relayed WHAT detail TEXT | relayed WHAT before-producer", "what the relay in the supervisor's place saw or did: started, received, recorded (what a genuine record says of a data endpoint), edited, sent, forwarded, cancelled, killed, stopped, held, supervised, ends", parseRelayed},
	{"attempts", "attempts same-outcome", "all attempts of the launch have the same exit, class, failure and report", parseAttempts},
}

// bare is a noun without words.
func bare(t func(*view, *wants)) func([]string) (test, error) {
	return func(words []string) (test, error) {
		if err := exactly(words, 0); err != nil {
			return test{}, err
		}
		return each(t)
	}
}
