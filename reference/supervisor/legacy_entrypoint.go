package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"touchstone/reference/admission"
)

// PairingVariable names the pairing file of an unsupervised entrypoint.
const PairingVariable = "TOUCHSTONE_PAIRING"

// exitRun is the entrypoint's exit for every failure of the backtest.
const exitRun = 4

// shell is the entrypoint without supervision: the stages, messages and exits
// of the public engine's shell script. Its tools inherit both standard streams,
// as there, and the report goes to the standard output.
//
// Rules: R01, C-71, T36.
type shell struct {
	stop    context.Context // ends the tool that runs
	request admission.Request
	pairing admission.Pairing
	work    string
}

func legacyEntrypoint(request admission.Request, usage error) int {
	pairing, err := admission.ReadPairing(os.Getenv(PairingVariable))
	if err = errors.Join(usage, err); err != nil {
		progress(err)
		return exitRun
	}
	work, err := os.MkdirTemp("", "refsup-")
	if err != nil {
		progress(err)
		return exitRun
	}
	stop, end := signal.NotifyContext(context.Background(), unix.SIGTERM, unix.SIGINT)
	defer end()
	status := (&shell{stop, request, pairing, work}).run()
	if err := os.RemoveAll(work); err != nil {
		progress(err)
	}
	return status
}

// progress is one line of progress, or the reason of a failure.
func progress(what any) { fmt.Fprintf(os.Stderr, "[pineforge] %v\n", what) }

func (s *shell) run() int {
	build := s.request.Build
	if err := build.Pick(); err != nil {
		progress(err)
		return exitMissing
	}
	code := build.Source
	if build.Transpiled() {
		code = filepath.Join(s.work, "strategy.cpp")
		progress("transpiling " + build.Source)
		if !s.tool(s.pairing.Transpiler, build.Source, code) {
			return exitTranspile
		}
	}
	if admission.TranspileOnly(os.LookupEnv) {
		return s.show(code)
	}
	if err := build.Mounts(); err != nil {
		progress(err)
		return exitMissing
	}
	library := filepath.Join(s.work, "strategy.so")
	progress("compiling " + code)
	if !s.tool(s.pairing.Compiler, "-I"+filepath.Join(build.Prefix, "include"), code, "-o", library) ||
		!s.tool(s.pairing.Binder, library, filepath.Join(s.work, "build.json"), build.Source) {
		return exitBuild
	}
	progress("running the backtest")
	arguments := slices.Clone(s.request.Engine)
	arguments[slices.Index(arguments, "--so")+1] = library
	if !s.tool(admission.Tool{Path: s.pairing.Producer.Path}, arguments...) {
		return exitRun
	}
	return 0
}

// show writes the C++ to the standard output.
func (s *shell) show(code string) int {
	text, err := os.ReadFile(code)
	if err == nil {
		err = writeAll(admission.ReportFD, text)
	}
	if err != nil {
		progress(err)
		return exitTranspile
	}
	return 0
}

// tool runs one program to its end; it inherits everything but what is private
// to supervision.
func (s *shell) tool(program admission.Tool, arguments ...string) bool {
	command := exec.CommandContext(s.stop, program.Path, slices.Concat(program.Arguments, arguments)...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "TOUCHSTONE_") {
			command.Env = append(command.Env, variable)
		}
	}
	err := command.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		progress(err)
	}
	return err == nil
}
