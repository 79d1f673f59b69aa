package main

import (
	"bufio"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"touchstone/conformance/certify"
	"touchstone/contracts"
	"touchstone/contracts/explain"
)

type explainCommand struct {
	ID   string `arg:"" name:"id" help:"A test (T14), an assertion (T14.03), a requirement (R06) or a failure code."`
	JSON bool   `name:"json" help:"One JSON object on stdout."`
}

// meaning is what there is to say of an id.
type meaning struct {
	ID        string               `json:"id"`
	Text      explain.Text         `json:"text"`
	Assertion *contracts.Assertion `json:"assertion"` // of an assertion
	Code      *contracts.Code      `json:"code"`      // of a failure code
	Checked   []string             `json:"checked"`   // SCRIPT.txtar:LINE that check it; of a test, its scripts
	Rules     []string             `json:"rules"`     // of an assertion or a test: its requirements
	Tests     []string             `json:"tests"`     // of a requirement: where it is asked
}

// Run explains an id.
func (c *explainCommand) Run(p *program) error {
	e, err := explained(c.ID)
	if c.JSON {
		return answer{kind: "explain", data: e}.write(p.stdout, err)
	}
	if err != nil {
		return err
	}
	out := bufio.NewWriter(p.stdout)
	e.print(out, p.terminal)
	if err := out.Flush(); err != nil {
		return fmt.Errorf("print explanation: %w", err)
	}
	return nil
}

func explained(id string) (meaning, error) {
	e := meaning{ID: id, Checked: []string{}, Rules: []string{}, Tests: []string{}}
	texts, err := explain.Texts()
	if err != nil {
		return e, err
	}
	subject := id
	if a, found := contracts.AssertionByID(id); found {
		e.Assertion, subject, e.Rules = &a, contracts.TestOf(id), a.Requirements
	}
	if code, found := contracts.LoadCatalog().Codes[id]; found {
		e.Code = &code
	}
	text, known := texts[subject]
	if !known && e.Code == nil {
		fix := "want a test (T14), an assertion (T14.03), a requirement (R06) or a failure code"
		if name := spelt(id); texts[name].Title != "" || isAssertion(name) {
			fix = "write " + name
		} else if broken.MatchString(name) {
			fix = "ask touchstone zoo explain " + name
		}
		return e, &certify.UsageError{Problem: oneLine(fmt.Sprintf("nothing is known of %q: %s", id, fix))}
	}
	e.Text = text
	if e.Code != nil {
		e.Rules = append(e.Rules, text.Rules...)
		return e, nil
	}
	return e, e.place()
}

var (
	number = regexp.MustCompile(`^([TR])0*([1-9][0-9]*)(\.[0-9]+)?$`) // of a test, an assertion or a requirement
	broken = regexp.MustCompile(`^(MUT|EQU)[0-9]+$`)
)

// spelt is an id as the tables spell it: T6, T6.01, R06.
func spelt(id string) string {
	id = strings.ToUpper(id)
	parts := number.FindStringSubmatch(id)
	switch {
	case parts == nil:
		return id
	case parts[1] == "R" && len(parts[2]) == 1:
		return "R0" + parts[2]
	case len(parts[3]) == 2: // a point and one digit
		return parts[1] + parts[2] + ".0" + parts[3][1:]
	}
	return parts[1] + parts[2] + parts[3]
}

func isAssertion(id string) bool {
	_, found := contracts.AssertionByID(id)
	return found
}

// place finds where an assertion, a test or a requirement is asked.
func (e *meaning) place() error {
	tests, rules := map[string]bool{}, map[string]bool{}
	for _, a := range contracts.Assertions() {
		test := contracts.TestOf(a.ID)
		if slices.Contains(a.Requirements, e.ID) {
			tests[test] = true
		}
		for _, r := range a.Requirements {
			rules[r] = rules[r] || test == e.ID
		}
	}
	if e.ID[0] == 'R' {
		e.Tests = slices.SortedFunc(maps.Keys(tests), func(a, b string) int { return len(a)*1000 - len(b)*1000 + strings.Compare(a, b) })
		return nil
	}
	if e.Assertion == nil {
		maps.DeleteFunc(rules, func(_ string, of bool) bool { return !of })
		e.Rules = slices.Sorted(maps.Keys(rules))
	}
	root, err := repository()
	if err != nil {
		return err
	}
	scripts, err := certify.LoadScripts(filepath.Join(root, "testdata"))
	if err != nil {
		return err
	}
	for _, s := range scripts {
		if s.Test == e.ID {
			e.Checked = append(e.Checked, s.Name+".txtar")
		}
		for _, line := range s.LinesOf(e.ID) {
			e.Checked = append(e.Checked, fmt.Sprintf("%s.txtar:%d", s.Name, line))
		}
	}
	if slices.Contains(certify.UniversalIDs(), e.ID) {
		e.Checked = append(e.Checked, "every attempt")
	}
	return nil
}

func (e meaning) print(out *bufio.Writer, t terminal) {
	row := func(name, text string) {
		if text != "" {
			fmt.Fprintf(out, "%-9s %s\n", name, t.wrapped(oneLine(text), 10))
		}
	}
	title := e.Text.Title
	if e.Code != nil {
		title = strings.Join(e.Code.English, " ")
	}
	fmt.Fprintln(out, strings.TrimRight(e.ID+" "+title, " "))
	row("rules", strings.Join(e.Rules, " "))
	row("tests", strings.Join(e.Tests, " "))
	row("rule", e.Text.Rule)
	row("means", e.Text.Means)
	if a := e.Assertion; a != nil {
		row("whom", a.Level+" of "+a.Subject)
		row("asked", a.Action)
		row("wanted", a.Expect)
		row("seen in", a.Observable)
		row("note", a.Note)
	}
	if e.Code != nil {
		row("class", fmt.Sprintf("%s, retryable %t", e.Code.Class, e.Code.Retryable))
		for _, name := range slices.Sorted(maps.Keys(e.Code.Args)) {
			row("arg", argText(name, e.Code.Args[name]))
		}
	}
	row("sent", e.Text.Sent)
	row("allowed", e.Text.Allowed)
	for _, cause := range e.Text.Causes {
		row("cause", cause)
	}
	row("look at", strings.Join(e.Text.Look, "; "))
	row("checked", strings.Join(e.Checked, " "))
}

func argText(name string, a contracts.Arg) string {
	text := name + " " + a.Kind
	if len(a.Values) > 0 {
		text += " " + strings.Join(a.Values, ",")
	}
	if a.Optional {
		text += ", optional"
	}
	return text
}

// wrapped breaks a text between words so that it fits the terminal; later lines
// stand below the first.
func (t terminal) wrapped(text string, indent int) string {
	if t.width <= indent+20 {
		return text
	}
	var out strings.Builder
	column := indent
	for i, word := range strings.Fields(text) {
		n := len([]rune(word))
		switch {
		case i > 0 && column+1+n > t.width:
			out.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		case i > 0:
			out.WriteString(" ")
			column++
		}
		out.WriteString(word)
		column += n
	}
	return out.String()
}
