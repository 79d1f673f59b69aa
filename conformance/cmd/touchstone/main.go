// Command touchstone certifies process launchers against the report channel
// contract. See CONFORMANCE.md; every command's exit statuses are in its help.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"golang.org/x/sys/unix"

	"touchstone/conformance/certify"
)

// commands are the command line.
type commands struct {
	Certify    certifyCommand    `cmd:"" help:"Run the suite against a launcher. Exit 0 conforming, 1 not conforming, 2 undecided, 3 stale declarations, 64 usage, 70 internal, 130 interrupted."`
	Repro      reproCommand      `cmd:"" help:"Run a capsule again: what did not pass, in one file. Exit 0 everything passed, 1 it did not pass again, the same way, 2 undecided, 3 it failed otherwise, 64, 70."`
	Rerun      rerunCommand      `cmd:"" help:"Run just the scripts and cells again that did not pass in a report. Exit as certify: 0 conforming, or nothing had failed, 1 not conforming, 2 undecided, 3 stale declarations, 64, 70."`
	Show       showCommand       `cmd:"" help:"Show an attempt as a time line, or the bytes of one channel. Exit 0 shown, 1 the transcript is not what the evidence holds, or the record cannot be decoded, 64, 70."`
	Explain    explainCommand    `cmd:"" help:"Explain a test, an assertion, a requirement or a failure code: what is sent, what is allowed, usual causes, where to look. Exit 0, 64, 70."`
	List       listCommand       `cmd:"" help:"List tests, scripts and assertions, and which are written. Exit 0, 1 where --check finds other tables, 64, 70."`
	Recheck    recheckCommand    `cmd:"" help:"Judge a recorded run again, with no launcher. Exit 0 same verdicts, 1 others, 64, 70."`
	Report     reportCommand     `cmd:"" help:"Write a recorded run's report.html, junit.xml, report.tap and summary.md again. Exit 0, 64, 70."`
	Verify     verifyCommand     `cmd:"" help:"Check a certificate against its run folder, offline: every digest, every verdict, the ledger, the age. Exit 0 it holds, 1 not, 64, 70."`
	Diff       diffCommand       `cmd:"" help:"Compare two runs. Exit 0 nothing is worse, 1 something is, 64, 70."`
	Gate       gateCommand       `cmd:"" help:"Decide whether a run may pass, beside a baseline. Exit 0 yes, 1 no, 64, 70."`
	Zoo        zooCommand        `cmd:"" help:"Broken launchers: proof that the suite can fail."`
	Doctor     doctorCommand     `cmd:"" help:"Say what this machine lacks and what to do. Exit 0 nothing required, 1 something, 70."`
	Manifest   manifestCommand   `cmd:"" help:"List commands, flags and exit statuses. Exit 0, 64, 70."`
	Completion completionCommand `cmd:"" help:"Print a completion script for a shell. Exit 0, 64, 70."`
	Version    versionCommand    `cmd:"" help:"Print the version. Exit 0."`
}

// program is what every command gets: where it writes and where it is.
type program struct {
	ctx            context.Context
	stdout, stderr io.Writer
	terminal       terminal // of stdout
}

// table prints rows as wide as the terminal is.
func (p *program) table(rows [][]string) error {
	out := bufio.NewWriter(p.stdout)
	p.terminal.grid(out, rows)
	if err := out.Flush(); err != nil {
		return fmt.Errorf("print table: %w", err)
	}
	return nil
}

func main() {
	debug.SetGCPercent(400) // evidence is short-lived: collecting it more often is a tenth of a run
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole program but its exit. A panic is internal, never success.
func run(arguments []string, stdout, stderr io.Writer) (status int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(stderr, "touchstone: internal: panic: %v\n%s", p, debug.Stack())
			status = certify.Internal
		}
	}()
	// A reader that goes away (| head) ends the run as an interrupt does: cleaned up, status 130.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, unix.SIGTERM, unix.SIGPIPE)
	defer stop()
	var cli commands
	helped := false
	parser, err := kong.New(&cli, kong.Name("touchstone"), kong.Writers(stdout, stderr), kong.Exit(func(int) { helped = true }),
		kong.Description("Certifies process launchers against the report channel contract supervised/v1."))
	if err != nil {
		fmt.Fprintln(stderr, "touchstone: internal:", err)
		return certify.Internal
	}
	parsed, err := parser.Parse(arguments)
	if helped {
		return 0
	}
	if err != nil {
		return misused(arguments, err, stdout, stderr)
	}
	return execute(parsed, &program{ctx, stdout, stderr, terminalOf(stdout, os.Getenv)})
}

// misused answers a command line that cannot be read, in JSON if it asks for it.
func misused(arguments []string, err error, stdout, stderr io.Writer) int {
	wrong := &certify.UsageError{Problem: fmt.Sprintf("%s; see %s --help", problemOf(err), commandOf(err))}
	fmt.Fprintln(stderr, "touchstone: usage:", wrong.Problem)
	if slices.Contains(arguments, "--json") {
		kind := "usage"
		if len(arguments) > 0 && !strings.HasPrefix(arguments[0], "-") {
			kind = arguments[0]
		}
		_ = answer{kind: kind}.write(stdout, wrong) // it gives back the error that it was given
	}
	return certify.Usage
}

// taken is how the parser says that a value was taken for a flag.
var taken = regexp.MustCompile(`^(--[a-z-]+): expected \S+ value but got ("[^"]*") .*$`)

// problemOf is the parser's message without its guesses at a spelling.
func problemOf(err error) string {
	text := taken.ReplaceAllString(err.Error(), "$1 takes a value, and $2 is none")
	return strings.Replace(text, `one of "",`, "one of ", 1)
}

// commandOf is the command that was misused, as its help is asked for.
func commandOf(err error) string {
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil {
		if node := parse.Context.Selected(); node != nil {
			return node.FullPath()
		}
	}
	return "touchstone"
}

// statusError is a command's exit status when nothing went wrong in it.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

func execute(parsed *kong.Context, p *program) int { return ended(p, parsed.Run(p)) }

// ended is the exit status of a command, which says why where it is not its own.
func ended(p *program, err error) int {
	var status statusError
	var wrong *certify.UsageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	case errors.As(err, &wrong):
		fmt.Fprintln(p.stderr, "touchstone: usage:", wrong.Problem)
		return certify.Usage
	}
	cut := context.Cause(p.ctx)
	if errors.Is(err, unix.EPIPE) { // the signal may come a moment later
		cut = err
	}
	if cut != nil {
		fmt.Fprintf(p.stderr, "touchstone: interrupted: %v\n", cut)
		return certify.Interrupted
	}
	fmt.Fprintln(p.stderr, "touchstone: internal:", err)
	return certify.Internal
}
