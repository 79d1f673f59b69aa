package oracle

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
	"touchstone/contracts"
)

// example reads one of the contract's own records.
func example(t testing.TB, name string) []byte {
	t.Helper()
	content, err := fs.ReadFile(contracts.Examples(), name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func parsed(t testing.TB, content []byte) *node {
	t.Helper()
	root, err := parseDocument(content)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// encode spells a tree compactly, duplicates and all.
func encode(n *node) string {
	switch n.kind {
	case '{':
		parts := []string{}
		for _, m := range n.members {
			parts = append(parts, text(m.name)+":"+encode(m.value))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case '[':
		parts := []string{}
		for _, item := range n.items {
			parts = append(parts, encode(item))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case '"':
		return text(n.text)
	}
	return n.text
}

func text(s string) string {
	quoted, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		panic(err)
	}
	return string(quoted)
}

func packet(root *node) []byte { return []byte(encode(root) + "\n") }

// set replaces the value at a dotted path by raw JSON; the path must exist.
func set(root *node, path, raw string) {
	value, err := parseDocument([]byte(raw))
	if err != nil {
		panic(err)
	}
	target := root.at(strings.Split(path, ".")...)
	if target == nil {
		panic("no " + path)
	}
	*target = *value
}

// settle makes the status entry count the packet itself.
//
// Rules: C-37.
func settle(root *node) {
	for {
		size := strconv.Itoa(len(packet(root)))
		if root.at("channels", "status", "observed_bytes").text == size {
			return
		}
		for _, name := range []string{"observed_bytes", "accepted_bytes", "written_bytes"} {
			set(root, "channels.status."+name, size)
		}
	}
}

// model is an attempt to be: every part of it can be altered before it is
// written and read back.
type model struct {
	faultLog   string // the tracer's; "" for none
	scenario   scenario.Scenario
	launch     evidence.Launch
	root       *node
	raw        []byte // the packet, when not root settled
	packets    int
	flags      []string
	ended      evidence.Ended
	terminal   string // errno of the terminal end
	noEnd      bool
	drained    bool // the driver killed somebody before the terminal end came
	report     []byte
	diagnostic []byte
	stderr     []byte // of an unsupervised process
	status     int
	signal     int
	extra      []evidence.Body
	sink       []byte // of the external one
	catalog    []byte // the launcher's, nil: none was asked for
	decision   string // of a host under test, "": none
	receipt    []byte // of the finalizer
	artifact   []byte // at the named sink's target, nil: none
	late       bool   // the sink comes after the report
	unsettled  bool
	argv       string // as it was started
	other      int    // added to the pid that was waited for
	unread     bool   // the report has no end
	delay      int64  // nanoseconds before the exit
	noExit     bool
	rss, read  int64
	alive      int   // producers at the first byte of report
	spool      int64 // bytes given out by then
	facts      Facts
}

const attemptID = "5f0c9a7be1d2436882b4d0f7a91c3e6d"

var successReport = []byte(`{"engine":"pineforge","elapsed_seconds":0.1,"summary":{},"trades":[]}` + "\n")

func baseModel(t testing.TB, name string) *model {
	return &model{
		scenario: scenario.Scenario{Version: 1, Test: "T1", Script: "T01-kit", Kind: scenario.Launch,
			Cell: scenario.Cell{Facade: "direct", Profile: "unjailed"}, Fixture: scenario.Fixture{Name: "plain"}},
		argv: "refsup",
		launch: evidence.Launch{AttemptID: attemptID, Argv: []string{"refsup"}, Environment: []string{"MODE=free"}, Descriptors: []evidence.Descriptor{
			{Number: 9, Name: "extra-0", Kind: "pipe", Device: 7, Inode: 900}},
			HostEndpoints: []evidence.HostEndpoint{{Name: "report", Device: 7, Launcher: 100, Host: 101}, {Name: "diagnostic", Device: 7, Launcher: 200, Host: 201}}},
		root: parsed(t, example(t, name)), packets: 1, ended: evidence.Ended{Report: true, Diagnostic: true, Sink: true},
		facts: Facts{Invocation: "run_json", Earlier: []string{strings.Repeat("7", 32)},
			Profiles: map[string]ProfileWords{"unjailed": {Environment: []string{"MODE=free"}, Numbers: []int{9}},
				"jailed": {Arguments: []string{"--jail"}, Environment: []string{"MODE=jail"}, Numbers: []int{5}}}, Volatile: []string{"elapsed_seconds"}, Documents: map[string][]byte{}},
	}
}

// successModel is a sinkless success, consistent in every count and digest.
func successModel(t testing.TB) *model {
	m := baseModel(t, "success.json")
	m.report, m.diagnostic = successReport, []byte("hello\nprobe read EPERM\nprobe open ok\n")
	m.facts.Reference = bytes.Replace(successReport, []byte("0.1"), []byte("0.2"), 1)
	m.facts.Documents["whole"] = successReport
	m.scenario.Options = []scenario.Option{{Knob: "diagnostic", Route: "cli", Value: "0"}, {Knob: "wall", Route: "cli", Value: "120000"}}
	for _, name := range []string{"observed_bytes", "accepted_bytes", "written_bytes"} {
		size := strconv.Itoa(len(m.report))
		set(m.root, "channels.candidate."+name, size)
		set(m.root, "channels.report."+name, size)
		set(m.root, "channels.diagnostic."+name, strconv.Itoa(len(m.diagnostic)))
		set(m.root, "channels.sink."+name, "0")
	}
	for _, name := range []string{"accepted_sha256", "logical_sha256"} {
		set(m.root, "channels.sink."+name, "null")
	}
	set(m.root, "channels.sink.limit_bytes", "null")
	set(m.root, "limits.sink_bytes", "null")
	set(m.root, "sink_verification", "null")
	set(m.root, "channels.candidate.limit_bytes", "67108864")
	for _, name := range []string{"candidate", "report"} {
		set(m.root, "channels."+name+".sha256", text(digest(m.report)))
	}
	set(m.root, "channels.diagnostic.sha256", text(digest(m.diagnostic)))
	set(m.root, "report_charged_bytes", strconv.Itoa(len(m.report)))
	job := "usage.job.resources."
	set(m.root, job+"report_bytes.used", strconv.Itoa(len(m.report)))
	set(m.root, job+"sink_bytes.used", "0")
	set(m.root, job+"sink_bytes.limit", "null")
	set(m.root, job+"diagnostic_bytes.used", strconv.Itoa(len(m.diagnostic)))
	return m
}

// refusalModel is a diagnostic overflow with a replacement document.
func refusalModel(t testing.TB) *model {
	m := baseModel(t, "diagnostic_budget_exceeded.json")
	m.report = example(t, "diagnostic_replacement_R.json")
	m.status = 1
	m.diagnostic = pattern251(4096)
	set(m.root, "attempt_id", text(attemptID))
	set(m.root, "invocation", `"run_json"`)
	set(m.root, "exit_status", "1")
	set(m.root, "channels.candidate.limit_bytes", m.root.at("limits", "report_bytes", "effective").text)
	for name, knob := range map[string]string{"report_bytes": "report", "diagnostic_bytes": "diagnostic", "wall_ms": "wall", "stall_ms": "stall"} {
		if requested := m.root.at("limits", name, "requested"); !requested.isNull() {
			m.scenario.Options = append(m.scenario.Options, scenario.Option{Knob: knob, Route: "cli", Value: requested.text})
		}
	}
	for _, name := range []string{"sink", "candidate"} {
		for _, counter := range []string{"observed_bytes", "accepted_bytes"} {
			set(m.root, "channels."+name+"."+counter, "0")
		}
		set(m.root, "channels."+name+".sha256", "null")
	}
	set(m.root, "channels.diagnostic.sha256", text(digest(m.diagnostic)))
	set(m.root, "channels.report.sha256", text(digest(m.report)))
	size := strconv.Itoa(len(m.report))
	for _, counter := range []string{"observed_bytes", "accepted_bytes", "written_bytes"} {
		set(m.root, "channels.report."+counter, size)
	}
	set(m.root, "report_charged_bytes", size)
	return m
}

// build writes the model as a record and reads it back.
func (m *model) build(t testing.TB) *evidence.Attempt {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, content []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	scenarioText, err := scenario.Encode(m.scenario)
	if err != nil {
		t.Fatal(err)
	}
	launch, err := json.Marshal(m.launch)
	if err != nil {
		t.Fatal(err)
	}
	write(evidence.ScenarioFile, scenarioText)
	write(evidence.LauncherFile, []byte("{}\n"))
	write(evidence.LaunchFile, launch)
	w, err := evidence.NewWriter(dir)
	if err != nil {
		t.Fatal(err)
	}
	m.events(w)
	if m.faultLog != "" {
		write(evidence.FaultLogFile, []byte(m.faultLog))
		w.Include(evidence.FaultLogFile)
	}
	if m.catalog != nil {
		write(evidence.CatalogFile, m.catalog)
		w.Include(evidence.CatalogFile)
	}
	for _, name := range []string{evidence.ScenarioFile, evidence.LauncherFile, evidence.LaunchFile} {
		w.Include(name)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	a, err := evidence.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// events writes what happened, a millisecond apart from one second on. The
// writer keeps its first error for Close.
func (m *model) events(w *evidence.Writer) {
	at := int64(1e9)
	next := func() int64 { at += 1e6; return at }
	w.EventAt(next(), evidence.Start{PID: 2, ArgvSHA256: digest([]byte(m.argv + "\x00"))})
	w.EventAt(next(), evidence.ProducerMounts{PID: 3, Mounts: []string{"3 2 8:1 /usr /usr ro - ext4 /dev/sda1 rw"}, HostRoot: "8:1", Spool: "0:40"})
	w.Open(evidence.ReportFile)
	w.Open(evidence.DiagnosticFile)
	for _, b := range m.extra {
		w.EventAt(next(), b)
	}
	if len(m.diagnostic) > 0 {
		w.Append(next(), "diagnostic", evidence.DiagnosticFile, m.diagnostic)
	}
	if len(m.sink) > 0 && !m.late {
		w.Append(next(), "sink", evidence.ChannelFile("sink"), m.sink)
	}
	if len(m.report) > 0 {
		w.EventAt(next(), evidence.Producers{Alive: m.alive, SpoolBytes: m.spool})
		w.Append(next(), "report", evidence.ReportFile, m.report)
	}
	if m.late {
		w.Append(next(), "sink", evidence.ChannelFile("sink"), m.sink)
	}
	if m.artifact != nil {
		w.Append(next(), evidence.Artifact, evidence.ArtifactFile, m.artifact)
	}
	if len(m.receipt) > 0 {
		w.Append(next(), evidence.Receipt, evidence.ReceiptFile, m.receipt)
	}
	if m.decision != "" {
		w.Append(next(), evidence.Disposition, evidence.DispositionFile, []byte(m.decision))
	}
	if m.stderr != nil {
		w.Open(evidence.StderrFile)
	}
	if len(m.stderr) > 0 {
		w.Append(next(), "stderr", evidence.StderrFile, m.stderr)
	}
	if !m.unread {
		w.EventAt(next(), evidence.EOF{Channel: "report"})
	}
	w.EventAt(next(), evidence.EOF{Channel: "diagnostic"})
	content := m.raw
	if content == nil {
		if !m.unsettled {
			settle(m.root)
		}
		content = packet(m.root)
	}
	for i := range m.packets {
		w.Packet(next(), evidence.Packet{Index: i, Flags: m.flags, CredentialsPID: 2, Ended: m.ended}, content)
	}
	if m.drained {
		w.EventAt(next(), evidence.Watchdog{LimitMS: 2000, Waiting: "drain"})
	}
	if !m.noEnd {
		w.EventAt(next(), evidence.TerminalEOF{Error: m.terminal})
	}
	if m.noExit {
		return
	}
	at += m.delay
	exit := evidence.Exit{Who: "supervisor", PID: 2 + m.other, Status: &m.status, MaxRSSBytes: max(m.rss, 1<<20), ReadBytes: m.read}
	if m.signal != 0 {
		exit.Status, exit.Signal = nil, &m.signal
	}
	w.EventAt(next(), exit)
}

// stderrOf is a copy of an attempt's record with a standard error of its own.
func stderrOf(t testing.TB, a *evidence.Attempt, said string) *evidence.Attempt {
	t.Helper()
	m := successModel(t)
	m.scenario = a.Scenario
	m.stderr = []byte(said)
	return m.build(t)
}

// findings are the verdicts of the universal checks by id.
func (m *model) findings(t testing.TB) map[string]Finding {
	t.Helper()
	all := map[string]Finding{}
	for _, f := range Universal(m.build(t), m.facts) {
		all[f.ID] = f
	}
	return all
}

// paths are all paths of a record, parents first.
func paths(root *node) []string {
	var all []string
	root.walk("", func(path string, _ *node) {
		if path != "" {
			all = append(all, path)
		}
	})
	return all
}

// parent gives the object that holds the last name of a path.
func parent(root *node, path string) (*node, string) {
	names := strings.Split(path, ".")
	return root.at(names[:len(names)-1]...), names[len(names)-1]
}

func remove(root *node, path string) {
	object, name := parent(root, path)
	object.members = slices.DeleteFunc(object.members, func(m member) bool { return m.name == name })
}

func duplicate(root *node, path string) {
	object, name := parent(root, path)
	object.members = append(object.members, member{name, object.member(name)})
}

func addMember(root *node, path string) {
	object := root.at(strings.Split(path, ".")...)
	if path == "" {
		object = root
	}
	object.members = append(object.members, member{"surprise", &node{kind: 'n', text: "null"}})
}

func describeFindings(all map[string]Finding) string {
	var lines []string
	for _, f := range all {
		if f.Verdict != Pass {
			lines = append(lines, fmt.Sprintf("%s %s: saw %s, wanted %s %s", f.Verdict, f.ID, f.Seen, f.Wanted, f.Reason))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
