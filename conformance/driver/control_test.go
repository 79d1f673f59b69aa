package driver

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

func TestRendezvousPokesObservesAndContinues(t *testing.T) {
	for _, step := range []string{"producer", "producer-init"} {
		s := meeting()
		s.Fixture.Args, s.Fixture.PayloadFile = map[string]string{"word": "given"}, "payload.bin"
		s.Controls = []scenario.Rule{
			{Trigger: scenario.Trigger{Kind: scenario.AtRendezvous, N: 1}, Action: scenario.Action{Kind: scenario.DoPoke, Value: scenario.ValueSupervisorPID}},
			rendezvous(1, scenario.DoObserve, scenario.Producer),
			rendezvous(3, scenario.DoObserve, scenario.Supervisor),
		}
		a := attempted(t, s, fake(t, step, "publish", "close=report", "close=diagnostic", "packet=m", "exit=0"))
		exit, _ := a.Exit()
		if want := fmt.Sprintf("poked %d\nend given\n", exit.Body.PID); string(a.DiagnosticBytes()) != want {
			t.Errorf("%s: diagnostics %q, want %q", step, a.DiagnosticBytes(), want)
		}
		if string(a.ReportBytes()) != "abcpayload\n" {
			t.Errorf("%s: report %q", step, a.ReportBytes())
		}
		wantControls(t, a, "done", "done", "done")
		met := evidence.All[evidence.Rendezvous](a)
		if len(met) != 3 {
			t.Fatalf("%s: %d meetings", step, len(met))
		}
		for i, want := range []uint64{0, 3, 11} {
			if m := met[i].Body; m.Point != uint32(i+1) || m.CandidateBytes != want || m.Parked != (step == "producer-init") {
				t.Errorf("%s: meeting %d: %+v", step, i, m)
			}
		}
		o, _ := evidence.First[evidence.Observe](a)
		numbers := []int{}
		for _, d := range o.Body.Descriptors {
			numbers = append(numbers, d.Number)
		}
		if o.Body.Who != "producer" || !slices.Equal(numbers, []int{0, 1, 2, 77}) || o.Body.PPID != exit.Body.PID ||
			o.Body.Descriptors[1].Name != "diagnostic" || o.Body.Descriptors[1].Access != "w" || len(o.Body.UIDs) != 4 ||
			o.Body.Namespaces.Mount != o.Body.SupervisorNamespaces.Mount || o.Body.Threads != 1 {
			t.Errorf("%s: observed %+v", step, o.Body)
		}
	}
}

func TestProducerIsKilledAtAPoint(t *testing.T) {
	s := meeting()
	s.Controls = []scenario.Rule{rendezvous(2, scenario.DoKill, scenario.Producer)}
	a := attempted(t, s, fake(t, "producer", "publish", "exit=1"))
	wantExit(t, a, 1, 0)
	wantControls(t, a, "done")
	if string(a.ReportBytes()) != "abc" || !strings.Contains(string(a.DiagnosticBytes()), "producer signal 9") {
		t.Errorf("report %q diagnostics %q", a.ReportBytes(), a.DiagnosticBytes())
	}
	if met := evidence.All[evidence.Rendezvous](a); len(met) != 2 || met[1].Body.CandidateBytes != 3 {
		t.Errorf("meetings %+v", met)
	}
}

func TestSupervisorIsKilledAfterExactlySoManyBytes(t *testing.T) {
	s := meeting()
	s.Controls = []scenario.Rule{
		{Trigger: scenario.Trigger{Kind: scenario.AtBytes, Channel: "report", N: 5}, Action: scenario.Action{Kind: scenario.DoObserve, Who: "supervisor"}},
		{Trigger: scenario.Trigger{Kind: scenario.AtBytes, Channel: "report", N: 5}, Action: scenario.Action{Kind: scenario.DoKill, Who: "supervisor"}},
		{Trigger: scenario.Trigger{Kind: scenario.AtPacket}, Action: scenario.Action{Kind: scenario.DoCancel}},
	}
	a := attempted(t, s, fake(t, "report=0123456789", "hang"))
	wantExit(t, a, 0, 9)
	wantControls(t, a, "done", "done", "not-reached")
	first, _ := evidence.First[evidence.Bytes](a)
	if first.Body.Size != 5 || string(a.ReportBytes()) != "0123456789" {
		t.Errorf("first read %d bytes, report %q", first.Body.Size, a.ReportBytes())
	}
}

func TestTimedCancelAndSignals(t *testing.T) {
	s := meeting()
	s.Controls = []scenario.Rule{{Trigger: scenario.Trigger{Kind: scenario.AtTime, N: 150}, Action: scenario.Action{Kind: scenario.DoCancel}}}
	a := attempted(t, s, fake(t, "hang"))
	wantExit(t, a, 0, 15)
	if took, _ := a.Elapsed(); took < 150*time.Millisecond || took > 5*time.Second {
		t.Errorf("took %v, want a little over 150 ms", took)
	}
	if late := a.Lateness(); late <= 0 || late > 5*time.Second {
		t.Errorf("lateness %v: every timed wait ends a little late", late)
	}
}

func TestStoppedSupervisorIsContinuedAtALaterPoint(t *testing.T) {
	s := meeting()
	s.Controls = []scenario.Rule{rendezvous(1, scenario.DoStop, scenario.Supervisor), rendezvous(3, scenario.DoObserve, scenario.Supervisor),
		rendezvous(3, scenario.DoContinue, scenario.Supervisor)}
	a := attempted(t, s, fake(t, "producer", "publish", "exit=0"))
	wantExit(t, a, 0, 0)
	wantControls(t, a, "done", "done", "done")
	if o, ok := evidence.First[evidence.Observe](a); !ok || o.Body.State != "T" {
		t.Errorf("observed %+v, want a stopped supervisor", o.Body)
	}
}

// A cancellation waits for a supervisor that stands still, and is its end once it goes on.
func TestStoppedSupervisorIsCancelledAndContinuedInTime(t *testing.T) {
	stopped := func(ms uint64) scenario.Trigger { return scenario.Trigger{Kind: scenario.AtStopped, N: ms} }
	s := meeting()
	s.Controls = []scenario.Rule{rendezvous(1, scenario.DoStop, scenario.Supervisor), rendezvous(1, scenario.DoCancel, ""),
		{Trigger: stopped(300), Action: scenario.Action{Kind: scenario.DoContinue, Who: scenario.Supervisor}}}
	a := attempted(t, s, fake(t, "producer", "publish", "exit=0"))
	wantExit(t, a, 0, 15)
	wantControls(t, a, "done", "done", "done")
	if took, _ := a.Elapsed(); took < 300*time.Millisecond {
		t.Errorf("took %v, want at least the 300 ms of the stop", took)
	}
}

// One that goes on by itself has met nothing in one batch.
func TestSupervisorThatDoesNotStandStillIsNotContinued(t *testing.T) {
	s := meeting()
	s.Controls = []scenario.Rule{rendezvous(1, scenario.DoStop, scenario.Supervisor), rendezvous(2, scenario.DoContinue, scenario.Supervisor),
		rendezvous(3, scenario.DoContinue, scenario.Supervisor)}
	a := attempted(t, s, fake(t, "producer", "publish", "exit=0"))
	wantControls(t, a, "done", "done", "failed")
}

func TestProducerIsReapedAndItsDiagnosticsAreHeld(t *testing.T) {
	s := meeting()
	s.Controls = []scenario.Rule{rendezvous(1, scenario.DoHold, ""),
		{Trigger: scenario.Trigger{Kind: scenario.AtReaped}, Action: scenario.Action{Kind: scenario.DoObserve, Who: scenario.Supervisor}}}
	s.Controls[0].Action.Channel = scenario.ChannelDiagnostic
	a := attempted(t, s, fake(t, "producer", "publish", "sleep-ms=200", "exit=0"))
	wantExit(t, a, 0, 0)
	wantControls(t, a, "done", "done")
	if _, given := evidence.First[evidence.Watchdog](a); given {
		t.Error("what was held was not given up at the supervisor's end")
	}
}

func TestHeldProducerIsContinuedByALaterRule(t *testing.T) {
	s := meeting()
	s.Controls = []scenario.Rule{rendezvous(2, scenario.DoStop, scenario.Producer),
		{Trigger: scenario.Trigger{Kind: scenario.AtTime, N: 400}, Action: scenario.Action{Kind: scenario.DoContinue, Who: scenario.Producer}}}
	a := attempted(t, s, fake(t, "producer", "publish", "exit=0"))
	wantExit(t, a, 0, 0)
	wantControls(t, a, "done", "done")
	met := evidence.All[evidence.Rendezvous](a)
	if len(met) != 3 {
		t.Fatalf("%d meetings, want 3", len(met))
	}
	if at, _ := a.Since(met[2].Mono); at < 400*time.Millisecond {
		t.Errorf("point 3 came after %v, before the producer was continued", at)
	}
}

func TestPacedReaderTakesItsTime(t *testing.T) {
	s := meeting()
	s.Paces = []scenario.Pace{{Channel: "report", Bytes: 4096, EveryMS: 50}}
	s.Controls = []scenario.Rule{
		{Trigger: scenario.Trigger{Kind: scenario.AtSpawn}, Action: scenario.Action{Kind: scenario.DoPause, Channel: "diagnostic"}},
		{Trigger: scenario.Trigger{Kind: scenario.AtEOF, Channel: "report"}, Action: scenario.Action{Kind: scenario.DoResume, Channel: "diagnostic"}},
	}
	text := strings.Repeat("r", 16_384)
	a := attempted(t, s, fake(t, "diagnostic=d", "report="+text, "close=report", "sleep-ms=400", "exit=0"))
	reads := evidence.All[evidence.Bytes](a)
	if string(a.ReportBytes()) != text || string(a.DiagnosticBytes()) != "d" || len(reads) != 5 {
		t.Fatalf("%d reads, %d report bytes, diagnostics %q", len(reads), len(a.ReportBytes()), a.DiagnosticBytes())
	}
	if took := time.Duration(reads[3].Mono - reads[0].Mono); took < 150*time.Millisecond {
		t.Errorf("four intervals took %v, want at least three times 50 ms", took)
	}
	if reads[4].Body.Channel != "diagnostic" {
		t.Errorf("the paused reader read early: %+v", reads)
	}
}

func TestClosedEndpointIsGone(t *testing.T) {
	s := meeting()
	s.Controls = []scenario.Rule{{Trigger: scenario.Trigger{Kind: scenario.AtBytes, Channel: "diagnostic", N: 1}, Action: scenario.Action{Kind: scenario.DoClose, Channel: "report"}}}
	a := attempted(t, s, fake(t, "diagnostic=d", "sleep-ms=100", "report=x", "exit=0"))
	wantExit(t, a, 0, 13)
	if _, ended := a.Ended("report"); ended || len(a.ReportBytes()) != 0 {
		t.Errorf("report %q", a.ReportBytes())
	}
}

func TestHangIsEndedByTheWatchdog(t *testing.T) {
	s := meeting()
	s.HangMS = 300
	a := attempted(t, s, fake(t, "orphan", "report=x", "hang"))
	wantExit(t, a, 0, 9)
	w, ok := evidence.First[evidence.Watchdog](a)
	if !ok || w.Body.LimitMS != 300 || w.Body.Waiting != "exit" {
		t.Errorf("watchdog %+v", w)
	}
	if string(a.ReportBytes()) != "x" || len(leftovers(a)) != 0 {
		t.Errorf("report %q leftovers %q", a.ReportBytes(), leftovers(a))
	}
}

func TestFloodIsEndedByTheWatchdog(t *testing.T) {
	s := meeting()
	a := attempted(t, s, fake(t, "orphan", "flood"))
	wantExit(t, a, 0, 9)
	w, ok := evidence.First[evidence.Watchdog](a)
	if !ok || w.Body.Waiting != "bytes" {
		t.Errorf("watchdog %+v", w)
	}
	granted := int(s.Grants.Resolve().Diagnostic)
	if got := len(a.DiagnosticBytes()); got <= granted+floodSlack || got > granted+floodSlack+(1<<20) {
		t.Errorf("%d bytes kept of a flood", got)
	}
}

// What ends by the driver's own killing is no event of the scenario.
func TestNothingIsDueOnceTheDriverEndsTheAttempt(t *testing.T) {
	s := meeting()
	s.HangMS = 1500
	s.Controls = []scenario.Rule{rendezvous(1, scenario.DoStop, scenario.Producer),
		{Trigger: scenario.Trigger{Kind: scenario.AtGone}, Action: scenario.Action{Kind: scenario.DoCancel}}}
	a := attempted(t, s, fake(t, "producer", "publish", "exit=0"))
	wantExit(t, a, 0, 9)
	wantControls(t, a, "done", "not-reached")
}

// A stopped supervisor is not waited for once the producer has ended without
// the call at which it was to go on.
func TestSupervisorThatNothingContinuesIsNotWaitedFor(t *testing.T) {
	s := meeting()
	s.Controls = []scenario.Rule{rendezvous(1, scenario.DoStop, scenario.Supervisor),
		{Trigger: scenario.Trigger{Kind: scenario.AtCreating}, Action: scenario.Action{Kind: scenario.DoContinue, Who: scenario.Supervisor}}}
	a := attempted(t, s, fake(t, "producer", "publish", "exit=0"))
	wantExit(t, a, 0, 9)
	wantControls(t, a, "done", "not-reached")
	w, ok := evidence.First[evidence.Watchdog](a)
	if !ok || w.Body.Waiting != "call" || w.Body.LimitMS >= s.HangLimit(0) {
		t.Errorf("watchdog %+v, want an end before the %d ms of a hang", w.Body, s.HangLimit(0))
	}
}
