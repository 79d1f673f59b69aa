package script

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"touchstone/conformance/oracle"
	"touchstone/conformance/scenario"
	"touchstone/contracts"
)

// Problem is one thing that is wrong with a script.
type Problem struct {
	Script string
	Line   int
	Text   string
}

func (p Problem) String() string { return fmt.Sprintf("%s.txtar:%d: %s", p.Script, p.Line, p.Text) }

// linter checks the statements of one script in order.
type linter struct {
	script   Script
	fixtures []string
	known    map[string]bool // variables
	names    map[string]bool // documents
	problems []Problem
	checks   int
	launched bool
	idle     int // line of a setting that no launch has used yet

	faults    scenario.Scenario // what is injected into the next launch
	uncounted int               // line of a launch whose faults no check has counted
}

// predefined are the variables that the engine sets by itself.
var predefined = []string{"grant_report", "grant_diagnostic", "grant_wall", "grant_stall"}

var conditionWords = []string{"direct", "entrypoint", "jailed", "unjailed"}

// Lint says what in a script could give a false verdict or cannot run. An
// empty list of fixtures allows any fixture name.
//
// Refused are testscript's own words (exec, stop, skip, cmp, …), negation,
// unknown words, ids and conditions, a script without a check, an id of
// another test without a reason, undefined variables and documents, and
// archive files that no source line reads.
func Lint(s Script, fixtures []string) []Problem {
	l := &linter{script: s, fixtures: fixtures, known: map[string]bool{}, names: map[string]bool{}}
	for _, name := range predefined {
		l.known[name] = true
	}
	l.header()
	for _, statement := range s.Statements {
		l.statement(statement)
	}
	l.leave()
	if l.checks == 0 {
		l.report(1, "no check: a script that asserts nothing passes always")
	}
	if l.idle > 0 {
		l.report(l.idle, "no launch follows: this has no effect")
	}
	return l.problems
}

func (l *linter) report(line int, format string, args ...any) {
	l.problems = append(l.problems, Problem{l.script.Name, line, fmt.Sprintf(format, args...)})
}

func (l *linter) header() {
	number := strings.TrimPrefix(l.script.Test, "T")
	if len(number) == 1 {
		number = "0" + number
	}
	if !strings.HasPrefix(l.script.Name, "T"+number+"-") {
		l.report(1, "the file of %s must be called T%s-subject.txtar", l.script.Test, number)
	}
	for i, name := range l.script.files {
		if slices.Contains(l.script.files[:i], name) {
			l.report(1, "archive file %q stands twice", name)
		}
		if !slices.ContainsFunc(l.script.Statements, func(s Statement) bool {
			return (s.verb() == "source" && len(s.Words) > 1 && holdsSource(name, s.Words[1].encode())) ||
				(s.verb() == "document" && len(s.Words) > 3 && s.Words[2].encode() == "golden" && holdsGolden(name, s.Words[3].encode()))
		}) {
			l.report(1, "archive file %q: no source or document line reads it", name)
		}
	}
}

func (l *linter) statement(s Statement) {
	for _, c := range s.Conditions {
		if !slices.Contains(conditionWords, c.Word) {
			l.report(s.Line, "unknown condition [%s]: want one of %s", c.Word, strings.Join(conditionWords, ", "))
		}
	}
	name := s.verb()
	v, found := verbs[name]
	switch {
	case name == "!":
		l.report(s.Line, "no negation: a check states what must be seen")
		return
	case !found:
		l.report(s.Line, "unknown word %q", name)
		return
	}
	arguments := make([]string, 0, len(s.Words))
	for _, w := range s.Words[1:] {
		for _, variable := range w.variables() {
			if !l.known[variable] {
				l.report(s.Line, "$%s is not set by an earlier let or document", variable)
			}
		}
		arguments = append(arguments, w.expand(func(string) string { return "1" }))
	}
	if err := v.lint(arguments); err != nil {
		l.report(s.Line, "%s: %v: usage: %s", name, err, v.usage)
		return
	}
	l.flow(s, name, arguments)
}

// flow checks what depends on the lines before.
func (l *linter) flow(s Statement, name string, arguments []string) {
	switch name {
	case "check":
		l.check(s, arguments)
	case "launch":
		l.launched, l.idle = true, 0
		l.launch(s, arguments)
		l.leave()
		if len(l.faults.Faults) > 0 {
			l.uncounted = s.Line
		}
	case "fresh":
		l.leave()
		l.faults = scenario.Scenario{}
	case "inject":
		l.inject(s, arguments)
	case "control", "finalize":
		l.idle, l.launched = 0, l.launched || name == "finalize"
	case "let":
		l.known[arguments[0]] = true
	case "document":
		l.names[arguments[0]] = true
		l.known[sizeVariable(arguments[0])] = true
	case "payload":
		l.document(s.Line, arguments[0])
	case "source":
		if !slices.ContainsFunc(l.script.files, func(file string) bool { return holdsSource(file, arguments[0]) }) {
			l.report(s.Line, "no archive file %q", arguments[0])
		}
	case "fixture":
		if len(l.fixtures) > 0 && !slices.Contains(l.fixtures, arguments[0]) {
			l.report(s.Line, "unknown fixture %q", arguments[0])
		}
	}
	if verbs[name].sets {
		l.idle = s.Line
	}
}

func (l *linter) document(line int, name string) {
	if !l.names[name] {
		l.report(line, "no document %q before this line", name)
	}
}

func (l *linter) launch(s Statement, arguments []string) {
	plan, err := parseLaunch(arguments)
	if err != nil {
		l.report(s.Line, "launch: %v", err)
		return
	}
	for _, name := range plan.payloads {
		l.document(s.Line, name)
	}
}

func (l *linter) check(s Statement, arguments []string) {
	l.checks++
	parsed, err := parseCheck(arguments)
	if err != nil {
		l.report(s.Line, "%v", err)
		return
	}
	row, known := contracts.AssertionByID(parsed.id)
	if !known {
		l.report(s.Line, "unknown assertion %s", parsed.id)
	}
	if known && contracts.TestOf(row.ID) != l.script.Test && parsed.because == "" {
		l.report(s.Line, "%s is not of %s: say because \"reason\" before the noun", parsed.id, l.script.Test)
	}
	if !l.launched {
		l.report(s.Line, "a check before the first launch")
	}
	l.count(s, parsed.words)
	ofDocument := slices.Contains([]string{"report", "sink", "receipt", "output"}, parsed.words[0])
	if ofDocument && len(parsed.words) == 3 && slices.Contains([]string{"equals", "prefix-of", "relayed"}, parsed.words[1]) {
		l.document(s.Line, parsed.words[2])
	}
	for _, w := range parsed.words {
		if _, rest, found := strings.Cut(w, "sha256=prefix:"); found {
			l.document(s.Line, strings.SplitN(rest, ":", 2)[0])
		}
	}
}

// checkLine is a parsed check: the id, why it may be another test's, the noun.
type checkLine struct {
	id, because string
	words       []string
}

func parseCheck(arguments []string) (checkLine, error) {
	texts, err := decodeAll(arguments)
	if err != nil {
		return checkLine{}, err
	}
	if len(texts) < 2 {
		return checkLine{}, fmt.Errorf("want an id and a noun")
	}
	c := checkLine{id: texts[0], words: texts[1:]}
	if c.words[0] == "because" {
		if len(c.words) < 3 || strings.TrimSpace(c.words[1]) == "" {
			return checkLine{}, fmt.Errorf("want because \"reason\" and a noun")
		}
		c.because, c.words = c.words[1], c.words[2:]
	}
	return c, oracle.ParseNoun(c.words)
}

// number reads a decimal argument.
func number(text string) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no decimal number", text)
	}
	return n, nil
}
