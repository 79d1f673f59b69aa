package driver

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// NeedsRootError is why no attempt can be made here: the caller reports not-run.
type NeedsRootError struct{ Cause string }

func (e *NeedsRootError) Error() string {
	return "needs root: " + e.Cause
}

// groupVariable hands the name of the attempt's control group leaves to Run.
const groupVariable = "TOUCHSTONE_ATTEMPT_GROUP"

// hardSlack is what the attempt process gets beyond its own limits (hang,
// drain, cleanup) before Start kills it. Far away: reaching it is a suite fault.
const hardSlack = 60 * time.Second

// Start runs EXE, the attempt's own program, in the attempt folder and in
// namespaces of its own, and waits for it. The launcher under test can see its
// command line, so that it has none. Start returns nil when the attempt has left a whole
// record, whatever that says; a *NeedsRootError where it cannot be made here;
// another error, with the attempt's last words, otherwise. When ctx ends,
// everything of the attempt is killed.
func Start(ctx context.Context, exe, dir string) error { return StartHeld(ctx, exe, dir, nil) }

// StartHeld is Start with somebody who is told of the process that the setup
// says is to be held.
func StartHeld(ctx context.Context, exe, dir string, holder Holder) error {
	if os.Geteuid() != 0 {
		return &NeedsRootError{"an attempt is made in namespaces of its own; run as root"}
	}
	limit, err := hardLimit(dir)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(dir, logFile), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o644)
	if err != nil {
		return fmt.Errorf("start attempt: %w", err)
	}
	group, err := groupName()
	if err != nil {
		return errors.Join(err, log.Close())
	}
	sweepGroups(ownGroups(""))
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err = runAttempt(ctx, exe, dir, group, log, holder)
	return errors.Join(err, removeGroups(ownGroups(group)), log.Close(), removeEmpty(log.Name()))
}

// groupName is touchstone-PID-RANDOM: the runner's pid tells leaves that a
// killed runner could not remove.
func groupName() (string, error) {
	var random [8]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", fmt.Errorf("start attempt: %w", err)
	}
	return fmt.Sprintf("%s%d-%s", groupPrefix, os.Getpid(), hex.EncodeToString(random[:])), nil
}

func hardLimit(dir string) (time.Duration, error) {
	s, _, setup, err := readSetup(dir)
	if err != nil {
		return 0, fmt.Errorf("start attempt: %w", err)
	}
	limit := s.HangLimit(0)
	if setup.HangMS != 0 {
		limit = setup.HangMS
	}
	return time.Duration(limit)*time.Millisecond + hardSlack, nil
}

// runAttempt starts the attempt process and waits. Its thread is locked: the
// parent-death signal follows the thread that started the process.
func runAttempt(ctx context.Context, exe, dir, group string, log *os.File, holder Holder) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c := exec.CommandContext(ctx, exe)
	c.Dir = dir
	// A thread that comes back from the kernel waits for none of the others, which are ordinary.
	c.Env = append(os.Environ(), groupVariable+"="+group, "GOMAXPROCS=16")
	c.Stdout, c.Stderr = log, log
	c.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_NEWNET | unix.CLONE_NEWUTS,
		Pdeathsig:  syscall.SIGKILL,
		Setsid:     true,
	}
	given, served, err := serveHolds(c, holder)
	if err != nil {
		return err
	}
	err = errors.Join(c.Start(), given())
	if errors.Is(err, unix.EPERM) {
		return errors.Join(&NeedsRootError{"the kernel refuses new namespaces here"}, served())
	}
	if err != nil {
		return errors.Join(fmt.Errorf("start attempt %s: %w", dir, err), served())
	}
	if err := errors.Join(c.Wait(), served()); err != nil {
		return fmt.Errorf("run attempt %s: %w", dir, errors.Join(err, context.Cause(ctx), lastWords(log)))
	}
	return nil
}

// lastWords is the end of the attempt's log as an error, nil when it is empty.
func lastWords(log *os.File) error {
	text, err := os.ReadFile(log.Name())
	if err != nil {
		return err
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return nil
	}
	return errors.New(string(text[max(0, len(text)-1000):]))
}

// removeEmpty removes a file that nothing was written to.
func removeEmpty(path string) error {
	if st, err := os.Stat(path); err != nil || st.Size() > 0 {
		return err
	}
	return os.Remove(path)
}
