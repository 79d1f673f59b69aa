package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"touchstone/faultinject"
	"touchstone/faultinject/tracer"
)

type runCommand struct {
	tracerOptions
	Command []string `arg:"" passthrough:"" help:"Program and arguments, after --."`
}

// words drops the -- that kong leaves before a command line.
func words(command []string) ([]string, error) {
	if len(command) > 0 && command[0] == "--" {
		command = command[1:]
	}
	if len(command) == 0 {
		return nil, usage(errors.New("no program given"))
	}
	return command, nil
}

// Run starts the program and injects.
func (c *runCommand) Run() error {
	argv, err := words(c.Command)
	if err != nil {
		return err
	}
	path, err := tracer.LookPath(argv[0])
	if err != nil {
		return usage(err)
	}
	return c.trace(func(config tracer.Config) (tracer.Result, error) {
		return tracer.Run(config, path, argv)
	})
}

// trace runs one traced target under a guard and reports its verdict.
func (o tracerOptions) trace(run func(tracer.Config) (tracer.Result, error)) error {
	config, finish, err := o.config()
	if err != nil {
		return errors.Join(err, finish())
	}
	guard := watcher{log: o.Log}
	config.Started = func() error {
		leaveSignals()
		err := letGoOfObjects()
		guard.arm()
		return err
	}
	result, err := run(config)
	err = errors.Join(err, finish(), guard.disarm())
	if errors.Is(err, tracer.ErrMode) {
		return usage(err)
	}
	return verdict(result, err, o.PassStatus)
}

// leaveSignals lets a terminal's signals end the target, not its tracer: the
// target decides, and the verdict is still given.
func leaveSignals() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP)
}

// verdict prints what was not as asked and returns the exit for it.
func verdict(result tracer.Result, failed error, passStatus bool) error {
	for _, text := range result.Blind {
		fmt.Fprintln(os.Stderr, "faultinject: blind:", text)
	}
	for _, t := range result.Tallies {
		if !t.AsAsked && failed == nil {
			fmt.Fprintf(os.Stderr, "faultinject: rule %s: %s\n", t.ID, t.Why)
		}
	}
	code := result.Code(failed)
	if passStatus && failed == nil {
		code = shellStatus(result.Status)
	}
	if code == tracer.CodeAsAsked {
		return nil
	}
	return exitError{code, failed}
}

// shellStatus is a wait status as a shell shows it.
func shellStatus(status unix.WaitStatus) int {
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

type explainCommand struct {
	planOptions
	Print bool     `help:"Print the plan in its shortest form instead."`
	JSON  bool     `help:"Print the JSON twin instead."`
	Line  []string `arg:"" optional:"" help:"Rule lines."`
}

// Run explains rules.
func (c *explainCommand) Run() error {
	c.Rule = append(c.Rule, c.Line...)
	plan, _, err := c.plan()
	if err != nil {
		return err
	}
	switch {
	case c.JSON:
		text, err := faultinject.PrintJSON(plan)
		if err != nil {
			return err
		}
		fmt.Printf("%s\n", text)
	case c.Print:
		fmt.Print(faultinject.Print(plan))
	default:
		for _, r := range plan.Rules {
			fmt.Print(faultinject.Explain(r))
		}
	}
	for _, found := range faultinject.Lint(plan) {
		fmt.Println(found)
	}
	return nil
}
