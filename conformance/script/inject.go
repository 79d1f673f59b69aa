package script

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"touchstone/conformance/oracle"
	"touchstone/conformance/scenario"
	"touchstone/faultinject"
)

// setFault adds a line to the fault plan and checks the whole plan.
func setFault(s *scenario.Scenario, words []string) error {
	if len(words) == 0 {
		return fmt.Errorf("no rule")
	}
	lines := append(slices.Clone(s.Faults), faultLine(len(s.Faults)+1, words))
	plan, err := faultinject.Parse(strings.Join(lines, "\n"))
	if err != nil {
		return err
	}
	for _, problem := range faultinject.Lint(plan, scenario.EndpointNames...) {
		if !problem.Warning {
			return problem
		}
	}
	s.Faults = lines
	return nil
}

// faultLine spells the nth line of a fault plan. A rule may be given a name
// before a colon; others are called fault-N.
func faultLine(n int, words []string) string {
	line := strings.Join(words, " ")
	switch {
	case words[0] == "bind":
		return line
	case strings.HasSuffix(words[0], ":"):
		return "rule " + line
	}
	return fmt.Sprintf("rule fault-%d: %s", n, line)
}

// inject lints a fault line with those before it, which it may refer to.
func (l *linter) inject(s Statement, arguments []string) {
	texts, err := decodeAll(arguments)
	if err == nil {
		err = setFault(&l.faults, texts)
	}
	if err != nil {
		l.report(s.Line, "inject: %v", err)
	}
}

// faultRules is how many rules are injected into the next launch, without those
// that only watch.
func (l *linter) faultRules() int {
	rules := 0
	for _, line := range l.faults.Faults {
		if strings.HasPrefix(line, "rule ") && !strings.HasPrefix(line, "rule "+oracle.Watch) {
			rules++
		}
	}
	return rules
}

// count looks for the check that counts the faults of the last launch.
func (l *linter) count(s Statement, words []string) {
	if words[0] == "faults" && l.faultRules() == 0 {
		l.uncounted = 0 // that of a rule which only watches
	}
	if words[0] != "faults" || len(words) != 3 || words[2] != "fired" {
		return
	}
	l.uncounted = 0
	if wanted := strconv.Itoa(l.faultRules()); words[1] != wanted {
		l.report(s.Line, "faults %s fired: the rules are %s", words[1], wanted)
	}
}

// leave reports a launch with faults that no check has counted.
func (l *linter) leave() {
	if l.uncounted > 0 {
		l.report(l.uncounted, "no check shows the faults of this launch: want faults %d fired", l.faultRules())
	}
	l.uncounted = 0
}
