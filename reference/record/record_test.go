package record_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"touchstone/contracts"
	"touchstone/reference/outcome"
	"touchstone/reference/record"
)

// failures has every cause that S can establish in this facade.
func failures() []outcome.Failure {
	return []outcome.Failure{
		outcome.RequestInvalid(), outcome.ModeUnsupported("STREAMED"),
		outcome.IsolationUnavailable(outcome.ReasonPlatform), outcome.ProcessRefused("clone3"),
		outcome.ReportBudget(outcome.BudgetAggregate, 9, 0, 10), outcome.DiagnosticBudget(4096),
		outcome.ChannelFailed(contracts.ChannelCandidate, outcome.ReasonProtocol), outcome.SinkFailed(outcome.ReasonSinkIO),
		outcome.DeadlineExceeded(contracts.StagePublish), outcome.Aborted(), outcome.InternalFault(),
		outcome.ProducerFailed(outcome.Status{Exit: 7}, false),
		outcome.ProducerFailed(outcome.Status{Signal: 9}, false),
		outcome.ProducerFailed(outcome.Status{Signal: 9}, true),
	}
}

// terminal returns a record with the cells of a run that was measured.
func terminal(failure *outcome.Failure, charged int64) record.Terminal {
	run := record.Started(contracts.ScopeStageProcess)
	run.Set("wall", contracts.SourceClock, record.Quantity{Used: record.Number(charged)})
	never := record.NotStarted()
	yes := true
	return record.Terminal{
		AttemptID: strings.Repeat("0a", 16), Invocation: contracts.InvocationRunJSON, Failure: failure,
		Charged:  charged,
		Channels: record.Channels{Sink: record.NoSink()},
		Usage: record.Usage{Version: 1, Job: record.Started(contracts.ScopeJobDomain), Stages: record.Stages{
			Prepare: never, Compile: never, Run: run, Finalize: never, Publish: never}},
		Cleanup: record.Cleanup{ProducerReaped: &yes},
	}
}

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	content, err := contracts.Schema("terminal.v1")
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("terminal.v1", document); err != nil {
		t.Fatal(err)
	}
	return compiler.MustCompile("terminal.v1")
}

func TestEveryCauseFitsTheSchema(t *testing.T) {
	compiled := schema(t)
	check := func(failure *outcome.Failure) {
		packet, err := terminal(failure, 12345).Encode()
		if err != nil {
			t.Fatal(err)
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(packet))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiled.Validate(document); err != nil {
			t.Errorf("%v: %v", failure, err)
		}
	}
	check(nil)
	for _, failure := range failures() {
		check(&failure)
	}
}

// TestFailureDocument compares with the contract's example, byte for byte, and
// holds every text against the catalog where the catalog fixes it.
func TestFailureDocument(t *testing.T) {
	got, err := record.FailureDocument(outcome.DiagnosticBudget(4096))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"engine":"pineforge","error":"The diagnostics exceed their admitted byte budget.",` +
		`"code":"diagnostic_budget_exceeded","args":{"cap_bytes":4096,"requested_bytes":1,"used_bytes":4096}}` + "\n"
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	codes := contracts.LoadCatalog().Codes
	for _, failure := range failures() {
		document, err := record.FailureDocument(failure)
		if err != nil {
			t.Fatal(err)
		}
		var read struct {
			Error string `json:"error"`
		}
		if err := json.Unmarshal(document, &read); err != nil {
			t.Fatal(err)
		}
		if english := codes[failure.Code].English; len(english) > 0 && read.Error != english[0] || read.Error == "" {
			t.Errorf("%s: got text %q, want %q", failure.Code, read.Error, english)
		}
	}
}

// TestExits: the direct facade has one number for usage and one for all else,
// the entrypoint one, and its early stages their own (T36.41).
func TestExits(t *testing.T) {
	for _, failure := range failures() {
		want := 1
		if failure.Code == contracts.CodeRunRequestInvalid {
			want = 2
		}
		for _, c := range []struct {
			invocation  string
			early, want int
		}{{contracts.InvocationRunJSON, 0, want}, {contracts.InvocationEntrypoint, 0, 4}, {contracts.InvocationEntrypoint, 5, 5}} {
			if got := record.ExitStatus(c.invocation, &failure, c.early); got != c.want {
				t.Errorf("%s: %s %d: got exit %d, want %d", c.invocation, failure.Code, c.early, got, c.want)
			}
		}
	}
	for _, invocation := range contracts.Invocations() {
		if got := record.ExitStatus(invocation, nil, 0); got != 0 {
			t.Errorf("%s: success: got exit %d, want 0", invocation, got)
		}
	}
}

// statusEntry is what a packet says about itself.
func statusEntry(t *testing.T, packet []byte) (length int64) {
	t.Helper()
	var read struct {
		Channels struct {
			Status struct {
				Observed int64 `json:"observed_bytes"`
				Accepted int64 `json:"accepted_bytes"`
				Written  int64 `json:"written_bytes"`
			} `json:"status"`
		} `json:"channels"`
	}
	if err := json.Unmarshal(packet, &read); err != nil {
		t.Fatal(err)
	}
	s := read.Channels.Status
	if s.Observed != s.Accepted || s.Accepted != s.Written {
		t.Fatalf("status lengths differ: %+v", s)
	}
	return s.Written
}

func TestLengthProperties(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("gopter seed %d", seed)
	properties := gopter.NewProperties(gopter.DefaultTestParametersWithSeed(seed))
	properties.Property("the packet states its own length, LF included, within the limit", prop.ForAll(
		func(charged int64, claim int) bool {
			record := claimed(charged, claim)
			packet, err := record.Encode()
			return err == nil && statusEntry(t, packet) == int64(len(packet)) && len(packet) <= 65536 &&
				bytes.HasSuffix(packet, []byte("}\n")) && jsontext.Value(packet[:len(packet)-1]).IsValid()
		}, gen.Int64Range(0, 1<<53-1), gen.IntRange(1, 70000)))
	properties.TestingRun(t)
}

// claimed has a claim whose args are size bytes and some.
func claimed(charged int64, size int) record.Terminal {
	r := terminal(&failures()[0], charged)
	r.Producer.Claim = &record.Claim{Code: "pine_runtime_limit", Authority: contracts.AuthorityProducer,
		Args: jsontext.Value(`{"limit":"` + strings.Repeat("x", size) + `"}`)}
	return r
}

// TestClaimGivesWay: the optional claim is left out when only it does not fit (T33.07).
func TestClaimGivesWay(t *testing.T) {
	for size, omitted := range map[int]bool{record.ProducerClaimBytes: false, record.TerminalBytes: true} {
		packet, err := claimed(1, size).Encode()
		if err != nil {
			t.Fatal(err)
		}
		if got := bytes.Contains(packet, []byte(`"failure_claim_omitted":true`)); got != omitted {
			t.Errorf("claim of %d bytes: omitted %t, want %t", size, got, omitted)
		}
	}
}

func TestNumber(t *testing.T) {
	for n, known := range map[int64]bool{-1: false, 0: true, 1<<53 - 1: true, 1 << 53: false} {
		if got := record.Number(n) != nil; got != known {
			t.Errorf("%d: known %t, want %t", n, got, known)
		}
	}
}
