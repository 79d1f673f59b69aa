package oracle

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

// nounCase is a noun that holds of a conforming attempt, and one change of the
// attempt after which it must not.
type nounCase struct {
	words string // split at blanks; ~ stands for a blank inside a word
	model func(testing.TB) *model
	setup func(*model) // before both
	alter func(*model)
}

func observation(m *model) evidence.Observe {
	return evidence.Observe{Who: scenario.Producer, PID: 3, UIDs: []uint32{200000, 200000, 200000, 200000}, GIDs: []uint32{200000},
		SupervisorUIDs: []uint32{0}, Threads: 1, NoNewPrivs: true, Seccomp: 2,
		Capabilities:         evidence.Capabilities{Effective: "0000000000000000", Permitted: "0", Bounding: "0", Inheritable: "0", Ambient: "0"},
		Namespaces:           evidence.Namespaces{PID: 10, Mount: 11, Net: 12},
		SupervisorNamespaces: evidence.Namespaces{PID: 1, Mount: 2, Net: 3}, HostNamespaces: evidence.Namespaces{PID: 1, Mount: 2, Net: 3},
		Descriptors: []evidence.Descriptor{
			{Number: 0, Kind: "device", Link: "/dev/null", Device: 5, Inode: 4, Access: "r"},
			{Number: 1, Kind: "pipe", Device: 7, Inode: 500}, {Number: 2, Kind: "pipe", Device: 7, Inode: 500},
			{Number: 3, Kind: "pipe", Device: 7, Inode: 501}}}
}

// observed adds an observation, altered as said.
func observed(change func(*evidence.Observe)) func(*model) {
	return func(m *model) {
		o := observation(m)
		change(&o)
		m.extra = append(m.extra, o)
	}
}

func stopped(change func(*evidence.Rendezvous)) func(*model) {
	return func(m *model) {
		r := evidence.Rendezvous{PID: 3, Point: 2, CandidateBytes: 40, DiagnosticBytes: 7, ReportRead: 0, DiagnosticRead: 7, SinkBytes: 1}
		change(&r)
		m.extra = append(m.extra, r)
	}
}

func cancelled(result string) func(*model) {
	return func(m *model) {
		m.extra = append(m.extra, evidence.Control{Action: scenario.Action{Kind: scenario.DoCancel}, Result: result})
	}
}

func asIs[T any](*T) {}

func asFinalizer(o *evidence.Observe) { o.Who = scenario.Finalizer }

func asCommand(o *evidence.Observe) { o.Argv = []string{"v", "--max-bytes", "300"} }

func diagnosticsOf(text string) func(*model) {
	return func(m *model) { m.diagnostic = []byte(text) }
}

const descriptorLines = "descriptor 0 type=chr dev=5 ino=4 rdev=1:3 access=r\n" +
	"descriptor 1 type=fifo dev=7 ino=500 rdev=0:0 access=w\ndescriptor 2 type=fifo dev=7 ino=500 rdev=0:0 access=w\n" +
	"descriptor 4 type=sock dev=7 ino=502 rdev=0:0 access=rw\ndescriptors end\n"

func controlRun(t testing.TB, said string) *evidence.Attempt {
	m := successModel(t)
	m.scenario.Kind = scenario.Control
	return stderrOf(t, m.build(t), said)
}

var nounCases = []nounCase{
	{words: "exit 0", alter: func(m *model) { m.status = 1 }},
	{words: "exit nonzero", model: refusalModel, alter: func(m *model) { m.status = 0 }},
	{words: "exit nonzero", model: refusalModel, alter: func(m *model) { m.signal = 9 }},
	{words: "survivors none", alter: func(m *model) {
		m.extra = append(m.extra, evidence.Leftover{What: "process", Detail: "pid 9"})
	}},
	{words: "survivors none", alter: func(m *model) { m.noExit = true }},
	{words: "report relayed whole", alter: func(m *model) { m.report = append([]byte{' '}, m.report...) }},
	{words: "exit signal 9", setup: func(m *model) { m.signal = 9 }, alter: func(m *model) { m.signal = 0 }},
	{words: "class success", alter: put("exit_class", `"aborted"`)},
	{words: "failure none", alter: put("failure", `{"code":"run_aborted","args":{},"authority":"supervisor"}`)},
	{words: "failure diagnostic_budget_exceeded cap_bytes=4096 used_bytes=4096 requested_bytes=1", model: refusalModel, alter: put("failure.args.used_bytes", "4095")},
	{words: "failure diagnostic_budget_exceeded cap_bytes=4096 used_bytes=4096 requested_bytes=1|2", model: refusalModel, alter: func(m *model) { addMember(m.root, "failure.args") }},
	{words: "failure diagnostic_budget_exceeded cap_bytes=4096 used_bytes=4096 requested_bytes=1", model: refusalModel, alter: func(m *model) { m.packets = 0 }},
	{words: "failure run_aborted or diagnostic_budget_exceeded cap_bytes=4096 used_bytes=4096 requested_bytes=1", model: refusalModel, alter: put("failure.args.used_bytes", "4095")},
	{words: "never run_aborted run_producer_failed", model: refusalModel, alter: put("failure.code", `"run_aborted"`)},
	{words: "never run_aborted", model: refusalModel, alter: func(m *model) { m.packets = 0 }},
	{words: "success", alter: put("producer.exit_status", "1")},
	{words: "success", alter: func(m *model) { m.packets = 0 }},
	{words: "refused", model: refusalModel, alter: func(m *model) { m.status = 0 }},
	{words: "refused", model: refusalModel, alter: func(m *model) { m.report = successReport }},
	{words: "refused", model: refusalModel, alter: put("complete", "true")},
	{words: "report equals-reference", alter: func(m *model) { m.report = []byte(`{"engine":"other"}` + "\n") }},
	{words: "report equals whole", alter: func(m *model) { m.report = m.report[1:] }},
	{words: "report prefix-of whole", setup: func(m *model) { m.report = m.report[:20] }, alter: func(m *model) { m.report = []byte("{x") }},
	{words: "report prefix-of whole", setup: func(m *model) { m.report = m.report[:20] }, alter: func(m *model) { m.report = successReport }},
	{words: "report empty", setup: func(m *model) { m.report = nil }, alter: func(m *model) { m.report = []byte("x") }},
	{words: "report one-document", alter: func(m *model) { m.report = append(bytes.Clone(m.report), ' ') }},
	{words: "report refused", model: refusalModel, alter: func(m *model) { m.report = []byte("{") }},
	{words: "report measures size<=80 engine=9 none<=0", alter: func(m *model) { m.report = append(bytes.Clone(m.report), make([]byte, 80)...) }},
	{words: "report measures engine<=9", alter: func(m *model) { m.report = []byte(`{"engine":"pineforge 2","summary":{}}` + "\n") }},
	{words: "report measures none>=1", setup: func(m *model) { m.report = []byte(`{"none":"x"}` + "\n") }, alter: func(m *model) { m.report = []byte("{}\n") }},
	{words: "report no-success", model: refusalModel, alter: func(m *model) { m.report = successReport }},
	{words: "report failure-document diagnostic_budget_exceeded", model: refusalModel, alter: func(m *model) { m.report = nil }},
	{words: `diagnostics equal abc`, setup: diagnosticsOf("abc"), alter: diagnosticsOf("abcd")},
	{words: "diagnostics size 3", setup: diagnosticsOf("abc"), alter: diagnosticsOf("ab")},
	{words: "diagnostics pattern 4096", model: refusalModel, alter: func(m *model) { m.diagnostic = pattern251(4095) }},
	{words: "diagnostics first 4096 of-pattern", model: refusalModel, alter: func(m *model) { m.diagnostic = pattern251(4097) }},
	{words: "diagnostics first 4096 of-pattern", model: refusalModel, alter: func(m *model) { m.diagnostic[100]++ }},
	{words: "diagnostics contain hello", alter: diagnosticsOf("hell")},
	{words: "diagnostics lack child", alter: diagnosticsOf("a child")},
	{words: "fixture-line probe~open~ok", alter: diagnosticsOf("probe open okay\n")},
	{words: "nowhere hello on report,terminal", alter: func(m *model) { m.report = []byte("hello") }},
	{words: "nowhere hello on terminal,sink", alter: func(m *model) { m.raw = []byte("hello") }},
	{words: "channel diagnostic observed<=4097 accepted=4096 written=<=4096 truncated=true sha256=diagnostic", model: refusalModel, alter: counter("diagnostic", "written_bytes", "4097")},
	{words: "channel candidate sha256=prefix:whole:70", setup: func(m *model) { set(m.root, "channels.candidate.sha256", text(digest(successReport[:70]))) }, alter: counter("candidate", "sha256", text(strings.Repeat("a", 64)))},
	{words: "channel report sha256=report", alter: counter("report", "sha256", "null")},
	{words: "channel sink sha256=null", alter: counter("sink", "sha256", text(strings.Repeat("a", 64)))},
	{words: "sink internal", model: internalModel, alter: counter("sink", "written_bytes", "1")},
	{words: "sink internal", model: internalModel, alter: counter("sink", "sha256", text(strings.Repeat("a", 64)))},
	{words: "sink internal", model: internalModel, alter: func(m *model) {
		set(m.root, "channels.sink.logical_sha256", text(digest(sinkStream)))
	}},
	{words: "sink exported", model: exportedModel, alter: func(m *model) { m.sink[3] ^= 1 }},
	{words: "sink exported", model: exportedModel, alter: func(m *model) { m.sink = nil }},
	{words: "sink exported", model: exportedModel, alter: counter("sink", "written_bytes", "5")},
	{words: "sink exported", model: exportedModel, alter: put("sink_verification.counts.T", "3")},
	{words: "sink exported", model: exportedModel, alter: counter("sink", "logical_sha256", text(digest(sinkStream)))},
	{words: "sink verified", model: exportedModel, alter: put("sink_verification.exit_status", "8")},
	{words: "sink verified", model: exportedModel, alter: put("sink_verification.counts.X", "null")},
	{words: "sink unverified", model: unverifiedModel, alter: put("sink_verification.counts.E", "0")},
	{words: "sink unverified", model: unverifiedModel, alter: put("sink_verification.complete", "true")},
	{words: "sink as-ended", model: exportedModel, setup: func(m *model) {
		m.extra = append(m.extra, evidence.FinalizerExit{PID: 4, Status: new(int)})
	}, alter: func(m *model) {
		three := 3
		m.extra = append(m.extra, evidence.FinalizerExit{PID: 4, Status: &three})
	}},
	{words: "sink unpublished", alter: func(m *model) { m.sink = []byte("x") }},
	{words: "artifact exported", model: namedModel, alter: func(m *model) { m.artifact[3] ^= 1 }},
	{words: "artifact exported", model: namedModel, alter: func(m *model) { m.artifact = nil }},
	{words: "artifact absent", model: namedModel, setup: func(m *model) { m.artifact = nil }, alter: func(m *model) { m.artifact = []byte("old") }},
	{words: "artifact absent", model: namedModel, setup: func(m *model) { m.artifact = nil }, alter: func(m *model) {
		m.extra = append(m.extra, evidence.Leftover{What: "file", Detail: "-rw------- /tmp/.result.0.partial"})
	}},
	{words: "report contain engine", alter: func(m *model) { m.report = nil }},
	{words: "unread-sink-at-report <=0", model: exportedModel, alter: func(m *model) { m.late = true }},
	{words: "unread-sink-at-report <=0", model: exportedModel, alter: func(m *model) { m.sink = nil }},
	{words: "sink absent", alter: counter("sink", "complete", "false")},
	{words: "producer exit_status=0 signal=null failure=none failure_claim_omitted=false stage=publish", alter: put("producer.failure", `{"code":"run_aborted","args":{},"authority":"producer"}`)},
	{words: "limits wall requested=120000 granted=600000 effective=120000|5", alter: put("limits.wall_ms.effective", "6")},
	{words: "charged <=200", alter: put("report_charged_bytes", "201")},
	{words: "usage diagnostic_bytes used=38", setup: put("usage.job.resources.diagnostic_bytes.used", "38"), alter: put("usage.job.resources.diagnostic_bytes.used", "0")},
	{words: "usage compile.wall used=null state=not_started", alter: put("usage.stages.compile.resources.wall.used", "0")},
	{words: "cleanup producer_reaped=true domain_empty=true", alter: put("cleanup.domain_empty.value", "false")},
	{words: "record invocation=run_json cleanup.domain_empty.measurement_state=measured", alter: put("invocation", `"entrypoint"`)},
	{words: "record no.such.member=null", setup: func(m *model) {
		m.root.members = append(m.root.members, member{"no", parsedText(`{"such":{"member":null}}`)})
	}, alter: func(m *model) { remove(m.root, "no.such.member") }},
	{words: "elapsed <1s", alter: func(m *model) { m.delay = 2e9 }},
	{words: "elapsed >1ms", alter: func(m *model) { m.noExit = true }},
	{words: "after-last-byte report <1s", alter: func(m *model) { m.delay = 2e9 }},
	{words: "after-control cancel <1s", setup: cancelled(evidence.Done), alter: func(m *model) { m.delay = 2e9 }},
	{words: "after-control cancel <1s", setup: cancelled(evidence.Done), alter: func(m *model) { m.extra = nil }},
	{words: "probes denied read", alter: diagnosticsOf("probe read ok\n")},
	{words: "probes ok open", alter: diagnosticsOf("probe open EPERM\n")},
	{words: "probes denied read", alter: diagnosticsOf("")},
	{words: "memory supervisor <=2000000", alter: func(m *model) { m.rss = 2000001 }},
	{words: "read-bytes supervisor <=5000", alter: func(m *model) { m.read = 5001 }},
	{words: "observed threads=1", setup: observed(asIs), alter: func(m *model) { m.extra = nil }},
	{words: "observed threads=1", setup: observed(asIs), alter: observed(func(o *evidence.Observe) { o.Threads = 2 })},
	{words: "observed children=0", setup: observed(asIs), alter: observed(func(o *evidence.Observe) { o.Children = 1 })},
	{words: "command producer has --max-bytes 300", setup: observed(asCommand), alter: observed(func(o *evidence.Observe) { o.Argv = []string{"v", "--max-bytes", "3000"} })},
	{words: "command producer has --max-bytes 300", setup: observed(asCommand), alter: func(m *model) { m.extra = nil }},
	{words: "command producer lacks /tmp/result", setup: observed(asCommand), alter: observed(func(o *evidence.Observe) { o.Argv = []string{"v", "--out=/tmp/result"} })},
	{words: "identity isolated", setup: observed(asIs), alter: observed(func(o *evidence.Observe) { o.UIDs[3] = 0 })},
	{words: "identity isolated", setup: observed(asIs), alter: observed(func(o *evidence.Observe) { o.GIDs[0] = 0 })},
	{words: "identity isolated", setup: observed(asIs), alter: observed(func(o *evidence.Observe) { o.Capabilities.Bounding = "0000000000000400" })},
	{words: "identity isolated", setup: observed(asIs), alter: observed(func(o *evidence.Observe) { o.Capabilities.Ambient = "" })},
	{words: "identity isolated", setup: observed(asIs), alter: observed(func(o *evidence.Observe) { o.NoNewPrivs = false })},
	{words: "identity isolated", setup: observed(asIs), alter: observed(func(o *evidence.Observe) { o.Seccomp = 0 })},
	{words: "identity isolated", setup: observed(asIs), alter: func(m *model) { m.extra = nil }},
	{words: "namespaces private pid,mnt", setup: observed(asIs), alter: observed(func(o *evidence.Observe) { o.Namespaces.Mount = 2 })},
	{words: "namespaces private pid,mnt", setup: observed(asIs), alter: observed(func(o *evidence.Observe) { o.Namespaces.PID = 0 })},
	{words: "descriptors allowed-only", setup: diagnosticsOf(descriptorLines), alter: diagnosticsOf(descriptorLines + "descriptor 5 type=reg dev=7 ino=9 rdev=0:0 access=rw\n")},
	{words: "descriptors allowed-only", setup: observed(asIs), alter: func(m *model) { m.extra = nil }},
	{words: "descriptors stdin-null", setup: diagnosticsOf(descriptorLines), alter: diagnosticsOf(strings.Replace(descriptorLines, "1:3", "1:5", 1))},
	{words: "descriptors stdin-null", setup: observed(asIs), alter: observed(func(o *evidence.Observe) { o.Descriptors = o.Descriptors[1:] })},
	{words: "descriptors one-diagnostic-inode", setup: observed(asIs), alter: observed(func(o *evidence.Observe) { o.Descriptors[1].Inode = 77 })},
	{words: "descriptors no-host-endpoint", setup: observed(asIs), alter: observed(func(o *evidence.Observe) { o.Descriptors[3].Inode = 101 })},
	{words: "descriptors one-writer", setup: observed(asFinalizer), alter: observed(func(o *evidence.Observe) { asFinalizer(o); o.Descriptors[1].Name = "report" })},
	{words: "descriptors one-writer", setup: observed(asFinalizer), alter: observed(func(o *evidence.Observe) { asFinalizer(o); o.Descriptors[3].Name = "terminal" })},
	{words: "descriptors one-writer", setup: observed(asFinalizer), alter: func(m *model) { m.extra = nil }},
	{words: "descriptors no-extra", setup: observed(asIs), alter: observed(func(o *evidence.Observe) { o.Descriptors[3].Inode = 900 })},
	{words: "at-rendezvous 2 candidate=40 report=0 printed=7 diagnostic=7 sink=1 parked=false", setup: stopped(asIs), alter: stopped(func(r *evidence.Rendezvous) { r.ReportRead = 1 })},
	{words: "at-rendezvous 2 candidate=40", setup: stopped(asIs), alter: func(m *model) { m.extra = nil }},
	{words: "never-at-rendezvous 1", setup: stopped(asIs), alter: stopped(func(r *evidence.Rendezvous) { r.Point = 1 })},
	{words: "producers-at-first-report-byte 0", alter: func(m *model) { m.alive = 1 }},
	{words: "producers-at-first-report-byte 0", alter: func(m *model) { m.report = nil }},
	{words: "ended-before-packet report,diagnostic", alter: func(m *model) { m.ended.Report = false }},
	{words: "ended-before-packet report,diagnostic,sink", alter: func(m *model) { m.ended.Sink = false }},
}

func parsedText(raw string) *node {
	root, err := parseDocument([]byte(raw))
	if err != nil {
		panic(err)
	}
	return root
}

func wordsOf(line string) []string {
	words := strings.Fields(line)
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], "~", " ")
	}
	return words
}

func (c nounCase) judge(t *testing.T, altered bool) Finding {
	t.Helper()
	make := c.model
	if make == nil {
		make = successModel
	}
	m := make(t)
	own := slices.Clone(m.extra)
	if c.setup != nil {
		c.setup(m)
	}
	if altered {
		m.extra = own
		c.alter(m)
	}
	return Check("T1.17", wordsOf(c.words), []*evidence.Attempt{m.build(t)}, m.facts)
}

func TestEveryNounCanHoldAndCanFail(t *testing.T) {
	used := map[string]bool{}
	for _, c := range slices.Concat(nounCases, finalizerCases, usageCases) {
		if f := c.judge(t, false); f.Verdict != Pass {
			t.Errorf("%s: got %+v, want a pass", c.words, f)
		}
		if f := c.judge(t, true); f.Verdict != Fail || f.Seen == "" || f.Wanted == "" {
			t.Errorf("%s, altered: got %+v, want a failure", c.words, f)
		}
		used[wordsOf(c.words)[0]] = true
	}
	elsewhere := []string{"attempts", "catalog", "control-probes", "faults", "disposition", "relayed"}
	for _, n := range nouns {
		if !used[n.name] && !slices.Contains(elsewhere, n.name) {
			t.Errorf("no test makes %q fail", n.name)
		}
	}
}

func TestAttemptsSameOutcome(t *testing.T) {
	one, two, other := successModel(t), successModel(t), refusalModel(t)
	words := []string{"attempts", "same-outcome"}
	if f := Check("T31.31", words, []*evidence.Attempt{one.build(t), two.build(t)}, one.facts); f.Verdict != Pass {
		t.Errorf("alike: %+v", f)
	}
	if f := Check("T31.31", words, []*evidence.Attempt{one.build(t), other.build(t)}, one.facts); f.Verdict != Fail {
		t.Errorf("different: %+v", f)
	}
	if f := Check("T31.31", words, []*evidence.Attempt{one.build(t)}, one.facts); f.Verdict != Broken {
		t.Errorf("one alone: %+v", f)
	}
}

func TestIdentityVaries(t *testing.T) {
	words := []string{"identity", "varies"}
	attempts := func(uids ...uint32) (all []*evidence.Attempt, facts Facts) {
		for _, uid := range uids {
			m := successModel(t)
			observed(func(o *evidence.Observe) { o.UIDs = []uint32{uid, uid, uid, uid} })(m)
			all, facts = append(all, m.build(t)), m.facts
		}
		return all, facts
	}
	for _, c := range []struct {
		uids   []uint32
		wanted Verdict
	}{
		{[]uint32{1001, 1002, 1003}, Pass},
		{[]uint32{1001, 1001, 1003}, Pass}, // of a range that is finite
		{[]uint32{1001, 1001, 1001}, Fail},
		{[]uint32{1001, 1002}, Broken},
	} {
		all, facts := attempts(c.uids...)
		if f := Check("T22.16", words, all, facts); f.Verdict != c.wanted {
			t.Errorf("%v: got %+v, want %s", c.uids, f, c.wanted)
		}
	}
	m := successModel(t)
	m.extra = nil
	if f := Check("T22.16", words, []*evidence.Attempt{m.build(t), m.build(t), m.build(t)}, m.facts); f.Verdict != Fail {
		t.Errorf("never observed: got %+v", f)
	}
}

// TestProbesAsControl: what the engine itself changes is no fault of its supervisor.
func TestProbesAsControl(t *testing.T) {
	const said = "probe load-INT EINVAL\nprobe load-PIPE ok\n"
	for ours, wanted := range map[string]Verdict{
		said: Pass,
		"probe load-INT ok\nprobe load-PIPE ok\n":         Pass,
		"probe load-INT EINVAL\nprobe load-PIPE EINVAL\n": Fail,
		"probe load-INT EINVAL\n":                         Fail,
		"":                                                Fail,
	} {
		m := successModel(t)
		m.diagnostic = []byte(ours)
		words := []string{"probes", "as-control"}
		if f := Check("T30.11", words, []*evidence.Attempt{m.build(t)}, m.facts); f.Verdict != Broken {
			t.Errorf("no control: got %+v", f)
		}
		m.facts.Control = controlRun(t, said)
		if f := Check("T30.11", words, []*evidence.Attempt{m.build(t)}, m.facts); f.Verdict != wanted {
			t.Errorf("%q: got %+v, want %s", ours, f, wanted)
		}
	}
}

func TestControlProbes(t *testing.T) {
	for said, wanted := range map[string]Verdict{
		"probe fork ok\n":                     Pass,
		"probe fork EPERM\n":                  Broken, // it proves nothing of the launcher
		"":                                    Broken,
		"probe fork ENOSYS\n":                 NotRun,
		"probe fork ENOSYS\nprobe fork EPERM": Broken,
	} {
		m := successModel(t)
		m.facts.Control = controlRun(t, said)
		if f := Check("T22.01", []string{"control-probes", "ok", "fork"}, []*evidence.Attempt{m.build(t)}, m.facts); f.Verdict != wanted {
			t.Errorf("%q: got %+v, want %s", said, f, wanted)
		}
	}
	for said, wanted := range map[string]Verdict{
		"probe entry ok\n":                        Pass,
		"probe entry ENOSYS\n":                    Pass,
		"probe entry ENOENT\n":                    Broken,
		"probe entry EPERM\n":                     Broken, // a control that something stops is none
		"probe entry ENOSYS\nprobe entry EPERM\n": Broken,
		"probe other ok\n":                        Broken,
		"":                                        Broken,
	} {
		m := successModel(t)
		m.facts.Control = controlRun(t, said)
		f := Check("T22.32", []string{"control-probes", "ok-where-present", "entry"}, []*evidence.Attempt{m.build(t)}, m.facts)
		if f.Verdict != wanted || (f.Reason == "") != strings.Contains(said, "entry ok") {
			t.Errorf("where present, %q: got %+v, want %s", said, f, wanted)
		}
	}
	m := successModel(t)
	if f := Check("T22.01", []string{"control-probes", "ok", "fork"}, []*evidence.Attempt{m.build(t)}, m.facts); f.Verdict != Broken {
		t.Errorf("without a control run: %+v", f)
	}
}

func TestDisturbanceMustHappen(t *testing.T) {
	for result, wanted := range map[string]Verdict{evidence.Done: Pass, evidence.NotReached: Fail, evidence.Failed: Broken} {
		m := refusalModel(t)
		m.extra = append(m.extra, evidence.Control{Action: scenario.Action{Kind: scenario.DoKill, Who: scenario.Producer}, Result: result})
		if f := Check("T23.04", []string{"refused"}, []*evidence.Attempt{m.build(t)}, m.facts); f.Verdict != wanted {
			t.Errorf("control %s: got %+v, want %s", result, f, wanted)
		}
	}
}

// A launcher that was done before anybody looked is no launcher that failed.
func TestLateLookIsNotAsked(t *testing.T) {
	for _, c := range []struct {
		model  *model
		wanted Verdict
	}{{successModel(t), NotRun}, {refusalModel(t), Fail}} {
		c.model.extra = append(c.model.extra, evidence.Control{Trigger: scenario.Trigger{Kind: scenario.AtChild},
			Action: scenario.Action{Kind: scenario.DoKill, Who: scenario.Supervisor, Signal: "KILL"}, Result: evidence.NotReached})
		if f := Check("T24.08", []string{"exit", "signal", "9"}, []*evidence.Attempt{c.model.build(t)}, c.model.facts); f.Verdict != c.wanted {
			t.Errorf("got %+v, want %s", f, c.wanted)
		}
	}
}

func TestUndecidableChecks(t *testing.T) {
	m := successModel(t)
	m.facts.Reference = nil
	attempt := []*evidence.Attempt{m.build(t)}
	for _, words := range []string{"report equals-reference", "report equals nothing", "channel candidate sha256=prefix:nothing:4", "unknown noun", "exit many"} {
		if f := Check("T1.17", wordsOf(words), attempt, m.facts); f.Verdict != Broken || f.Reason == "" {
			t.Errorf("%s: got %+v, want broken", words, f)
		}
	}
	if f := Check("T1.17", []string{"success"}, nil, m.facts); f.Verdict != Broken {
		t.Errorf("without a launch: %+v", f)
	}
	bare := successModel(t)
	bare.launch.Descriptors = nil
	observed(asIs)(bare)
	if f := Check("T4.12", []string{"descriptors", "no-extra"}, []*evidence.Attempt{bare.build(t)}, bare.facts); f.Verdict != Broken {
		t.Errorf("no extra descriptor was given: %+v", f)
	}
}

func TestBytesThatNobodyCountedAreNotRun(t *testing.T) {
	m := successModel(t)
	m.read = -1
	if f := Check("T14.06", []string{"read-bytes", "supervisor", "<=5"}, []*evidence.Attempt{m.build(t)}, m.facts); f.Verdict != NotRun {
		t.Errorf("got %+v, want not-run", f)
	}
}

func TestMalformedNounsAreRefused(t *testing.T) {
	for _, line := range []string{
		"", "unknown", "exit", "exit x", "exit signal", "class", "class a b", "failure", "failure x y", "never", "success now", "refused x",
		"report", "report measures", "report measures size<=x", "report measures size=4|5", "report whole", "report equals", "diagnostics", "diagnostics equal", "diagnostics size x", "diagnostics contain ~~x y",
		"fixture-line", "nowhere x report", "nowhere x on sky", "channel", "channel sky observed=1", "channel report seen=1", "channel report observed<=x",
		"artifact", "artifact here", "sink", "sink present", "unread-sink-at-report", "unread-sink-at-report 5", "producer", "producer x=1", "limits", "limits sky requested=1", "limits wall wanted=1", "charged", "charged x=",
		"usage sky used=1", "usage wall", "usage wall x=1", "cleanup x=true", "record", "record x", "elapsed 5s", "elapsed <5", "elapsed <-5s",
		"catalog", "catalog x", "catalog x y z", "catalog x y z english=", "after-last-byte sky <1s", "after-last-byte report >1s", "probes", "probes fine x", "probes ok", "control-probes ok", "control-probes ok-where-present", "observed x=1",
		"memory producer <=1", "memory supervisor 5", "read-bytes supervisor =5", "descriptors", "descriptors fine", "command producer has", "command nobody has x", "command producer is x", "identity", "identity x", "namespaces private",
		"namespaces private sky", "namespaces shared pid", "at-rendezvous x report=0", "at-rendezvous 1", "at-rendezvous 1 x=1", "producers-at-first-report-byte x",
		"ended-before-packet sky", "attempts", "attempts alike",
	} {
		if err := ParseNoun(wordsOf(line)); err == nil {
			t.Errorf("%q is accepted", line)
		}
	}
}

func TestVolatileMembersAreBlankedAlone(t *testing.T) {
	content := []byte(`{"a":1, "b":{"c":"x","a":2},"a":3}`)
	if got := string(blank(content, []string{"a"})); got != `{"a":null, "b":{"c":"x","a":2},"a":null}` {
		t.Error(got)
	}
	if got := string(blank(content, []string{"b.c", "missing"})); got != `{"a":1, "b":{"c":null,"a":2},"a":3}` {
		t.Error(got)
	}
	if got := string(blank([]byte(`{"a":1`), []string{"b"})); got != `{"a":1` {
		t.Error(got)
	}
}

// On a machine that was late itself, a late exit is no verdict; one that is later
// still is.
func TestALateMachineDecidesNothing(t *testing.T) {
	for delay, wanted := range map[int64]Verdict{1e8: Pass, 2e9: Broken, 20e9: Fail} {
		m := successModel(t)
		m.delay = delay
		m.extra = append(m.extra, evidence.Lateness{Waits: 1, MaxNS: 1e9})
		if f := Check("T18.02", []string{"elapsed", "<1s"}, []*evidence.Attempt{m.build(t)}, m.facts); f.Verdict != wanted {
			t.Errorf("after %d ns: %+v, want %s", delay, f, wanted)
		}
	}
}
