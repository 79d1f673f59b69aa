package driver

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

// listProcesses records the processes that outlived the launcher. One that
// ended by itself must have emptied its domain; one that was killed could not,
// and gets the stop grace for what hangs on its life. So does one that killed our
// stand-in for the finalizer, whose child is ours.
func (a *attempt) listProcesses() error {
	if a.exitSignal != 0 || a.scenario.Finalizer != nil {
		grace := time.Duration(scenario.StopGraceMS) * time.Millisecond
		if err := a.until(func() bool { return len(a.outlived()) == 0 }, grace); err != nil {
			return err
		}
	}
	for _, pid := range a.outlived() {
		letter, parent, _ := state(pid)
		detail := fmt.Sprintf("pid %d parent %d state %c: %s", pid, parent, letter, strings.Join(lines(pid, "cmdline", "\x00"), " "))
		a.record.event(evidence.Leftover{What: "process", Detail: strings.TrimSpace(detail)})
	}
	return nil
}

// outlived are the processes of the attempt that run. One look shows none of
// what a process has made that ended while it was looked at: the last look finds
// nobody but those that had ended before.
func (a *attempt) outlived() (found []int) {
	ended := map[int]bool{}
	for again := true; again && len(found) == 0; {
		again = false
		for _, pid := range processes() {
			switch {
			case ended[pid] || pid == a.standIn || pid != a.pid && a.tracer.owns(pid):
			case alive(pid) && !ends(pid):
				found = append(found, pid)
			default:
				ended[pid], again = true, true
			}
		}
	}
	return found
}

// aftermath records what else was left and takes everything down. What cannot
// be taken down is a fault.
func (a *attempt) aftermath() {
	a.unfired()
	if a.lateness.Waits > 0 {
		a.record.event(a.lateness)
	}
	steps := []struct {
		name string
		do   func() error
	}{
		{"inject faults", a.endTracer}, {"ask for the producer's end", a.tellFates}, {"list control groups", a.listGroups}, {"list mounts", a.listMounts}, {"tell what became of the target", a.keepTarget}, {"keep the named sink", a.keepArtifact}, {"keep what the host left", a.keepHosted}, {"keep what the finalizer did", a.keepFinalizer}, {"list files", a.listFiles},
		{"list ipc objects", a.listObjects}, {"kill what is left", func() error { return killEverything(killLimit) }},
		{"close endpoints", a.closeAll}, {"remove control groups", func() error { return removeGroups(a.groups) }},
		{"remove files", a.removeFiles},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			a.record.fault(step.name, err)
		}
	}
}

func (a *attempt) listGroups() error {
	for _, folder := range a.groups.below() {
		a.record.event(evidence.Leftover{What: "cgroup", Detail: folder})
	}
	return nil
}

func (a *attempt) listMounts() error {
	if a.mounts == nil {
		return nil // prepare did not come that far
	}
	points, err := mountPoints()
	if err != nil {
		return err
	}
	for line := range points {
		if !a.mounts[line] {
			a.record.event(evidence.Leftover{What: "mount", Detail: line})
		}
	}
	return nil
}

// listFiles looks where a launcher is allowed to leave nothing: the spool, the
// shared memory files and the common folders, and POSIX queues.
func (a *attempt) listFiles() error {
	if a.mounts == nil {
		return nil
	}
	var errs []error
	for _, folder := range []string{a.given(spoolFolder), "/dev/shm"} {
		errs = append(errs, filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err == nil && path != folder {
				a.record.event(evidence.Leftover{What: "file", Detail: fmt.Sprintf("%s %s", d.Type(), path)})
			}
			return err
		}))
	}
	left, err := a.around.left(a.setup.Place)
	for _, path := range left {
		a.record.event(evidence.Leftover{What: "file", Detail: path})
	}
	return errors.Join(append(errs, err)...)
}

func (a *attempt) listObjects() error {
	if a.mounts == nil {
		return nil
	}
	n, err := sysvObjects()
	if n > a.objects {
		a.record.event(evidence.Leftover{What: "ipc", Detail: fmt.Sprintf("%d more System V objects than before", n-a.objects)})
	}
	return err
}

func (a *attempt) closeAll() error {
	errs := []error{a.canaries.remove(), a.around.close()}
	for _, c := range slices.Concat(a.channels, a.late) {
		errs = append(errs, c.close())
	}
	for _, fd := range a.extras {
		errs = append(errs, unix.Close(fd))
	}
	if a.terminal != nil {
		errs = append(errs, a.terminal.close())
	}
	if a.pidfd >= 0 {
		errs = append(errs, unix.Close(a.pidfd))
	}
	return errors.Join(errs...)
}

// keepLibrary copies the patched library into the record, for a debugger, where
// that was asked for.
func (a *attempt) keepLibrary() error {
	if !a.setup.Keep || a.library.path == "" {
		return nil
	}
	text, err := os.ReadFile(a.library.path)
	if err != nil {
		return err
	}
	return writeNew(a.path(libraryFile), text, 0o644)
}

// removeFiles removes what is of no use as evidence: the spool, the library,
// which can be compiled again, and the pairing file, whose text is recorded.
func (a *attempt) removeFiles() error {
	err := unix.Unmount(a.given(spoolFolder), unix.MNT_DETACH)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOENT) {
		err = nil // it was never mounted
	}
	err = errors.Join(err, a.removeMounts())
	err = errors.Join(err, a.keepLibrary())
	for _, name := range []string{spoolFolder, libraryFile, pairingFile, ""} {
		if removed := os.Remove(a.given(name)); !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, removed)
		}
	}
	return err
}
