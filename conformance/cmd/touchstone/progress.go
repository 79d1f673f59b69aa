package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"touchstone/conformance/certify"
)

// newProgress is a bar on a terminal and plain lines elsewhere.
func newProgress(w io.Writer) certify.Progress {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return &bar{out: w}
	}
	return &plain{out: w}
}

// nothing shows no progress.
type nothing struct{}

func (nothing) Begin(int)                                 {}
func (nothing) End(string, string, string, time.Duration) {}
func (nothing) Finish()                                   {}

// plain prints one line for each script that ended.
type plain struct {
	out         io.Writer
	jobs, ended int
}

func (p *plain) Begin(jobs int) { p.jobs = jobs }

func (p *plain) End(name, cell, verdict string, took time.Duration) {
	p.ended++
	fmt.Fprintf(p.out, "%d/%d %s %s %s %.1fs\n", p.ended, p.jobs, verdict, cell, name, took.Seconds())
}

func (p *plain) Finish() {}

// bar shows how far the run is; scripts that did not pass stay above it.
type bar struct {
	out      io.Writer
	progress *mpb.Progress
	bar      *mpb.Bar
}

func (b *bar) Begin(jobs int) {
	b.progress = mpb.New(mpb.WithOutput(b.out), mpb.WithWidth(40))
	b.bar = b.progress.AddBar(int64(jobs),
		mpb.PrependDecorators(decor.CountersNoUnit("scripts %d/%d ")),
		mpb.AppendDecorators(decor.Elapsed(decor.ET_STYLE_GO)))
}

func (b *bar) End(name, cell, verdict string, took time.Duration) {
	if verdict != "pass" {
		fmt.Fprintf(b.progress, "%s %s %s %.1fs\n", verdict, cell, name, took.Seconds())
	}
	b.bar.Increment()
}

func (b *bar) Finish() {
	b.bar.Abort(false) // a full bar is complete already: this ends one that was cut short
	b.progress.Wait()
}
