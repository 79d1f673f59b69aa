package oracle

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

func parseReport(words []string) (test, error) {
	if err := atLeast(words, 1); err != nil {
		return test{}, err
	}
	plain := map[string]func(*view, *wants){
		"equals-reference": reportEqualsReference,
		"one-document":     oneDocument,
		"empty": func(v *view, w *wants) {
			w.that(len(v.attempt.ReportBytes()) == 0, v.describeReport(), "no byte of report")
		},
		"refused": reportRefused,
		"no-success": func(v *view, w *wants) {
			w.that(!v.document().isSuccess(), v.describeReport(), "no success document")
		},
	}
	if judge, found := plain[words[0]]; found && len(words) == 1 {
		return each(judge)
	}
	if words[0] == "measures" {
		return parseMeasures(words[1:])
	}
	if err := exactly(words, 2); err != nil {
		return test{}, err
	}
	switch words[0] {
	case "equals":
		return each(func(v *view, w *wants) { reportEqualsDocument(v, w, words[1]) })
	case "relayed":
		return each(func(v *view, w *wants) { reportIsRelayed(v, w, words[1]) })
	case "prefix-of":
		return each(func(v *view, w *wants) { reportIsPrefix(v, w, words[1]) })
	case "contain":
		if words[1] == "" {
			return test{}, fmt.Errorf("empty text is always contained")
		}
		return each(func(v *view, w *wants) {
			w.that(bytes.Contains(v.attempt.ReportBytes(), []byte(words[1])), v.describeReport(), fmt.Sprintf("%q in the report", words[1]))
		})
	case "failure-document":
		return each(func(v *view, w *wants) {
			w.that(v.document().isFailure() && v.document().root.at("code").is(words[1]), v.describeReport(), "one failure document with code "+words[1])
		})
	}
	return test{}, fmt.Errorf("unknown %q", words[0])
}

// parseMeasures reads bounds of the report's bytes, and of its texts' bytes.
func parseMeasures(words []string) (test, error) {
	conditions, err := parseConditions(words)
	if err != nil {
		return test{}, err
	}
	for _, c := range conditions {
		if _, err := strconv.ParseUint(c.values[0], 10, 32); err != nil || len(c.values) != 1 {
			return test{}, fmt.Errorf("%s: want one decimal", c)
		}
	}
	return each(func(v *view, w *wants) {
		for _, c := range conditions {
			if c.member == "size" {
				c.number(uint64(len(v.attempt.ReportBytes())), w)
				continue
			}
			text := ""
			if member := v.document().root.at(strings.Split(c.member, ".")...); member.isString() {
				text = member.text
			}
			c.number(uint64(len(text)), w)
		}
	})
}

// reportRefused: what a refused run may say on the report. Rules: R08, R15.
func reportRefused(v *view, w *wants) {
	empty := len(v.attempt.ReportBytes()) == 0
	w.that(empty || v.document().isFailure(), v.describeReport(), "no report, or one failure document")
}

func reportEqualsReference(v *view, w *wants) {
	if v.facts.Reference == nil {
		w.undecided(Broken, "no reference document was made for this launch")
		return
	}
	sameBytes(w, "report", blank(v.attempt.ReportBytes(), v.facts.Volatile), blank(v.facts.Reference, v.facts.Volatile))
}

func reportEqualsDocument(v *view, w *wants, name string) {
	content, found := v.facts.Documents[name]
	if !found {
		w.undecided(Broken, fmt.Sprintf("no document %q", name))
		return
	}
	sameBytes(w, "report", v.attempt.ReportBytes(), content)
}

// reportIsRelayed: a producer's failure document may be relayed, byte for byte,
// replaced by the supervisor's own, or left out.
//
// Rules: R04, C-33.
func reportIsRelayed(v *view, w *wants, name string) {
	content, found := v.facts.Documents[name]
	if !found {
		w.undecided(Broken, fmt.Sprintf("no document %q", name))
		return
	}
	own := packetSeen(v) && v.document().isFailure() && v.document().root.at("code").is(v.record.Code())
	if got := v.attempt.ReportBytes(); len(got) > 0 && !own {
		sameBytes(w, "report", got, content)
	}
}

// reportIsPrefix: what was delivered is the beginning of a document, not all of
// it, and nothing else.
func reportIsPrefix(v *view, w *wants, name string) {
	content, found := v.facts.Documents[name]
	if !found {
		w.undecided(Broken, fmt.Sprintf("no document %q", name))
		return
	}
	got := v.attempt.ReportBytes()
	w.that(len(got) < len(content), fmt.Sprintf("%d bytes", len(got)), fmt.Sprintf("less than all %d", len(content)))
	sameBytes(w, "report", got, content[:min(len(got), len(content))])
}

func sameBytes(w *wants, channel string, got, wanted []byte) {
	at := firstDifference(got, wanted)
	if at < 0 {
		return
	}
	w.that(false, fmt.Sprintf("%s of %d bytes, at %d %q", channel, len(got), at, excerpt(got, at)),
		fmt.Sprintf("%d bytes, at %d %q", len(wanted), at, excerpt(wanted, at)))
}

func parseDiagnostics(words []string) (test, error) {
	if err := atLeast(words, 2); err != nil {
		return test{}, err
	}
	if slices.Contains([]string{"size", "first", "pattern"}, words[0]) {
		return parseDiagnosticSize(words)
	}
	if err := exactly(words, 2); err != nil {
		return test{}, err
	}
	text := []byte(words[1])
	if len(text) == 0 && words[0] != "equal" {
		return test{}, fmt.Errorf("empty text is always contained")
	}
	switch words[0] {
	case "equal":
		return each(func(v *view, w *wants) { sameBytes(w, "diagnostics", v.diagnostics(), text) })
	case "contain":
		return each(func(v *view, w *wants) {
			w.that(bytes.Contains(v.diagnostics(), text), v.describeDiagnostics(), fmt.Sprintf("%q in them", text))
		})
	case "lack":
		return each(func(v *view, w *wants) {
			w.that(!bytes.Contains(v.diagnostics(), text), v.describeDiagnostics(), fmt.Sprintf("no %q in them", text))
		})
	}
	return test{}, fmt.Errorf("unknown %q", words[0])
}

func (v *view) describeDiagnostics() string {
	d := v.diagnostics()
	return fmt.Sprintf("%d bytes of diagnostics, starting %q", len(d), d[:min(len(d), 60)])
}

func parseDiagnosticSize(words []string) (test, error) {
	size, err := strconv.ParseUint(words[1], 10, 32)
	if err != nil {
		return test{}, fmt.Errorf("%q is no size", words[1])
	}
	switch {
	case words[0] == "size" && len(words) == 2:
		return each(func(v *view, w *wants) {
			w.that(uint64(len(v.diagnostics())) == size, v.describeDiagnostics(), fmt.Sprintf("%d bytes", size))
		})
	case words[0] == "first" && len(words) == 3 && words[2] == "of-pattern":
		return each(func(v *view, w *wants) {
			d := v.diagnostics()
			w.that(uint64(len(d)) <= size, v.describeDiagnostics(), fmt.Sprintf("at most %d bytes", size))
			sameBytes(w, "diagnostics", d, pattern251(len(d)))
		})
	case words[0] == "pattern" && len(words) == 2:
		return each(func(v *view, w *wants) { sameBytes(w, "diagnostics", v.diagnostics(), pattern251(int(size))) })
	}
	return test{}, fmt.Errorf("unknown %q", strings.Join(words, " "))
}

// pattern251 is what the fixtures emit: byte i is i mod 251.
func pattern251(n int) []byte {
	content := make([]byte, n)
	for i := range content {
		content[i] = byte(i % 251)
	}
	return content
}

func parseFixtureLine(words []string) (test, error) {
	if err := exactly(words, 1); err != nil {
		return test{}, err
	}
	return each(func(v *view, w *wants) {
		w.that(slices.Contains(lines(v.diagnostics()), words[0]), v.describeDiagnostics(), fmt.Sprintf("a line %q", words[0]))
	})
}

func lines(content []byte) []string {
	return strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
}

func parseNowhere(words []string) (test, error) {
	if err := exactly(words, 3); err != nil {
		return test{}, err
	}
	places := strings.Split(words[2], ",")
	for _, p := range places {
		if !slices.Contains(scenario.EndpointNames, p) {
			return test{}, fmt.Errorf("unknown endpoint %q", p)
		}
	}
	if words[0] == "" || words[1] != "on" {
		return test{}, fmt.Errorf("want a text and on")
	}
	return each(func(v *view, w *wants) {
		for _, p := range places {
			w.that(!bytes.Contains(v.endpointBytes(p), []byte(words[0])), fmt.Sprintf("%q on %s", words[0], p), "nowhere on "+p)
		}
	})
}

func (v *view) endpointBytes(name string) []byte {
	switch name {
	case "report":
		return v.attempt.ReportBytes()
	case "diagnostic":
		return v.attempt.DiagnosticBytes()
	}
	all := v.attempt.File(evidence.ChannelFile(name)) // also of a terminal that is no packet socket
	if name != "terminal" {
		return all
	}
	all = slices.Clone(all)
	for _, p := range v.attempt.Packets() {
		all = append(all, p.Bytes...)
	}
	return all
}

func parseEndedBefore(words []string) (test, error) {
	if err := exactly(words, 1); err != nil {
		return test{}, err
	}
	for _, name := range strings.Split(words[0], ",") {
		if name != "report" && name != "diagnostic" && name != "sink" {
			return test{}, fmt.Errorf("unknown endpoint %q", name)
		}
	}
	return each(func(v *view, w *wants) {
		w.that(packetSeen(v), "no packet", "a packet")
		for _, p := range v.attempt.Packets() {
			for _, name := range strings.Split(words[0], ",") {
				ended := endedFlag(p.Body.Ended, name)
				w.that(ended, name+" was still open at the packet", name+" closed before it")
			}
		}
	})
}

func endedFlag(e evidence.Ended, name string) bool {
	switch name {
	case "report":
		return e.Report
	case "sink":
		return e.Sink
	}
	return e.Diagnostic
}
