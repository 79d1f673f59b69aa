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

// waits is the exit of a producer that ends only when it is told to.
const waits = -1

// dismiss is a producer that was turned away: it answers, or it has to be
// killed when its time is over.
func (a *attempt) dismiss() {
	a.pending = append(a.pending, outcome.GraceOver())
	if a.random.IntN(2) == 0 {
		a.end(outcome.Status{Exit: 1})
	}
}

// deliver is a publication that works, mostly.
func (a *attempt) deliver(done outcome.Observation) {
	if a.random.IntN(4) == 0 {
		a.pending = append(a.pending, outcome.SinkFailure(outcome.ReasonSinkIO))
		return
	}
	a.pending = append(a.pending, done)
}

// giveUp closes the data channels once a publication has failed, as S does.
func (a *attempt) giveUp() {
	if a.machine.Publishing() && !a.late {
		a.late = true
		a.pending = append(a.pending, outcome.SinkDelivered(), outcome.ReportDone())
	}
}

// settled is what a finalizer that ends by itself amounts to.
func (a *attempt) settled(route outcome.Route) []outcome.Observation {
	evidence := []outcome.Observation{verified(), verified(), outcome.SinkSettled(outcome.SinkRefused, missingTrailer),
		outcome.SinkFailure(outcome.ReasonSinkIO), outcome.SinkOverflow(9)}
	if route == outcome.Internal {
		evidence = append(evidence, outcome.SinkSettled(outcome.SinkUnused, outcome.Failure{}))
	}
	return seen(evidence[a.random.IntN(len(evidence))], outcome.FinalizerEnded())
}

func TestSinkProperties(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("gopter seed %d", seed)
	parameters := gopter.DefaultTestParametersWithSeed(seed)
	parameters.MinSuccessfulTests = 4000
	properties := gopter.NewProperties(parameters)
	properties.Property("every attempt with a sink finishes once, with one cause, in a lawful order", prop.ForAll(
		func(seed uint64, route, pick, exit int) string {
			a := attempt{random: rand.New(rand.NewPCG(seed, 1)), status: outcome.Status{Exit: exit}, machine: outcome.New(outcome.Route(route))}
			own := a.settled(outcome.Route(route))
			if pick >= 0 {
				own = append(own, ranked[pick].batch...)
			} else if exit == waits && !ends(outcome.Route(route), own) {
				a.status = outcome.Status{}
			}
			return judgeSink(&a, outcome.Route(route), a.play(own))
		},
		gen.UInt64(), gen.IntRange(1, 3), gen.OneConstOf(-1, -1, 0, 1, 2, 5, 8, 9), gen.OneConstOf(0, 0, 0, 7, waits)))
	properties.TestingRun(t)
}

// ends reports whether observations make a waiting producer end.
func ends(route outcome.Route, batch []outcome.Observation) bool {
	m := outcome.New(route)
	m.Observe(batch...)
	action := m.Next()
	return action == outcome.Kill || action == outcome.Dismiss
}

// judgeSink returns what is wrong with an attempt that has a sink.
func judgeSink(a *attempt, route outcome.Route, codes []string) string {
	at := func(action outcome.Action) int { return slices.Index(a.actions, action) }
	sink, report, name, finish := at(outcome.PublishSink), at(outcome.PublishReport), at(outcome.PublishName), at(outcome.Finish)
	success := len(codes) == 0
	switch {
	case finish != len(a.actions)-1:
		return fmt.Sprintf("finished at %d of %v", finish, a.actions)
	case len(slices.Compact(slices.Sorted(slices.Values(a.actions)))) != len(a.actions):
		return fmt.Sprintf("an action twice: %v", a.actions)
	case success != (a.machine.Failure() == nil), success && report < 0:
		return fmt.Sprintf("codes %v and actions %v", codes, a.actions)
	case sink >= 0 && route != outcome.Inherited, name >= 0 && route != outcome.Named:
		return fmt.Sprintf("route %d: %v", route, a.actions)
	case report >= 0 && route == outcome.Inherited && (sink < 0 || sink > report), name >= 0 && (report < 0 || report > name):
		return fmt.Sprintf("wrong order: %v", a.actions)
	case success && (route == outcome.Named) != (name >= 0):
		return fmt.Sprintf("success without its name: %v", a.actions)
	case (sink >= 0 || report >= 0) && (at(outcome.PublishReplacement) >= 0 || at(outcome.PublishClaim) >= 0):
		return fmt.Sprintf("a second document: %v", a.actions)
	case len(codes) > 2, len(codes) == 2 && !slices.Contains([]string{contracts.CodeRunProducerFailed, "sink/protocol"}, codes[0]):
		return fmt.Sprintf("cause replaced: %v", codes)
	}
	return ""
}

// TestDismissal: a producer that waits for a refused sink is turned away. What
// it answers to that is no evidence; what it does by itself is (C-67, T17.03,
// T29.57).
func TestDismissal(t *testing.T) {
	signal := outcome.Status{Signal: 11}
	for name, c := range map[string]struct {
		batches [][]outcome.Observation
		want    outcome.Failure
	}{
		"answers": {[][]outcome.Observation{seen(outcome.ProducerEnded(outcome.Status{Exit: 1}))}, missingTrailer},
		"goes on": {[][]outcome.Observation{seen(outcome.ProducerEnded(outcome.Status{}))}, missingTrailer},
		"is killed": {[][]outcome.Observation{seen(outcome.GraceOver()), seen(outcome.ProducerEnded(outcome.Status{Signal: 9}))},
			missingTrailer},
		"dies": {[][]outcome.Observation{seen(outcome.ProducerEnded(signal))}, outcome.ProducerFailed(signal, false)},
		"exits": {[][]outcome.Observation{seen(outcome.ProducerEnded(outcome.Status{Exit: 7}))},
			outcome.ProducerFailed(outcome.Status{Exit: 7}, false)},
		"claims": {[][]outcome.Observation{seen(outcome.ProducerEnded(outcome.Status{Exit: 1})),
			seen(outcome.CandidateSettled(outcome.Claimed, outcome.Failure{}))}, outcome.ProducerFailed(outcome.Status{Exit: 1}, true)},
		"W": {[][]outcome.Observation{seen(outcome.Expiry(contracts.StageFinalize, 5))}, outcome.DeadlineExceeded(contracts.StageFinalize)},
	} {
		m := outcome.New(outcome.Internal)
		m.Observe(outcome.SinkSettled(outcome.SinkRefused, missingTrailer), outcome.FinalizerEnded())
		if action := m.Next(); action != outcome.Dismiss || m.Failure() != nil {
			t.Errorf("%s: action %d, failure %v", name, action, m.Failure())
		}
		for _, batch := range c.batches {
			m.Observe(batch...)
			for m.Next() != outcome.Wait {
				continue
			}
		}
		if diff := cmp.Diff(&c.want, m.Failure()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestRefusedSinkWaits: beside an explicit sink nobody waits, so the producer's
// own end is awaited, however long (C-67, T26.14).
func TestRefusedSinkWaits(t *testing.T) {
	m := outcome.New(outcome.Named)
	m.Observe(outcome.SinkSettled(outcome.SinkRefused, missingTrailer), outcome.FinalizerEnded())
	if action := m.Next(); action != outcome.Wait || m.Failure() != nil || !m.AwaitsCandidate() || m.AwaitsSink() {
		t.Fatalf("action %d, failure %v", action, m.Failure())
	}
	m.Observe(outcome.ProducerEnded(outcome.Status{Exit: 3}))
	if got := name(m.Failure()); got != contracts.CodeRunProducerFailed {
		t.Errorf("got %s", got)
	}
}

// TestFinalizerLingers: it may finish what S has seen for itself, and the end of
// a producer that ended by itself, and nothing else (T12.04, T29.03).
func TestFinalizerLingers(t *testing.T) {
	for name, c := range map[string]struct {
		cause outcome.Observation
		kept  bool
	}{
		"overflow":     {outcome.SinkOverflow(9), true},
		"exit":         {outcome.ProducerEnded(outcome.Status{Exit: 3}), true},
		"cancellation": {outcome.Cancellation(), false},
		"W":            {outcome.Expiry(contracts.StageRun, 5), false},
		"diagnostics":  {outcome.DiagnosticOverflow(5), false},
	} {
		m := outcome.New(outcome.Inherited)
		killed := func() (killed bool) {
			for action := m.Next(); action != outcome.Wait; action = m.Next() {
				killed = killed || action == outcome.KillFinalizer
			}
			return killed
		}
		m.Observe(c.cause)
		if got := killed(); got == c.kept || m.AwaitsSink() != c.kept {
			t.Errorf("%s: killed %t, awaits %t", name, got, m.AwaitsSink())
		}
		m.Observe(outcome.GraceOver())
		if got := killed(); got != c.kept || m.AwaitsSink() {
			t.Errorf("%s: killed %t after the grace", name, got)
		}
	}
}
