// Package sweep runs a program once for every call it makes and every fault
// that the call can have, and finds the calls whose failure the program does
// not report.
package sweep

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"touchstone/faultinject"
	"touchstone/faultinject/tracer"
)

// Config says what is swept.
type Config struct {
	Path    string // program
	Argv    []string
	Classes []string      // calls or classes, each swept by itself
	Faults  []string      // error names, short and zero
	Role    string        // role word of the rules
	Check   string        // shell command that succeeds where the result is right
	Reset   string        // shell command before every run; may be empty
	Limit   time.Duration // of one run
	MaxRuns int           // of the whole sweep
	Log     func(format string, args ...any)
}

// Point is one call with one fault, and what the program made of it.
type Point struct {
	Class   string  `json:"class"`
	Ordinal uint64  `json:"ordinal"` // call of the class, from 1
	Fault   string  `json:"fault"`
	Call    string  `json:"call"`
	Object  string  `json:"object"`
	Ending  string  `json:"ending"` // "exit N", "signal N" or "over time"
	Result  bool    `json:"result"` // the check succeeded
	Verdict Verdict `json:"verdict"`
}

// Verdict is what a point shows.
type Verdict string

// The verdicts of a point.
const (
	Survived     Verdict = "survived"      // success, and the result is right
	Reported     Verdict = "reported"      // the program says that it failed
	FalseSuccess Verdict = "false-success" // success, and the result is wrong
	Crashed      Verdict = "crashed"
	Hung         Verdict = "hung"
)

// Report is a finished sweep.
type Report struct {
	Calls  map[string]uint64 `json:"calls"` // of each class, without faults
	Runs   int               `json:"runs"`
	Points []Point           `json:"points"`
}

// ErrBaseline is wrapped where the program fails without any fault.
var ErrBaseline = errors.New("the program fails without faults")

// Run sweeps. It ends by itself: every class and fault ends with the first
// run that has no call left to fail.
func Run(c Config) (Report, error) {
	report := Report{Calls: map[string]uint64{}, Points: []Point{}}
	for _, class := range c.Classes {
		seen, err := c.baseline(class)
		if err != nil {
			return report, err
		}
		report.Runs++
		report.Calls[class] = seen
	}
	for _, class := range c.Classes {
		for _, fault := range c.Faults {
			if !fits(class, fault) {
				continue
			}
			if err := c.line(&report, class, fault); err != nil {
				return report, err
			}
		}
	}
	return report, nil
}

// fits tells whether a fault makes sense for any call of a class.
func fits(class, fault string) bool {
	if fault != "short" && fault != "zero" {
		return true
	}
	return slices.ContainsFunc(faultinject.Expand(class), func(name string) bool {
		return faultinject.ShapeOf(name).Transfers()
	})
}

// baseline counts the calls of a class, and checks that all is well without
// faults.
func (c Config) baseline(class string) (uint64, error) {
	trial, err := c.trial(fmt.Sprintf("rule point: on %s role %s ; do mark ; times inf", class, c.Role))
	if err != nil {
		return 0, err
	}
	if trial.ending() != "exit 0" || !trial.right {
		return 0, fmt.Errorf("%w: %s, check %v", ErrBaseline, trial.ending(), trial.right)
	}
	return trial.result.Tallies[0].Seen, nil
}

// line sweeps one class with one fault.
func (c Config) line(report *Report, class, fault string) error {
	do := map[string]string{"short": "short 1", "zero": "ret 0"}[fault]
	if do == "" {
		do = "errno " + fault
	}
	for ordinal := uint64(1); ; ordinal++ {
		if report.Runs >= c.MaxRuns {
			return fmt.Errorf("sweep: not over after %d runs", report.Runs)
		}
		trial, err := c.trial(fmt.Sprintf("rule point: on %s role %s ; at call %d ; do %s", class, c.Role, ordinal, do))
		if err != nil {
			return err
		}
		report.Runs++
		tally := trial.result.Tallies[0]
		if tally.Fired == 1 && tally.First == ordinal {
			point := trial.point(class, fault, ordinal)
			c.Log("%-8s call %3d of %-8s %-10s %s: %s, %s", fault, ordinal, class, point.Call, point.Object, point.Ending, point.Verdict)
			report.Points = append(report.Points, point)
		}
		if tally.Seen < ordinal {
			return nil
		}
	}
}

// trial is one run of the program.
type trial struct {
	result   tracer.Result
	right    bool
	evidence []byte
}

func (c Config) trial(rule string) (t trial, err error) {
	plan, err := faultinject.Parse(rule)
	if err != nil {
		return t, fmt.Errorf("sweep rule: %w", err)
	}
	if err := shell(c.Reset); c.Reset != "" && err != nil {
		return t, fmt.Errorf("reset: %w", err)
	}
	log, err := os.CreateTemp("", "sweep-*.jsonl")
	if err != nil {
		return t, fmt.Errorf("make log: %w", err)
	}
	defer func() { err = errors.Join(err, log.Close(), os.Remove(log.Name())) }()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return t, fmt.Errorf("open null: %w", err)
	}
	defer func() { err = errors.Join(err, null.Close()) }()
	t.result, err = tracer.Run(tracer.Config{Plan: plan, Mode: tracer.ModeFilter, Log: log, Pin: -1, Limit: c.Limit,
		Files: []*os.File{null, null, null}}, c.Path, c.Argv)
	if err != nil {
		return t, fmt.Errorf("sweep run: %w", err)
	}
	t.right = shell(c.Check) == nil
	t.evidence, err = os.ReadFile(log.Name())
	return t, err
}

func shell(command string) error { return exec.Command("/bin/sh", "-c", command).Run() }

func (t trial) ending() string {
	switch status := t.result.Status; {
	case t.result.Over:
		return "over time"
	case status.Signaled():
		return fmt.Sprintf("signal %d", status.Signal())
	default:
		return fmt.Sprintf("exit %d", status.ExitStatus())
	}
}

func (t trial) point(class, fault string, ordinal uint64) Point {
	p := Point{Class: class, Ordinal: ordinal, Fault: fault, Ending: t.ending(), Result: t.right}
	for line := range bytes.Lines(t.evidence) {
		var decision struct {
			Kind, Call string
			FD         struct{ Path string }
		}
		err := json.Unmarshal(line, &decision, json.MatchCaseInsensitiveNames(true))
		if err == nil && decision.Kind == "decision" {
			p.Call, p.Object = decision.Call, decision.FD.Path
		}
	}
	switch status := t.result.Status; {
	case t.result.Over:
		p.Verdict = Hung
	case status.Signaled():
		p.Verdict = Crashed
	case status.ExitStatus() != 0:
		p.Verdict = Reported
	case t.right:
		p.Verdict = Survived
	default:
		p.Verdict = FalseSuccess
	}
	return p
}

// Wrong returns the points whose program claimed success with a wrong
// result, crashed or hung, grouped by call, in order.
func (r Report) Wrong() [][]Point {
	var out [][]Point
	for _, p := range r.Points {
		if p.Verdict == Survived || p.Verdict == Reported {
			continue
		}
		i := slices.IndexFunc(out, func(group []Point) bool {
			return group[0].Class == p.Class && group[0].Ordinal == p.Ordinal && group[0].Verdict == p.Verdict
		})
		if i < 0 {
			out = append(out, nil)
			i = len(out) - 1
		}
		out[i] = append(out[i], p)
	}
	return out
}
