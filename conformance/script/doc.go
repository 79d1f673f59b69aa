// Package script runs the suite's scripts: .txtar files whose words set up
// launches and assert what must be seen. It is the manual of the language.
//
// A script is one statement about the contract, put so that it can be false:
//
//	# T11 A report that exactly fills the allowance arrives whole (R07, R08)
//	fixture send_candidate
//	document whole reference
//	payload whole
//
//	# At the allowance: success.
//	limit report=$whole_size
//	launch
//	check T11.01 report equals whole
//	check T11.01 success
//
// The first line names the test, says the statement and lists its rules. Every
// later # line opens a phase and says what is expected. The file is called
// Tnn-subject.txtar. Its archive files are sources of strategies, and golden
// streams and receipts of a finalizer.
//
// # Lines
//
// A line is [condition]… word…. Conditions are [direct], [entrypoint],
// [jailed], [unjailed] and their negations [!direct]…; the line is left out in
// other cells. A word is made of chunks that stand side by side:
//
//	text      bare: $NAME expands, blanks and commas separate
//	'text'    verbatim; two single quotes stand for one
//	"text"    a Go string: \n \x00 \u00e9; nothing expands
//
// A # outside quotes starts a comment. $NAME must have been set by let, or by
// document as NAME_size (dashes of the name become underscores). $grant_report,
// $grant_diagnostic, $grant_wall and $grant_stall are what the next launch will
// grant.
//
// # Running
//
// A script runs once in each cell of the launcher that its cells line names, or
// of the direct facade, its lines in order. In a cell of the entrypoint the
// fixture is mounted as source, and a stand-in for the compiler copies it, unless
// a source is given. Settings
// hold until they are changed or fresh forgets them. launch makes one attempt,
// or several: its dimensions are knob=, route= and value= (together: one more
// option each), payload= (a document each) and arg.KEY= (a fixture argument
// each); lists multiply. The attempts of the last launch are the ones that a
// check speaks of, and it must hold in each of them. What holds of every launch
// by itself (the universal assertions of package oracle) is checked unasked.
//
// A check that fails is a finding; the script goes on. What the launcher file
// gives no way to ask makes the checks that follow not-run until the next
// fresh. A fault of the suite makes all later checks broken, and a check that
// was never reached is broken too: nothing passes by not being run.
//
// Triggers are spawn, child (the launcher has its first process), rendezvous N,
// producer gone (it has ended, reaped or not), producer reaped, producer creating
// (it stands in a call that creates a process; where every one has ended without,
// the driver does not wait any longer for a stopped supervisor), finalizer reaped, packet N, time
// DUR, stopped DUR (that long after a stop of the supervisor), and CHANNEL
// bytes N or CHANNEL eof with report, diagnostic or sink. Actions are kill WHO
// [SIGNAL], stop WHO, continue WHO, observe WHO, observe storage, cancel, poke WORD VALUE, close, pause or
// resume CHANNEL, hold diagnostic (the host keeps one more writer of the
// producer's own stream), and plant WHO: a process that nobody of the launcher
// started, in that one's namespace and control groups, which stays. A cancel of a stopped supervisor is done once the
// signal waits there; a supervisor that is continued must have stood still till
// then. After the actions of a rendezvous the producer goes on,
// unless it was killed. A control other than observe, pause and resume that
// never happened fails the checks that would have passed without it.
//
// What inject adds to the fault plan is done by a tracer to the supervisor
// (role S) and the finalizer (role V), in every launch until fresh; the producer
// runs untraced. The rules are those of faultinject's README, by endpoint (fd
// report) and by bytes, not by what a launcher happens to do first. Every launch
// with faults needs a check faults N fired. A rule that had no occasion leaves
// the checks of its launch not run, a tracer that failed leaves them broken: with
// a fault that was not done nothing passes, and nothing fails. A rule with do
// mark disturbs nothing and counts: it shows where the calls of a calm run lie.
// A rule whose name begins with no- only watches: it needs no occasion, and a
// check faults NAME=0 says that there was none.
//
// An endpoint is, as usual, a pipe (report, diagnostic), a seqpacket pair
// (terminal) or not there (sink, phase). Its kinds are pipe, stream, seqpacket,
// datagram, reading (the read end of a pipe), shut (for writing), file, device,
// closed, for terminal also tcp, unconnected, listening, narrow (its send buffer
// does not hold the largest record) and filled (it takes no packet until a
// control resumes terminal); and same:NAME (a
// duplicate of that descriptor), reopened:NAME (that pipe once more), peer:NAME
// (the other end of that pair). A terminal endpoint that is no packet socket is
// read as bytes.
//
// A launch after host is of the launcher's own host, which starts our relay in
// the supervisor's place, and that the real supervisor. Without words the relay
// is honest. It can change the record (set.PATH=JSON, drop.PATH; the record
// counts itself anew), its packet (raw=TEXT behind the first brace, append=TEXT,
// pad=N and cut=N bytes, empty), how it is sent (copies=N, delay=DUR), what
// another process keeps open behind it (held the terminal endpoint, held=CHANNEL
// report, diagnostic or sink), end with exit=N, and kill=POINT the supervisor or stop=POINT, for the host the
// supervisor itself, at child, report:N, sink:N (bytes passed on), packet (there,
// not passed on) or sent. What it was told and did not do makes a check broken.
// The universal assertions do not speak of hosts.
//
// finalizer puts a program of ours in the finalizer's place, where the launcher
// file names {finalizer} in its pairing: it runs the launcher's own finalizer
// with the same words and descriptors, passes its input on, and its receipt back.
// What it was given and what the receipt said is evidence. finalize runs the
// launcher's finalizer with nobody around it, on the payload; how far it has read
// is evidence, too, and what it gave out. observe storage looks at what the
// supervisor and its helpers hold of the spool and of anonymous files.
//
// The bases of a document are reference (this launcher's own unsupervised
// document of fixture plain for the current request), report (what the last
// launch delivered), sink (the bytes of its external sink), golden FILE (an archive
// file NAME.DIALECT.EXTENSION in the launcher file's dialect), capabilities, validation,
// failure CODE [arg=value…] (CODE legacy has neither code nor args) and literal
// "text". Operations, in order: pad=N (blanks after the first brace), size=N
// (blanks up to that size), truncate=N, drop-lf, append="…", prepend="…",
// replace="OLD"=>"NEW" (the first; it must occur), value="RAW" (where the
// launcher file's [shape.full] hole says that any value may stand) and
// args-size=N (the last text argument grows until the compact args are N bytes).
//
// testscript runs the lines, but none of its own words are allowed: exec is
// satisfied by any failure, stop and an empty script pass, a regular expression
// may match nothing. Lint refuses them, negation, and everything else that
// could give a false verdict.
//
// # Verbs
//
//	admission none|cut|misnamed
//		what the host gives at admission: nothing, half of the launch document, or an attempt_id that is a digit short
//	at TRIGGER ACTION
//		a control at a moment of the attempt
//	bars N
//		bars of the price file
//	catalog
//		the launcher's failure catalog becomes part of the record of the next launches
//	cells FACADE[/PROFILE]…
//		run the script in these cells only; without this line, in those of direct
//	check ID [because TEXT] NOUN…
//		assert; see the nouns
//	control
//		run the fixture with no supervision
//	deprive namespaces|filters|privilege|groups|descriptors=N
//		what the launcher is started without; groups: no control groups are mounted; N: no number from there on
//	document NAME BASE [op…]
//		build exact bytes; sets $NAME_size
//	endpoint NAME=KIND…
//		what stands for an endpoint: report diagnostic terminal sink phase; kinds above
//	extra-descriptors N
//		further inheritable descriptors at the launch, and a standard input that never ends
//	finalize stream|file [cap=N] [receipt=full|closed]
//		run the finalizer by itself, on the payload; a receipt that cannot be written
//	finalizer [end=N] [err=N] [feed=1] [misreport=count|digest] [status=N]
//		a stand-in in the finalizer's place, which passes everything on and records it: fixtures/native/finalizer.c; end: how it ends behind the receipt; feed: the payload is what it passes on; status: how it ends without one
//	fixture NAME [key=value…]
//		the strategy library of the next launches; forgets the payload
//	fresh
//		forget every setting and control; documents and numbers stay
//	grant KNOB=N…
//		host grants: report diagnostic wall stall memory
//	hang DUR
//		when the driver gives up
//	host [RELAY-WORD…]
//		the next launches are of the launcher's own host, with our relay in the supervisor's place; words above
//	inject [NAME:] RULE… | inject bind NAME: path PATTERN
//		a fault in the launcher's own processes, in faultinject's words; its objects are endpoints and what a bind names
//	inputs KEY=VALUE…
//		engine inputs
//	launch [times=N] [each DIMENSION=A,B…]
//		run; the attempts become the current ones; one that the driver had to end is not made again
//	let NAME N [+ N | - N]…
//		a number
//	libc musl
//		the C library of the producer and of the fixtures, until the script ends; its first statement
//	limit [cli|env] KNOB=VALUE…
//		caller limits, verbatim: report diagnostic wall stall
//	negotiate [cli|env] KNOB=VALUE… | negotiate without KNOB…
//		what activates supervision, verbatim, in place of the usual: channel terminal
//	number NAME=N…
//		the descriptor number of an endpoint: terminal sink phase
//	old-target TEXT
//		what the target of the named sink holds before the launch
//	pace CHANNEL bytes=N every=DUR
//		a slower reader
//	payload NAME
//		what the fixture sends
//	planned-sink N
//		planned sink bytes
//	reference
//		make the engine's own document for the current request now
//	request [mode=WORD|mode-size=N] [operation=full|capabilities|validation] [option=NAME[=VALUE]]
//		what is asked for, mode-size a mode of so many letters; an option is one of the launcher file's own
//	source NAME.cpp|NAME.pine
//		the strategy as a file of this script (or NAME.ABI.cpp, for one ABI), made a library by the launcher's own tools
//	spool N [real=M]
//		bytes of the host's spool; what it really holds, where that is another
//	tool NAME [key=value…]
//		a stand-in for the transpiler, compiler or binder: fixtures/native/tool.c
//	unmounted strategy|ohlcv…
//		mounts of the entrypoint that are missing
//
// # Nouns
//
//	after-control ACTION <DUR
//		from a control that was done to the supervisor's exit, with the slack
//	after-last-byte CHANNEL <DUR
//		from the last byte read of a channel to the supervisor's exit, with the slack
//	artifact exported | absent | renamed
//		what stands at the named sink's target in the end: the record's stream, writable by nobody else, and nothing else of that name; or nothing of that name; it got its name whole, by a rename
//	at-rendezvous N member=value…
//		counters when the producer stopped there: candidate sink printed (by the fixture), report diagnostic (read by the host)
//	attempts same-outcome
//		all attempts of the launch have the same exit, class, failure and report
//	catalog CODE CLASS [ARG=KIND…] english=TEXT | catalog spelled CODE… | catalog kept
//		the launcher's failure catalog: a row as of 1.8.0, not retryable, with exactly these args (KIND is integer, or a list of words; ARG? is optional) and this text; names and kinds as the catalog prescribes them; every row that was there before, unchanged
//	channel NAME member=value…
//		an entry of channels; short member names observed accepted written limit
//	charged N
//		report_charged_bytes
//	class WORD
//		exit_class of the record
//	cleanup ENTRY=value…
//		values of cleanup entries
//	command WHO has WORD… | command WHO lacks TEXT
//		the command line of an observed process: these words, one after another; or no word with this text
//	control-probes ok NAME… | control-probes denied NAME… | control-probes ok-where-present NAME…
//		what the same probes said with no supervision; ok-where-present: ok, or ENOSYS from a kernel that lacks it, which the report then says
//	descriptors allowed-only | stdin-null | one-diagnostic-inode | no-host-endpoint | no-extra | publishers-nonblocking | one-writer
//		the producer's descriptors, as it lists them and as the host sees them; those of an observed supervisor to its host; one-writer: an observed finalizer has neither report nor terminal endpoint
//	diagnostics equal TEXT | size N | pattern N | first N of-pattern | contain TEXT | lack TEXT
//		the bytes of the diagnostic endpoint, without what the harness may add; pattern: exactly N bytes of the fixtures' pattern, first: at most N
//	disposition accepted | none | rejected CODE [arg=value…] [authority=host|supervisor] | supervisor exit=N | supervisor signal=N | record none | record believed | record PATH=value… | prefix CHANNEL bytes=N | storage N | nothing-left | attempt-known | attempts-differ
//		what the host under test decided, once, with no accepted result beside a rejection; accepted: with files that are, to the byte, what the supervisor recorded that it wrote; none: it did not come to decide, and accepted nothing; how it says the supervisor ended; what it believed, or members of that; what it saw; what storage it granted; that nothing else is left; that it names its attempt; that two attempts or more of a launch have random identities, each its own
//	elapsed <DUR | >DUR
//		from the launch to the supervisor's exit; the launcher's slack is added to an upper bound
//	ended-before-packet ENDPOINT,…
//		data endpoints that had ended when the packet was taken
//	exit N | exit nonzero | exit signal N
//		the wait status of the supervisor
//	failure none | failure CODE [arg=value…] [or CODE [arg=value…]]…
//		the authoritative failure with exactly these args; or: one of several, where the contract leaves a tie open
//	faults N fired | faults RULE=N… | faults closed-once
//		how many rules of the fault plan did all that they were asked; how often a rule acted; a descriptor whose close was made to fail is not closed again, as a rule that marks every close shows
//	finalizer given=N
//		bytes that the finalizer's stand-in was given, or that a finalizer by itself read
//	fixture-line TEXT
//		a line of the diagnostics is exactly this
//	handoff ended
//		the fixture take_snapshot saw that no snapshot would come, or its run was over at once after its rendezvous
//	identity isolated | varies
//		ids of its own, no capability, no way back, a filter; seen from outside; varies: the producers of three attempts or more have not all one uid
//	job-memory <=N
//		the peaks of the job's memory cells, where there are any
//	kill-domain own
//		the observed producer's memory control group holds neither the supervisor nor an observed finalizer
//	limits KNOB requested=V granted=V effective=V
//		one limit of the record; knobs report diagnostic wall stall
//	memory supervisor <=N
//		bytes of the supervisor's peak resident memory
//	namespaces private NAME,…
//		namespaces that the producer shares neither with the supervisor nor with the host
//	never CODE…
//		the failure is none of these
//	never-at-rendezvous N
//		the producer did not come to that point; for a fixture that stops there
//	nowhere TEXT on ENDPOINT,…
//		bytes that stand on none of these: report, terminal, diagnostic, sink, phase
//	observed member=value…
//		what the host saw of the producer: threads children
//	output empty | equals DOC | first N DOC
//		what a finalizer by itself gave out, on its standard output or as its target; first: at most N bytes, those of DOC
//	probes denied NAME… | probes ok NAME… | probes as-control
//		what the fixture's probes said; as-control: each is ok, or what it is with no supervision
//	producer member=value…
//		members of producer; failure is none or a code
//	producers-at-first-report-byte N
//		live processes with the fixture's library when the report's first byte came
//	read-bytes supervisor <=N
//		bytes that the supervisor read in all, by the kernel's account
//	receipt none | equals DOC | member=value…
//		the finalizer's receipt, as it wrote it
//	record PATH=value…
//		a scalar of the record by its dotted path
//	refused
//		complete=false, a nonzero exit, a failure, and on the report nothing or one failure document
//	relayed WHAT | relayed WHAT detail TEXT | relayed WHAT before-producer
//		what the relay in the supervisor's place saw or did: started, received, recorded (what a genuine record says of a data endpoint), edited, sent, forwarded, cancelled, killed, stopped, held, supervised, ends
//	report equals-reference | equals DOC | prefix-of DOC | relayed DOC | contain TEXT | empty | one-document | refused | no-success | failure-document CODE | measures [size<=N] [MEMBER<=N]
//		the bytes of the report endpoint; refused: none, or one failure document; relayed: exactly DOC, or refused with a code of the supervisor's own; measures: bytes of the whole, or of the text of a member (a.b of one within; none has 0), also with >= and =
//	room-left
//		the record would fit its packet with every number and digest at its longest
//	sink absent | internal | exported | verified | unverified | unpublished | as-ended | equals DOC
//		the native sink: the absent form of an unused one; captured and written nowhere; equal to the external sink's bytes and its trailer; by a finalizer that ended well, or that could tell nothing; no byte on the external sink; the finalizer's end as the kernel tells it, where a control awaits that; its bytes
//	storage logical=N allocated=N
//		bytes that stood in the spool and in anonymous files of the supervisor's side at each look
//	success
//		the whole success predicate as a host can see it
//	survivors none
//		no process of the attempt outlived the supervisor, or the stop grace where it was killed
//	unread-sink-at-report <=N
//		bytes of the external sink that the host read after the first byte of the report
//	usage [STAGE.]CELL member=value…
//		a resource cell of the job, or of a stage
//	usage-filled
//		the job's times and channel counters are there, and a cell without a figure says so
//	usage-seen processor | wall | memory | descriptors | scratch | work | arena
//		cells of the producer's run, and of the job, beside what the host saw of the producer at its last rendezvous, of the launch and of the spool; what may be unavailable, and is, passes with a note or is not run
package script
