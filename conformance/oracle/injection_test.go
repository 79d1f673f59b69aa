package oracle

import (
	"strings"
	"testing"

	"touchstone/conformance/evidence"
)

const (
	onClose = `"role":"S","pid":2,"call":"close","args":[7,0,0,0,0,0],"fd":{"fd":7,"ino":5}}` + "\n"
	mark    = `{"kind":"decision","state":"realised","rule":"m","action":"mark",` + onClose
	again   = `{"kind":"decision","state":"realised","rule":"m","action":"mark","role":"S","pid":2,"call":"close","fd":{"fd":7}}` + "\n"
	failing = `{"kind":"decision","state":"realised","rule":"f","action":"errno",` + onClose
	planned = `{"kind":"decision","state":"planned","rule":"f","action":"errno",` + onClose
	whole   = `{"kind":"final","rules":[{"id":"f","fired":1,"as_asked":true},{"id":"m","fired":1,"as_asked":true}],"blind":[],"error":null}` + "\n"
)

// TestFaultsAreShown: with a fault that was not shown to be done nothing passes
// and nothing fails, whatever else is seen.
func TestFaultsAreShown(t *testing.T) {
	zero, three, five, nine := 0, 3, 5, 9
	ended := evidence.Injection{Status: &zero}
	for name, c := range map[string]struct {
		log     string
		extra   []evidence.Body
		verdict Verdict
		reason  string
	}{
		"shown":            {failing + mark + whole, []evidence.Body{ended}, Pass, ""},
		"no end":           {failing + mark + whole, nil, Broken, "never ended"},
		"no final line":    {failing + mark, []evidence.Body{ended}, Broken, "failed"},
		"garbage":          {failing + "{\n" + whole, []evidence.Body{ended}, Broken, "failed"},
		"tracer killed":    {failing + mark, []evidence.Body{evidence.Injection{Signal: &nine}}, Broken, "failed"},
		"tracer failed":    {failing + mark + strings.Replace(whole, "null", `"lost"`, 1), []evidence.Body{evidence.Injection{Status: &five}}, Broken, "failed"},
		"no rights":        {"", []evidence.Body{evidence.Injection{Status: &five, Said: "seize 8: operation not permitted"}}, NotRun, "cannot be traced"},
		"blind":            {failing + mark + strings.Replace(whole, "[]", `["io_uring"]`, 1), []evidence.Body{ended}, Broken, "io_uring"},
		"planned only":     {planned + mark + whole, []evidence.Body{ended}, Broken, "1 firings, and decisions on 0"},
		"no occasion":      {mark + strings.Replace(whole, `"fired":1,"as_asked":true`, `"fired":0,"as_asked":false,"why":"never fired"`, 1), []evidence.Body{evidence.Injection{Status: &three}}, NotRun, "fault f: never fired"},
		"too often":        {failing + mark + strings.Replace(whole, `"as_asked":true`, `"as_asked":false,"why":"fired 2 times"`, 1), []evidence.Body{evidence.Injection{Status: &three}}, Broken, "fired 2 times"},
		"producer traced":  {failing + mark + whole, []evidence.Body{ended, evidence.ProducerTracer{PID: 3, Tracer: 9}}, Broken, "was traced"},
		"producer let run": {failing + mark + whole, []evidence.Body{ended, evidence.ProducerTracer{PID: 3}}, Pass, ""},
	} {
		m := successModel(t)
		m.scenario.Faults = []string{"rule f: on close ; do errno EIO", "rule m: on close ; do mark"}
		m.faultLog, m.extra = c.log, append(m.extra, c.extra...)
		a := m.build(t)
		for _, noun := range [][]string{{"success"}, {"exit", "1"}} {
			f := Check("T30.01", noun, []*evidence.Attempt{a}, m.facts)
			wanted := c.verdict
			if wanted == Pass && noun[0] == "exit" {
				wanted = Fail
			}
			if f.Verdict != wanted || !strings.Contains(f.Reason, c.reason) {
				t.Errorf("%s: %v: got %s %q, want %s %q", name, noun, f.Verdict, f.Reason, wanted, c.reason)
			}
		}
	}
}

// TestFaultNouns: each can hold and fail.
func TestFaultNouns(t *testing.T) {
	zero := 0
	for _, c := range []struct {
		log, noun string
		verdict   Verdict
	}{
		{failing + mark + whole, "faults 2 fired", Pass},
		{failing + mark + whole, "faults 1 fired", Fail},
		{failing + mark + mark + whole, "faults f=1 m>=2", Pass},
		{failing + mark + whole, "faults m>=2", Fail},
		{failing + mark + whole, "faults closed-once", Pass},
		{again + failing + mark + whole, "faults closed-once", Pass},
		{failing + mark + again + whole, "faults closed-once", Fail},
	} {
		m := successModel(t)
		m.scenario.Faults = []string{"rule f: on close ; do errno EIO", "rule m: on close ; do mark"}
		m.faultLog, m.extra = c.log, append(m.extra, evidence.Injection{Status: &zero})
		f := Check("T30.10", strings.Fields(c.noun), []*evidence.Attempt{m.build(t)}, m.facts)
		if f.Verdict != c.verdict {
			t.Errorf("%s: got %s %s %s, want %s", c.noun, f.Verdict, f.Seen, f.Reason, c.verdict)
		}
	}
}

// TestNoCloseToFail: a launcher that closes nothing could not be asked; a close
// that was to fail, did, and is not in the log is a fault of the suite.
func TestNoCloseToFail(t *testing.T) {
	three := 3
	never := strings.Replace(whole, `"fired":1,"as_asked":true`, `"fired":0,"as_asked":false,"why":"never fired: 0 calls seen"`, 1)
	other := strings.Replace(failing, `"call":"close"`, `"call":"fsync"`, 1)
	for log, want := range map[string]Verdict{mark + never: NotRun, other + mark + whole: Broken} {
		m := successModel(t)
		m.scenario.Faults = []string{"rule f: on close ; do errno EIO", "rule m: on close ; do mark"}
		m.faultLog, m.extra = log, append(m.extra, evidence.Injection{Status: &three})
		f := Check("T30.10", []string{"faults", "closed-once"}, []*evidence.Attempt{m.build(t)}, m.facts)
		if f.Verdict != want || (want == NotRun && f.Reason != "fault f: never fired: 0 calls seen") {
			t.Errorf("got %s %q, want %s", f.Verdict, f.Reason, want)
		}
	}
}
