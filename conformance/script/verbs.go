package script

import (
	"errors"
	"fmt"
	"time"

	"touchstone/conformance/scenario"
)

// verb is one word that acts. lint says what is wrong with its arguments
// without running anything; run acts. A verb that only prepares a later launch
// sets something.
type verb struct {
	usage, says string
	sets        bool
	lint        func(arguments []string) error
	run         func(s *session, arguments []string) error
}

// needsError says that this launcher cannot be asked: the checks that follow
// are not run, until the next fresh.
type needsError struct{ reason string }

func (e *needsError) Error() string { return e.reason }

// Needs is the error of an attempt that this launcher cannot be asked for: the
// checks that follow are not run.
func Needs(reason string) error { return &needsError{reason} }

// verbs is filled in init because its functions refer to it.
var verbs map[string]verb

func init() {
	verbs = map[string]verb{
		"cells":             {"cells FACADE[/PROFILE]…", "run the script in these cells only; without this line, in those of direct", false, lintCells, nothing},
		"fresh":             {"fresh", "forget every setting and control; documents and numbers stay", false, lintNone, (*session).fresh},
		"fixture":           fixtureVerb(),
		"document":          {"document NAME BASE [op…]", "build exact bytes; sets $NAME_size", false, lintDocument, (*session).document},
		"payload":           {"payload NAME", "what the fixture sends", true, lintWords(1, 1), (*session).payload},
		"let":               {"let NAME N [+ N | - N]…", "a number", false, lintLet, (*session).let},
		"limit":             {"limit [cli|env] KNOB=VALUE…", "caller limits, verbatim: report diagnostic wall stall", true, lintLimit, (*session).limit},
		"grant":             setting("grant KNOB=N…", "host grants: report diagnostic wall stall memory", setGrant),
		"request":           setting("request [mode=WORD|mode-size=N] [operation=full|capabilities|validation] [option=NAME[=VALUE]]", "what is asked for, mode-size a mode of so many letters; an option is one of the launcher file's own", setRequest),
		"admission":         setting("admission none|cut|misnamed", "what the host gives at admission: nothing, half of the launch document, or an attempt_id that is a digit short", setAdmission),
		"deprive":           setting("deprive namespaces|filters|privilege|groups|descriptors=N", "what the launcher is started without; groups: no control groups are mounted; N: no number from there on", setDeprived),
		"endpoint":          setting("endpoint NAME=KIND…", "what stands for an endpoint: report diagnostic terminal sink phase; kinds above", setEndpoint),
		"number":            setting("number NAME=N…", "the descriptor number of an endpoint: terminal sink phase", setNumber),
		"negotiate":         {"negotiate [cli|env] KNOB=VALUE… | negotiate without KNOB…", "what activates supervision, verbatim, in place of the usual: channel terminal", true, lintNegotiate, (*session).negotiate},
		"extra-descriptors": setting("extra-descriptors N", "further inheritable descriptors at the launch, and a standard input that never ends", setExtra),
		"inputs":            setting("inputs KEY=VALUE…", "engine inputs", setInputs),
		"bars":              setting("bars N", "bars of the price file", setBars),
		"spool":             setting("spool N [real=M]", "bytes of the host's spool; what it really holds, where that is another", setSpool),
		"catalog":           {"catalog", "the launcher's failure catalog becomes part of the record of the next launches", true, lintNone, (*session).catalog},
		"planned-sink":      setting("planned-sink N", "planned sink bytes", setPlannedSink),
		"old-target":        setting("old-target TEXT", "what the target of the named sink holds before the launch", setOldTarget),
		"source":            {"source NAME.cpp|NAME.pine", "the strategy as a file of this script (or NAME.ABI.cpp, for one ABI), made a library by the launcher's own tools", true, lintSource, (*session).source},
		"tool":              setting("tool NAME [key=value…]", "a stand-in for the transpiler, compiler or binder: fixtures/native/tool.c", setTool),
		"finalizer":         setting("finalizer [end=N] [err=N] [feed=1] [misreport=count|digest] [status=N]", "a stand-in in the finalizer's place, which passes everything on and records it: fixtures/native/finalizer.c; end: how it ends behind the receipt; feed: the payload is what it passes on; status: how it ends without one", setStandIn),
		"finalize":          {"finalize stream|file [cap=N] [receipt=full|closed]", "run the finalizer by itself, on the payload; a receipt that cannot be written", false, lintFinalize, (*session).finalize},
		"libc":              setting("libc musl", "the C library of the producer and of the fixtures, until the script ends; its first statement", setLibc),
		"unmounted":         setting("unmounted strategy|ohlcv…", "mounts of the entrypoint that are missing", setUnmounted),
		"hang":              setting("hang DUR", "when the driver gives up", setHang),
		"pace":              setting("pace CHANNEL bytes=N every=DUR", "a slower reader", setPace),
		"at":                setting("at TRIGGER ACTION", "a control at a moment of the attempt", setControl),
		"inject":            injectVerb(),
		"host":              setting("host [RELAY-WORD…]", "the next launches are of the launcher's own host, with our relay in the supervisor's place; words above", setHost),
		"launch":            {"launch [times=N] [each DIMENSION=A,B…]", "run; the attempts become the current ones; one that the driver had to end is not made again", false, lintLaunch, (*session).launch},
		"reference":         {"reference", "make the engine's own document for the current request now", false, lintNone, (*session).makeReference},
		"control":           {"control", "run the fixture with no supervision", false, lintNone, (*session).control},
		"check":             {"check ID [because TEXT] NOUN…", "assert; see the nouns", false, lintCheck, (*session).check},
	}
}

// setting is a verb that changes the scenario of the next launches only.
func setting(usage, says string, set func(*scenario.Scenario, []string) error) verb {
	return verb{usage: usage, says: says, sets: true,
		lint: func(arguments []string) error {
			texts, err := decodeAll(arguments)
			if err != nil {
				return err
			}
			next := scenario.Scenario{}
			return set(&next, texts)
		},
		run: func(s *session, arguments []string) error {
			texts, err := decodeAll(arguments)
			if err != nil {
				return err
			}
			if err := set(&s.next, texts); err != nil {
				return err
			}
			s.exportGrants()
			return nil
		}}
}

// fixtureVerb is a setting that also forgets the payload: not every fixture
// takes one.
func fixtureVerb() verb {
	v := setting("fixture NAME [key=value…]", "the strategy library of the next launches; forgets the payload", setFixture)
	set := v.run
	v.run = func(s *session, arguments []string) error {
		s.payloadName = ""
		return set(s, arguments)
	}
	return v
}

// injectVerb is a setting whose lines are checked together.
func injectVerb() verb {
	v := setting("inject [NAME:] RULE… | inject bind NAME: path PATTERN", "a fault in the launcher's own processes, in faultinject's words; its objects are endpoints and what a bind names", setFault)
	v.lint = lintWords(1, 100)
	return v
}

func nothing(*session, []string) error { return nil }

func lintNone(arguments []string) error {
	if len(arguments) > 0 {
		return fmt.Errorf("%d arguments, want none", len(arguments))
	}
	return nil
}

func lintWords(low, high int) func([]string) error {
	return func(arguments []string) error {
		if len(arguments) < low || len(arguments) > high {
			return fmt.Errorf("%d arguments", len(arguments))
		}
		return nil
	}
}

func lintCells(arguments []string) error {
	known := []string{"direct", "entrypoint", "direct/unjailed", "direct/jailed", "entrypoint/unjailed", "entrypoint/jailed"}
	if len(arguments) == 0 {
		return errors.New("no cell")
	}
	for _, a := range arguments {
		if err := oneOf(a, known...); err != nil {
			return err
		}
	}
	return nil
}

func lintCheck(arguments []string) error {
	_, err := parseCheck(arguments)
	return err
}

func lintLaunch(arguments []string) error {
	_, err := parseLaunch(arguments)
	return err
}

func oneOf(text string, allowed ...string) error {
	for _, a := range allowed {
		if text == a {
			return nil
		}
	}
	return fmt.Errorf("%q is none of %q", text, allowed)
}

// milliseconds reads a duration that is a whole number of them, at least one.
func milliseconds(text string) (uint64, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Millisecond || d%time.Millisecond != 0 {
		return 0, fmt.Errorf("%q: want whole milliseconds, such as 250ms", text)
	}
	return uint64(d / time.Millisecond), nil
}
