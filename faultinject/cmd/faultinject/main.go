// Command faultinject runs programs with faults in their system calls. See
// the README of faultinject.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/alecthomas/kong"

	"touchstone/faultinject/tracer"
)

type commands struct {
	Run     runCommand     `cmd:"" help:"Run a program with faults, as a child of this command."`
	Stub    stubCommand    `cmd:"" help:"Stop, and run a program once attach has come."`
	Attach  attachCommand  `cmd:"" help:"Inject faults into the program of a stub."`
	Sweep   sweepCommand   `cmd:"" help:"Run a program once for every call and fault, and find wrong success."`
	Explain explainCommand `cmd:"" help:"Say in words what rules do, and what is doubtful about them."`
}

// exitError ends the command with a code; its text, if any, is printed.
type exitError struct {
	code int
	err  error
}

func (e exitError) Error() string { return e.err.Error() }
func (e exitError) Unwrap() error { return e.err }

// usage marks an error of the command line or of a plan.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return exitError{tracer.CodeUsage, err}
}

func main() { os.Exit(command(os.Args[1:])) }

func command(args []string) int {
	if len(args) > 0 && args[0] == guardWord {
		return guard()
	}
	code := -1
	parser, err := kong.New(grammar(args), kong.Name("faultinject"), kong.UsageOnError(),
		kong.Exit(func(n int) { code = n }),
		kong.Description("Exit: 0 all rules fired as asked, 3 a rule never or over-fired, "+
			"4 rules could not see everything, 5 the tracer failed, 64 usage."))
	if err != nil {
		panic("bug: " + err.Error())
	}
	context, err := parser.Parse(args)
	if code >= 0 {
		return code // --help
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "faultinject:", err)
		return tracer.CodeUsage
	}
	return report(context.Run())
}

// grammar returns the command that args name or, for help and for errors, all
// of them. To describe one is faster by milliseconds, which are a good part of
// a short run.
func grammar(args []string) any {
	if len(args) == 0 {
		return &commands{}
	}
	switch args[0] {
	case "run":
		return &struct {
			Run runCommand `cmd:"" help:"Run a program with faults, as a child of this command."`
		}{}
	case stubWord:
		return &struct {
			Stub stubCommand `cmd:"" help:"Stop, and run a program once attach has come."`
		}{}
	case "attach":
		return &struct {
			Attach attachCommand `cmd:"" help:"Inject faults into the program of a stub."`
		}{}
	}
	return &commands{}
}

// report prints an error and returns the exit that stands for it.
func report(err error) int {
	var exit exitError
	switch {
	case err == nil:
		return tracer.CodeAsAsked
	case errors.As(err, &exit):
		if exit.err != nil {
			fmt.Fprintln(os.Stderr, "faultinject:", exit.err)
		}
		return exit.code
	}
	fmt.Fprintln(os.Stderr, "faultinject:", err)
	return tracer.CodeFailed
}
