package main

import (
	"bufio"
	"fmt"
	"path/filepath"

	"touchstone/conformance/certify"
	"touchstone/conformance/doctor"
)

type recheckCommand struct {
	Dir  string `arg:"" help:"Run folder."`
	Jobs int    `short:"j" default:"2" help:"Scripts at a time."`
	JSON bool   `name:"json" help:"One JSON object on stdout."`
}

type recheckData struct {
	Same        bool                 `json:"same"`
	Differences []certify.Difference `json:"differences"`
}

// Run judges a recorded run again and says whether its report follows.
func (c *recheckCommand) Run(p *program) error {
	report, differences, err := certify.Recheck(c.Dir, c.Jobs)
	status := 0
	if len(differences) > 0 {
		status = 1
	}
	if c.JSON {
		a := answer{kind: "recheck", data: recheckData{status == 0, differences}, status: status}
		if status != 0 {
			a.finding = differences[0].String()
		}
		return a.write(p.stdout, err)
	}
	if err != nil {
		return err
	}
	out := bufio.NewWriter(p.stdout)
	for _, line := range grouped(differences) {
		fmt.Fprintln(out, "differs", oneLine(line))
	}
	if status == 0 {
		fmt.Fprintf(out, "same: %d assertions, %s (exit %d)\n", report.Totals.Planned, report.Conclusion, report.ExitStatus)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("print differences: %w", err)
	}
	return exit(status)
}

// grouped says what differs, what differs alike in one line: one altered file is
// noticed by every check of its attempt.
func grouped(differences []certify.Difference) []string {
	var lines []string
	first := map[string]int{}
	alike := map[string][]string{}
	for _, d := range differences {
		key := d.Recorded + "\x00" + d.Now
		if _, seen := first[key]; !seen {
			first[key] = len(lines)
			lines = append(lines, d.String())
			continue
		}
		alike[key] = append(alike[key], d.What)
	}
	for key, names := range alike {
		lines[first[key]] += fmt.Sprintf(" (and %d more alike: %s)", len(names), shorten(names))
	}
	return lines
}

type doctorCommand struct {
	JSON bool `name:"json" help:"One JSON object on stdout."`
}

// Run says what is missing.
func (c *doctorCommand) Run(p *program) error {
	root, err := repository()
	if err != nil {
		root = "."
	}
	answers := doctor.Examine(filepath.Join(root, ".build", "bin"), filepath.Join(root, "reports", "out"))
	status := 0
	if !doctor.Sound(answers) {
		status = 1
	}
	if c.JSON {
		a := answer{kind: "doctor", data: answers, status: status}
		for _, one := range answers {
			if !one.OK {
				a.suggestions = append(a.suggestions, one.Fix)
			}
			if !one.OK && one.Required && a.finding == "" {
				a.finding = fmt.Sprintf("missing %s: %s", one.Name, one.Seen)
			}
		}
		return a.write(p.stdout, nil)
	}
	out := bufio.NewWriter(p.stdout)
	for _, a := range answers {
		describe(out, p.terminal, a)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("print answers: %w", err)
	}
	return exit(status)
}

func describe(out *bufio.Writer, t terminal, a doctor.Answer) {
	word := "ok"
	switch {
	case !a.OK && a.Required:
		word = "missing"
	case !a.OK:
		word = "absent"
	}
	fmt.Fprintf(out, "%s %s: %s\n", t.paint(fitted(word, 8)), a.Name, oneLine(a.Seen))
	if !a.OK {
		fmt.Fprintf(out, "           so       %s\n           fix      %s\n", a.Consequence, a.Fix)
	}
}

type versionCommand struct {
	JSON bool `name:"json" help:"One JSON object on stdout."`
}

// Run prints the version, and the commit when the build knows it.
func (c versionCommand) Run(p *program) error {
	suite := suiteVersion()
	if c.JSON {
		return answer{kind: "version", data: suite}.write(p.stdout, nil)
	}
	text := "touchstone " + suite.Version
	if suite.Commit != "" {
		text += " " + suite.Commit
	}
	_, err := fmt.Fprintln(p.stdout, text)
	return err
}
