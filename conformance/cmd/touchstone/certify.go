package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"touchstone/conformance/certify"
	"touchstone/reports"
)

type certifyCommand struct {
	Launcher string   `default:"reference" help:"Name of a file in conformance/launchers, or a path." placeholder:"NAME|PATH"`
	Tests    []string `sep:"none" help:"Globs over tests (T14) or script names; all when absent." placeholder:"GLOB,…"`
	Facade   string   `help:"Only this facade of the launcher: direct, entrypoint."`
	Profile  string   `help:"Only this profile of the launcher: unjailed, jailed."`
	Jobs     int      `short:"j" help:"Scripts at a time; three for each processor when 0." default:"0"`
	Out      string   `help:"Run folder, new or empty; reports/out/RUN-ID when absent (below the temporary folder in a read-only checkout)." placeholder:"DIR"`
	Bin      string   `help:"Folder of the launcher's binaries; .build/bin when absent." placeholder:"DIR"`
	JSON     bool     `name:"json" help:"One JSON object on stdout; progress stays on stderr."`
	FailFast bool     `help:"Make no new attempt after the first failure, leak or hang; what is left is not run."`
	Events   string   `help:"Also write the run's events, a JSON object a line, as they happen: to stdout if -, in place of the table, else to a new file." placeholder:"-|FILE"`
	Quiet    bool     `short:"q" help:"No progress, no table: only what is wrong or was left behind, and the conclusion."`
	GitHub   bool     `name:"github" help:"Also print annotations of GitHub Actions on stderr."`
	Full     bool     `help:"Exit 2 unless every planned assertion passed."`
	Timing   bool     `help:"Print last where the time went: by cell, then the slowest scripts first."`

	chosen *certify.Request // in place of what the flags ask for
}

// Run certifies and prints the table, or the envelope.
func (c *certifyCommand) Run(p *program) error {
	report, run, err := c.certify(p)
	if err == nil && c.Full && report.ExitStatus == certify.Conforming && !report.Full {
		report.ExitStatus = certify.Undecided
	}
	if err == nil && c.GitHub {
		err = reports.WriteAnnotations(p.stderr, report)
	}
	if c.JSON {
		a := answer{kind: "certify", status: report.ExitStatus}
		if err == nil {
			a.data, a.finding, a.suggestions = certifyData{run, report}, firstFinding(report), suggestions(report)
		}
		return a.write(p.stdout, err)
	}
	if err != nil {
		return err
	}
	if c.Events == "-" { // stdout is the events'
		return exit(report.ExitStatus)
	}
	err = c.print(p, report, run)
	if err == nil && c.Timing {
		err = printTiming(p, report)
	}
	if err != nil {
		return fmt.Errorf("print table: %w", err)
	}
	return exit(report.ExitStatus)
}

func (c *certifyCommand) print(p *program, r reports.Report, run string) error {
	if c.Quiet {
		return printQuiet(p.stdout, p.terminal, r)
	}
	return printTable(p.stdout, p.terminal, r, run)
}

type certifyData struct {
	Run    string         `json:"run"` // folder
	Report reports.Report `json:"report"`
}

func (c *certifyCommand) certify(p *program) (reports.Report, string, error) {
	if c.Jobs < 0 {
		return reports.Report{}, "", &certify.UsageError{Problem: "--jobs is below 0"}
	}
	if c.JSON && c.Events == "-" {
		return reports.Report{}, "", &certify.UsageError{Problem: "--json and --events - both want stdout"}
	}
	root, err := repository()
	if err != nil {
		return reports.Report{}, "", err
	}
	launcher, err := fromAnywhere(c.Launcher)
	if err != nil {
		return reports.Report{}, "", err
	}
	request := certify.Request{Launcher: launcher, Facade: c.Facade, Profile: c.Profile, FailFast: c.FailFast}
	if c.chosen != nil {
		request = *c.chosen
	}
	if c.Tests != nil { // given but empty selects nothing, which is refused
		request.Tests = strings.Split(strings.Join(c.Tests, ","), ",")
	}
	selection, err := certify.Select(root, request)
	if err != nil {
		return reports.Report{}, "", err
	}
	place, err := c.place(root)
	if err != nil {
		return reports.Report{}, "", err
	}
	events, err := c.openEvents(p)
	if err != nil {
		return reports.Report{}, "", err
	}
	if events != nil {
		place.Events = events
	}
	report, err := certify.Run(p.ctx, selection, place, suiteVersion(), c.progress(p))
	if events != nil {
		err = errors.Join(err, events.Close())
	}
	if p.ctx.Err() != nil {
		fmt.Fprintf(p.stderr, "touchstone: the evidence so far is in %s; it has no certificate\n", place.Run)
	}
	return report, place.Run, err
}

// fromAnywhere is a launcher as a command names it that is run elsewhere, as the
// replay lines are.
func fromAnywhere(launcher string) (string, error) {
	if launcher == filepath.Base(launcher) && !strings.HasSuffix(launcher, ".toml") {
		return launcher, nil // a name
	}
	return filepath.Abs(launcher)
}

func (c *certifyCommand) progress(p *program) certify.Progress {
	if c.Quiet {
		return nothing{}
	}
	return newProgress(p.stderr)
}

// openEvents opens what --events names; nil when nobody asked.
func (c *certifyCommand) openEvents(p *program) (io.WriteCloser, error) {
	switch c.Events {
	case "":
		return nil, nil
	case "-":
		return standing{p.stdout}, nil
	}
	f, err := os.OpenFile(c.Events, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, &certify.UsageError{Problem: fmt.Sprintf("--events: %v; name a new file in a folder where you may write", err)}
	}
	return f, nil
}

// standing is a writer that is not ours to close.
type standing struct{ io.Writer }

func (standing) Close() error { return nil }

func (c *certifyCommand) place(root string) (certify.Place, error) {
	exe, err := os.Executable()
	if err != nil {
		return certify.Place{}, fmt.Errorf("find own executable: %w", err)
	}
	place := certify.Place{Root: root, Bin: c.Bin, Exe: filepath.Join(filepath.Dir(exe), "touchstone-attempt"), Run: c.Out, Jobs: c.Jobs}
	if place.Bin == "" {
		place.Bin = filepath.Join(root, ".build", "bin")
	}
	if place.Run == "" {
		place.Run = filepath.Join(outFolder(root), certify.NewRunID())
	}
	if place.Jobs == 0 {
		place.Jobs = 3 * runtime.NumCPU() // an attempt mostly waits
	}
	if place.Run, err = filepath.Abs(place.Run); err != nil {
		return certify.Place{}, fmt.Errorf("find run folder: %w", err)
	}
	place.Bin, err = filepath.Abs(place.Bin)
	return place, err
}

// outFolder is reports/out, or in a checkout that this user may not write to a
// folder of the user's own below the temporary one.
func outFolder(root string) string {
	out := filepath.Join(root, "reports", "out")
	if os.MkdirAll(out, 0o755) == nil && unix.Access(out, unix.W_OK) == nil {
		return out
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("touchstone-out-%d", os.Getuid()))
}

// repository is the folder of the suite: the one above the executable, as
// scripts/certify builds it, else the working folder or one above that.
func repository() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find own executable: %w", err)
	}
	cwd, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find working folder: %w", err)
	}
	for _, start := range []string{filepath.Dir(exe), cwd} {
		for dir := start; ; dir = filepath.Dir(dir) {
			if isRepository(dir) {
				return dir, nil
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return "", &certify.UsageError{Problem: "no suite found: run from a checkout, or use its .build/bin/touchstone"}
}

func isRepository(dir string) bool {
	for _, name := range []string{"testdata", "fixtures/native/fixture.h", "conformance/launchers"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// version is the suite's own; commit is set by scripts/build, "" elsewhere.
const version = "0.1.0"

var commit string

func suiteVersion() reports.Suite { return reports.Suite{Version: version, Commit: commit} }
