package host

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"

	"touchstone/contracts"
)

// conclude judges, cleans up, publishes and returns the exit status. The order
// matters: nothing of S is left when its result is judged, a result has its name
// before the disposition says so, and the manifest goes last.
//
// Rules: R13.8, R15.
func (a *attempt) conclude() int {
	observed := a.observed()
	var reaped Reaped
	reaped.orphans()
	reaped.groups(a.manifest.ControlGroup)
	observed.Left = reaped.Processes
	verdict := Judge(observed)
	verdict.Findings = append(a.notes, verdict.Findings...)
	if a.options.NamedSink != "" && a.named(verdict) {
		a.placed = []string{a.options.NamedSink} // by S
	}
	if verdict.Accepted {
		if channel, err := a.publish(); err != nil {
			verdict.Accepted, verdict.Cause = false, local(channel, reasonIO)
			verdict.Findings = append(verdict.Findings, err.Error())
		}
	}
	if err := a.keepDiagnostics(); err != nil {
		verdict.Findings = append(verdict.Findings, err.Error())
	}
	for _, s := range []*stream{a.report, a.diagnostic, a.sink} {
		reaped.left(s.close())
	}
	reaped.files(&a.manifest, a.unaccepted(verdict.Accepted))
	d := a.disposition(observed, verdict, reaped)
	if err := d.write(a.manifest.Disposition); err != nil {
		reaped.files(&a.manifest, a.unaccepted(false)) // a result without a disposition is none
		return say(ExitInternal, fmt.Errorf("argument --disposition: %w", err))
	}
	if err := errors.Join(unix.Unlink(a.options.Manifest), shut(&a.lock)); err != nil {
		return say(ExitInternal, fmt.Errorf("argument --manifest: %w", err))
	}
	if !verdict.Accepted {
		return say(ExitRejected, verdict)
	}
	return ExitAccepted
}

// named: what has the named sink's name may be S's. It is somebody else's where it
// stood there before the launch, and where S says that it has left nothing.
//
// Rules: R15, C-35.
func (a *attempt) named(v Verdict) bool {
	var told struct {
		Complete bool `json:"complete"`
		Cleanup  struct {
			Removed struct {
				Value bool `json:"value"`
			} `json:"artifacts_removed"`
		} `json:"cleanup"`
	}
	nothing := v.Record != nil && json.Unmarshal(v.Record, &told) == nil && !told.Complete && told.Cleanup.Removed.Value
	return v.Accepted || !nothing && !a.manifest.stoodBefore()
}

// unaccepted are the results that have their names and must lose them.
func (a *attempt) unaccepted(accepted bool) []string {
	if accepted {
		return nil
	}
	return a.placed
}

// observed is what the verification may know.
func (a *attempt) observed() Observed {
	o := Observed{AttemptID: a.id, Invocation: a.options.Invocation, Limits: a.limits, PlannedSink: a.options.PlannedSink,
		NamedSink: a.options.NamedSink != "", Report: a.report.seen(), Diagnostic: a.diagnostic.seen(), Sink: a.sink.seen(),
		Supervisor: a.pid, Exit: a.exit, Expired: a.expired}
	if t := a.terminal; t != nil {
		o.Packet, o.Packets, o.Truncated, o.Sender, o.TerminalEnded = t.packet, t.packets, t.truncated, t.sender, t.ended
	}
	if o.NamedSink {
		artifact, err := measure(a.options.NamedSink)
		if o.Sink = artifact; err != nil && a.exit.Waited && a.exit.Status == 0 {
			a.note(err)
		}
	}
	return o
}

// measure counts and hashes a file. What is not there, or no regular file, has
// no bytes, and is not offered.
func measure(path string) (Stream, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return Stream{SHA256: emptyDigest}, fmt.Errorf("open %s: %w", path, err)
	}
	f, h := os.NewFile(uintptr(fd), path), sha256.New()
	defer func() { _ = f.Close() }() // only read
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return Stream{SHA256: emptyDigest}, errors.Join(fmt.Errorf("%s: not a regular file", path), err)
	}
	n, err := io.Copy(h, f)
	return Stream{Offered: true, Bytes: n, SHA256: hex.EncodeToString(h.Sum(nil)), Ended: err == nil}, err
}

// publish gives an accepted result its names: the sink, then the report. On an
// error it names the channel.
func (a *attempt) publish() (channel string, err error) {
	if a.sink != nil {
		if err := a.place(a.sink, a.manifest.Sink); err != nil {
			return contracts.ChannelSink, err
		}
	}
	return contracts.ChannelReport, a.place(a.report, a.manifest.Report)
}

func (a *attempt) place(s *stream, f File) error {
	if err := s.keep(); err != nil {
		return fmt.Errorf("keep %s: %w", f.Provisional, err)
	}
	if err := place(f.Provisional, f.Target); err != nil {
		return err
	}
	a.placed = append(a.placed, f.Target)
	return settleFolder(filepath.Dir(f.Target))
}

// keepDiagnostics names the diagnostics, which are evidence and not a result.
func (a *attempt) keepDiagnostics() error {
	if a.diagnostic == nil || a.diagnostic.file < 0 {
		return nil
	}
	return errors.Join(a.diagnostic.keep(), place(a.manifest.Diagnostics.Provisional, a.manifest.Diagnostics.Target))
}
