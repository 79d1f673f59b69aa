package script

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"touchstone/conformance/launcherfile"
	"touchstone/conformance/oracle"
	"touchstone/conformance/scenario"
)

// Result is one script in one cell.
type Result struct {
	Script   string
	Cell     scenario.Cell
	Findings []Finding
	Leaks    []Leak
	Attempts []string // folders, in order
	Log      string   // what testscript said
}

// Run runs a script in a cell. Every id that the script plans for the cell has
// at least one finding afterwards: what was not reached is broken.
//
// work is an existing folder for testscript's own files; it is left empty.
// Nothing is printed, and nothing escapes: a panic of a check is a broken
// finding.
func Run(s Script, cell scenario.Cell, file launcherfile.File, attempts Attempts, work string) Result {
	session := newSession(s, cell, file, attempts)
	log, err := session.execute(work)
	for _, id := range s.Planned(cell) {
		if !slices.ContainsFunc(session.findings, func(f Finding) bool { return f.ID == id && f.Line > 0 }) {
			cause := "the check was never reached"
			if err != nil {
				cause += ": " + err.Error()
			}
			session.line = 0
			session.undecided(id, errors.New(cause))
		}
	}
	return Result{Script: s.Name, Cell: cell, Findings: session.findings, Leaks: session.leaks, Attempts: session.directories, Log: log}
}

func (s *session) execute(work string) (log string, err error) {
	folder, err := os.MkdirTemp(work, "script-")
	if err != nil {
		return "", fmt.Errorf("make script folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, s.script.Name+".txtar")
	if err := os.WriteFile(path, s.script.executable(), 0o600); err != nil {
		return "", fmt.Errorf("write script: %w", err)
	}
	runner := &quietT{}
	runner.top(func() {
		testscript.RunT(runner, testscript.Params{
			Files: []string{path}, WorkdirRoot: folder, RequireExplicitExec: true, RequireUniqueNames: true,
			ContinueOnError: true, Cmds: s.commands(),
			Condition: func(word string) (bool, error) {
				if !slices.Contains(conditionWords, word) {
					return false, fmt.Errorf("unknown condition %q", word)
				}
				return conditionHolds(word, s.cell), nil
			},
			Setup: func(env *testscript.Env) error {
				s.setenv = env.Setenv
				s.exportGrants()
				return nil
			},
		})
	})
	if runner.failed {
		err = errors.New("the script did not run to its end")
	}
	return runner.log.String(), err
}

// commands gives testscript our words. Every one gets the number of its source
// line first; none of them lets the script fail.
func (s *session) commands() map[string]func(*testscript.TestScript, bool, []string) {
	commands := map[string]func(*testscript.TestScript, bool, []string){}
	for name, v := range verbs {
		commands[name] = func(ts *testscript.TestScript, negated bool, arguments []string) {
			s.setenv = ts.Setenv
			s.act(name, v, negated, arguments)
		}
	}
	return commands
}

// act runs one verb. What goes wrong decides what becomes of the later checks.
func (s *session) act(name string, v verb, negated bool, arguments []string) {
	arguments = s.takeLine(arguments)
	if s.blocked(name, arguments) {
		return
	}
	err := s.try(v, negated, arguments)
	if err == nil {
		return
	}
	needs := (*needsError)(nil)
	switch {
	case name == "check":
		s.undecided(arguments[0], err)
	case errors.As(err, &needs):
		s.missing = err.Error() // the same on every line: a report says it once
	default:
		s.broken = fmt.Sprintf("line %d: %s: %v", s.line, name, err)
	}
}

func (s *session) takeLine(arguments []string) []string {
	if len(arguments) > 0 {
		if text, found := strings.CutPrefix(arguments[0], lineWord); found {
			s.line, _ = strconv.Atoi(text) // written by executable
			return arguments[1:]
		}
	}
	return arguments
}

// blocked keeps a script from acting on a state that an earlier failure left,
// and gives each later check the reason.
func (s *session) blocked(name string, arguments []string) bool {
	reason, cause := s.broken, error(nil)
	switch {
	case s.broken != "":
		cause = errors.New(reason)
	case s.missing != "" && name != "fresh":
		cause = &needsError{s.missing}
	default:
		return false
	}
	if name == "check" && len(arguments) > 0 {
		s.undecided(arguments[0], cause)
	}
	return true
}

// try turns a panic into an error: a fault of the suite, never a verdict.
func (s *session) try(v verb, negated bool, arguments []string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v at %s", p, panicSite(debug.Stack()))
		}
	}()
	if negated {
		return errors.New("negated: the linter should have refused this")
	}
	return v.run(s, arguments)
}

// panicSite is the first line of ours in a stack.
func panicSite(stack []byte) string {
	for line := range strings.Lines(string(stack)) {
		if strings.Contains(line, "touchstone/") && !strings.Contains(line, "panicSite") && !strings.Contains(line, ".try") {
			return strings.TrimSpace(line)
		}
	}
	return "unknown place"
}

// quietT is a testscript.T that runs its one script at once and keeps the log.
type quietT struct {
	log    strings.Builder
	failed bool
}

// stopped is the panic that carries FailNow and Skip to the enclosing Run.
type stopped struct{}

func (t *quietT) Skip(args ...any)  { t.log.WriteString(fmt.Sprintln(args...)); t.FailNow() }
func (t *quietT) Fatal(args ...any) { t.log.WriteString(fmt.Sprintln(args...)); t.FailNow() }
func (t *quietT) Log(args ...any)   { t.log.WriteString(fmt.Sprintln(args...)) }
func (t *quietT) Parallel()         {}
func (t *quietT) Verbose() bool     { return false }

// FailNow ends the script. It never counts as anything but a script that did
// not run to its end.
func (t *quietT) FailNow() {
	t.failed = true
	panic(stopped{})
}

func (t *quietT) Run(_ string, f func(testscript.T)) { t.top(func() { f(t) }) }

func (t *quietT) top(f func()) {
	defer func() {
		if p := recover(); p != nil {
			t.failed = true
			if _, ours := p.(stopped); !ours {
				fmt.Fprintf(&t.log, "panic: %v\n", p)
			}
		}
	}()
	f()
}

// verdictsOf are the findings of one id, for tests.
func (r Result) verdictsOf(id string) []oracle.Verdict {
	var verdicts []oracle.Verdict
	for _, f := range r.Findings {
		if f.ID == id {
			verdicts = append(verdicts, f.Verdict)
		}
	}
	return verdicts
}
