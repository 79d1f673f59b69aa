package oracle

import (
	"strings"
	"testing"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

// hostCase is a noun over a host's decision, and one change of what the host or
// the relay left that gives it another verdict.
type hostCase struct {
	words, disposition string
	relay              []string
	change             func(*hostModel)
	verdict            Verdict // after the change; "" is Fail
}

type hostModel struct {
	disposition string
	results     []string
	relayed     []evidence.Relayed
	extra       []evidence.Body
	facts       Facts
}

const (
	acceptedText = `{"attempt_id":"5f0c9a7be1d2436882b4d0f7a91c3e6d","outcome":"accepted","cause":null,"supervisor":{"exit_status":0,"signal":null},"channels":{"report":{"bytes":10}},"record":{"limits":{"wall_ms":{"effective":5}}}}`
	rejectedText = `{"attempt_id":"5f0c9a7be1d2436882b4d0f7a91c3e6d","outcome":"rejected","cause":{"code":"report_channel_failed","args":{"channel":"status","reason":"io"},"authority":"host"},"supervisor":{"exit_status":null,"signal":9},"channels":{"report":{"bytes":10}},"record":null}`
	statusIO     = "disposition rejected report_channel_failed channel=status reason=io authority=host"
)

func replacing(old, new string) func(*hostModel) {
	return func(m *hostModel) { m.disposition = strings.Replace(m.disposition, old, new, 1) }
}

func leaving(name string) func(*hostModel) {
	return func(m *hostModel) { m.results = append(m.results, name) }
}

var hostCases = []hostCase{
	{words: "disposition accepted", disposition: acceptedText, change: replacing("accepted", "rejected")},
	{words: "disposition accepted", disposition: acceptedText, change: func(m *hostModel) { m.results = []string{"disposition"} }},
	{words: "disposition accepted", disposition: acceptedText, change: func(m *hostModel) { m.relayed[1].Detail = "exit=1" }},
	{words: "disposition accepted", disposition: acceptedText, change: func(m *hostModel) { m.relayed[2].Size = 2 }},
	{words: "disposition accepted", disposition: acceptedText, change: func(m *hostModel) { m.relayed[2].Detail += "ab" }},
	{words: "disposition accepted", disposition: acceptedText, change: func(m *hostModel) { m.relayed = m.relayed[:2] }, verdict: Broken},
	{words: statusIO, disposition: rejectedText, change: replacing("rejected", "accepted")},
	{words: statusIO, disposition: rejectedText, change: replacing(`"io"`, `"deadline"`)},
	{words: statusIO, disposition: rejectedText, change: replacing(`"channel":"status",`, ``)},
	{words: statusIO, disposition: rejectedText, change: replacing(`"reason":"io"`, `"reason":"io","more":1`)},
	{words: statusIO, disposition: rejectedText, change: replacing(`"host"`, `"supervisor"`)},
	{words: statusIO, disposition: rejectedText, change: replacing(`report_channel_failed`, `run_aborted`)},
	{words: statusIO, disposition: rejectedText, change: leaving("report")},
	{words: statusIO, disposition: rejectedText, change: leaving("sink")},
	{words: statusIO, disposition: rejectedText, change: replacing(rejectedText, "")},
	{words: statusIO, disposition: rejectedText, change: replacing(rejectedText, rejectedText+rejectedText)},
	{words: statusIO, disposition: rejectedText, change: func(m *hostModel) { m.relayed = append(m.relayed, evidence.Relayed{Did: "started"}) }},
	{words: statusIO, disposition: rejectedText, change: func(m *hostModel) { m.facts.Host.Authority = "" }, verdict: NotRun},
	{words: statusIO, disposition: rejectedText, change: func(m *hostModel) { m.relayed = append(m.relayed, evidence.Relayed{Did: "failed"}) }, verdict: Broken},
	{words: statusIO, disposition: rejectedText, relay: []string{"kill=packet"}, change: func(m *hostModel) { m.relayed = m.relayed[:2] }, verdict: Broken},
	{words: "disposition none", change: leaving("report")},
	{words: "disposition none", change: leaving("disposition")},
	{words: "disposition supervisor signal=9", disposition: rejectedText, change: replacing(`"signal":9`, `"signal":15`)},
	{words: "disposition supervisor signal=9", disposition: rejectedText, change: replacing(`"exit_status":null`, `"exit_status":9`)},
	{words: "disposition supervisor exit=0", disposition: acceptedText, change: replacing(`"exit_status":0`, `"exit_status":1`)},
	{words: "disposition record none", disposition: rejectedText, change: replacing(`"record":null`, `"record":{}`)},
	{words: "disposition record believed", disposition: acceptedText, change: replacing(`{"limits":{"wall_ms":{"effective":5}}}`, `null`)},
	{words: "disposition record limits.wall_ms.effective>=1", disposition: acceptedText, change: replacing(`"effective":5`, `"effective":null`)},
	{words: "disposition record limits.wall_ms.effective>=1", disposition: acceptedText, change: replacing(`{"limits":{"wall_ms":{"effective":5}}}`, `null`)},
	{words: "disposition prefix report bytes=10", disposition: rejectedText, change: replacing(`"bytes":10`, `"bytes":11`)},
	{words: "disposition storage 10", disposition: rejectedText, change: replacing(`"bytes":10`, `"bytes":11`)},
	{words: "disposition nothing-left", disposition: rejectedText, change: leaving("report.partial")},
	{words: "disposition nothing-left", disposition: rejectedText, change: func(m *hostModel) {
		m.extra = append(m.extra, evidence.Leftover{What: "file", Detail: "spool/x"})
	}},
	{words: "disposition attempt-known", disposition: rejectedText, change: replacing(`"5f0c`, `"5F0C`)},
	{words: "relayed killed", disposition: rejectedText, change: func(m *hostModel) { m.relayed = m.relayed[:2] }},
	{words: "relayed supervised detail exit=0", disposition: rejectedText, change: func(m *hostModel) { m.relayed[1].Detail = "signal=9" }},
}

func (c hostCase) judge(t *testing.T, changed bool) Finding {
	t.Helper()
	h := hostModel{disposition: c.disposition, results: []string{"disposition"},
		relayed: []evidence.Relayed{{Did: "started"}, {Did: "supervised", Detail: "exit=0"}, {Did: "killed"}},
		facts: Facts{Host: Host{File: "disposition", Report: "report", Sink: "sink", Outcome: "outcome", Accepted: "accepted", Rejected: "rejected",
			Code: "cause.code", Args: "cause.args", Authority: "cause.authority", HostWord: "host", Exit: "supervisor.exit_status",
			Signal: "supervisor.signal", Record: "record", Attempt: "attempt_id", ReportBytes: "channels.report.bytes",
			Storage: "channels.report.bytes"}}}
	switch c.disposition {
	case "":
		h.results = nil
	case acceptedText:
		h.results, h.relayed = append(h.results, "report"), append(h.relayed[:2], evidence.Relayed{Did: "recorded", Size: 1, Detail: "report "})
	}
	if changed {
		c.change(&h)
	}
	m := successModel(t)
	m.scenario.Kind, m.scenario.Relay, m.packets, m.noEnd = scenario.Hosted, c.relay, 0, true
	m.decision, m.extra = h.disposition, h.extra
	for _, r := range h.relayed {
		m.extra = append(m.extra, r)
	}
	for _, name := range h.results {
		m.extra = append(m.extra, evidence.Result{Name: name, Size: 1})
	}
	return Check("T27.16", wordsOf(c.words), []*evidence.Attempt{m.build(t)}, h.facts)
}

func TestHostNounsCanHoldAndCanFail(t *testing.T) {
	for _, c := range hostCases {
		if f := c.judge(t, false); f.Verdict != Pass {
			t.Errorf("%s: got %+v, want a pass", c.words, f)
		}
		wanted := c.verdict
		if wanted == "" {
			wanted = Fail
		}
		if f := c.judge(t, true); f.Verdict != wanted || (wanted == Fail && (f.Seen == "" || f.Wanted == "")) {
			t.Errorf("%s, changed: got %+v, want %s", c.words, f, wanted)
		}
	}
	m := successModel(t)
	if f := Check("T27.16", []string{"disposition", "accepted"}, []*evidence.Attempt{m.build(t)}, m.facts); f.Verdict != Broken {
		t.Errorf("without a host: %+v", f)
	}
}

func TestRelayedBeforeProducer(t *testing.T) {
	for _, c := range []struct {
		at      int64
		stops   bool
		verdict Verdict
	}{{0, true, Pass}, {1 << 62, true, Fail}, {0, false, Fail}} {
		m := successModel(t)
		m.scenario.Kind, m.packets, m.noEnd = scenario.Hosted, 0, true
		m.extra = []evidence.Body{evidence.Relayed{Did: "started", At: c.at}}
		if c.stops {
			m.extra = append(m.extra, evidence.Rendezvous{PID: 3, Point: 1})
		}
		if f := Check("T2.60", []string{"relayed", "started", "before-producer"}, []*evidence.Attempt{m.build(t)}, m.facts); f.Verdict != c.verdict {
			t.Errorf("%+v: got %+v", c, f)
		}
	}
}

func TestAttemptsDiffer(t *testing.T) {
	one := strings.Repeat("ab", 16)
	for _, c := range []struct {
		ids     []string
		verdict Verdict
	}{
		{[]string{one, strings.Repeat("ba", 16)}, Pass},
		{[]string{one, one}, Fail},
		{[]string{one, strings.Repeat("0", 32)}, Fail},
		{[]string{one, ""}, Fail},
		{[]string{one}, Broken},
	} {
		var attempts []*evidence.Attempt
		facts := Facts{Host: Host{Attempt: "attempt_id"}}
		for _, id := range c.ids {
			m := successModel(t)
			m.scenario.Kind, m.packets, m.noEnd = scenario.Hosted, 0, true
			m.decision, m.extra = `{"attempt_id":"`+id+`"}`, []evidence.Body{evidence.Relayed{Did: "started"}}
			attempts = append(attempts, m.build(t))
		}
		if f := Check("T27.01", []string{"disposition", "attempts-differ"}, attempts, facts); f.Verdict != c.verdict {
			t.Errorf("%q: got %+v, want %s", c.ids, f, c.verdict)
		}
	}
}
