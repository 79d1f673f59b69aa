package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"touchstone/conformance/certify"
	"touchstone/conformance/scenario"
)

// straceFile stands beside the evidence of an attempt.
const straceFile = "strace.txt"

// looker runs gdb or strace upon processes of the attempts.
type looker struct {
	program string // path of gdb or strace
	who     string // the contract's letter
	stderr  io.Writer
	tty     bool            // gdb takes over the terminal
	held    int             // processes that were looked at
	missed  []string        // why others were not
	others  sync.WaitGroup  // what goes on beside the attempt
	ctx     context.Context // of the replay
}

var roles = map[string]string{"S": scenario.Supervisor, "U": scenario.Producer, "V": scenario.Finalizer}

// look is what the flags ask for: a looker and how it is called; nil: nothing.
// wait is for the end of all, after the last attempt.
func (c *reproCommand) look(p *program, attempt int) (*looker, *certify.Look, error) {
	name := ""
	switch {
	case c.GDB != "" && c.Strace:
		return nil, nil, &certify.UsageError{Problem: "--gdb and --strace: a process has one tracer"}
	case c.GDB != "":
		name = "gdb"
	case c.Strace:
		name = "strace"
	default:
		return nil, nil, nil
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return nil, nil, &certify.UsageError{Problem: fmt.Sprintf("%s is not installed; install it, or leave out --%s", name, name)}
	}
	l := &looker{program: path, who: c.GDB, stderr: p.stderr, tty: isTerminal(os.Stdin), ctx: p.ctx}
	look := &certify.Look{Who: roles[c.GDB], Only: max(attempt, 0), Hold: l.gdb, Missed: l.miss}
	if c.Strace {
		l.who = "S"
		look.Who, look.Only, look.Patience, look.Hold = scenario.Supervisor, -1, 10, l.strace
	}
	return l, look, nil
}

func (l *looker) miss(dir, reason string) {
	l.missed = append(l.missed, fmt.Sprintf("attempt %s is not looked at: %s", filepath.Base(dir), reason))
}

// end waits for what still runs and says what was not looked at.
func (l *looker) end() {
	if l == nil {
		return
	}
	l.others.Wait()
	for _, m := range l.missed {
		fmt.Fprintln(l.stderr, "touchstone: warning:", m)
	}
	if l.held == 0 && len(l.missed) == 0 {
		fmt.Fprintf(l.stderr, "touchstone: warning: no process was seen as %s\n", l.who)
	}
}

// strace attaches to the supervisor, which stands still before its program, and
// follows all that it starts.
func (l *looker) strace(dir string, pid int) (bool, error) {
	l.held++
	c := exec.Command(l.program, "-f", "-tt", "-s", "200", "-o", filepath.Join(dir, straceFile), "-p", strconv.Itoa(pid))
	var said strings.Builder
	c.Stderr = &said
	if err := c.Start(); err != nil {
		return true, fmt.Errorf("strace: %w", err)
	}
	gone := make(chan struct{})
	l.others.Go(func() {
		_ = c.Wait() // its status is the traced process's
		close(gone)
	})
	if !await(gone, func() bool { return tracerOf(pid) != 0 }) {
		return true, fmt.Errorf("strace: it did not attach: %s", oneLine(said.String()))
	}
	return true, nil
}

// gdb runs upon a held process, or where there is no terminal says how to. Its
// user continues the process.
func (l *looker) gdb(_ string, pid int) (bool, error) {
	l.held++
	arguments := []string{"-q", "-p", strconv.Itoa(pid), "-ex", "handle SIGSTOP SIGCONT nostop noprint nopass"}
	where := map[string]string{"S": "before it becomes the launcher's program", "U": "in the constructor of its library", "V": "soon after its start"}[l.who]
	if l.who == "S" {
		arguments = append(arguments, "-ex", "catch exec", "-ex", "continue")
	}
	gone := make(chan struct{})
	if !l.tty {
		fmt.Fprintf(l.stderr, "%s stands still %s, until a debugger or SIGCONT continues it: gdb '%s'\n", l.who, where, strings.Join(arguments, "' '"))
		l.others.Go(func() { l.release(pid, nil) })
		await(l.ctx.Done(), func() bool { return tracerOf(pid) != 0 || !standsStill(pid) })
		return false, nil
	}
	fmt.Fprintf(l.stderr, "%s stands still %s; its limits count on\n", l.who, where)
	c := exec.Command(l.program, arguments...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := c.Start(); err != nil {
		return true, fmt.Errorf("gdb: %w", err)
	}
	l.others.Go(func() {
		_ = c.Wait() // it says itself what it could not do
		close(gone)
	})
	l.others.Go(func() { l.release(pid, gone) })
	await(gone, func() bool { return tracerOf(pid) != 0 })
	return false, nil
}

// release continues a process that its debugger has left standing.
func (l *looker) release(pid int, gone <-chan struct{}) {
	await(l.ctx.Done(), func() bool { return tracerOf(pid) != 0 || !standsStill(pid) || isClosed(gone) })
	await(l.ctx.Done(), func() bool { return tracerOf(pid) == 0 })
	// A debugger leaves with a stop signal, thread by thread.
	over, cancel := context.WithTimeout(l.ctx, leaving)
	defer cancel()
	await(over.Done(), func() bool {
		if standsStill(pid) {
			_ = unix.Kill(pid, unix.SIGCONT) // it may have ended meanwhile
		}
		return statusOf(pid, "State") == ""
	})
}

// leaving is how long a debugger may take to let go of all threads.
const leaving = time.Second

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// await waits until something holds that only asking can tell, or until over.
func await(over <-chan struct{}, holds func() bool) bool {
	every := time.NewTicker(5 * time.Millisecond)
	defer every.Stop()
	for !holds() {
		select {
		case <-over:
			return holds()
		case <-every.C:
		}
	}
	return true
}

func statusOf(pid int, name string) string {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return "" // it is gone
	}
	for line := range strings.Lines(string(content)) {
		if value, found := strings.CutPrefix(line, name+":"); found {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func tracerOf(pid int) int {
	n, _ := strconv.Atoi(statusOf(pid, "TracerPid")) // "" is nobody
	return n
}

func standsStill(pid int) bool { return strings.HasPrefix(statusOf(pid, "State"), "T") }

// interruptible is a context that an interrupt ends only while no debugger has
// the terminal: there it is the debugger's.
func (l *looker) interruptible(ctx context.Context) (context.Context, func()) {
	if l == nil || !l.tty || l.who == "" {
		return ctx, func() {}
	}
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGTERM, unix.SIGHUP)
	go func() {
		select {
		case <-signals:
			cancel(errors.New("stopped by a signal"))
		case <-own.Done():
		}
	}()
	l.ctx = own
	return own, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}
