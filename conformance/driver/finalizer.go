package driver

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

// The files of a finalizer's stand-in, and the target of a finalizer by itself,
// in Setup.Place.
const (
	finalizerFile = "finalizer"
	finalizerLog  = "finalizer-log"
	keptFile      = "kept"
)

var finalizerLogs = []string{finalizerLog + "-argv", finalizerLog + "-given", finalizerLog + "-receipt"}

// standForFinalizer writes the program that takes the finalizer's place.
func (a *attempt) standForFinalizer(programs map[string]string) error {
	if a.scenario.Finalizer == nil {
		return nil
	}
	actual, err := a.launcher.FinalizerPath(a.values)
	if err != nil {
		return err
	}
	args := map[string]string{"real": actual, "log": a.given(finalizerLog), "receipt": a.launcher.ReceiptOption()}
	for key, value := range a.scenario.Finalizer {
		args[key] = value
	}
	switch args["misreport"] {
	case scenario.MisreportCount:
		args["alter"] = "sink_bytes"
	case scenario.MisreportDigest:
		args["alter"] = a.launcher.Finalizer.Digest
	}
	var payload []byte
	if name := a.scenario.FedPayload(); name != "" {
		if payload, err = os.ReadFile(a.path(name)); err != nil {
			return fmt.Errorf("read payload: %w", err)
		}
	}
	programs[scenario.Finalizer] = a.given(finalizerFile)
	if _, _, err := patch(a.setup.Finalizer, a.given(finalizerFile), args, payload); err != nil {
		return fmt.Errorf("write stand-in for the finalizer: %w", err)
	}
	return nil
}

// aloneGifts are those of a finalizer by itself: the payload, both outputs, and
// what takes its receipt.
func (a *attempt) aloneGifts(gifts []given) ([]given, error) {
	var err error
	a.input, err = unix.Open(a.path(a.scenario.Fixture.PayloadFile), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return gifts, fmt.Errorf("open payload: %w", err)
	}
	theirs, err := unix.FcntlInt(uintptr(a.input), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return gifts, fmt.Errorf("open payload: %w", err)
	}
	gifts = append(gifts, given{0, "stdin", "file", theirs})
	if gifts, err = a.ownPipe(gifts, 1, "stdout", evidence.StdoutFile); err != nil {
		return gifts, err
	}
	if gifts, err = a.ownPipe(gifts, 2, "stderr", evidence.StderrFile); err != nil {
		return gifts, err
	}
	switch a.scenario.Alone.Receipt {
	case scenario.ReceiptFull:
		full, err := unix.Open("/dev/full", unix.O_WRONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return gifts, fmt.Errorf("open receipt: %w", err)
		}
		return append(gifts, given{a.plan.candidate, "receipt", "device", full}), nil
	case scenario.ReceiptClosed:
		p, err := newPair("receipt", scenario.Pipe, a.setup.Place)
		if err != nil {
			return gifts, err
		}
		return append(gifts, given{a.plan.candidate, p.name, p.kind, p.theirs}), unix.Close(p.ours)
	}
	return a.ownPipe(gifts, a.plan.candidate, "receipt", evidence.ReceiptFile)
}

// keepFinalizer records what a stand-in saw, or what a finalizer by itself read
// and kept, and removes it.
func (a *attempt) keepFinalizer() error {
	var err error
	switch {
	case a.input >= 0:
		err = a.keepAlone()
	case a.scenario.Finalizer != nil:
		err = a.keepStandIn()
	}
	for _, name := range append([]string{finalizerFile, keptFile}, finalizerLogs...) {
		if removed := os.Remove(a.given(name)); !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, removed)
		}
	}
	return err
}

func (a *attempt) keepStandIn() error {
	var texts [3]string
	for i, name := range finalizerLogs {
		text, err := os.ReadFile(a.given(name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read what the finalizer's stand-in saw: %w", err)
		}
		texts[i] = string(text)
	}
	if texts[0] == "" {
		return nil // it was never started
	}
	given, err := strconv.ParseUint("0"+texts[1], 10, 64)
	if err != nil {
		return fmt.Errorf("read what the finalizer's stand-in saw: %w", err)
	}
	a.record.event(evidence.Finalized{Argv: strings.Split(strings.TrimSuffix(texts[0], "\x00"), "\x00"), Given: given})
	a.keepFile(evidence.Receipt, evidence.ReceiptFile, []byte(texts[2]))
	return nil
}

// keepAlone records how far a finalizer by itself has read: the offset of its
// input is ours, too.
func (a *attempt) keepAlone() error {
	read, err := unix.Seek(a.input, 0, 1)
	if err = errors.Join(err, unix.Close(a.input)); err != nil {
		return fmt.Errorf("ask how far the input was read: %w", err)
	}
	a.record.event(evidence.Finalized{Argv: a.command.Argv, Given: uint64(read)})
	kept, err := os.ReadFile(a.given(keptFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read what the finalizer kept: %w", err)
	}
	a.keepFile(evidence.Artifact, evidence.ArtifactFile, kept)
	return a.record.evidence.Open(evidence.ArtifactFile)
}

func (a *attempt) keepFile(name, file string, text []byte) {
	if len(text) > 0 {
		a.record.bytes(evidence.Monotonic(), name, file, text)
	}
}
