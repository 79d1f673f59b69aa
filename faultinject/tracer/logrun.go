package tracer

import (
	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"

	"touchstone/faultinject"
)

// started writes the first line: what is run, how, and why so.
func (l *evidence) started(t *Tracer, why, image string) {
	l.start("start")
	l.number("version", 1)
	l.text("mode", string(t.mode))
	l.text("mode_why", why)
	l.text("image", image)
	l.text("plan", faultinject.Print(t.plan))
	l.end()
}

// image writes about the program that a process runs: attached, exec or freed.
func (l *evidence) image(what string, p *process) {
	l.start("image")
	l.text("what", what)
	l.text("role", p.letter)
	l.number("pid", uint64(p.tgid))
	l.number("start", p.start)
	l.number("exe_dev", p.exe.dev)
	l.number("exe_ino", p.exe.ino)
	l.end()
}

// held writes how long a thread was held.
func (l *evidence) held(k *task, forNs int64) {
	l.start("held")
	l.text("rule", k.line.rule.ID)
	l.number("pid", uint64(k.proc.tgid))
	l.number("tid", uint64(k.tid))
	l.signed("held_ns", forNs)
	l.end()
}

// ended writes the status of the root process.
func (l *evidence) ended(t *Tracer, status unix.WaitStatus) {
	l.start("ended")
	l.number("pid", uint64(t.root))
	l.status(status)
	l.end()
}

func (l *evidence) status(status unix.WaitStatus) {
	l.optional("exit", status.Exited(), int64(status.ExitStatus()))
	l.optional("signal", status.Signaled(), int64(status.Signal()))
}

// final writes the last line.
func (l *evidence) final(t *Tracer, r Result, failed error) {
	l.start("final")
	l.text("mode", string(r.Mode))
	l.key("rules")
	tallies, err := json.Marshal(r.Tallies)
	if err != nil {
		panic("bug: tallies: " + err.Error())
	}
	l.line = append(l.line, tallies...)
	l.key("blind")
	blind, err := json.Marshal(r.Blind)
	if err != nil {
		blind = []byte("[]") // only names that are no UTF-8 fail
	}
	l.line = append(l.line, blind...)
	l.number("restarted", t.engine.Restarted())
	l.number("stops", t.stops)
	l.status(r.Status)
	l.number("code", uint64(r.Code(failed)))
	if failed != nil {
		l.text("error", failed.Error())
	} else {
		l.null("error")
	}
	l.end()
}

// The exits of the command.
const (
	CodeAsAsked  = 0
	CodeNotAsked = 3 // a rule never fired or fired too often
	CodeBlind    = 4 // rules could not see everything they cover
	CodeFailed   = 5 // the tracer itself failed
	CodeUsage    = 64
)

// Code returns the exit that stands for the run.
func (r Result) Code(failed error) int {
	switch {
	case failed != nil:
		return CodeFailed
	case len(r.Blind) > 0:
		return CodeBlind
	case !r.AsAsked():
		return CodeNotAsked
	}
	return CodeAsAsked
}
