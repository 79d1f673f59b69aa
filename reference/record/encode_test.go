package record_test

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"touchstone/contracts"
	"touchstone/reference/outcome"
	"touchstone/reference/record"
)

var update = flag.Bool("update", false, "rewrite the readable records")

// numbered hands out different numbers, so that no two members can be mixed up.
type numbered struct{ last int64 }

func (n *numbered) next() int64 { n.last += 7; return n.last }

func (n *numbered) some() *int64 { return new(n.next()) }

func (n *numbered) limit() record.Limit { return record.Limit{n.some(), n.some(), n.some()} }

func (n *numbered) hash() *string {
	return new(strings.Repeat("0123456789abcdef"[n.next()%16:][:1], 64))
}

func (n *numbered) channel(first bool) record.Channel {
	return record.Channel{Observed: n.next(), Accepted: n.next(), Written: n.some(), Limit: n.some(),
		Truncated: first, Complete: !first, SourceTotalKnown: first, SHA256: n.hash()}
}

// filled has every member.
func filled() record.Terminal {
	var n numbered
	yes, no := true, false
	t := terminal(new(outcome.ReportBudget(outcome.BudgetAggregate, 9, 0, 10)), n.next())
	t.Invocation = contracts.InvocationEntrypoint
	t.Producer = record.Producer{Stage: new(contracts.StageRun), Exit: n.some(), Signal: n.some(), Omitted: true,
		Claim: &record.Claim{Code: "pine_runtime_limit", Authority: contracts.AuthorityProducer,
			Args: jsontext.Value(`{"limit":"a \"quoted\" é"}`)}}
	t.Limits = record.Limits{ReportBytes: n.limit(), DiagnosticBytes: n.limit(), WallMS: n.limit(), StallMS: n.limit(), SinkBytes: n.some()}
	t.Channels = record.Channels{Candidate: n.channel(true), Report: n.channel(false), Diagnostic: n.channel(true),
		Sink: record.Sink{Channel: n.channel(false), AcceptedSHA256: n.hash(), LogicalSHA256: n.hash()}}
	t.Sink = &record.Verification{Exit: n.some(), Signal: n.some(), Complete: true, SHA256: n.hash(),
		FinalizerVersion: new("version \"1\"\n"), Counts: record.Counts{n.some(), n.some(), n.some(), n.some(), n.some(), n.some(), n.some()}}
	t.Cleanup = record.Cleanup{ProducerReaped: &yes, DomainEmpty: &no}
	t.Usage.Job.Set("wall", contracts.SourceClock, record.Quantity{Used: n.some(), Peak: n.some(), Requested: n.some(), Limit: n.some()})
	t.Usage.Job.Set("open_fds", contracts.SourceFDObservation, record.Quantity{Peak: n.some(), Sampled: true, Scope: contracts.ScopeStageDomain})
	t.Usage.Job.Set("arena_capacity", contracts.SourceAdmission, record.Quantity{Limit: n.some()})
	return t
}

// TestEncodingIsTheReviewedOne: each value stands at its own name.
func TestEncodingIsTheReviewedOne(t *testing.T) {
	packet, err := filled().Encode()
	if err != nil {
		t.Fatal(err)
	}
	got := jsontext.Value(packet)
	if err := got.Indent(); err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	const golden = "testdata/filled.json"
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the record differs from %s; review, then -update", golden)
	}
}
