package driver

import (
	"errors"
	"fmt"
	"os"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

// target is where a named sink is to appear; "" without one.
func (a *attempt) target() string { return a.scenario.Requests[scenario.RequestPathSink] }

// plantTarget puts an old result where the named sink is to appear.
func (a *attempt) plantTarget() error {
	if a.scenario.OldTarget == "" || !a.named() {
		return nil
	}
	if err := writeNew(a.target(), []byte(a.scenario.OldTarget), 0o644); err != nil {
		return fmt.Errorf("plant old target: %w", err)
	}
	return nil
}

// keepArtifact records the regular file that stands at the named sink's target
// in the end, and removes it.
func (a *attempt) keepArtifact() error {
	path := a.target()
	st, err := os.Lstat(path)
	if !a.named() || err != nil || !st.Mode().IsRegular() {
		return nil // nothing is there
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("keep artifact: %w", err)
	}
	if len(text) > 0 {
		a.record.bytes(evidence.Monotonic(), evidence.Artifact, evidence.ArtifactFile, text)
	}
	return errors.Join(a.record.evidence.Open(evidence.ArtifactFile), os.Remove(path))
}
