package certify

import (
	"time"

	"touchstone/conformance/driver"
	"touchstone/conformance/launcherfile"
	"touchstone/conformance/scenario"
)

// Look is somebody who looks at a process of an attempt, from its start on: a
// debugger or a tracer of system calls.
type Look struct {
	Who  string // supervisor, producer or finalizer
	Only int    // number of the attempt; -1: every one
	// Patience is how many times the scenario's own limit the driver waits; 0: a day.
	Patience uint64
	// Hold is a driver.Holder for the attempt in the folder dir.
	Hold func(dir string, pid int) (resume bool, err error)
	// Missed hears why an attempt was not looked at.
	Missed func(dir, reason string)
}

// at prepares the setup of an attempt that is to be looked at; nil: it is not.
func (l *Look) at(dir string, s scenario.Scenario, f launcherfile.File, setup *driver.Setup) driver.Holder {
	if l == nil || s.Kind == scenario.Reference || s.Kind == scenario.Control || (l.Only >= 0 && s.Number != l.Only) {
		return nil
	}
	reason := ""
	switch {
	case s.Kind == scenario.Hosted && l.Who == scenario.Supervisor:
		reason = "its supervisor is started by the host under test, not by the suite"
	case len(s.Faults) > 0 && l.Who != scenario.Producer:
		reason = "faults are injected into it, and a process has one tracer"
	case l.Who == scenario.Finalizer && f.Finalizer.Executable == "":
		reason = "the launcher file names no finalizer.executable"
	case l.Who == scenario.Producer && s.Source != nil:
		reason = "its strategy is a source of the script's, with no fixture in it"
	}
	if reason != "" {
		l.Missed(dir, reason)
		return nil
	}
	setup.Hold, setup.HangMS = l.Who, uint64((24 * time.Hour).Milliseconds())
	if l.Patience > 0 {
		setup.HangMS = l.Patience * s.HangLimit(f.Tolerance.SlackMS)
	}
	return func(pid int) (bool, error) { return l.Hold(dir, pid) }
}
