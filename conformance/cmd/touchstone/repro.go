package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"touchstone/conformance/capsule"
	"touchstone/conformance/certify"
	"touchstone/reports"
)

type reproCommand struct {
	File      string `arg:"" help:"Capsule: capsules/FACADE-PROFILE/SCRIPT.txtar of a run folder."`
	Launcher  string `help:"Name of a file in conformance/launchers, or a path; the capsule's when absent." placeholder:"NAME|PATH"`
	Bin       string `help:"Folder of the launcher's binaries; .build/bin when absent." placeholder:"DIR"`
	UntilFail int    `help:"Repeat while everything passes, at most so many runs." placeholder:"N" default:"1"`
	Keep      bool   `help:"Keep the evidence of the last run, with the library of each attempt, and the scratch: the compiled fixtures."`
	Out       string `help:"Where --keep keeps: a new or empty folder; reports/out/RUN-ID when absent." placeholder:"DIR"`
	GDB       string `name:"gdb" help:"Hold supervisor S, producer U or finalizer V of the attempt that did not pass at its start, and run gdb upon it, or without a terminal print how to." enum:",S,U,V" default:"" placeholder:"S|U|V"`
	Strace    bool   `help:"Write strace.txt beside the evidence of each attempt: strace -f of the launcher, attached before its program starts. Goes with --keep."`
	Quiet     bool   `short:"q" help:"Only the conclusion."`
	JSON      bool   `name:"json" help:"One JSON object on stdout."`
}

// reproData is what repro found.
type reproData struct {
	Capsule  string           `json:"capsule"`
	Runs     int              `json:"runs"` // made
	Of       int              `json:"of"`
	Outcome  string           `json:"outcome"`
	Warnings []string         `json:"warnings"`
	Evidence string           `json:"evidence"` // folder, "" when it was not kept
	Scratch  string           `json:"scratch"`
	Changes  []certify.Change `json:"changes"`
	Leaks    []string         `json:"leaks"`
}

var outcomeWords = map[int]string{certify.ReplayPassed: "everything passed", certify.ReplaySame: "it did not pass again, the same way",
	certify.ReplayUndecided: "undecided", certify.ReplayOther: "it failed otherwise"}

// Run replays a capsule and says what came of it.
func (c *reproCommand) Run(p *program) error {
	data, status, err := c.repro(p)
	if c.JSON {
		a := answer{kind: "repro", data: data, status: status}
		if status != 0 {
			a.finding = data.Outcome
		}
		return a.write(p.stdout, err)
	}
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(p.stdout, c.conclusion(data, status)); err != nil {
		return fmt.Errorf("print conclusion: %w", err)
	}
	return exit(status)
}

func (c *reproCommand) conclusion(d reproData, status int) string {
	text := fmt.Sprintf("%s: run %d of %d (exit %d)", d.Outcome, d.Runs, d.Of, status)
	switch {
	case d.Evidence != "":
		text = fmt.Sprintf("evidence %s\nscratch  %s\n%s", d.Evidence, d.Scratch, text)
	case status != 0:
		text += "; --keep keeps the evidence"
	}
	return text
}

func (c *reproCommand) repro(p *program) (reproData, int, error) {
	data := reproData{Capsule: c.File, Of: c.UntilFail, Warnings: []string{}, Changes: []certify.Change{}, Leaks: []string{}}
	if err := c.misuse(); err != nil {
		return data, 0, err
	}
	capsule, err := certify.ReadCapsule(c.File)
	if err != nil {
		return data, 0, err
	}
	root, err := repository()
	if err != nil {
		return data, 0, err
	}
	selection, err := certify.SelectCapsule(root, capsule, c.Launcher)
	if err != nil {
		return data, 0, err
	}
	place, err := (&certifyCommand{Bin: c.Bin, Out: c.Out, Jobs: 1}).place(root)
	if err != nil {
		return data, 0, err
	}
	if data.Warnings, err = certify.Strangers(capsule, selection, place, suiteVersion()); err != nil {
		return data, 0, err
	}
	for _, w := range data.Warnings {
		fmt.Fprintln(p.stderr, "touchstone: warning:", oneLine(w))
	}
	l, look, err := c.look(p, capsule.Attempt)
	if err != nil {
		return data, 0, err
	}
	place.Look = look
	status, err := c.runs(p, l, capsule, selection, place, &data)
	return data, status, err
}

func (c *reproCommand) misuse() error {
	switch {
	case c.UntilFail < 1:
		return &certify.UsageError{Problem: fmt.Sprintf("--until-fail %d: write 1 or more", c.UntilFail)}
	case c.Out != "" && !c.Keep:
		return &certify.UsageError{Problem: "--out says where --keep keeps: add --keep"}
	case c.Strace && !c.Keep:
		return &certify.UsageError{Problem: "--strace writes beside kept evidence: add --keep"}
	}
	return nil
}

// runs replays until it does not pass. What is not to be kept lies in a
// temporary folder.
func (c *reproCommand) runs(p *program, l *looker, one capsule.Capsule, s certify.Selection, place certify.Place, data *reproData) (status int, err error) {
	scratch, err := os.MkdirTemp("", "touchstone-")
	if err == nil {
		err = os.Chmod(scratch, 0o755) // the producer's own user has to read the fixtures
	}
	if err != nil {
		return 0, fmt.Errorf("make scratch folder: %w", err)
	}
	place.Scratch = scratch
	if c.Keep {
		data.Evidence, data.Scratch = place.Run, scratch
	} else {
		place.Run = filepath.Join(scratch, "run")
		defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	}
	ctx, done := l.interruptible(p.ctx)
	defer done()
	for data.Runs = 1; ; data.Runs++ {
		r, err := certify.ReplayCapsule(ctx, one, s, place, suiteVersion(), nothing{})
		l.end()
		if err != nil {
			return 0, err
		}
		data.Outcome, data.Changes, data.Leaks = outcomeWords[r.Outcome], r.Changes, r.Leaks
		c.say(p, data, r)
		if r.Outcome != certify.ReplayPassed || data.Runs == data.Of {
			return r.Outcome, nil
		}
		if err := os.RemoveAll(place.Run); err != nil {
			return 0, fmt.Errorf("remove a run that passed: %w", err)
		}
	}
}

// say tells of one run: on stderr, as progress does.
func (c *reproCommand) say(p *program, data *reproData, r certify.Replay) {
	if c.Quiet {
		return
	}
	if r.Outcome == certify.ReplayPassed {
		r.Changes = nil
	}
	for _, change := range r.Changes {
		fmt.Fprintf(p.stderr, "%s %s %s: %s\n", again(change), change.ID, cmp.Or(change.Was.Rule, change.Now.Rule), oneLine(whatNow(change.Now)))
	}
	for _, l := range r.Leaks {
		fmt.Fprintf(p.stderr, "left     %s\n", oneLine(l))
	}
	if r.Blocked != "" {
		fmt.Fprintf(p.stderr, "not run: %s\n", oneLine(r.Blocked))
	}
	fmt.Fprintf(p.stderr, "run %d of %d: %s\n", data.Runs, data.Of, data.Outcome)
}

func again(c certify.Change) string {
	switch {
	case c.Same:
		return "again " + c.Now.Seen
	case c.Was.Seen == c.Now.Seen:
		return fmt.Sprintf("%s, but at line %d, not %d:", c.Now.Seen, c.Now.Line, c.Was.Line)
	case c.Was.Seen == reports.Pass: // or could not be shown: a capsule does not have it
		return "did not fail, now " + c.Now.Seen
	}
	return fmt.Sprintf("was %s, now %s", c.Was.Seen, c.Now.Seen)
}

func whatNow(v capsule.Verdict) string {
	switch {
	case v.Seen == reports.Pass:
		return "as wanted"
	case v.Saw != "" || v.Wanted != "":
		return fmt.Sprintf("saw %s, wanted %s", v.Saw, v.Wanted)
	}
	return v.Reason
}
