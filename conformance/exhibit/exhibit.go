// Package exhibit turns the evidence of an attempt into what a report shows of
// it. It judges nothing, and what it cannot read it says so.
package exhibit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
	"touchstone/reports"
)

// streams are the channel files of an attempt in the order of a page.
var streams = []struct{ channel, file string }{
	{"report", evidence.ReportFile}, {"diagnostic", evidence.DiagnosticFile},
	{"stdout", evidence.StdoutFile}, {"stderr", evidence.StderrFile},
}

// Load is the exhibit of the attempt in dir, which the page knows as name.
func Load(dir, name string) reports.Exhibit {
	a, err := evidence.Load(dir)
	if err != nil {
		return reports.Exhibit{Attempt: name, Problem: "the evidence cannot be read: " + strings.ReplaceAll(err.Error(), dir, name)}
	}
	e := Of(a)
	e.Attempt = name
	return e
}

// Of is the exhibit of a loaded attempt.
func Of(a *evidence.Attempt) reports.Exhibit {
	e := reports.Exhibit{Attempt: a.Dir, Script: a.Scenario.Script, Cell: a.Scenario.Cell.String(), Kind: string(a.Scenario.Kind), Ended: ended(a)}
	if len(a.Tampered) > 0 {
		e.Problem = "evidence altered: " + strings.Join(a.Tampered, ", ")
	}
	start, started := evidence.First[evidence.Start](a)
	if started {
		e.Lanes, e.Moments = lanes(a, start.Mono), moments(a, start.Mono)
		e.Limits = limits(a.Scenario)
		e.Span = span(a, start.Mono)
	}
	for _, s := range streams {
		if content := a.File(s.file); content != nil {
			e.Streams = append(e.Streams, Stream(s.channel, content))
		}
	}
	for _, p := range a.Packets() {
		e.Packets = append(e.Packets, p.Bytes)
	}
	e.Files = files(a)
	return e
}

// Stream shortens a channel's content.
func Stream(name string, content []byte) reports.Stream {
	s := reports.Stream{Name: name, Bytes: int64(len(content)), First: content}
	if len(content) > 2*reports.StreamBytes {
		s.First, s.Last = content[:reports.StreamBytes], content[len(content)-reports.StreamBytes:]
	}
	return s
}

func ended(a *evidence.Attempt) string {
	exit, found := a.Exit()
	switch {
	case !found:
		return "no exit recorded"
	case exit.Body.Status != nil:
		return fmt.Sprintf("exit %d", *exit.Body.Status)
	}
	return fmt.Sprintf("signal %d", *exit.Body.Signal)
}

// span ends with the last event that is not the record's own.
func span(a *evidence.Attempt, start int64) int64 {
	last := start
	for _, e := range a.Events {
		switch e.Body.(type) {
		case evidence.Hashes, evidence.End, evidence.Lateness, evidence.Leftover, evidence.Relayed, evidence.Result:
		default:
			last = max(last, e.Mono)
		}
	}
	return last - start
}

// lanes are the channels that said or ended anything, the terminal last.
func lanes(a *evidence.Attempt, start int64) []reports.Lane {
	byName := map[string]*reports.Lane{}
	var names []string
	lane := func(name string) *reports.Lane {
		if byName[name] == nil {
			byName[name] = &reports.Lane{Name: name, End: -1}
			names = append(names, name)
		}
		return byName[name]
	}
	for _, e := range a.Events {
		switch b := e.Body.(type) {
		case evidence.Bytes:
			l := lane(b.Channel)
			l.Bytes = b.Offset + int64(b.Size)
			l.Steps = append(l.Steps, reports.Step{At: e.Mono - start, Bytes: l.Bytes})
		case evidence.EOF:
			lane(b.Channel).End = e.Mono - start
		case evidence.Packet:
			l := lane("terminal")
			l.Bytes += int64(b.Size)
			l.Marks = append(l.Marks, e.Mono-start)
		case evidence.TerminalEOF:
			lane("terminal").End = e.Mono - start
		}
	}
	order := []string{"report", "diagnostic", "candidate", "stdout", "stderr", "terminal"}
	slices.SortStableFunc(names, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) })
	all := make([]reports.Lane, 0, len(names))
	for _, name := range names {
		all = append(all, *byName[name])
	}
	return all
}

func moments(a *evidence.Attempt, start int64) []reports.Moment {
	var all []reports.Moment
	for _, e := range a.Events {
		if kind, text := moment(e.Body); kind != "" {
			all = append(all, reports.Moment{At: happened(e) - start, Kind: kind, Text: text})
		}
	}
	slices.SortStableFunc(all, func(a, b reports.Moment) int { return cmp.Compare(a.At, b.At) })
	return all
}

// happened is when: what the relay did is recorded when all is over.
func happened(e evidence.Event) int64 {
	if r, relayed := e.Body.(evidence.Relayed); relayed {
		return r.At
	}
	return e.Mono
}

// moment is how an event reads on a time line; an empty kind is for events
// that have a place of their own, or none.
func moment(body evidence.Body) (kind, text string) {
	switch b := body.(type) {
	case evidence.Control:
		return controlText(b)
	case evidence.Rendezvous:
		return "rendezvous", fmt.Sprintf("producer stopped at point %d, after %d candidate and %d sink bytes", b.Point, b.CandidateBytes, b.SinkBytes)
	case evidence.Observe:
		return "observe", fmt.Sprintf("%s looked at: %d descriptors, %d threads", b.Who, len(b.Descriptors), b.Threads)
	case evidence.Producers:
		return "observe", fmt.Sprintf("first report byte read; producers alive: %d", b.Alive)
	case evidence.Exit:
		return "exit", exitText(b.Who, b.Status, b.Signal)
	case evidence.ProducerExit:
		return "end", exitText(fmt.Sprintf("producer %d", b.PID), b.Status, b.Signal)
	case evidence.FinalizerExit:
		return "end", exitText(fmt.Sprintf("finalizer %d", b.PID), b.Status, b.Signal)
	case evidence.Watchdog:
		return "watchdog", watchdogText(b)
	case evidence.Leftover:
		return "leftover", "left behind: " + b.What + " " + b.Detail
	case evidence.Relayed:
		return "observe", strings.TrimSpace(fmt.Sprintf("relay in the supervisor's place: %s, %d bytes %s", b.Did, b.Size, b.Detail))
	case evidence.Result:
		return "observe", fmt.Sprintf("the host left %s, %d bytes", b.Name, b.Size)
	case evidence.Fault:
		return "fault", "the driver failed: " + b.Operation + ": " + b.Cause
	case evidence.Unknown:
		return "observe", "an event of unknown kind " + b.Name
	}
	return "", ""
}

func watchdogText(w evidence.Watchdog) string {
	switch w.Waiting {
	case "bytes":
		return "the driver stopped the launcher: an endpoint delivered far more than was granted"
	case "call":
		return fmt.Sprintf("the driver stopped the launcher after %d ms: the producer ended and never waited in a call that creates a process", w.LimitMS)
	case "drain":
		return fmt.Sprintf("the driver stopped waiting: a writer of an endpoint outlived the launcher (limit %d ms)", w.LimitMS)
	}
	return fmt.Sprintf("the driver stopped the launcher, which had not exited after %d ms", w.LimitMS)
}

func exitText(who string, status, signal *int) string {
	switch {
	case signal != nil:
		return fmt.Sprintf("%s killed by signal %d", who, *signal)
	case status != nil:
		return fmt.Sprintf("%s exited with %d", who, *status)
	}
	return who + " ended"
}

func controlText(c evidence.Control) (kind, text string) {
	kind = "control"
	if c.Action.Kind == scenario.DoKill || c.Action.Kind == scenario.DoCancel {
		kind = "kill"
	}
	words := []string{c.Action.Kind, c.Action.Who, c.Action.Channel, c.Action.Signal, c.Action.Value, "at", c.Trigger.Kind, c.Trigger.Channel}
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	text = strings.Join(words, " ")
	if c.Trigger.N > 0 {
		text += fmt.Sprintf(" %d", c.Trigger.N)
	}
	text += ": " + c.Result
	if c.Detail != "" {
		text += ", " + c.Detail
	}
	return kind, text
}

// limits are the times after which the host gives up: the wall time, then the
// grace, then the stall time.
//
// Rules: R15.
func limits(s scenario.Scenario) []reports.Limit {
	if s.Kind != scenario.Launch {
		return nil
	}
	const millisecond = 1_000_000
	var all []reports.Limit
	from := int64(0)
	for _, l := range []struct {
		name string
		ms   uint64
	}{{"W", s.WallMS()}, {"G", scenario.StopGraceMS}, {"P", s.StallMS()}} {
		length := int64(min(l.ms, 1<<42)) * millisecond
		all = append(all, reports.Limit{Name: l.name, From: from, Length: length})
		from += length
	}
	return all
}

// files are the names of the evidence, in order.
func files(a *evidence.Attempt) []string {
	names := []string{evidence.EventsFile}
	hashes, _ := evidence.First[evidence.Hashes](a)
	for name := range hashes.Body.Files {
		names = append(names, name)
	}
	slices.Sort(names[1:])
	return names
}
