package main

import (
	"fmt"

	"touchstone/conformance/certify"
)

type rerunCommand struct {
	Failed   string `required:"" help:"The report whose failures are run again: report.json, or the folder that holds it." placeholder:"REPORT"`
	NotRun   bool   `help:"Run again also what could not be asked."`
	Launcher string `help:"Name of a file in conformance/launchers, or a path; the run's own when absent." placeholder:"NAME|PATH"`
	Jobs     int    `short:"j" help:"Scripts at a time; three for each processor when 0." default:"0"`
	Out      string `help:"Run folder, new or empty; reports/out/RUN-ID when absent." placeholder:"DIR"`
	Bin      string `help:"Folder of the launcher's binaries; .build/bin when absent." placeholder:"DIR"`
	Quiet    bool   `short:"q" help:"No progress, no table: only what is wrong or was left behind, and the conclusion."`
	JSON     bool   `name:"json" help:"One JSON object on stdout, as certify's."`
}

// Run certifies again what did not pass.
func (c *rerunCommand) Run(p *program) error {
	request, err := certify.Unpassed(c.Failed, c.Launcher, c.NotRun)
	if err == nil && len(request.Only) > 0 {
		return (&certifyCommand{Launcher: request.Launcher, Jobs: c.Jobs, Out: c.Out, Bin: c.Bin, JSON: c.JSON, Quiet: c.Quiet, chosen: &request}).Run(p)
	}
	if c.JSON {
		return answer{kind: "certify"}.write(p.stdout, err)
	}
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(p.stdout, "nothing failed in", c.Failed); err != nil {
		return fmt.Errorf("print answer: %w", err)
	}
	return nil
}
