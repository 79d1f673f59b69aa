package certify

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"touchstone/conformance/script"
)

// witness finds recorded attempts and keeps what was asked about them.
type witness struct {
	recorded
	asked []script.Judgement
}

// Judged keeps one judgement.
func (w *witness) Judged(j script.Judgement) { w.asked = append(w.asked, j) }

func (w *witness) take() []script.Judgement {
	asked := w.asked
	w.asked = nil
	return asked
}

// Rejudge runs the scripts of a recorded run again, as Recheck does: those that
// some glob over names or tests matches. It hands each, in each cell and in
// order, with every judgement of it to a function.
//
// A folder that is no run is a *UsageError.
func Rejudge(dir string, tests []string, each func(script.Result, []script.Judgement)) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("judge again: %w", err)
	}
	m, s, err := readRecord(dir)
	if err != nil {
		return err
	}
	if m.Blocked != "" {
		return usage("%s: nothing was run: %s", dir, m.Blocked)
	}
	work, err := os.MkdirTemp("", "touchstone-rejudge-")
	if err != nil {
		return fmt.Errorf("judge again: %w", err)
	}
	defer os.RemoveAll(work) // scripts only: a remnant in the temporary folder harms nobody
	w := &witness{recorded: recorded{run: dir, failFast: s.Request.FailFast}}
	chosen, err := matching(s.Scripts, tests)
	if err != nil {
		return err
	}
	for _, j := range s.jobs {
		if slices.ContainsFunc(chosen, func(one script.Script) bool { return one.Name == j.script.Name }) {
			each(script.Run(j.script, j.cell, s.File, w, work), w.take())
		}
	}
	return nil
}
