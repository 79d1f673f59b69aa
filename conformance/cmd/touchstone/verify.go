package main

import (
	"bufio"
	"fmt"
	"path/filepath"
	"time"

	"touchstone/conformance/certificate"
	"touchstone/conformance/certify"
)

type verifyCommand struct {
	Certificate string `arg:"" help:"certificate.json."`
	Dir         string `arg:"" help:"The run folder that it is about."`
	Bin         string `help:"Also compare the launcher's binaries in this folder with the certified ones." placeholder:"DIR"`
	Checkout    string `help:"Also compare the fixtures and assertions of this checkout of the suite with the certified ones." placeholder:"DIR"`
	Jobs        int    `short:"j" default:"2" help:"Scripts at a time."`
	JSON        bool   `name:"json" help:"One JSON object on stdout."`
}

type verifyData struct {
	Holds       bool                    `json:"holds"`
	Problems    []string                `json:"problems"`
	Certificate certificate.Certificate `json:"certificate"`
}

// Run says whether a certificate holds.
func (c *verifyCommand) Run(p *program) error {
	v, err := certify.Verify(c.Certificate, c.Dir, certify.Beside{Bin: c.Bin, Checkout: c.Checkout}, c.Jobs, time.Now())
	holds := len(v.Problems) == 0
	if c.JSON {
		a := answer{kind: "verify", data: verifyData{holds, append([]string{}, v.Problems...), v.Certificate}, status: no(holds)}
		if !holds {
			a.finding = v.Problems[0]
		}
		return a.write(p.stdout, err)
	}
	if err != nil {
		return err
	}
	return say(p, no(holds), v.Problems, func(out *bufio.Writer) {
		e := v.Certificate
		fmt.Fprintf(out, "holds until %s: %s, %s (exit %d), scope %s\n", e.Expires, e.Launcher.Name, e.Conclusion, e.ExitStatus, e.Scope)
		fmt.Fprintf(out, "checked %d files, %d bytes; %d assertions judged again\n", e.Evidence.Files, e.Evidence.Bytes, e.Totals.Planned)
	})
}

// no is the status of an answer to a question.
func no(yes bool) int {
	if yes {
		return 0
	}
	return 1
}

// say prints what is wrong, one thing a line, or what is right.
func say(p *program, status int, wrong []string, right func(*bufio.Writer)) error {
	out := bufio.NewWriter(p.stdout)
	for _, w := range wrong {
		fmt.Fprintln(out, p.terminal.paint("no"), oneLine(w))
	}
	if len(wrong) == 0 {
		right(out)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("print answer: %w", err)
	}
	return exit(status)
}

type diffCommand struct {
	A    string `arg:"" help:"Run folder, certificate.json or report.json: before."`
	B    string `arg:"" help:"The same: after."`
	JSON bool   `name:"json" help:"One JSON object on stdout."`
}

// Run compares two runs.
func (c *diffCommand) Run(p *program) error {
	a, err := certify.Account(c.A)
	var b certificate.Certificate
	if err == nil {
		b, err = certify.Account(c.B)
	}
	d := certificate.Compare(a, b)
	if c.JSON {
		found := answer{kind: "diff", data: d, status: no(!d.Worse())}
		if lines := worseLines(d); len(lines) > 0 {
			found.finding = lines[0]
		}
		return found.write(p.stdout, err)
	}
	if err != nil {
		return err
	}
	out := bufio.NewWriter(p.stdout)
	printDiff(out, d)
	if err := out.Flush(); err != nil {
		return fmt.Errorf("print comparison: %w", err)
	}
	return exit(no(!d.Worse()))
}

func worseLines(d certificate.Comparison) []string {
	var lines []string
	for _, list := range []struct {
		what    string
		changes []certificate.Change
	}{{"new failure", d.NewFailures}, {"newly not run", d.NewlyNotRun}, {"no longer planned", d.Gone}} {
		for _, c := range list.changes {
			lines = append(lines, list.what+" "+c.String())
		}
	}
	if d.MoreLeaks > 0 {
		lines = append(lines, fmt.Sprintf("%d leaks more", d.MoreLeaks))
	}
	return lines
}

func printDiff(out *bufio.Writer, d certificate.Comparison) {
	for _, line := range worseLines(d) {
		fmt.Fprintln(out, line)
	}
	for _, c := range d.Fixed {
		fmt.Fprintln(out, "fixed", c)
	}
	for _, c := range d.Other {
		fmt.Fprintln(out, "changed", c)
	}
	for _, t := range d.Paces {
		fmt.Fprintf(out, "timing %s %s: %.1f s -> %.1f s\n", t.Script, t.Cell, t.Was, t.Is)
	}
	if d.Same() {
		fmt.Fprintln(out, "same verdicts")
	}
}

type gateCommand struct {
	Folder      string `arg:"" name:"run" optional:"" help:"Run folder; the newest of reports/out when absent."`
	Baseline    string `required:"" help:"certificate.json of the run to compare with." placeholder:"CERT"`
	RequireFull bool   `help:"Only a full certificate may pass."`
	Jobs        int    `short:"j" default:"2" help:"Scripts at a time."`
	JSON        bool   `name:"json" help:"One JSON object on stdout."`
}

type gateData struct {
	Run     string   `json:"run"`
	Pass    bool     `json:"pass"`
	Scope   string   `json:"scope"`
	Reasons []string `json:"reasons"`
}

// Run decides.
func (c *gateCommand) Run(p *program) error {
	data, err := c.decide(p)
	if c.JSON {
		a := answer{kind: "gate", data: data, status: no(data.Pass)}
		if !data.Pass && len(data.Reasons) > 0 {
			a.finding, a.suggestions = data.Reasons[0], []string{"touchstone diff " + c.Baseline + " " + data.Run}
		}
		return a.write(p.stdout, err)
	}
	if err != nil {
		return err
	}
	return say(p, no(data.Pass), data.Reasons, func(out *bufio.Writer) {
		fmt.Fprintf(out, "pass: %s, scope %s, nothing worse than %s\n", data.Run, data.Scope, c.Baseline)
	})
}

func (c *gateCommand) decide(p *program) (gateData, error) {
	data := gateData{Run: c.Folder, Reasons: []string{}}
	if data.Run == "" {
		root, err := repository()
		if err == nil {
			data.Run, err = certify.Newest(filepath.Join(root, "reports", "out"))
		}
		if err != nil {
			return data, err
		}
		fmt.Fprintln(p.stderr, "touchstone: gate: the newest run, "+data.Run)
	}
	run, reasons, err := certify.Gate(data.Run, c.Baseline, c.RequireFull, c.Jobs, time.Now())
	data.Scope, data.Reasons = run.Scope, append(data.Reasons, reasons...)
	data.Pass = err == nil && len(reasons) == 0
	return data, err
}
