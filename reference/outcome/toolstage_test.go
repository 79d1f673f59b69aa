package outcome_test

import (
	"math/rand"
	"testing"
	"time"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"

	"touchstone/contracts"
	"touchstone/reference/outcome"
)

// drive observes batches, and takes the actions that follow each.
func drive(s *outcome.ToolStage, batches ...[]outcome.Observation) (actions []outcome.Action) {
	for _, batch := range batches {
		s.Observe(batch...)
		for action := s.Next(); action != outcome.Wait; action = s.Next() {
			actions = append(actions, action)
		}
	}
	return actions
}

var (
	read  = seen(outcome.DiagnosticsRead())
	done  = seen(outcome.DiagnosticsDone())
	empty = seen(outcome.DomainEnded())
)

func exited(status int) []outcome.Observation {
	return seen(outcome.ProducerEnded(outcome.Status{Exit: status}))
}

// TestToolStages: what a tool does, and what its stage ends with.
func TestToolStages(t *testing.T) {
	overflow := seen(outcome.DiagnosticOverflow(9))
	for _, c := range []struct {
		name    string
		batches [][]outcome.Observation
		want    string
		genuine bool
	}{
		{"clean", [][]outcome.Observation{exited(0), empty, read, done}, "", false},
		{"failed", [][]outcome.Observation{exited(1), empty, read, done}, contracts.CodeRunProducerFailed, true},
		{"overflow after a failure", [][]outcome.Observation{exited(1), empty, overflow, read, done},
			contracts.CodeDiagnosticBudgetExceeded, false},
		{"overflow", [][]outcome.Observation{overflow, exited(0), empty}, contracts.CodeDiagnosticBudgetExceeded, false},
		{"stalled reader after a failure", [][]outcome.Observation{exited(1), empty, read,
			seen(outcome.Stall(contracts.ChannelDiagnostic, 5)), done}, "diagnostic/deadline", false},
		{"expiry", [][]outcome.Observation{seen(outcome.Expiry(contracts.StageCompile, 5)), exited(0), empty},
			contracts.CodeRunDeadlineExceeded, false},
		{"cancelled and failed at once", [][]outcome.Observation{append(exited(1), outcome.Cancellation()), empty},
			contracts.CodeRunAborted, false},
	} {
		var s outcome.ToolStage
		actions := drive(&s, c.batches...)
		if got := name(s.Failure()); got != c.want || s.Genuine() != c.genuine {
			t.Errorf("%s: got %q, genuine %t", c.name, got, s.Genuine())
		}
		if len(actions) == 0 || actions[len(actions)-1] != outcome.Finish {
			t.Errorf("%s: actions %v", c.name, actions)
		}
	}
}

// TestToolStageStops: a budget kills at once, the lifetime asks first (C-73).
func TestToolStageStops(t *testing.T) {
	for _, c := range []struct {
		cause outcome.Observation
		first outcome.Action
	}{{outcome.DiagnosticOverflow(9), outcome.Kill}, {outcome.Cancellation(), outcome.RequestStop},
		{outcome.Expiry(contracts.StagePrepare, 5), outcome.RequestStop}} {
		var s outcome.ToolStage
		actions := drive(&s, seen(c.cause), seen(outcome.GraceOver()))
		if actions[0] != c.first || actions[len(actions)-1] != outcome.Kill {
			t.Errorf("%s: %v", name(s.Failure()), actions)
		}
	}
}

// TestToolStageProperties: in every order, what ends a stage is an empty domain;
// a tool's own failure is told after the last byte, and evidence wins over it.
func TestToolStageProperties(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("gopter seed %d", seed)
	properties := gopter.NewProperties(gopter.DefaultTestParametersWithSeed(seed))
	properties.Property("order", prop.ForAll(func(seed int64, status int, overflow bool) bool {
		batches := [][]outcome.Observation{exited(status), empty, read, done}
		if overflow {
			batches = append(batches, seen(outcome.DiagnosticOverflow(9)))
		}
		rand.New(rand.NewSource(seed)).Shuffle(len(batches), func(i, j int) { batches[i], batches[j] = batches[j], batches[i] })
		var s outcome.ToolStage
		facts := map[string]bool{}
		for _, batch := range batches {
			finished := drive(&s, batch)
			for i, each := range map[string][]outcome.Observation{"empty": empty, "read": read, "done": done} {
				facts[i] = facts[i] || &batch[0] == &each[0]
			}
			if len(finished) > 0 && finished[len(finished)-1] == outcome.Finish {
				if !facts["empty"] || s.Genuine() && !(facts["read"] && facts["done"]) {
					return false
				}
			}
		}
		return s.Genuine() == (s.Failure() != nil && s.Failure().Code == contracts.CodeRunProducerFailed)
	}, gen.Int64(), gen.IntRange(0, 1), gen.Bool()))
	properties.TestingRun(t)
}
