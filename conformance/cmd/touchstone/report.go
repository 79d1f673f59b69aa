package main

import (
	"fmt"
	"path/filepath"

	"touchstone/conformance/certify"
	"touchstone/reports"
)

type reportCommand struct {
	Dir    string `arg:"" help:"Run folder."`
	Out    string `help:"Existing folder to write to; the run folder when absent." placeholder:"DIR"`
	GitHub bool   `name:"github" help:"Also print annotations of GitHub Actions on stderr."`
	JSON   bool   `name:"json" help:"One JSON object on stdout."`
}

type reportData struct {
	Files []string `json:"files"`
}

// Run writes the forms of a report again and names them.
func (c *reportCommand) Run(p *program) error {
	report, err := certify.Render(c.Dir, c.Out)
	if err == nil && c.GitHub {
		err = reports.WriteAnnotations(p.stderr, report)
	}
	var data reportData
	out := c.Dir
	if c.Out != "" {
		out = c.Out
	}
	for _, name := range []string{reports.PageFile, reports.SummaryFile, reports.JUnitFile, reports.TAPFile} {
		data.Files = append(data.Files, filepath.Join(out, name))
	}
	if c.JSON {
		return answer{kind: "report", data: data}.write(p.stdout, err)
	}
	if err != nil {
		return err
	}
	for _, name := range data.Files {
		if _, err := fmt.Fprintln(p.stdout, name); err != nil {
			return fmt.Errorf("print: %w", err)
		}
	}
	return nil
}
