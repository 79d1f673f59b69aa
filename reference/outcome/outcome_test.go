package outcome_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"

	"touchstone/contracts"
	"touchstone/reference/outcome"
)

var refusal = outcome.ReportBudget(outcome.BudgetJSON, 10, 10, 1)

var missingTrailer = outcome.ChannelFailed(contracts.ChannelSink, outcome.ReasonProtocol)

func verified() outcome.Observation {
	return outcome.SinkSettled(outcome.SinkVerified, outcome.Failure{})
}

// ranked is the evidence of one batch in R19's order; its neighbours tie only
// where the contract says that they do not.
var ranked = []struct {
	name  string
	batch []outcome.Observation
	code  string
}{
	{"cancellation", seen(outcome.Cancellation()), contracts.CodeRunAborted},
	{"process", seen(outcome.CreationCall("clone")), contracts.CodeRunProcessRefused},
	{"diagnostic budget", seen(outcome.DiagnosticOverflow(5)), contracts.CodeDiagnosticBudgetExceeded},
	{"report budget", seen(outcome.CandidateSettled(outcome.Overflowed, refusal)), contracts.CodeReportBudgetExceeded},
	{"report transport", seen(outcome.TransportFailure(contracts.ChannelReport, outcome.ReasonIO)), "report/io"},
	{"sink storage", seen(outcome.SpoolFailure()), "sink_io"},
	{"diagnostic transport", seen(outcome.TransportFailure(contracts.ChannelDiagnostic, outcome.ReasonPeerClosed)), "diagnostic/peer_closed"},
	{"malformed", seen(outcome.CandidateSettled(outcome.Malformed, outcome.Failure{})), "candidate/protocol"},
	{"stall", seen(outcome.Stall(contracts.ChannelReport, 7)), "report/deadline"},
	{"expiry", seen(outcome.Expiry(contracts.StageRun, 7)), contracts.CodeRunDeadlineExceeded},
	{"producer", seen(outcome.ProducerEnded(outcome.Status{Exit: 3})), contracts.CodeRunProducerFailed},
	{"end of sink", seen(outcome.ProducerEnded(outcome.Status{}),
		outcome.SinkSettled(outcome.SinkRefused, missingTrailer)), "sink/protocol"},
	{"end of file", seen(outcome.ProducerEnded(outcome.Status{}), verified(),
		outcome.CandidateSettled(outcome.Fragment, outcome.Failure{})), "candidate/protocol"},
	{"success", seen(outcome.ProducerEnded(outcome.Status{}), verified(),
		outcome.CandidateSettled(outcome.Successful, outcome.Failure{})), ""},
}

func seen(o ...outcome.Observation) []outcome.Observation { return o }

// name is the code, or channel/reason for a channel failure.
func name(f *outcome.Failure) string {
	switch {
	case f == nil:
		return ""
	case f.Code == contracts.CodeReportChannelFailed:
		return fmt.Sprintf("%s/%s", f.Args[0].Value, f.Args[1].Value)
	case f.Code == contracts.CodeReportSinkFailed:
		return fmt.Sprint(f.Args[0].Value)
	}
	return f.Code
}

// contradict reports whether both settle the candidate, or both the producer: two of those in
// one batch would contradict each other.
func contradict(i, j int) bool {
	settling := func(i int) bool {
		n := ranked[i].name
		return n == "report budget" || n == "malformed" || n == "end of file" || n == "success"
	}
	ending := func(i int) bool {
		n := ranked[i].name
		return n == "producer" || n == "end of file" || n == "end of sink" || n == "success"
	}
	return settling(i) && settling(j) || ending(i) && ending(j)
}

// TestOrderOfOneBatch is R19's table, pair by pair, in both orders (T29.09 to T29.47).
func TestOrderOfOneBatch(t *testing.T) {
	for i := range ranked {
		for j := i; j < len(ranked); j++ {
			if contradict(i, j) && i != j {
				continue
			}
			for _, batch := range [][]outcome.Observation{
				slices.Concat(ranked[i].batch, ranked[j].batch),
				slices.Concat(ranked[j].batch, ranked[i].batch),
			} {
				m := outcome.New(outcome.Inherited)
				m.Observe(batch...)
				if got := name(m.Failure()); got != ranked[i].code {
					t.Errorf("%s with %s: got %q, want %q", ranked[i].name, ranked[j].name, got, ranked[i].code)
				}
			}
		}
	}
}

// TestEarlierWins: whatever was latched stays, whatever comes later (T29.52 to T29.55).
func TestEarlierWins(t *testing.T) {
	for i := range len(ranked) - 1 {
		for j := range ranked {
			ended := ranked[i].name == "producer" || ranked[i].name == "end of sink"
			if contradict(i, j) || ended && (ranked[j].name == "report budget" || ranked[j].name == "malformed") {
				continue // settles the ended producer's own candidate: see TestRefinement
			}
			m := outcome.New(outcome.Inherited)
			m.Observe(ranked[i].batch...)
			m.Observe(ranked[j].batch...)
			if got := name(m.Failure()); got != ranked[i].code {
				t.Errorf("%s, then %s: got %q, want %q", ranked[i].name, ranked[j].name, got, ranked[i].code)
			}
		}
	}
}

// TestRefinement: the producer's end is worded by its own candidate, seen
// before, with or after it (T29.48 to T29.51, T29.56, T29.58, T11.12, T26.06).
func TestRefinement(t *testing.T) {
	exit, signal, clean := outcome.Status{Exit: 3}, outcome.Status{Signal: 9}, outcome.Status{}
	claim := outcome.ProducerFailed(clean, true)
	protocol := outcome.ChannelFailed(contracts.ChannelCandidate, outcome.ReasonProtocol)
	for _, c := range []struct {
		status     outcome.Status
		settlement outcome.Settlement
		want       *outcome.Failure
	}{
		{clean, outcome.Successful, nil},
		{clean, outcome.Claimed, &claim},
		{clean, outcome.Fragment, &protocol},
		{clean, outcome.Malformed, &protocol},
		{clean, outcome.Overflowed, &refusal},
		{exit, outcome.Claimed, &claim},
		{signal, outcome.Claimed, &claim},
		{exit, outcome.Malformed, &protocol},
		{signal, outcome.Overflowed, &refusal},
		{exit, outcome.Fragment, new(outcome.ProducerFailed(exit, false))},
		{signal, outcome.Fragment, new(outcome.ProducerFailed(signal, false))},
		{exit, outcome.Successful, new(outcome.ProducerFailed(exit, false))},
		{signal, outcome.Lost, new(outcome.ProducerFailed(signal, false))},
	} {
		end := outcome.ProducerEnded(c.status)
		settled := outcome.CandidateSettled(c.settlement, refusal)
		for order, batches := range [][][]outcome.Observation{
			{{end}, {settled}}, {{settled}, {end}}, {{end, settled}}, {{settled, end}},
		} {
			var m outcome.Machine
			for _, batch := range batches {
				m.Observe(batch...)
			}
			if diff := cmp.Diff(c.want, m.Failure()); diff != "" {
				t.Errorf("%+v with settlement %d, order %d (-want +got):\n%s", c.status, c.settlement, order, diff)
			}
		}
	}
}

// TestLaterBytesOfAnEndedProducer: an exit that was waited for is not replaced
// by diagnostics that were still buffered (T29.53).
func TestLaterBytesOfAnEndedProducer(t *testing.T) {
	var m outcome.Machine
	m.Observe(outcome.ProducerEnded(outcome.Status{Exit: 7}))
	m.Observe(outcome.DiagnosticOverflow(4096))
	m.Observe(outcome.CandidateSettled(outcome.Fragment, outcome.Failure{}))
	if got := name(m.Failure()); got != contracts.CodeRunProducerFailed {
		t.Errorf("got %q, want %q", got, contracts.CodeRunProducerFailed)
	}
}

// TestExpiries: of P and W the earlier instant is the cause; equal, P is (C-52).
func TestExpiries(t *testing.T) {
	for _, c := range []struct {
		stall, lifetime time.Duration
		want            string
	}{{5, 7, "report/deadline"}, {7, 7, "report/deadline"}, {8, 7, contracts.CodeRunDeadlineExceeded}} {
		var m outcome.Machine
		m.Observe(outcome.Expiry(contracts.StagePublish, c.lifetime), outcome.Stall(contracts.ChannelReport, c.stall))
		if got := name(m.Failure()); got != c.want {
			t.Errorf("P at %d, W at %d: got %q, want %q", c.stall, c.lifetime, got, c.want)
		}
	}
}

// attempt plays the loop: it answers each action as the kernel would, after a
// random delay, while random evidence arrives.
type attempt struct {
	random  *rand.Rand
	machine outcome.Machine
	actions []outcome.Action
	pending []outcome.Observation
	status  outcome.Status
	ended   bool
	late    bool // a failure of publication was answered
	misled  bool // the machine foretold a success that did not come, or did not
}

func (a *attempt) end(status outcome.Status) {
	if !a.ended {
		a.ended = true
		a.pending = append(a.pending, outcome.ProducerEnded(status))
	}
}

func (a *attempt) answer(action outcome.Action) {
	switch action {
	case outcome.RequestStop:
		a.pending = append(a.pending, outcome.GraceOver())
	case outcome.Kill:
		a.end(outcome.Status{Signal: 9})
		a.pending = append(a.pending, outcome.DomainEnded(), outcome.DiagnosticsRead(), outcome.DiagnosticsDone())
	case outcome.Dismiss:
		a.dismiss()
	case outcome.KillFinalizer:
		a.pending = append(a.pending, outcome.FinalizerEnded())
	case outcome.PublishSink:
		a.deliver(outcome.SinkDelivered())
	case outcome.PublishName:
		a.deliver(outcome.TargetNamed())
	case outcome.AskSurvivors:
		a.pending = append(a.pending, outcome.SurvivorsAnswered(a.random.IntN(8) == 0))
	case outcome.PublishReport, outcome.PublishClaim, outcome.PublishReplacement:
		a.pending = append(a.pending, outcome.ReportDone())
	}
}

// play runs one attempt and returns the latched codes it went through.
func (a *attempt) play(own []outcome.Observation) []string {
	if a.status != (outcome.Status{Exit: waits}) {
		a.end(a.status)
	}
	a.pending = append(a.pending, own...)
	a.pending = append(a.pending, outcome.CandidateSettled(outcome.Settlement(1+a.random.IntN(5)), refusal))
	var codes []string
	for range 200 {
		a.random.Shuffle(len(a.pending), func(i, j int) { a.pending[i], a.pending[j] = a.pending[j], a.pending[i] })
		n := min(len(a.pending), 1+a.random.IntN(3))
		a.machine.Observe(a.pending[:n]...)
		a.pending = a.pending[n:]
		if f := a.machine.Failure(); f != nil {
			codes = append(codes, name(f))
			a.giveUp()
		}
		commits, from := a.machine.Commits(), len(a.actions)
		for {
			action := a.machine.Next()
			if action == outcome.Wait {
				break
			}
			a.actions = append(a.actions, action)
			a.answer(action)
		}
		a.misled = a.misled || commits != slices.ContainsFunc(a.actions[from:], func(action outcome.Action) bool {
			return action == outcome.PublishSink || action == outcome.PublishReport || action == outcome.PublishName
		})
		if slices.Contains(a.actions, outcome.Finish) {
			break
		}
	}
	return slices.Compact(codes)
}

func TestAttemptProperties(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("gopter seed %d", seed)
	parameters := gopter.DefaultTestParametersWithSeed(seed)
	parameters.MinSuccessfulTests = 2000
	properties := gopter.NewProperties(parameters)
	properties.Property("every attempt finishes once, with one cause, in a lawful order", prop.ForAll(
		func(seed uint64, picks []int, exit int) string {
			a := attempt{random: rand.New(rand.NewPCG(seed, 1)), status: outcome.Status{Exit: exit}}
			var own []outcome.Observation
			for _, pick := range picks {
				own = append(own, ranked[pick].batch...)
			}
			return judge(&a, a.play(own))
		},
		gen.UInt64(), gen.SliceOfN(2, gen.OneConstOf(0, 1, 2, 4, 5, 6, 8, 9)).Map(func(p []int) []int {
			return p[:len(p)*int(uint(p[0])%2)]
		}), gen.OneConstOf(0, 0, 0, 7)))
	properties.TestingRun(t)
}

// judge returns what is wrong with an attempt, "" if nothing is.
func judge(a *attempt, codes []string) string {
	count := func(action outcome.Action) (n int) {
		for _, each := range a.actions {
			if each == action {
				n++
			}
		}
		return n
	}
	published := count(outcome.PublishReport) + count(outcome.PublishClaim) + count(outcome.PublishReplacement)
	switch {
	case a.misled:
		return fmt.Sprintf("a success not foretold: %v", a.actions)
	case count(outcome.Finish) != 1:
		return fmt.Sprintf("did not finish: %v", a.actions)
	case a.actions[len(a.actions)-1] != outcome.Finish:
		return fmt.Sprintf("acts after the end: %v", a.actions)
	case published > 1:
		return fmt.Sprintf("published twice: %v", a.actions)
	case count(outcome.Kill) != 1:
		return fmt.Sprintf("domain ended %d times: %v", count(outcome.Kill), a.actions)
	case count(outcome.PublishReport) == 0 && len(codes) == 0:
		return fmt.Sprintf("neither report nor cause: %v", a.actions)
	case a.machine.Expired() != slices.Contains(codes, contracts.CodeRunDeadlineExceeded) && len(codes) == 0:
		return "lifetime over without a cause"
	case len(codes) > 2 || len(codes) == 2 && codes[0] != contracts.CodeRunProducerFailed:
		return fmt.Sprintf("cause replaced: %v", codes)
	}
	return ""
}

func FuzzObserve(f *testing.F) {
	f.Add([]byte{0, 3, 9, 11})
	f.Add([]byte{10, 255, 12, 1})
	f.Fuzz(func(t *testing.T, order []byte) {
		var m outcome.Machine
		var latched string
		for _, b := range order {
			m.Observe(ranked[int(b)%len(ranked)].batch...)
			for m.Next() != outcome.Wait {
				if m.Failure() != nil && m.Publishing() {
					continue
				}
			}
			now := name(m.Failure())
			if latched != "" && now != latched && latched != contracts.CodeRunProducerFailed && latched != "sink/protocol" {
				t.Fatalf("cause %q became %q", latched, now)
			}
			latched = now
		}
	})
}
