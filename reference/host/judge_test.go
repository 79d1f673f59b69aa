package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
)

func samples(t testing.TB) map[string]sample {
	return map[string]sample{
		"no sink":       newSample(t, "{\"engine\":\"e\"}\n", "", ""),
		"exported sink": newSample(t, "{\"engine\":\"e\"}\n", "notes", "{\"sink\":1}\n"),
		"internal sink": internalSample(t),
		"S's failure":   newSample(t, "{\"error\":1}\n", "", "").refused("run_aborted", map[string]any{}, "aborted", 1),
	}
}

// cause is a verdict in one word: "" for accepted.
func (v Verdict) word() string {
	if v.Accepted != (v.Cause == nil) {
		return "contradiction"
	}
	if v.Cause == nil {
		return ""
	}
	return fmt.Sprintf("%s %v %v %s", v.Cause.Code, v.Cause.Args["channel"], v.Cause.Args["reason"], v.Cause.Authority)
}

const (
	protocol = "report_channel_failed status protocol host"
	deadline = "report_channel_failed status deadline host"
	noRecord = "report_channel_failed status io host"
)

func TestGoodSamples(t *testing.T) {
	for name, s := range samples(t) {
		v := Judge(s.observed(t))
		want := ""
		if name == "S's failure" {
			want = "run_aborted <nil> <nil> supervisor"
			o := s.observed(t)
			o.Exit.Status = 1
			v = Judge(o)
		}
		if v.word() != want || v.Record == nil {
			t.Errorf("%s: %q, findings %q", name, v.word(), v.Findings)
		}
	}
}

// TestRecordsHeldAgainstSight: one member of a good record is altered.
func TestRecordsHeldAgainstSight(t *testing.T) {
	for path, values := range map[string][]any{
		"attempt_id":                               {strings.Repeat("0", 32), sampleID[1:] + "0", strings.ToUpper(sampleID), sampleID + "\n", nil},
		"schema":                                   {"pf-run-terminal/v1"},
		"version":                                  {2, "1", 1.5},
		"contract":                                 {"supervised/v2"},
		"invocation":                               {"entrypoint"},
		"complete":                                 {false, nil, "true"},
		"exit_class":                               {"aborted", "fine"},
		"exit_status":                              {1, 256, -1, json.Number("0.0"), json.Number("0e0")},
		"failure":                                  {map[string]any{"code": "run_aborted", "args": map[string]any{}, "authority": "supervisor"}},
		"producer.exit_status":                     {nil, 1},
		"producer.signal":                          {9},
		"producer.stage":                           {nil, "load"},
		"producer.failure":                         {map[string]any{"code": "run_aborted", "args": map[string]any{}, "authority": "producer"}},
		"producer.failure_claim_omitted":           {true},
		"limits.report_bytes.granted":              {1, nil},
		"limits.report_bytes.requested":            {0, 1},
		"limits.wall_ms.effective":                 {599999, nil},
		"limits.terminal_bytes":                    {65535},
		"limits.sink_bytes":                        {0, 1},
		"report_charged_bytes":                     {0, 1 << 40},
		"channels.report.written_bytes":            {0, 14, 16},
		"channels.report.sha256":                   {nil, digestOf("x"), strings.ToUpper(digestOf("{\"engine\":\"e\"}\n"))},
		"channels.report.complete":                 {false},
		"channels.report.truncated":                {true},
		"channels.report.source_total_known":       {false},
		"channels.report.limit_bytes":              {nil, 1},
		"channels.candidate.written_bytes":         {nil, 1},
		"channels.candidate.sha256":                {nil, digestOf("x")},
		"channels.diagnostic.written_bytes":        {1},
		"channels.diagnostic.complete":             {false},
		"channels.sink.written_bytes":              {1},
		"channels.sink.sha256":                     {digestOf("x")},
		"channels.sink.accepted_bytes":             {1},
		"channels.status.written_bytes":            {1},
		"channels.status.sha256":                   {digestOf("")},
		"channels.status.truncated":                {true},
		"sink_verification":                        {map[string]any{}},
		"usage.version":                            {2},
		"usage.job.resources.report_bytes":         {nil},
		"usage.job.resources.wall.unit":            {"us"},
		"usage.stages.run.resources.wall.peak":     {"1"},
		"usage.stages.prepare.resources.wall.used": {1},
		"usage.job.resources.sink_bytes.used":      {1, nil},
		"cleanup.domain_empty":                     {map[string]any{"value": false, "measurement_state": "measured"}, map[string]any{"value": nil, "measurement_state": "unavailable"}},
		"cleanup.artifacts_removed.value":          {nil, false},
		"further":                                  {nil},
		"channels.report.further":                  {0},
	} {
		for _, value := range values {
			s := newSample(t, "{\"engine\":\"e\"}\n", "", "")
			put(s.record, path, value)
			if path == "channels.status.written_bytes" { // after the length was found
				o := s.observed(t)
				o.Packet = bytes.Replace(o.Packet, []byte(`"written_bytes":1`), []byte(`"written_bytes":2`), 1)
				if v := Judge(o); v.word() != protocol {
					t.Errorf("%s: %q", path, v.word())
				}
				continue
			}
			if v := Judge(s.observed(t)); v.word() != protocol || len(v.Findings) == 0 || v.Record != nil {
				t.Errorf("%s = %v: %q, findings %q", path, value, v.word(), v.Findings)
			}
		}
	}
}

// TestEveryMemberIsNeeded takes each member of a good record away, wherever it is.
func TestEveryMemberIsNeeded(t *testing.T) {
	s, taken := newSample(t, "{\"engine\":\"e\"}\n", "notes", "{\"sink\":1}\n"), 0
	var visit func(object map[string]any, path string)
	visit = func(object map[string]any, path string) {
		for _, name := range slices.Sorted(maps.Keys(object)) {
			before := object[name]
			delete(object, name)
			taken++
			if record, _ := Decode(s.encoded(t)); record != nil {
				t.Errorf("a record without %s%s", path, name)
			}
			object[name] = before
			if inner, ok := before.(map[string]any); ok {
				visit(inner, path+name+".")
			}
		}
	}
	s.packet(t) // its length is in it
	visit(s.record, "")
	if taken < 1000 {
		t.Errorf("%d members taken away, want all", taken)
	}
	if v := Judge(s.observed(t)); v.word() != "" {
		t.Errorf("not restored: %q", v.Findings)
	}
}

// TestSightHeldAgainstRecords: the record is good, the world is not.
func TestSightHeldAgainstRecords(t *testing.T) {
	for name, c := range map[string]struct {
		alter func(o *Observed)
		want  string
	}{
		"nothing":               {func(*Observed) {}, ""},
		"no packet":             {func(o *Observed) { o.Packets, o.Packet = 0, nil }, noRecord},
		"no packet, watch over": {func(o *Observed) { o.Packets, o.Packet, o.Expired = 0, nil, true }, deadline},
		"watch over":            {func(o *Observed) { o.Expired = true }, deadline},
		"two packets":           {func(o *Observed) { o.Packets = 2 }, protocol},
		"two, watch over":       {func(o *Observed) { o.Packets, o.Expired = 2, true }, protocol},
		"truncated":             {func(o *Observed) { o.Truncated = true }, protocol},
		"empty":                 {func(o *Observed) { o.Packet = nil }, protocol},
		"another sender":        {func(o *Observed) { o.Sender++ }, protocol},
		"no end of terminal":    {func(o *Observed) { o.TerminalEnded = false }, protocol},
		"no end of report":      {func(o *Observed) { o.Report.Ended = false }, protocol},
		"no end of diagnostics": {func(o *Observed) { o.Diagnostic.Ended = false }, protocol},
		"no end of sink":        {func(o *Observed) { o.Sink.Ended = false }, protocol},
		"report over":           {func(o *Observed) { o.Report.Over = true }, protocol},
		"report altered":        {func(o *Observed) { o.Report.SHA256 = digestOf("y") }, protocol},
		"report longer":         {func(o *Observed) { o.Report.Bytes++ }, protocol},
		"diagnostics altered":   {func(o *Observed) { o.Diagnostic.SHA256 = digestOf("y") }, protocol},
		"sink altered":          {func(o *Observed) { o.Sink.SHA256 = digestOf("y") }, protocol},
		"sink shorter":          {func(o *Observed) { o.Sink.Bytes-- }, protocol},
		"exit 1":                {func(o *Observed) { o.Exit.Status = 1 }, protocol},
		"signal":                {func(o *Observed) { o.Exit.Signal = 9 }, protocol},
		"not waited":            {func(o *Observed) { o.Exit.Waited = false }, protocol},
		"another attempt":       {func(o *Observed) { o.AttemptID = strings.Repeat("1", 32) }, protocol},
		"another facade":        {func(o *Observed) { o.Invocation = "entrypoint" }, protocol},
		"another grant":         {func(o *Observed) { o.Limits[wallMS] = Limit{nil, 1, 1} }, protocol},
		"asked":                 {func(o *Observed) { o.Limits[wallMS] = Limit{new(int64(600000)), 600000, 600000} }, protocol},
		"something left":        {func(o *Observed) { o.Left = 1 }, protocol},
		"another plan":          {func(o *Observed) { o.PlannedSink = 5 }, protocol},
		"report lost":           {func(o *Observed) { o.Report.Lost = true }, "report_channel_failed report io host"},
		"sink lost":             {func(o *Observed) { o.Sink.Lost = true }, "report_channel_failed sink io host"},
	} {
		o := newSample(t, "{\"engine\":\"e\"}\n", "notes", "{\"sink\":1}\n").observed(t)
		c.alter(&o)
		if v := Judge(o); v.word() != c.want {
			t.Errorf("%s: %q, want %q; findings %q", name, v.word(), c.want, v.Findings)
		}
	}
}

// TestFailures: class and exit follow the code, args the catalog.
func TestFailures(t *testing.T) {
	none := map[string]any{}
	for _, c := range []struct {
		code       string
		args       map[string]any
		class      string
		invocation string
		exit       int
		good       bool
	}{
		{"run_aborted", none, "aborted", "run_json", 1, true},
		{"run_aborted", none, "aborted", "run_json", 0, false},
		{"run_aborted", none, "aborted", "run_json", 2, false},
		{"run_aborted", none, "resource_refusal", "run_json", 1, false},
		{"run_aborted", none, "aborted", "entrypoint", 4, true},
		{"run_aborted", none, "aborted", "entrypoint", 3, false},
		{"run_aborted", map[string]any{"bars": 1}, "aborted", "run_json", 1, false},
		{"run_request_invalid", map[string]any{"option": "arguments"}, "input_refusal", "run_json", 2, true},
		{"run_request_invalid", none, "input_refusal", "run_json", 2, false},
		{"run_request_invalid", map[string]any{"option": "arguments"}, "input_refusal", "run_json", 1, false},
		{"run_request_invalid", map[string]any{"option": "arguments"}, "input_refusal", "entrypoint", 4, true},
		{"run_producer_failed", map[string]any{"reason": "exit", "exit_status": 7}, "producer_failure", "run_json", 1, true},
		{"run_producer_failed", map[string]any{"reason": "exit", "exit_status": 7}, "producer_failure", "entrypoint", 3, true},
		{"run_producer_failed", map[string]any{"reason": "left"}, "producer_failure", "run_json", 1, false},
		{"run_producer_failed", map[string]any{"reason": "exit", "exit_status": "7"}, "producer_failure", "run_json", 1, false},
		{"report_sink_failed", map[string]any{"reason": "sink_io"}, "transport_failure", "run_json", 1, true},
		{"report_mode_unsupported", map[string]any{"mode": "STREAMED", "contract": "c"}, "input_refusal", "run_json", 1, true},
		{"no_such_code", none, "harness_fault", "run_json", 1, false},
		{"engine_invariant", none, "harness_fault", "run_json", 1, false}, // no code of a supervisor
	} {
		s := newSample(t, "{\"error\":1}\n", "", "").refused(c.code, c.args, c.class, c.exit)
		put(s.record, "invocation", c.invocation)
		o := s.observed(t)
		o.Exit.Status, o.Invocation = c.exit, c.invocation
		v := Judge(o)
		if good := v.Cause != nil && v.Cause.Authority == "supervisor" && v.Cause.Code == c.code; v.Accepted || good != c.good {
			t.Errorf("%+v: %q, findings %q", c, v.word(), v.Findings)
		}
	}
}

func parameters(t *testing.T, tests int) *gopter.TestParameters {
	t.Helper()
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	p := gopter.DefaultTestParametersWithSeed(seed)
	p.MinSuccessfulTests = tests
	return p
}

// TestAlteredByte: any byte of a good packet altered is a rejection, unless it
// only changes what S alone can know.
func TestAlteredByte(t *testing.T) {
	good := map[string]Observed{}
	for name, s := range samples(t) {
		o := s.observed(t)
		if name == "S's failure" {
			o.Exit.Status = 1
		}
		good[name] = o
	}
	names := slices.Sorted(maps.Keys(good))
	properties := gopter.NewProperties(parameters(t, 2000))
	properties.Property("rejected, or attested", prop.ForAll(func(which, at int, b byte) string {
		o := good[names[which]]
		before := o.Packet
		o.Packet = bytes.Clone(before)
		at %= len(o.Packet)
		if o.Packet[at] == b {
			return ""
		}
		o.Packet[at] = b
		switch v := Judge(o); {
		case v.Accepted && names[which] == "S's failure":
			return "a failure became a success"
		case v.Accepted:
			return unattested(t, before, o.Packet)
		}
		return ""
	}, gen.IntRange(0, len(names)-1), gen.IntRange(0, 1<<20), gen.OneGenOf(gen.UInt8(), gen.UInt8Range(0x20, 0x7e), gen.UInt8Range('0', '9'))))
	properties.Property("any altered stream is rejected", prop.ForAll(func(which, at int, b byte) bool {
		s := newSample(t, "{\"engine\":\"e\"}\n", "notes", "{\"sink\":1}\n")
		o := s.observed(t)
		text := []string{s.report, s.diagnostic, s.sink}[which]
		altered := []byte(text)
		altered[at%len(altered)] ^= b
		into := []*Stream{&o.Report, &o.Diagnostic, &o.Sink}[which]
		into.SHA256 = digestOf(string(altered))
		return Judge(o).word() == protocol
	}, gen.IntRange(0, 2), gen.IntRange(0, 100), gen.UInt8Range(1, 255)))
	properties.TestingRun(t)
}

// unattested names a difference between two packets that a host must see.
func unattested(t *testing.T, before, after []byte) string {
	t.Helper()
	a, b := map[string]any{}, map[string]any{}
	for packet, into := range map[string]map[string]any{string(before): a, string(after): b} {
		var document any
		if err := json.Unmarshal([]byte(packet), &document); err != nil {
			return err.Error()
		}
		flatten("", document, into)
	}
	for path, value := range a {
		known := slices.ContainsFunc(Attested(), func(p string) bool { return path == p || strings.HasPrefix(path, p+".") })
		counted := strings.HasPrefix(path, "usage.job.resources.") && strings.HasSuffix(path, "_bytes.used")
		if b[path] != value && (!known || counted) {
			return fmt.Sprintf("%s: %v became %v and was accepted", path, value, b[path])
		}
	}
	if len(a) != len(b) {
		return "accepted with other members"
	}
	return ""
}

func flatten(path string, value any, into map[string]any) {
	object, ok := value.(map[string]any)
	if !ok {
		into[strings.TrimPrefix(path, ".")] = value
		return
	}
	for name, inner := range object {
		flatten(path+"."+name, inner, into)
	}
}

// FuzzDecode: no packet makes the decoder fail, and what it takes for a record
// is one line of strict JSON that it takes again.
func FuzzDecode(f *testing.F) {
	for _, s := range samples(f) {
		f.Add(s.packet(f))
	}
	f.Add([]byte("{}\n"))
	f.Add([]byte(`{"a":1,"a":2}` + "\n"))
	f.Add([]byte("[[[[[[[[[[[[]]]]]]]]]]]]\n"))
	seen := newSample(f, "{\"engine\":\"e\"}\n", "", "").observed(f)
	f.Fuzz(func(t *testing.T, packet []byte) {
		record, err := Decode(packet)
		if (record == nil) == (err == nil) {
			t.Fatalf("record %v with %v", record, err)
		}
		o := seen
		o.Packet = packet
		v := Judge(o)
		if v.word() == "contradiction" || v.Accepted && record == nil {
			t.Fatalf("%+v", v)
		}
		if record != nil && (!json.Valid(packet) || bytes.IndexByte(packet, '\n') != len(packet)-1) {
			t.Fatalf("taken for a record: %q", packet)
		}
	})
}

// A file of the named sink's name is S's to lose only if S can have made it.
func TestStrangerAtTheNamedSinkStays(t *testing.T) {
	target := filepath.Join(t.TempDir(), "sink")
	record := func(removed bool) []byte {
		return fmt.Appendf(nil, `{"complete":false,"cleanup":{"artifacts_removed":{"value":%t}}}`, removed)
	}
	if err := os.WriteFile(target, []byte("another's"), 0o600); err != nil {
		t.Fatal(err)
	}
	stood := identity(target)
	for name, c := range map[string]struct {
		before string
		record []byte
		ours   bool
	}{
		"S told nothing":             {"", nil, true},
		"S left something":           {"", record(false), true},
		"S says that it left none":   {"", record(true), false},
		"it stood there before":      {stood, nil, false},
		"another stood there before": {"1:2:3", nil, true},
	} {
		a := &attempt{manifest: Manifest{NamedSink: true, Sink: File{Target: target}, Before: c.before}}
		if got := a.named(Verdict{Record: c.record}); got != c.ours {
			t.Errorf("%s: ours %t, want %t", name, got, c.ours)
		}
	}
}

func TestProvisionalNameHasRoom(t *testing.T) {
	id := strings.Repeat("a", 32)
	for _, size := range []int{1, 213, 214, 220, 255} {
		name := filepath.Base(provisional("/x/"+strings.Repeat("n", size), id))
		if len(name) > 255 || !strings.HasSuffix(name, "."+id+".partial") || !strings.HasPrefix(name, ".n") {
			t.Errorf("%d bytes: %q of %d", size, name, len(name))
		}
	}
}
