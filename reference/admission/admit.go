package admission

import (
	"errors"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"touchstone/reference/outcome"
	"touchstone/reference/record"
)

// Admission is what was admitted. After a refusal it holds what is known: the
// identity and limits that the record shows, and the endpoints that are sound
// enough to carry the refusal.
type Admission struct {
	Request   Request
	Route     outcome.Route // of the native sink
	AttemptID string
	Launch    Launch
	Pairing   Pairing
	Limits    record.Limits

	ArenaBytes int64 // of the jailed profile's arena

	ReportUsable, DiagnosticUsable, TerminalUsable, SinkUsable bool

	Missing bool  // a mount of the entrypoint is missing: a refusal of its own
	Why     error // what a refusal rests on, for people; nil without one
}

// Admit reads and judges everything that the host supplied, for a negotiated
// request. It returns the failure to refuse with, nil if the attempt may start.
//
// Before anything else, every descriptor of S becomes close-on-exec: no
// endpoint reaches a process that S starts unless S passes it.
//
// Rules: R01, R03, R07.
func Admit(request Request, usage error, lookup func(string) (string, bool)) (Admission, *outcome.Failure) {
	a := Admission{Request: request, Route: route(request), AttemptID: NoAttemptID}
	sealed := sealDescriptors()
	endpoints := a.endpoints()
	launch, unreadable := readLaunch(lookup)
	a.Launch, a.AttemptID = launch, launch.AttemptID
	limits, refused := resolve(request, launch.Grants)
	a.Limits = limits
	if unreadable == nil {
		a.Pairing, unreadable = ReadPairing(launch.Pairing)
	}
	a.Why = errors.Join(usage, endpoints, sealed, unreadable, refused)
	return a, a.judge(usage, endpoints, sealed, unreadable, refused)
}

// judge chooses what to refuse with: usage first, then what the host did not
// supply, then what does not fit.
func (a *Admission) judge(usage, endpoints, sealed, launch, limits error) *outcome.Failure {
	refuse := func(f outcome.Failure) *outcome.Failure { return &f }
	switch {
	case usage != nil, endpoints != nil && !errors.Is(endpoints, errPlatform), errors.Is(launch, errAttemptID):
		return refuse(outcome.RequestInvalid())
	case exhausted(endpoints), exhausted(launch), sealed != nil && !errors.Is(sealed, unix.ENOSYS):
		return refuse(outcome.IsolationUnavailable(outcome.ReasonDescriptor))
	case endpoints != nil, sealed != nil:
		return refuse(outcome.IsolationUnavailable(outcome.ReasonPlatform))
	case a.Request.Mode != ModeFull:
		return refuse(outcome.ModeUnsupported(a.Request.Mode))
	case launch != nil, errors.Is(limits, errNoGrant):
		return refuse(outcome.IsolationUnavailable(outcome.ReasonPolicy))
	case limits != nil:
		return refuse(outcome.RequestInvalid())
	}
	if refused := a.plan(); refused != nil || a.Request.Build == nil {
		return refused
	}
	return a.build()
}

// build checks what the entrypoint needs beside: its tools, room for their work
// beyond what is reserved, and, last of all, its mounts.
//
// Rules: R09, R20, C-16.
func (a *Admission) build() *outcome.Failure {
	pairing := a.Pairing
	for _, tool := range []Tool{pairing.Transpiler, pairing.Compiler, pairing.Binder} {
		if tool.Path == "" {
			a.Why = errors.New("pairing: transpiler, compiler and binder need a path")
			return new(outcome.IsolationUnavailable(outcome.ReasonPolicy))
		}
	}
	if a.WorkBytes() <= 0 {
		a.Why = errors.New("spool: no room beyond the report for a build")
		return new(outcome.IsolationUnavailable(outcome.ReasonPolicy))
	}
	if err := a.Request.Build.Mounts(); err != nil {
		a.Missing, a.Why = true, err
		return new(outcome.RequestInvalid())
	}
	return nil
}

// WorkBytes is what the host's storage holds beyond the report allowance.
func (a *Admission) WorkBytes() int64 { return a.Launch.Spool.Bytes - *a.Limits.ReportBytes.Effective }

// exhausted: no descriptor was left to look with.
func exhausted(err error) bool { return errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) }

// route is where the native sink of a request goes. A jailed run keeps its
// array route unless it is given an endpoint; the other operations run nothing.
//
// Rules: R05, C-70.
func route(r Request) outcome.Route {
	switch {
	case r.Operation != Backtest:
		return outcome.NoSink
	case r.SinkFD != NoFD:
		return outcome.Inherited
	case r.SinkPath != "":
		return outcome.Named
	case r.Profile == Jailed:
		return outcome.NoSink
	}
	return outcome.Internal
}

// plan checks what was granted against what is needed: the certified sink size,
// which is the whole allowance without a plan, the storage, and the finalizer.
//
// Rules: R07, R09, C-3, C-12, C-24.
func (a *Admission) plan() *outcome.Failure {
	refuse := func(f outcome.Failure) *outcome.Failure { return &f }
	allowance := *a.Limits.ReportBytes.Effective
	if planned := a.Launch.PlannedSinkBytes; planned != nil {
		if *planned > allowance {
			return refuse(outcome.ReportBudget(outcome.BudgetAggregate, allowance, 0, *planned))
		}
		a.Limits.SinkBytes = planned
	} else if a.Route != outcome.NoSink {
		a.Limits.SinkBytes = &allowance
	}
	memory := a.Launch.Grants.MemoryBytes
	switch {
	case a.Limits.SinkBytes != nil && *a.Limits.SinkBytes <= 0,
		memory != nil && *memory <= 0,
		a.Launch.Spool.Path == "", a.Launch.Spool.Bytes < allowance:
		a.Why = errors.New("grants: no byte of sink or memory, or a spool smaller than the report's allowance")
		return refuse(outcome.IsolationUnavailable(outcome.ReasonPolicy))
	case a.Route != outcome.NoSink && a.Pairing.Finalizer.Path == "":
		a.Why = errors.New("pairing: finalizer needs a path")
		return refuse(outcome.IsolationUnavailable(outcome.ReasonPolicy))
	}
	return nil
}

// endpoints looks at every endpoint and compares them all.
func (a *Admission) endpoints() error {
	var found []endpoint
	var refusals []error
	note := func(e endpoint, err error) bool {
		if err == nil {
			found = append(found, e)
		}
		refusals = append(refusals, err)
		return err == nil
	}
	a.ReportUsable = note(probeStream("report", ReportFD))
	a.DiagnosticUsable = note(probeStream("diagnostic", DiagnosticFD))
	if a.Request.Terminal != NoFD {
		a.TerminalUsable = note(probeTerminal(a.Request.Terminal))
	}
	if a.Request.SinkFD != NoFD {
		a.SinkUsable = note(probeStream("sink", a.Request.SinkFD))
	}
	if a.Request.SinkPath != "" {
		refusals = append(refusals, probeTarget(a.Request.SinkPath))
		if e, ok := existing(a.Request.SinkPath); ok {
			found = append(found, e)
		}
	}
	if a.Request.Profile == Jailed {
		bytes, err := probeArena(ArenaFD)
		a.ArenaBytes = bytes
		refusals = append(refusals, err)
	}
	alias := aliases(found)
	if alias != nil { // nothing may be written where two channels are one
		a.ReportUsable, a.TerminalUsable = a.alone(found, "report"), a.alone(found, "terminal")
		a.SinkUsable = false // nothing was captured
	}
	return errors.Join(append(refusals, alias)...)
}

// alone reports whether the named endpoint is usable and no alias of another.
func (a *Admission) alone(found []endpoint, name string) bool {
	i := slices.IndexFunc(found, func(e endpoint) bool { return e.name == name })
	if i < 0 {
		return false
	}
	for j := range found {
		if j != i && aliases([]endpoint{found[i], found[j]}) != nil {
			return false
		}
	}
	return true
}

// existing identifies what a sink path already names, if anything: it may be
// one of the other channels under another name.
func existing(path string) (endpoint, bool) {
	var stat unix.Stat_t
	if err := unix.Stat(path, &stat); err != nil {
		return endpoint{}, false
	}
	return endpoint{name: "sink", device: stat.Dev, inode: stat.Ino}, true
}

// sealDescriptors makes every descriptor of S close-on-exec.
func sealDescriptors() error {
	for _, fd := range []int{0, ReportFD, DiagnosticFD} {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, unix.FD_CLOEXEC); err != nil {
			return os.NewSyscallError("fcntl", err)
		}
	}
	return os.NewSyscallError("close_range",
		unix.CloseRange(FirstFD, uint(^uint32(0)), unix.CLOSE_RANGE_CLOEXEC))
}
