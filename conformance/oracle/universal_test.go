package oracle

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

// models are the two attempts that conform; every test below breaks one.
var models = map[string]func(testing.TB) *model{"success": successModel, "refusal": refusalModel}

func TestConformingAttemptsPass(t *testing.T) {
	judged := map[string]bool{}
	for name, make := range models {
		all := make(t).findings(t)
		if said := describeFindings(all); said != "" {
			t.Errorf("%s: %s", name, said)
		}
		for id := range all {
			judged[id] = true
		}
	}
	for _, id := range UniversalIDs() {
		if !judged[id] {
			t.Errorf("%s judges neither attempt", id)
		}
		if Rule(id) == "" {
			t.Errorf("%s is no assertion of the contract", id)
		}
	}
}

// breakage breaks an attempt for one assertion.
type breakage struct {
	id    string
	model func(testing.TB) *model
	how   string
	do    func(*model)
}

func put(path, raw string) func(*model) { return func(m *model) { set(m.root, path, raw) } }

func counter(channel, name, raw string) func(*model) { return put("channels."+channel+"."+name, raw) }

// breakages hold for every assertion at least one attempt that it refuses. The
// ids that a record's shape decides alone are broken by a member of their part.
var breakages = []breakage{
	{"T1.18", successModel, "two documents", func(m *model) { m.report = slices.Concat(m.report, []byte("{}\n")) }},
	{"T1.18", successModel, "no LF", func(m *model) { m.report = m.report[:len(m.report)-1] }},
	{"T1.18", successModel, "duplicate member", func(m *model) { m.report = []byte(`{"engine":"pineforge","engine":"x"}` + "\n") }},
	{"T1.18", successModel, "empty", func(m *model) { m.report = nil }},
	{"T1.19", successModel, "two packets", func(m *model) { m.packets = 2 }},
	{"T1.19", successModel, "no packet", func(m *model) { m.packets = 0 }},
	{"T1.19", successModel, "no end", func(m *model) { m.noEnd = true }},
	{"T1.19", successModel, "no end of its own", func(m *model) { m.drained = true }},
	{"T1.19", successModel, "a broken end", func(m *model) { m.terminal = "ECONNRESET" }},
	{"T1.22", successModel, "exit 3", put("producer.exit_status", "3")},
	{"T1.22", successModel, "signal", put("producer.signal", "9")},
	{"T1.23", successModel, "failure document", func(m *model) {
		m.report = []byte(`{"engine":"pineforge","error":"x","code":"run_aborted","args":{}}` + "\n")
	}},
	{"T1.24", successModel, "failure", put("failure", `{"code":"run_aborted","args":{},"authority":"supervisor"}`)},
	{"T1.25", successModel, "incomplete candidate", counter("candidate", "complete", "false")},
	{"T1.27", successModel, "report digest", counter("report", "sha256", text(strings.Repeat("a", 64)))},
	{"T1.27", successModel, "bytes lost", func(m *model) { m.diagnostic = m.diagnostic[1:] }},
	{"T1.28", successModel, "over the report budget", put("limits.report_bytes.effective", "10")},
	{"T1.28", successModel, "over the diagnostic budget", put("limits.diagnostic_bytes.effective", "10")},
	{"T1.28", successModel, "over the sink budget", func(m *model) {
		set(m.root, "limits.sink_bytes", "5")
		set(m.root, "channels.sink.accepted_bytes", "6")
	}},
	{"T1.27", refusalModel, "report digest of a refused run", counter("report", "sha256", text(strings.Repeat("a", 64)))},
	{"T1.27", refusalModel, "report bytes of a refused run", counter("report", "written_bytes", "0")},
	{"T1.29", refusalModel, "report of a refused run open at the packet", func(m *model) { m.ended.Report = false }},
	{"T1.29", successModel, "report open at the packet", func(m *model) { m.ended.Report = false }},
	{"T1.29", successModel, "diagnostic open at the packet", func(m *model) { m.ended.Diagnostic = false }},
	{"T1.29", successModel, "no packet", func(m *model) { m.packets = 0 }},
	{"T1.30", successModel, "domain not empty", put("cleanup.domain_empty.value", "false")},
	{"T1.30", successModel, "unmeasured reaping", put("cleanup.producer_reaped", `{"value":null,"measurement_state":"unavailable"}`)},
	{"T1.30", successModel, "a process left", func(m *model) { m.extra = append(m.extra, evidence.Leftover{What: "process", Detail: "12 sleep"}) }},
	{"T1.31", successModel, "incomplete", put("complete", "false")},
	{"T1.32", successModel, "exit 1", func(m *model) { m.status = 1 }},
	{"T1.32", successModel, "killed", func(m *model) { m.signal = 9 }},
	{"T1.34", successModel, "cut", func(m *model) { m.flags = []string{"MSG_TRUNC"} }},
	{"T1.38", successModel, "another attempt", put("attempt_id", text(strings.Repeat("0", 32)))},
	{"T1.39", successModel, "another facade", put("invocation", `"entrypoint"`)},
	{"T1.40", refusalModel, "complete though refused", put("complete", "true")},
	{"T1.40", successModel, "success without success", put("exit_class", `"aborted"`)},
	{"T1.43", refusalModel, "missing arg", func(m *model) { remove(m.root, "failure.args.cap_bytes") }},
	{"T1.43", refusalModel, "extra arg", func(m *model) { addMember(m.root, "failure.args") }},
	{"T1.43", refusalModel, "arg of another kind", put("failure.args.cap_bytes", `"4096"`)},
	{"T1.43", refusalModel, "unknown code", put("failure.code", `"made_up_code"`)},
	{"T1.44", refusalModel, "exit differs", func(m *model) { m.status = 2 }},
	{"T1.44", refusalModel, "killed after the packet", func(m *model) { m.signal = 9 }},
	{"T1.44", refusalModel, "exit of another class", func(m *model) { set(m.root, "exit_status", "4"); m.status = 4 }},
	{"T1.46", successModel, "no stage for a producer that ran", put("producer.stage", "null")},
	{"T1.47", successModel, "both", put("producer.signal", "9")},
	{"T1.47", successModel, "another status than the kernel's", func(m *model) {
		seven := 7
		m.extra = append(m.extra, evidence.ProducerExit{PID: 3, Status: &seven})
	}},
	{"T1.47", successModel, "a signal by the kernel", func(m *model) {
		nine := 9
		m.extra = append(m.extra, evidence.ProducerExit{PID: 3, Signal: &nine})
	}},
	{"T22.13", successModel, "the host's root", mounted("9 8 8:1 / /host rw - ext4 /dev/sda1 rw")},
	{"T22.13", successModel, "the spool", mounted("9 8 0:40 /sub /work rw - tmpfs tmpfs rw")},
	{"T1.47", successModel, "neither", put("producer.exit_status", "null")},
	{"T1.48", refusalModel, "claim of an unknown code", put("producer.failure", `{"code":"made_up_code","args":{},"authority":"producer"}`)},
	{"T1.48", refusalModel, "claim and omitted", func(m *model) {
		set(m.root, "producer.failure", `{"code":"run_aborted","args":{},"authority":"producer"}`)
		set(m.root, "producer.failure_claim_omitted", "true")
	}},
	{"T1.50", successModel, "omitted but recorded", put("limits.report_bytes.requested", "0")},
	{"T1.50", successModel, "requested but null", put("limits.wall_ms.requested", "null")},
	{"T1.50", successModel, "above the grant", put("limits.wall_ms.granted", "5")},
	{"T1.50", successModel, "zero", put("limits.stall_ms.effective", "0")},
	{"T1.53", successModel, "charged twice", put("report_charged_bytes", "140")},
	{"T1.53", refusalModel, "replacement not charged", put("report_charged_bytes", "0")},
	{"T1.57", successModel, "accepted unseen", counter("candidate", "accepted_bytes", "99999")},
	{"T1.57", refusalModel, "two probe bytes", counter("diagnostic", "observed_bytes", "4098")},
	{"T1.58", refusalModel, "over the limit", counter("diagnostic", "accepted_bytes", "4097")},
	{"T1.58", successModel, "written more than accepted", counter("report", "written_bytes", "99999")},
	{"T1.59", successModel, "another allowance", counter("candidate", "limit_bytes", "5")},
	{"T1.60", successModel, "report", counter("report", "limit_bytes", "5")},
	{"T1.60", successModel, "diagnostic", counter("diagnostic", "limit_bytes", "null")},
	{"T1.60", successModel, "sink", counter("sink", "limit_bytes", "5")},
	{"T1.61", successModel, "unknown total", counter("candidate", "written_bytes", "null")},
	{"T1.62", refusalModel, "total that nobody saw", func(m *model) {
		set(m.root, "channels.candidate.complete", "false")
		set(m.root, "channels.candidate.source_total_known", "false")
		set(m.root, "channels.candidate.written_bytes", "5")
	}},
	{"T1.62", refusalModel, "another total than read", func(m *model) {
		set(m.root, "channels.candidate.complete", "false")
		set(m.root, "channels.candidate.source_total_known", "true")
		set(m.root, "channels.candidate.written_bytes", "5")
	}},
	{"T1.63", successModel, "candidate count", counter("candidate", "accepted_bytes", "1")},
	{"T1.63", successModel, "report incomplete", counter("report", "complete", "false")},
	{"T1.65", successModel, "observed more", counter("diagnostic", "observed_bytes", "1000")},
	{"T1.65", successModel, "truncated", counter("diagnostic", "truncated", "true")},
	{"T1.66", successModel, "length", func(m *model) { m.unsettled = true; set(m.root, "channels.status.observed_bytes", "19498") }},
	{"T1.66", successModel, "self hash", counter("status", "sha256", text(strings.Repeat("a", 64)))},
	{"T1.67", successModel, "digest of an unused sink", counter("sink", "accepted_sha256", text(strings.Repeat("a", 64)))},
	{"T1.67", successModel, "verification of an unused sink", put("sink_verification",
		`{"exit_status":0,"signal":null,"complete":true,"counts":null,"sha256":null,"finalizer_version":"1"}`)},
	{"T1.70", successModel, "null but measured", put("cleanup.artifacts_removed", `{"value":null,"measurement_state":"measured"}`)},
	{"T1.72", refusalModel, "path in an argument", func(m *model) {
		set(m.root, "failure.args", `{"cap_bytes":4096,"used_bytes":4096,"requested_bytes":1,"note":"/tmp/x"}`)
	}},
	{"T1.72", successModel, "sentence as a code", put("exit_class", `"it went well"`)},
	{"T1.73", successModel, "source total unknown", counter("report", "source_total_known", "false")},
	{"T1.74", refusalModel, "class of the catalog", put("exit_class", `"transport_failure"`)},
	{"T1.74", refusalModel, "a producer's code", func(m *model) {
		set(m.root, "failure", `{"code":"strategy_runtime_error","args":{},"authority":"supervisor"}`)
	}},
	{"T36.33", successModel, "other arguments", func(m *model) { m.argv = "another" }},
	{"T36.33", successModel, "another process", func(m *model) { m.other = 1 }},
	{"T36.33", successModel, "no wait status", func(m *model) { m.noExit = true }},
	{"T36.34", successModel, "another cell", func(m *model) { m.scenario.Cell.Profile = "jailed" }},
	{"T36.34", successModel, "another profile's argument", func(m *model) { m.launch.Argv, m.argv = []string{"refsup", "--jail"}, "refsup\x00--jail" }},
	{"T36.34", successModel, "no word of the own profile", func(m *model) { m.launch.Environment = nil }},
	{"T36.34", successModel, "no descriptor of the own profile", func(m *model) { m.launch.Descriptors = nil }},
	{"T36.35", successModel, "an earlier identity", func(m *model) { m.facts.Earlier = []string{attemptID} }},
	{"T36.35", successModel, "no identity", func(m *model) { m.launch.AttemptID = noAttempt }},
	{"T36.35", successModel, "one endpoint twice", func(m *model) { m.launch.HostEndpoints[1].Launcher = 100 }},
	{"T36.35", successModel, "a report that nobody reads", func(m *model) { m.unread = true }},
	{"T36.35", successModel, "other grants", func(m *model) {
		five := uint64(5)
		m.facts.Grants, m.scenario.Grants.Wall = true, &five
	}},
	{"T27.19", successModel, "a record that counts another length", func(m *model) { m.unsettled = true; set(m.root, "channels.status.observed_bytes", "7") }},
	{"T34.40", successModel, "limits swapped", put("usage.job.resources.wall.limit", "1048576")},
	{"T34.40", successModel, "what was not asked for", put("usage.job.resources.report_bytes.requested", "67108864")},
	{"T34.40", successModel, "what was asked for left out", put("usage.job.resources.wall.requested", "null")},
	{"T34.40", successModel, "a limit for an unused sink", put("usage.job.resources.sink_bytes.limit", "5")},
	{"T34.40", successModel, "a memory limit that nobody set", put("usage.job.resources.memory_job.limit", "5")},
	{"T34.40", successModel, "storage that nobody has", put("usage.job.resources.work_allocated.limit", "5")},
	{"T34.40", refusalModel, "no limit", put("usage.job.resources.diagnostic_bytes.limit", "null")},
	{"T34.39", successModel, "report bytes", put("usage.job.resources.report_bytes.used", "1")},
	{"T34.39", successModel, "diagnostic bytes", put("usage.job.resources.diagnostic_bytes.used", "1")},
}

// shapeBreakages break the assertions that the shape of a record decides.
var shapeBreakages = map[string]func(*model){
	"T1.33": func(m *model) { settle(m.root); m.raw = append([]byte(" "), packet(m.root)...) },
	"T1.35": func(m *model) { addMember(m.root, "") },
	"T1.36": func(m *model) { duplicate(m.root, "cleanup") },
	"T1.37": put("version", "2"),
	"T1.41": put("exit_class", `"fine"`),
	"T1.42": put("failure", `{"code":"run_aborted","args":{},"authority":"producer"}`),
	"T1.45": func(m *model) { addMember(m.root, "producer") },
	"T1.49": func(m *model) { remove(m.root, "limits.sink_bytes") },
	"T1.51": put("limits.stop_grace_ms", "2000"),
	"T1.52": put("limits.sink_bytes", "0"),
	"T1.54": func(m *model) { remove(m.root, "channels.sink") },
	"T1.55": func(m *model) { addMember(m.root, "channels.report") },
	"T1.56": counter("report", "sha256", text(strings.Repeat("A", 64))),
}

func TestEveryUniversalCheckCanFail(t *testing.T) {
	broken := slices.Clone(breakages)
	for id, do := range shapeBreakages {
		broken = append(broken, breakage{id, successModel, "shape", do})
	}
	refused := map[string]bool{}
	for _, b := range broken {
		m := b.model(t)
		b.do(m)
		finding, found := m.findings(t)[b.id]
		if !found || finding.Verdict != Fail || finding.Seen == "" || finding.Wanted == "" {
			t.Errorf("%s, %s: got %+v, want a failure with what was seen and wanted", b.id, b.how, finding)
		}
		refused[b.id] = true
	}
	for _, id := range UniversalIDs() {
		if !refused[id] && !strings.HasPrefix(id, "T34.") && id != "T36.36" { // see TestNoRuleIsMissing
			t.Errorf("nothing here breaks %s", id)
		}
	}
}

// TestNoRuleIsMissing: a suite that has lost a rule fails its own attempts.
func TestNoRuleIsMissing(t *testing.T) {
	for _, id := range UniversalIDs() {
		if id == "T36.36" { // which is what tells it
			continue
		}
		m := successModel(t)
		mounted("9 8 0:50 / /work rw - tmpfs tmpfs rw")(m)
		findings := Without(id, m.build(t), m.facts)
		i := slices.IndexFunc(findings, func(f Finding) bool { return f.ID == "T36.36" })
		if i < 0 || findings[i].Verdict != Fail || !strings.Contains(findings[i].Seen, id) {
			t.Errorf("without %s: %+v", id, findings)
		}
	}
}

// TestEveryUsageCheckCanFail breaks a whole attempt's usage block, once for
// each assertion of T34.
func TestEveryUsageCheckCanFail(t *testing.T) {
	cell := "usage.job.resources.memory_rss"
	broken := map[string]func(*model){
		"T34.01": put("usage.version", "2"),
		"T34.02": func(m *model) { remove(m.root, "usage.stages.compile") },
		"T34.03": func(m *model) { addMember(m.root, "usage.job") },
		"T34.04": func(m *model) { remove(m.root, cell) },
		"T34.05": func(m *model) { remove(m.root, cell+".peak") },
		"T34.06": put(cell+".peak", `"12"`),
		"T34.07": put(cell+".state", `"guessed"`),
		"T34.08": put(cell+".unit", `"pages"`),
		"T34.09": put(cell+".scope", `"world"`),
		"T34.10": put(cell+".source", `"rumour"`),
		"T34.11": func(m *model) { set(m.root, cell+".state", `"unavailable"`); set(m.root, cell+".used", "0") },
		"T34.12": put("usage.stages.compile.resources.wall.requested", "1"),
	}
	for _, rule := range cellRules {
		unit := `"ms"`
		if rule.unit == "ms" {
			unit = `"us"`
		}
		broken[rule.id] = put("usage.job.resources."+rule.name+".unit", unit)
	}
	for _, r := range usageRules {
		if r.id == "T34.39" || r.id == "T34.40" {
			continue // with the others
		}
		do, found := broken[r.id]
		if !found {
			t.Errorf("nothing here breaks %s", r.id)
			continue
		}
		m := successModel(t)
		do(m)
		if f := m.findings(t)[r.id]; f.Verdict != Fail {
			t.Errorf("%s: got %+v, want a failure", r.id, f)
		}
	}
}

func TestUnreadableRecordPassesNothing(t *testing.T) {
	m := successModel(t)
	m.raw = []byte("not a record\n")
	for id, f := range m.findings(t) {
		if f.Verdict == Pass && !slices.Contains([]string{"T1.18", "T1.19", "T1.23", "T1.29", "T1.34"}, id) && !strings.HasPrefix(id, "T36.") {
			t.Errorf("%s passes without a record", id)
		}
	}
}

func TestAlteredEvidencePassesNothing(t *testing.T) {
	a := successModel(t).build(t)
	if err := os.WriteFile(filepath.Join(a.Dir, evidence.ReportFile), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	altered, err := evidence.Load(a.Dir)
	if err != nil {
		t.Fatal(err)
	}
	findings := Universal(altered, successModel(t).facts)
	if len(findings) != len(rules) {
		t.Errorf("%d findings, want one for each of %d assertions", len(findings), len(rules))
	}
	for _, f := range append(findings, Check("T1.17", []string{"success"}, []*evidence.Attempt{altered}, Facts{})) {
		if f.Verdict != Fail || !strings.Contains(f.Seen, evidence.ReportFile) {
			t.Errorf("%s: got %+v, want a failure that names the file", f.ID, f)
		}
	}
}

func TestFaultOfTheDriverIsBroken(t *testing.T) {
	m := successModel(t)
	m.extra = append(m.extra, evidence.Fault{Operation: "mount spool", Cause: "no"})
	if all := m.findings(t); len(all) != 1 || all["T1.19"].Verdict != Broken {
		t.Errorf("got %v, want T1.19 broken alone", all)
	}
	if f := Check("T1.17", []string{"success"}, []*evidence.Attempt{m.build(t)}, m.facts); f.Verdict != Broken {
		t.Errorf("a check: %+v", f)
	}
}

func TestNoVerdictWithoutRecordToJudge(t *testing.T) {
	m := refusalModel(t)
	m.packets = 0
	all := m.findings(t)
	seen := func(id string, _ Finding) bool { return id == "T22.13" || strings.HasPrefix(id, "T36.") } // judged by what the driver saw, record or not
	maps.DeleteFunc(all, seen)
	if len(all) != 1 || all["T1.19"].Verdict != Fail {
		t.Errorf("without a packet: %v, want T1.19 alone to fail", all)
	}
	m = refusalModel(t)
	m.packets, m.signal = 0, 9
	m.scenario.Controls = []scenario.Rule{{Trigger: scenario.Trigger{Kind: scenario.AtSpawn}, Action: scenario.Action{Kind: scenario.DoKill, Who: scenario.Supervisor}}}
	m.extra = append(m.extra, evidence.Control{Trigger: m.scenario.Controls[0].Trigger, Action: m.scenario.Controls[0].Action, Result: evidence.Done})
	all = m.findings(t)
	maps.DeleteFunc(all, seen)
	if len(all) != 0 {
		t.Errorf("a supervisor that the host killed owes no record: %s", describeFindings(all))
	}
}

func TestOtherKindsAreNotJudged(t *testing.T) {
	m := successModel(t)
	m.scenario.Kind = scenario.Control
	if all := Universal(m.build(t), m.facts); len(all) != 0 {
		t.Errorf("%d findings about a control run", len(all))
	}
}

// TestLegacyRunsAreNotJudged: without a part of its activation nothing is
// supervised; with a part of it, or a knob, a success still needs its record.
func TestLegacyRunsAreNotJudged(t *testing.T) {
	for name, c := range map[string]struct {
		withheld []string
		options  []scenario.Option
		judged   bool
	}{
		"nothing given": {[]string{"channel", "terminal"}, nil, false},
		"a terminal":    {[]string{"channel"}, nil, true},
		"a knob":        {[]string{"channel", "terminal"}, []scenario.Option{{Knob: "wall", Route: "cli", Value: "5"}}, true},
	} {
		m := successModel(t)
		m.packets, m.scenario.Withheld, m.scenario.Options = 0, c.withheld, c.options
		if all := Universal(m.build(t), m.facts); (len(all) > 0) != c.judged {
			t.Errorf("%s: %d findings", name, len(all))
		}
	}
}

func TestLeaks(t *testing.T) {
	m := successModel(t)
	m.extra = append(m.extra, evidence.Leftover{What: "mount", Detail: "/x"}, evidence.Leftover{What: "cgroup", Detail: "/y"})
	if got := Leaks(m.build(t), m.facts); !slices.Equal(got, []string{"cgroup: /y", "mount: /x"}) {
		t.Errorf("got %q", got)
	}
	if got := Leaks(successModel(t).build(t), Facts{}); len(got) != 0 {
		t.Errorf("a clean attempt leaks %q", got)
	}
}

// TestMaps compares the exit and class maps with the contract's two tables,
// written out once more.
func TestMaps(t *testing.T) {
	for code, class := range map[string]string{
		"run_request_invalid": "input_refusal", "report_mode_unsupported": "input_refusal",
		"report_budget_exceeded": "resource_refusal", "diagnostic_budget_exceeded": "resource_refusal",
		"run_process_refused": "resource_refusal", "run_deadline_exceeded": "resource_refusal",
		"run_isolation_unavailable": "resource_refusal", "run_producer_failed": "producer_failure",
		"report_channel_failed": "transport_failure", "report_sink_failed": "transport_failure",
		"report_result_invalid": "transport_failure", "harness_internal_error": "harness_fault", "run_aborted": "aborted",
	} {
		if got, known := exitClass(code); !known || got != class {
			t.Errorf("class of %s: got %q %t, want %q", code, got, known, class)
		}
	}
	for _, code := range []string{"", "strategy_runtime_error", "engine_invariant"} {
		if class, known := exitClass(code); known {
			t.Errorf("a supervisor cannot establish %q, got class %q", code, class)
		}
	}
	for _, c := range []struct {
		invocation, class, code string
		first                   uint64
		stage                   string
	}{
		{"run_json", "input_refusal", "report_mode_unsupported", 1, ""}, {"entrypoint", "input_refusal", "report_mode_unsupported", 4, ""},
		{"run_json", "success", "", 0, "publish"}, {"entrypoint", "success", "", 0, "publish"},
		{"run_json", "input_refusal", "", 2, ""}, {"entrypoint", "input_refusal", "", 4, ""},
		{"run_json", "resource_refusal", "", 1, "run"}, {"entrypoint", "resource_refusal", "", 4, "compile"},
		{"run_json", "transport_failure", "", 1, "run"}, {"entrypoint", "transport_failure", "", 4, "run"},
		{"run_json", "producer_failure", "", 1, "run"}, {"entrypoint", "producer_failure", "", 4, "run"},
		{"entrypoint", "producer_failure", "", 3, "compile"}, {"entrypoint", "producer_failure", "", 5, "prepare"},
		{"entrypoint", "producer_failure", "", 2, ""},
		{"run_json", "harness_fault", "", 1, ""}, {"run_json", "aborted", "", 1, ""}, {"entrypoint", "aborted", "", 4, "run"},
	} {
		if got := facadeExit(c.invocation, c.class, c.code, c.stage); got[0] != c.first || (c.stage == "run" && len(got) != 1) {
			t.Errorf("exit of %s for %s: got %v, want %d first", c.invocation, c.class, got, c.first)
		}
	}
	for i, wanted := range []uint64{64 << 20, 1 << 20, 600_000, 5_000} {
		if limitTable[i].otherwise != wanted {
			t.Errorf("default of %s: got %d, want %d", limitTable[i].member, limitTable[i].otherwise, wanted)
		}
	}
}

func TestEveryCatalogCodeHasArgsThatPass(t *testing.T) {
	for code, row := range failureCatalog().Codes {
		var members []string
		for name, arg := range row.Args {
			value := `"x"`
			switch {
			case arg.Kind == "vocab":
				value = strconv.Quote(arg.Values[0])
			case arg.Kind == "integer" || arg.Kind == "number":
				value = "7"
			}
			members = append(members, fmt.Sprintf("%q:%s", name, value))
		}
		args := parsed(t, []byte("{"+strings.Join(members, ",")+"}"))
		if problem := argsFault(code, args); problem != "" {
			t.Errorf("%s: %s", code, problem)
		}
		if args.members = append(args.members, member{"undeclared", &node{kind: '['}}); argsFault(code, args) == "" {
			t.Errorf("%s accepts an undeclared list", code)
		}
	}
}

// mounted adds what a producer had mounted.
func mounted(line string) func(*model) {
	return func(m *model) {
		m.extra = append(m.extra, evidence.ProducerMounts{PID: 3, Mounts: []string{line}, HostRoot: "8:1", Spool: "0:40"})
	}
}
