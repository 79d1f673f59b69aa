package zoo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"touchstone/reports"
)

// Runner asks the suite about launchers.
type Runner struct {
	Root    string // of the checkout
	Program string // the suite's own executable, touchstone
	Profile string // of the launcher; "" is every one
}

// Outcome is what the suite said of one launcher.
type Outcome struct {
	Passed, Failed []string // assertion ids, sorted
	Undecided      []string // not run or broken
	Folder         string   // of the run
}

// Kill is an outcome of a mutant, read against its record.
type Kill struct {
	Caught []string // named, and failed
	Missed []string // named, and passed: the suite did not see the mistake there
	Others []string // failed without being named
}

// Reference runs the unbroken launcher against the scripts of some mutants.
// What it fails there can kill no mutant.
func (r Runner) Reference(ctx context.Context, folder string, mutants ...Mutant) (Outcome, error) {
	var names []string
	for _, m := range mutants {
		scripts, err := m.scriptsOf(filepath.Join(r.Root, "testdata"))
		if err != nil {
			return Outcome{}, err
		}
		names = append(names, scripts...)
	}
	slices.Sort(names)
	return r.certify(ctx, filepath.Join(r.Root, built), folder, slices.Compact(names))
}

// Mutant runs a built mutant against the scripts that have to catch it.
func (r Runner) Mutant(ctx context.Context, m Mutant, bin, folder string) (Outcome, error) {
	scripts, err := m.scriptsOf(filepath.Join(r.Root, "testdata"))
	if err != nil {
		return Outcome{}, err
	}
	return r.certify(ctx, bin, folder, scripts)
}

// certify runs the suite. Conforming, not conforming and undecided are
// outcomes; every other end is an error.
func (r Runner) certify(ctx context.Context, bin, folder string, scripts []string) (Outcome, error) {
	arguments := []string{"certify", "--launcher", "reference", "--bin", bin, "--out", folder, "--tests", strings.Join(scripts, ",")}
	if r.Profile != "" {
		arguments = append(arguments, "--profile", r.Profile)
	}
	cmd := exec.CommandContext(ctx, r.Program, arguments...)
	cmd.Dir = r.Root
	output, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 0 && exit.ExitCode() <= 2 {
		err = nil
	}
	if err != nil {
		return Outcome{}, fmt.Errorf("certify: %w\n%s", err, output)
	}
	return outcomeOf(folder)
}

func outcomeOf(folder string) (Outcome, error) {
	text, err := os.ReadFile(filepath.Join(folder, "report.json"))
	if err != nil {
		return Outcome{}, fmt.Errorf("read report: %w", err)
	}
	var report reports.Report
	if err := json.Unmarshal(text, &report); err != nil {
		return Outcome{}, fmt.Errorf("read report: %w", err)
	}
	o := Outcome{Folder: folder}
	for _, a := range report.Assertions {
		switch a.Verdict {
		case reports.Pass:
			o.Passed = append(o.Passed, a.ID)
		case reports.Fail:
			o.Failed = append(o.Failed, a.ID)
		default:
			o.Undecided = append(o.Undecided, a.ID)
		}
	}
	for _, ids := range []*[]string{&o.Passed, &o.Failed, &o.Undecided} {
		slices.Sort(*ids)
		*ids = slices.Compact(*ids) // one id may have failed in several cells
	}
	return o, nil
}

// Judge reads an outcome against a record. Only a named assertion that failed
// kills.
func (m Mutant) Judge(o Outcome) Kill {
	var k Kill
	for _, id := range o.Failed {
		if slices.Contains(m.CaughtBy, id) {
			k.Caught = append(k.Caught, id)
		} else {
			k.Others = append(k.Others, id)
		}
	}
	for _, id := range m.CaughtBy {
		if slices.Contains(o.Passed, id) && !slices.Contains(o.Failed, id) {
			k.Missed = append(k.Missed, id)
		}
	}
	return k
}
