package supervisor

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"touchstone/contracts"
	"touchstone/reference/admission"
	"touchstone/reference/outcome"
	"touchstone/reference/record"
)

// ProducerVariable names the producer of an unsupervised run.
const ProducerVariable = "TOUCHSTONE_PRODUCER"

// Run is the run_json facade: args are its arguments, started the instant from
// which the lifetime counts. It returns the facade's exit status.
//
// Without negotiation it becomes the producer, which then owns the report
// itself; that is the legacy protocol. Run must have the main goroutine.
//
// Rules: R01, R02, R20.
func Run(started time.Time, args []string) int {
	runtime.LockOSThread() // workers die with this thread, and it runs the loop
	cancel := listen()
	request, usage := admission.Parse(args, os.LookupEnv)
	if !request.Negotiated {
		return legacy(args, usage)
	}
	return supervise(started, request, usage, cancel)
}

// RunEntrypoint is the entrypoint facade, as Run is the direct one: it takes no
// arguments but variables, and builds the library first. Without negotiation it
// does what the public entrypoint's shell does.
//
// Rules: R01, R20, C-5, C-71.
func RunEntrypoint(started time.Time, args []string) int {
	runtime.LockOSThread()
	cancel := listen()
	request, usage := admission.ParseEntrypoint(args, LibraryPath, os.LookupEnv)
	if !request.Negotiated {
		return legacyEntrypoint(request, usage)
	}
	return supervise(started, request, usage, cancel)
}

// supervise runs a negotiated request of either facade.
func supervise(started time.Time, request admission.Request, usage error, cancel *canceller) int {
	admitted, refusal := admission.Admit(request, usage, os.LookupEnv)
	if err := cancel.watch(); err != nil && refusal == nil {
		refusal = new(outcome.IsolationUnavailable(outcome.ReasonDescriptor))
	}
	a := newAttempt(started, admitted, cancel)
	if admitted.Missing {
		a.early = exitMissing
	}
	if err := a.nonblocking(); err != nil && refusal == nil {
		refusal = new(outcome.IsolationUnavailable(outcome.ReasonDescriptor))
	}
	if refusal == nil {
		refusal = a.start()
	}
	if refusal != nil {
		a.refuse(*refusal)
	}
	a.guarded()
	return a.finish()
}

// guarded runs the loop. A panic of ours becomes the fault that it is, without
// a trace on the host's diagnostics; the domain ends with what finish closes.
//
// Rules: R10, R11.
func (a *attempt) guarded() {
	defer func() {
		if recover() == nil {
			return
		}
		a.observe(outcome.Fault())
		if a.domain != nil && a.domain.Kill() == nil {
			a.awaitDomain()
		}
	}()
	a.run()
}

// awaitDomain reaps a killed domain.
func (a *attempt) awaitDomain() {
	for end := a.reapBy(); a.now() < end && !a.emptied; {
		var err error
		waited := a.domain.Init.FD
		if !a.reaped {
			waited = a.domain.Producer.FD
			a.status, a.reaped, err = a.domain.ReapProducer()
			a.terminated = true
		} else {
			a.emptied, err = a.domain.ReapInit()
		}
		if err != nil || poll([]unix.PollFd{{Fd: int32(waited), Events: unix.POLLIN}}, end-a.now()) != nil {
			return
		}
	}
}

// nonblocking makes the endpoints that S writes nonblocking. Rules: R17.
func (a *attempt) nonblocking() (err error) {
	for fd, usable := range map[int]bool{
		admission.ReportFD:        a.admitted.ReportUsable,
		admission.DiagnosticFD:    a.admitted.DiagnosticUsable,
		a.admitted.Request.SinkFD: a.admitted.SinkUsable,
	} {
		if usable {
			err = errors.Join(err, unix.SetNonblock(fd, true))
		}
	}
	return err
}

// legacy runs the producer in S's place, with the engine's arguments and the
// caller's environment without anything that is private to supervision.
//
// Rules: R01, C-71, T36.
func legacy(args []string, usage error) int {
	if usage != nil {
		return explain(usage)
	}
	producer := os.Getenv(ProducerVariable)
	if producer == "" {
		return explain(errors.New(ProducerVariable + ": not set"))
	}
	var environment []string
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "TOUCHSTONE_") {
			environment = append(environment, variable)
		}
	}
	err := unix.Exec(producer, append([]string{"producer"}, engineArguments(args)...), environment)
	return explain(&os.PathError{Op: "exec", Path: producer, Err: err})
}

// engineArguments leaves out the one report mode that means nothing special.
func engineArguments(args []string) []string {
	var kept []string
	for i := 0; i < len(args); i++ {
		flag, value, joined := strings.Cut(args[i], "=")
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		if flag == "--report-mode" && value == admission.ModeFull {
			if !joined {
				i++
			}
			continue
		}
		kept = append(kept, args[i])
	}
	return kept
}

// explain ends an unsupervised run that cannot start, as the engine's own
// parser does: the failure line on the report, the reason on the diagnostics.
func explain(cause error) int {
	failure := outcome.RequestInvalid()
	document, err := record.FailureDocument(failure)
	err = errors.Join(err, writeAll(admission.ReportFD, document),
		writeAll(admission.DiagnosticFD, []byte("refsup: "+cause.Error()+"\n")))
	if err != nil {
		return 1
	}
	return record.ExitStatus(contracts.InvocationRunJSON, &failure, 0)
}
