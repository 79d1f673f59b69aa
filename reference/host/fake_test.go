package host

import (
	"os"
	"strings"
	"testing"
)

// given writes what the fake S is to send.
func given(t testing.TB, folder, name, content string) string {
	t.Helper()
	path := folder + "/given-" + name
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// honest is a fake S that delivers a sample as S would.
type honest struct {
	folder                string
	report, notes, packet string // files
	sample                sample
}

func newHonest(t testing.TB, sink string) honest {
	t.Helper()
	s := newSample(t, "{\"engine\":\"e\"}\n", "notes", sink)
	put(s.record, "attempt_id", strings.Repeat("@", 32))
	folder := t.TempDir()
	return honest{folder, given(t, folder, "report", s.report), given(t, folder, "notes", s.diagnostic),
		given(t, folder, "packet", string(s.packet(t))), s}
}

func (h honest) words(after ...string) []string {
	return append([]string{"send=1:" + h.report, "send=2:" + h.notes, "close=1", "close=2"}, after...)
}

// altered writes the packet with one member changed.
func (h honest) altered(t testing.TB, path string, value any) string {
	t.Helper()
	put(h.sample.record, path, value)
	return "packet=" + given(t, h.folder, "altered", string(h.sample.packet(t)))
}

// TestFakeSupervisor: what no honest S sends is never accepted, and the local
// cause says what kind of thing it was (T19, T24, T27, T29.07).
func TestFakeSupervisor(t *testing.T) {
	for name, c := range map[string]struct {
		words func(h honest) []string
		exit  int
		cause string
		flags []string
	}{
		"honest":            {words: func(h honest) []string { return h.words("packet=" + h.packet) }, cause: "accepted"},
		"nothing":           {func(honest) []string { return []string{"exit=0"} }, 1, byIO, nil},
		"no packet":         {func(h honest) []string { return h.words() }, 1, byIO, nil},
		"no packet, exit 1": {func(h honest) []string { return h.words("exit=1") }, 1, byIO, nil},
		"terminal closed":   {func(h honest) []string { return h.words("close=3") }, 1, byIO, nil},
		"two packets":       {func(h honest) []string { return h.words("packet="+h.packet, "packet="+h.packet) }, 1, byProtocol, nil},
		"record and empty":  {func(h honest) []string { return h.words("packet="+h.packet, "empty") }, 1, byProtocol, nil},
		"empty packet":      {func(h honest) []string { return h.words("empty") }, 1, byProtocol, nil},
		"empty and record":  {func(h honest) []string { return h.words("empty", "packet="+h.packet) }, 1, byProtocol, nil},
		"too large": {func(h honest) []string {
			return h.words("packet=" + given(t, h.folder, "large", strings.Repeat("x", terminalBytes+1)))
		}, 1, byProtocol, nil},
		"cut short": {func(h honest) []string {
			return h.words("packet=" + given(t, h.folder, "short", string(h.sample.packet(t)[:9000])))
		}, 1, byProtocol, nil},
		"bytes after": {func(h honest) []string {
			return h.words("packet=" + given(t, h.folder, "more", string(h.sample.packet(t))+" "))
		}, 1, byProtocol, nil},
		"replayed":          {func(h honest) []string { return h.words(h.altered(t, "attempt_id", sampleID)) }, 1, byProtocol, nil},
		"digest":            {func(h honest) []string { return h.words(h.altered(t, "channels.report.sha256", digestOf("x"))) }, 1, byProtocol, nil},
		"count":             {func(h honest) []string { return h.words(h.altered(t, "channels.diagnostic.written_bytes", 4)) }, 1, byProtocol, nil},
		"further member":    {func(h honest) []string { return h.words(h.altered(t, "further", 1)) }, 1, byProtocol, nil},
		"report altered":    {func(h honest) []string { return append([]string{"fill=1:15", "send=2:" + h.notes}, "packet="+h.packet) }, 1, byProtocol, nil},
		"report longer":     {func(h honest) []string { return append([]string{"fill=1:1"}, h.words("packet="+h.packet)...) }, 1, byProtocol, nil},
		"exit disagrees":    {func(h honest) []string { return h.words("packet="+h.packet, "exit=1") }, 1, byProtocol, nil},
		"killed after":      {func(h honest) []string { return h.words("packet="+h.packet, "kill=9") }, 1, byProtocol, nil},
		"killed before":     {func(h honest) []string { return h.words("kill=9") }, 1, byIO, nil},
		"killed at once":    {func(honest) []string { return []string{"kill=9"} }, 1, byIO, nil},
		"killed mid-report": {func(honest) []string { return []string{"fill=1:100000", "kill=9"} }, 1, byIO, nil},
		"stopped":           {func(honest) []string { return []string{"fill=1:3", "stop"} }, 1, byDeadline, []string{"--grant-wall-ms=200", "--grant-stall-ms=100"}},
		"stopped after":     {func(h honest) []string { return h.words("packet="+h.packet, "stop") }, 1, byDeadline, []string{"--grant-wall-ms=200", "--grant-stall-ms=100"}},
		"orphan":            {func(h honest) []string { return h.words("orphan", "packet="+h.packet) }, 1, byProtocol, nil},
		"stray":             {func(h honest) []string { return h.words("stray", "packet="+h.packet) }, 1, byProtocol, nil},
		"orphan, killed":    {func(honest) []string { return []string{"orphan", "kill=9"} }, 1, byIO, nil},
		"report over":       {func(honest) []string { return []string{"fill=1:1000", "stop"} }, 1, byProtocol, []string{"--grant-report-bytes=999"}},
		"diagnostics over":  {func(honest) []string { return []string{"fill=2:1000000", "stop"} }, 1, byProtocol, []string{"--grant-diagnostic-bytes=10"}},
		"report at the cap": {func(honest) []string { return []string{"fill=1:999"} }, 1, byIO, []string{"--grant-report-bytes=999"}},
		"slow":              {func(h honest) []string { return append([]string{"trickle=2:100"}, "exit=3") }, 1, byIO, nil},
		"wrong limits":      {func(h honest) []string { return h.words("packet=" + h.packet) }, 1, byProtocol, []string{"--grant-wall-ms=5000"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHonest(t, "")
			r := launch{fake: c.words(h), flags: c.flags, folder: h.folder}.run(t)
			r.wants(t, c.exit, c.cause)
			if (r.disposition.Record != nil) != (c.cause == "accepted") {
				t.Errorf("a record that was not verified: %.100v", r.disposition.Record)
			}
		})
	}
}

// sinkText is a sink stream; a host does not look into it.
const sinkText = "{\"sink\":1}\n"

// TestSinkStream: an offered stream is counted, kept, and named on acceptance only.
func TestSinkStream(t *testing.T) {
	for name, c := range map[string]struct {
		before, after func(h honest) []string
		exit          int
		cause         string
		flags         []string
	}{
		"honest":     {cause: "accepted"},
		"planned":    {exit: 1, cause: byProtocol, flags: []string{"--planned-sink-bytes", "11"}}, // the record has no such plan
		"altered":    {before: func(honest) []string { return []string{"fill=6:1"} }, exit: 1, cause: byProtocol},
		"over":       {before: func(honest) []string { return []string{"fill=6:1000", "stop"} }, exit: 1, cause: byProtocol, flags: []string{"--planned-sink-bytes", "999"}},
		"mid-sink":   {before: func(honest) []string { return []string{"fill=6:100000", "kill=9"} }, exit: 1, cause: byIO},
		"kept open":  {after: func(honest) []string { return []string{"orphan"} }, exit: 1, cause: byProtocol},
		"no record":  {after: func(honest) []string { return []string{"exit=0"} }, exit: 1, cause: byIO},
		"not closed": {cause: "accepted"}, // the end of S is the end of the channel, too
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHonest(t, sinkText)
			words := []string{}
			if c.before != nil {
				words = c.before(h)
			}
			words = append(append(words, "send=6:"+given(t, h.folder, "sink", sinkText)), h.words()...)
			if name != "not closed" && c.after == nil {
				words = append(words, "close=6")
			}
			if c.after != nil {
				words = append(words, c.after(h)...)
			}
			words = append(words, "packet="+h.packet)
			l := launch{fake: words, folder: h.folder, flags: append(c.flags, "--sink", h.folder+"/sink"), sinkWord: true}
			r := l.run(t)
			r.wants(t, c.exit, c.cause)
			content, err := os.ReadFile(h.folder + "/sink")
			if accepted := c.cause == "accepted"; accepted != (err == nil) || accepted && string(content) != sinkText {
				t.Errorf("sink %q, %v", content, err)
			}
		})
	}
}

// TestNamedSink: S names its sink itself, before it is accepted; the host counts
// and hashes what stands there, and takes it away again unless it accepts.
func TestNamedSink(t *testing.T) {
	for name, c := range map[string]struct {
		words []string
		exit  int
		cause string
	}{
		"honest":          {[]string{"copy=GIVEN:TARGET"}, 0, "accepted"},
		"missing":         {nil, 1, byProtocol},
		"another":         {[]string{"leave=TARGET"}, 1, byProtocol},
		"killed":          {[]string{"copy=GIVEN:TARGET", "kill=9"}, 1, byIO},
		"killed half-way": {[]string{"copy=GIVEN:PARTIAL", "kill=9"}, 1, byIO},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHonest(t, sinkText)
			names := strings.NewReplacer("GIVEN", given(t, h.folder, "sink", sinkText), "TARGET", "{named_sink}",
				"PARTIAL", h.folder+"/.sink.{attempt_id}.partial")
			words := h.words()
			for _, word := range c.words {
				words = append(words, names.Replace(word))
			}
			r := launch{fake: append(words, "packet="+h.packet), folder: h.folder, sinkWord: true,
				flags: []string{"--named-sink", h.folder + "/sink"}}.run(t)
			r.wants(t, c.exit, c.cause)
			if content, err := os.ReadFile(h.folder + "/sink"); (err == nil) != (c.exit == 0) {
				t.Errorf("sink %q, %v", content, err)
			}
		})
	}
}
