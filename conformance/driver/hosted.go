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

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

// The files of a hosted attempt, in Setup.Place.
const (
	resultsFolder = "results"
	relayPlanFile = "relay.json"
	relayLogFile  = "relay.jsonl"
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
		Words []string `json:"words"`
		Log   string   `json:"log"`
	}{a.scenario.Relay, a.given(relayLogFile)})
	if err == nil {
		err = errors.Join(os.Mkdir(a.values.Results, 0o700), writeNew(a.values.RelayPlan, append(plan, '\n'), 0o644))
	}
	if err != nil {
		return fmt.Errorf("prepare host: %w", err)
	}
	return nil
}

// keepHosted records what the relay did and what the host left, and removes it.
func (a *attempt) keepHosted() error {
	if a.scenario.Kind != scenario.Hosted {
		return nil
	}
	err := errors.Join(a.keepRelayed(), a.keepResults())
	for _, name := range []string{relayPlanFile, relayLogFile} {
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
