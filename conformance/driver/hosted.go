package driver

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

// The files of a hosted attempt, in Setup.Place.
const (
	resultsFolder = "results"
	relayPlanFile = "relay.json"
	relayLogFile  = "relay.jsonl"
	relayKeeper   = "relay.keeper"     // a socket
	relayProgram  = "touchstone-relay" // beside our own
)

// prepareHost makes the folder for the host's results, and the relay's plan.
func (a *attempt) prepareHost() error {
	if a.scenario.Kind != scenario.Hosted {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find relay: %w", err)
	}
	a.values.Relay = filepath.Join(filepath.Dir(self), relayProgram)
	a.values.Results, a.values.RelayPlan = a.given(resultsFolder), a.given(relayPlanFile)
	plan, err := json.Marshal(struct {
		Words  []string `json:"words"`
		Log    string   `json:"log"`
		Keeper string   `json:"keeper"`
	}{a.scenario.Relay, a.given(relayLogFile), a.given(relayKeeper)})
	if err == nil {
		a.keeper, err = listenAt(a.setup.Place, relayKeeper)
	}
	if err == nil {
		err = errors.Join(os.Mkdir(a.values.Results, 0o700), writeNew(a.values.RelayPlan, append(plan, '\n'), 0o644))
	}
	if err != nil {
		return fmt.Errorf("prepare host: %w", err)
	}
	return nil
}

// listenAt makes a datagram socket in a folder whose path may be longer than an
// address. Nobody reads it: what the relay sends there stays open in the queue
// till the host is judged.
func listenAt(folder, name string) (socket int, err error) {
	at, err := unix.Open(folder, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open %s: %w", folder, err)
	}
	socket, err = unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = unix.Bind(socket, &unix.SockaddrUnix{Name: fmt.Sprintf("/proc/self/fd/%d/%s", at, name)})
	}
	return socket, errors.Join(err, unix.Close(at))
}

// keepHosted records what the relay did and what the host left, and removes it.
func (a *attempt) keepHosted() error {
	if a.scenario.Kind != scenario.Hosted {
		return nil
	}
	err := errors.Join(unix.Close(a.keeper), a.keepRelayed(), a.keepResults())
	for _, name := range []string{relayPlanFile, relayLogFile, relayKeeper} {
		if removed := os.Remove(a.given(name)); !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, removed)
		}
	}
	return errors.Join(err, os.RemoveAll(a.given(resultsFolder)))
}

func (a *attempt) keepRelayed() error {
	text, err := os.ReadFile(a.given(relayLogFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the host never started it
	}
	if err != nil {
		return fmt.Errorf("read relay's log: %w", err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var line evidence.Relayed
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return fmt.Errorf("read relay's log: %w", err)
		}
		a.record.event(line)
	}
	return nil
}

// keepResults lists the files where results belong, and keeps the disposition.
func (a *attempt) keepResults() error {
	return filepath.WalkDir(a.given(resultsFolder), func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == a.given(resultsFolder) {
			return err
		}
		name, _ := filepath.Rel(a.given(resultsFolder), path) // it is below
		if !d.Type().IsRegular() {
			a.record.event(evidence.Result{Name: fmt.Sprint(name, " ", d.Type())})
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("keep result: %w", err)
		}
		sum := sha256.Sum256(text)
		a.record.event(evidence.Result{Name: name, Size: int64(len(text)), SHA256: hex.EncodeToString(sum[:])})
		if name == a.launcher.Host.Disposition.File && len(text) > 0 {
			a.record.bytes(evidence.Monotonic(), evidence.Disposition, evidence.DispositionFile, text)
		}
		return nil
	})
}
