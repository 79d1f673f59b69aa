package host

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
)

// newAttemptID returns 128 random bits. Rules: R10.
func newAttemptID() string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	return hex.EncodeToString(random[:])
}

// Admission is what the host grants one attempt and where its storage is: the
// launch descriptor, and part of the disposition.
//
// Rules: R09, C-3.
type Admission struct {
	Grants      grants `json:"grants"`
	PlannedSink *int64 `json:"planned_sink_bytes"`
	Spool       spool  `json:"spool"`
	Pairing     string `json:"pairing"`
}

type grants struct {
	ReportBytes     int64  `json:"report_bytes"`
	DiagnosticBytes int64  `json:"diagnostic_bytes"`
	WallMS          int64  `json:"wall_ms"`
	StallMS         int64  `json:"stall_ms"`
	MemoryBytes     *int64 `json:"memory_bytes"`
}

type spool struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

func (o *Options) admission(spoolPath string) Admission {
	g := o.Grants
	return Admission{Grants: grants{g.ReportBytes, g.DiagnosticBytes, g.WallMS, g.StallMS, orNull(g.MemoryBytes)},
		PlannedSink: orNull(o.PlannedSink), Spool: spool{spoolPath, o.SpoolBytes}, Pairing: o.Pairing}
}

func orNull(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}

// ends are S's ends of the channels; -1: none. Whoever made them closes them.
type ends struct{ null, report, diagnostic, terminal, launch, arena, sink int }

func (e *ends) close() (err error) {
	for _, fd := range []*int{&e.null, &e.report, &e.diagnostic, &e.terminal, &e.launch, &e.arena, &e.sink} {
		err = errors.Join(err, shut(fd))
	}
	return err
}

// launch makes the endpoints and starts S. Without an error S runs.
//
// Rules: R03, R13.1.
func (a *attempt) launch() (err error) {
	theirs := ends{-1, -1, -1, -1, -1, -1, -1}
	defer func() { err = errors.Join(err, theirs.close()) }()
	if theirs.null, err = unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0); err != nil {
		return fmt.Errorf("open null device: %w", err)
	}
	if a.report, theirs.report, err = newChannel(a.limits[reportBytes].Effective); err != nil {
		return err
	}
	if a.diagnostic, theirs.diagnostic, err = newChannel(a.limits[diagnosticBytes].Effective); err != nil {
		return err
	}
	if a.options.Sink != "" {
		if a.sink, theirs.sink, err = newChannel(a.sinkBytes()); err != nil {
			return err
		}
	}
	if a.terminal, theirs.terminal, err = newTerminal(); err != nil {
		return err
	}
	if theirs.launch, err = a.descriptor(); err != nil {
		return err
	}
	if a.options.ArenaBytes > 0 {
		if theirs.arena, err = newMemory("arena", a.options.ArenaBytes); err != nil {
			return err
		}
	}
	if err := a.openFiles(); err != nil {
		return err
	}
	return a.spawn(theirs)
}

// newChannel makes one data channel: the host's end, which does not block, and S's.
func newChannel(cap int64) (*stream, int, error) {
	var pair [2]int
	if err := unix.Pipe2(pair[:], unix.O_CLOEXEC); err != nil {
		return nil, -1, fmt.Errorf("make channel: %w", err)
	}
	return newStream(pair[0], cap), pair[1], unix.SetNonblock(pair[0], true)
}

func newMemory(name string, size int64) (int, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING) // S may fix its size
	if err == nil {
		err = unix.Ftruncate(fd, size)
	}
	if err != nil {
		return fd, fmt.Errorf("make %s of %d bytes: %w", name, size, err)
	}
	return fd, nil
}

// descriptor is the launch descriptor, in a file without a name (C-3).
func (a *attempt) descriptor() (int, error) {
	content, err := json.Marshal(struct {
		Version   int    `json:"version"`
		AttemptID string `json:"attempt_id"`
		Admission
	}{1, a.id, a.admission}, json.Deterministic(true))
	if err != nil {
		return -1, fmt.Errorf("encode launch descriptor: %w", err)
	}
	fd, err := newMemory("launch", 0)
	if err == nil {
		err = writeAll(fd, content)
	}
	return fd, err
}

// openFiles makes the provisional files that the manifest has announced.
func (a *attempt) openFiles() (err error) {
	for _, f := range []struct {
		s    *stream
		path string
	}{{a.report, a.manifest.Report.Provisional}, {a.diagnostic, a.manifest.Diagnostics.Provisional}, {a.sink, a.manifest.Sink.Provisional}} {
		if f.s == nil || f.path == "" {
			continue
		}
		if f.s.file, err = create(f.path); err != nil {
			return err
		}
	}
	return a.manifest.made(a.lock)
}

// spawn starts S, which dies with the host: what nobody reads any more may not
// go on.
func (a *attempt) spawn(theirs ends) error {
	files := []uintptr{uintptr(theirs.null), uintptr(theirs.report), uintptr(theirs.diagnostic),
		terminalFD: uintptr(theirs.terminal), launchFD: uintptr(theirs.launch), arenaFD: uintptr(theirs.arena),
		sinkFD: uintptr(theirs.sink)}
	values := a.options.placeholders(a.id)
	argv := make([]string, len(a.options.Command))
	for i, word := range a.options.Command {
		rendered, err := render(word, values)
		if err != nil {
			return err
		}
		argv[i] = rendered
	}
	var before, stop unix.Sigset_t
	for _, signal := range stopSignals {
		stop.Val[0] |= 1 << (signal - 1)
	}
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &stop, &before); err != nil {
		return fmt.Errorf("block signals: %w", err)
	}
	a.started = time.Now()
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{Env: environment(), Files: files,
		Sys: &syscall.SysProcAttr{PidFD: &a.pidfd, Pdeathsig: syscall.SIGKILL}})
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil); err != nil {
		return fmt.Errorf("unblock signals: %w", err)
	}
	if err != nil {
		return fmt.Errorf("start %s: %w", argv[0], err)
	}
	a.pid = pid
	return nil
}

// environment is the host's own, with negotiation and endpoint for S: a run
// that does not negotiate is no run of this host.
//
// Rules: R01, C-3.
func environment() []string {
	ours := []string{"PINEFORGE_REPORT_CHANNEL=supervised/v1", fmt.Sprintf("PINEFORGE_TERMINAL_STATUS_FD=%d", terminalFD),
		fmt.Sprintf("TOUCHSTONE_LAUNCH_FD=%d", launchFD)}
	var all []string
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if name != "PINEFORGE_REPORT_CHANNEL" && name != "PINEFORGE_TERMINAL_STATUS_FD" && name != "TOUCHSTONE_LAUNCH_FD" {
			all = append(all, variable)
		}
	}
	return append(all, ours...)
}
