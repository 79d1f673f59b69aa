package supervisor

import (
	"errors"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"touchstone/contracts"
	"touchstone/reference/admission"
	"touchstone/reference/jail"
	"touchstone/reference/outcome"
)

// LibraryPath is where the producer has the library that the tools built.
const LibraryPath = jail.WorkFolder + "/strategy.so"

// The entrypoint's exits for a genuine failure before the backtest. Rules: R20.
const (
	exitMissing   = 2 // a mount
	exitBuild     = 3 // compilation or binding
	exitTranspile = 5
)

// tool is one program of the early stages.
type tool struct {
	during    string // stage: prepare or compile
	exit      int    // the facade's for a genuine failure
	program   admission.Tool
	arguments []string // after the pairing's own
}

// tools lists what makes a library of the source, in order.
func (a *attempt) tools() (list []tool) {
	build, pairing := a.admitted.Request.Build, a.admitted.Pairing
	code, sources := build.Source, []string{build.Source}
	if build.Transpiled() {
		code = jail.WorkFolder + "/strategy.cpp"
		sources = append(sources, code)
		list = append(list, tool{contracts.StagePrepare, exitTranspile, pairing.Transpiler, []string{build.Source, code}})
	}
	return append(list,
		tool{contracts.StageCompile, exitBuild, pairing.Compiler,
			[]string{"-I" + filepath.Join(build.Prefix, "include"), code, "-o", LibraryPath}},
		tool{contracts.StageCompile, exitBuild, pairing.Binder,
			append([]string{LibraryPath, jail.WorkFolder + "/build.json"}, sources...)})
}

// build runs the entrypoint's tools, after the storage was reserved; the direct
// facade has none. It returns what ends the attempt before its producer.
//
// Rules: R09, R13, R20, C-16, C-75.
func (a *attempt) build() *outcome.Failure {
	if a.admitted.Request.Build == nil {
		return nil
	}
	err := a.engage()
	if err == nil {
		err = a.reserved()
	}
	if err == nil {
		path := filepath.Join(a.admitted.Launch.Spool.Path, ".work."+a.admitted.AttemptID+".partial")
		a.folder, err = openFolder(path, a.admitted.Pairing.UID(a.admitted.AttemptID), a.started.Add(a.wall))
	}
	if failure := a.interrupted(err); failure != nil {
		return failure
	}
	for _, t := range a.tools() {
		if failure := a.runTool(t); failure != nil {
			return failure
		}
	}
	return nil
}

// runTool runs one tool to the end of its domain.
func (a *attempt) runTool(t tool) (failure *outcome.Failure) {
	if t.during == contracts.StageCompile && a.times.compile == 0 {
		a.times.compile, a.spent.compile = a.now(), spent()
	}
	r := &toolRun{attempt: a, tool: t, began: a.now()}
	defer func() { // as guarded
		if recover() != nil {
			failure = new(outcome.InternalFault())
		}
		if r.domain != nil && r.domain.Close() != nil && failure == nil {
			failure = new(outcome.InternalFault())
		}
	}()
	if failure := a.interrupted(r.start()); failure != nil {
		return failure
	}
	a.ran = append(a.ran, r)
	r.run()
	return r.end()
}

// start builds the tool's domain and lets the tool go.
func (r *toolRun) start() (err error) {
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	output := -1
	defer func() { err = errors.Join(err, shut(&null), shut(&output)) }() // EOF needs ours closed
	if output, err = r.newSource(); err != nil {
		return err
	}
	r.source = r.diagnostics.sources[len(r.diagnostics.sources)-1]
	if r.domain, err = jail.Start(r.toolSpec(null, output)); err != nil {
		return err
	}
	if err := r.domain.Attest(); err != nil {
		return err
	}
	return r.domain.Release()
}

// toolSpec says what a tool gets: the source, what the system and the prefix
// hold, the folder that all tools of the attempt share, and diagnostics.
func (r *toolRun) toolSpec(null, output int) jail.Spec {
	build, pairing, launch := r.admitted.Request.Build, r.admitted.Pairing, r.admitted.Launch
	return jail.Spec{
		Attempt: r.admitted.AttemptID, Helper: pairing.Jail.Path, UID: pairing.UID(r.admitted.AttemptID),
		System: append(slices.Clone(pairing.System), build.Prefix), Files: files(build.Source),
		Tool: true, Work: r.folder.path, FileBytes: launch.Spool.Bytes,
		Exe:          r.program.Path,
		Argv:         slices.Concat([]string{r.program.Path}, r.program.Arguments, r.arguments),
		Env:          []string{"PATH=/usr/bin:/bin", "LANG=C"},
		FDs:          map[int]int{0: null, 1: output, 2: output},
		ScratchBytes: pairing.ScratchBytes, ScratchFiles: pairing.ScratchFiles, MemoryBytes: r.program.MemoryBytes,
		Deadline: r.started.Add(r.wall),
	}
}

// toolRun is one tool at work. It owns the domain, nil after end.
type toolRun struct {
	*attempt
	tool
	domain  *jail.Domain
	source  *intake
	machine outcome.ToolStage
	status  jail.Status
	usage   jail.Usage

	began, ended             time.Duration
	graceAt, stopBy          time.Duration // as the attempt's
	reaped, emptied, stopped bool
	toldExpiry, toldEnd      bool
	toldRead, toldDelivered  bool
}

// run takes batches until the stage is over. It is the attempt's loop for a
// tool: nothing blocks, and every deadline is absolute.
//
// Rules: R06, R16, R17, R19.
func (r *toolRun) run() {
	for {
		var seen []outcome.Observation
		for action := r.machine.Next(); action != outcome.Wait; action = r.machine.Next() {
			if action == outcome.Finish {
				return
			}
			seen = append(seen, r.act(action)...)
		}
		seen = append(seen, r.batch(len(seen) > 0)...)
		r.machine.Observe(append(seen, r.follow()...)...)
	}
}

func (r *toolRun) batch(at bool) (seen []outcome.Observation) {
	watches := r.watches()
	fds := make([]unix.PollFd, len(watches))
	for i, w := range watches {
		fds[i] = unix.PollFd{Fd: int32(w.fd), Events: w.events}
	}
	wait := r.untilNext()
	if at {
		wait = 0
	}
	if err := poll(fds, wait); err != nil {
		seen = append(seen, outcome.Fault())
	}
	for i, w := range watches {
		if fds[i].Revents != 0 {
			seen = append(seen, w.ready()...)
		}
	}
	seen = append(seen, r.flush(r.diagnosticOut)...)
	return append(seen, r.overdue()...)
}

func (r *toolRun) watches() []watch {
	list := []watch{{r.cancel.fd, unix.POLLIN, r.onCancel}}
	if !r.reaped {
		list = append(list, watch{r.domain.Producer.FD, unix.POLLIN, r.onTool})
	} else if !r.emptied {
		list = append(list, watch{r.domain.Init.FD, unix.POLLIN, r.onInit})
	}
	if r.source.open() && len(r.diagnosticOut.pending) == 0 {
		list = append(list, watch{r.source.fd, unix.POLLIN, func() []outcome.Observation { return r.onDiagnostics(r.source) }})
	}
	if r.diagnosticOut.open() && len(r.diagnosticOut.pending) > 0 {
		list = append(list, watch{r.diagnosticOut.fd, unix.POLLOUT, nothing})
	}
	return list
}

func (r *toolRun) onTool() []outcome.Observation {
	status, done, err := r.domain.ReapProducer()
	if err != nil || !done {
		return r.faulty(err)
	}
	r.reaped, r.status, r.ended = true, status, r.now()
	return []outcome.Observation{outcome.ProducerEnded(outcome.Status{Exit: status.ExitStatus, Signal: int(status.Signal)})}
}

func (r *toolRun) onInit() []outcome.Observation {
	done, err := r.domain.ReapInit()
	if err != nil || !done || r.toldEnd {
		return r.faulty(err)
	}
	r.emptied, r.toldEnd, r.stopBy = true, true, 0
	return []outcome.Observation{outcome.DomainEnded()}
}

// follow tells what follows from facts alone. Nothing is read any more once
// nothing can be delivered.
func (r *toolRun) follow() (seen []outcome.Observation) {
	if r.diagnosticOut.failed {
		seen = append(seen, r.faulty(r.source.close())...)
	}
	if !r.source.open() && !r.toldRead {
		r.toldRead = true
		seen = append(seen, outcome.DiagnosticsRead())
	}
	if r.toldRead && !r.toldDelivered && len(r.diagnosticOut.pending) == 0 {
		r.toldDelivered = true
		seen = append(seen, outcome.DiagnosticsDone())
	}
	return seen
}

func (r *toolRun) act(action outcome.Action) []outcome.Observation {
	switch action {
	case outcome.RequestStop:
		r.stopped = true
		r.graceAt, r.stopBy = r.now()+stopGrace/2, r.now()+stopGrace
		return r.faulty(r.domain.Terminate(unix.SIGTERM))
	case outcome.Kill:
		if r.stopBy == 0 {
			r.stopBy = r.now() + stopGrace
		}
		r.stopped = r.stopped || !r.reaped
		return r.faulty(r.domain.Kill())
	}
	return nil
}

func (r *toolRun) untilNext() time.Duration {
	next := time.Duration(1 << 62)
	if !r.toldExpiry {
		next = r.wall
	}
	for _, at := range []time.Duration{r.graceAt, r.stopBy} {
		if at > 0 {
			next = min(next, at)
		}
	}
	if at, pending := r.diagnosticOut.deadline(); pending && !r.toldExpiry {
		next = min(next, at, r.now()+retryInterval)
	}
	return next - r.now()
}

func (r *toolRun) overdue() (seen []outcome.Observation) {
	now := r.now()
	if now >= r.wall && !r.toldExpiry {
		r.toldExpiry = true
		seen = append(seen, outcome.Expiry(r.during, r.wall))
	}
	if at, pending := r.diagnosticOut.deadline(); pending && now >= at && !r.toldExpiry {
		r.diagnosticOut.fail()
		seen = append(seen, outcome.Stall(r.diagnosticOut.channel, at))
	}
	if r.graceAt > 0 && now >= r.graceAt {
		r.graceAt = 0
		seen = append(seen, outcome.GraceOver())
	}
	if r.stopBy > 0 && now >= r.stopBy && !r.toldEnd {
		r.toldEnd, r.stopBy = true, 0
		seen = append(seen, outcome.DomainEnded())
	}
	return seen
}

// end measures the stage, gives the domain up and returns what it latched.
func (r *toolRun) end() *outcome.Failure {
	if r.ended == 0 {
		r.ended = r.now()
	}
	r.usage = r.domain.Usage()
	domain, failure := r.domain, r.machine.Failure()
	if r.domain = nil; !r.emptied {
		r.stuck = append(r.stuck, domain)
	} else if domain.Close() != nil && failure == nil {
		failure = new(outcome.InternalFault())
	}
	if failure != nil {
		r.causeStage = r.during
	}
	if r.machine.Genuine() {
		r.early = r.exit
	}
	return failure
}

// undisturbed: the tool ended by itself, and so did its streams.
func (r *toolRun) undisturbed() bool { return r.reaped && !r.stopped && r.status.Signal == 0 }
