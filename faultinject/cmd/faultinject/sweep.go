package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"touchstone/faultinject"
	"touchstone/faultinject/sweep"
	"touchstone/faultinject/tracer"
)

type sweepCommand struct {
	On      []string      `default:"%write,%sync,%rename,%close" help:"Classes or calls, each swept by itself."`
	Faults  []string      `default:"EIO,ENOSPC,EINTR,short,zero" help:"Error names, short (one byte) and zero (a result of 0)."`
	Role    string        `default:"S" help:"Whose calls: S, any, or letters with commas."`
	Check   string        `required:"" placeholder:"COMMAND" help:"Shell command that succeeds where the program's result is right."`
	Reset   string        `placeholder:"COMMAND" help:"Shell command before every run."`
	Limit   time.Duration `default:"10s" help:"Longest time of one run."`
	MaxRuns int           `default:"10000" help:"Runs after which the sweep gives up."`
	JSON    bool          `help:"Print the report as JSON."`
	Verbose bool          `short:"v" help:"Print every point to stderr."`
	Command []string      `arg:"" passthrough:"" help:"Program and arguments, after --."`
}

// Run sweeps and reports. Exit 3: some call's failure gives a wrong success,
// a crash or a hang.
func (c *sweepCommand) Run() error {
	config, err := c.config()
	if err != nil {
		return err
	}
	report, err := sweep.Run(config)
	if errors.Is(err, sweep.ErrBaseline) {
		return usage(err)
	}
	if err != nil {
		return err
	}
	wrong := report.Wrong()
	if c.JSON {
		text, err := json.Marshal(report, json.Deterministic(true))
		if err != nil {
			return fmt.Errorf("print report: %w", err)
		}
		fmt.Printf("%s\n", text)
	} else {
		c.print(report, wrong)
	}
	if len(wrong) > 0 {
		return exitError{tracer.CodeNotAsked, nil}
	}
	return nil
}

func (c *sweepCommand) config() (sweep.Config, error) {
	argv, err := words(c.Command)
	if err != nil {
		return sweep.Config{}, err
	}
	path, err := tracer.LookPath(argv[0])
	if err != nil {
		return sweep.Config{}, usage(err)
	}
	for _, class := range c.On {
		for _, fault := range c.Faults {
			_, isError := faultinject.ErrnoNumber(fault)
			if faultinject.Expand(class) == nil || !isError && fault != "short" && fault != "zero" {
				return sweep.Config{}, usage(fmt.Errorf("no such class or fault: %s, %s", class, fault))
			}
		}
	}
	log := func(string, ...any) {}
	if c.Verbose {
		log = func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
	}
	return sweep.Config{Path: path, Argv: argv, Classes: c.On, Faults: c.Faults, Role: c.Role, Check: c.Check,
		Reset: c.Reset, Limit: c.Limit, MaxRuns: c.MaxRuns, Log: log}, nil
}

func (c *sweepCommand) print(report sweep.Report, wrong [][]sweep.Point) {
	for _, class := range c.On {
		points := 0
		for _, p := range report.Points {
			if p.Class == class {
				points++
			}
		}
		fmt.Printf("%-8s %3d calls, %3d points\n", class, report.Calls[class], points)
	}
	fmt.Printf("%d runs, %d points, %d calls that go wrong\n", report.Runs, len(report.Points), len(wrong))
	for _, group := range wrong {
		var faults []string
		for _, p := range group {
			faults = append(faults, p.Fault)
		}
		p := group[0]
		fmt.Printf("%s: %s, call %d of %s, on %s: %s (%s)\n", p.Verdict, p.Call, p.Ordinal, p.Class, p.Object,
			strings.Join(faults, " "), p.Ending)
	}
}
