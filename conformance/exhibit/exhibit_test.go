package exhibit

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
	"touchstone/reports"
)

const zero = 1_000_000

// recorded writes an attempt with one event of most kinds.
func recorded(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	wall := uint64(200)
	s, err := scenario.Encode(scenario.Scenario{Version: 1, Kind: scenario.Launch, Script: "T14-x", Grants: scenario.Grants{Wall: &wall},
		Cell: scenario.Cell{Facade: "direct", Profile: "jailed"}, Fixture: scenario.Fixture{Name: "plain"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{evidence.ScenarioFile: string(s), evidence.LauncherFile: "{}\n", evidence.LaunchFile: `{"argv":["x"]}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w, err := evidence.NewWriter(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{evidence.ScenarioFile, evidence.LauncherFile, evidence.LaunchFile} {
		w.Include(name)
	}
	signal := 9
	kill := evidence.Control{Trigger: scenario.Trigger{Kind: scenario.AtBytes, Channel: "report", N: 7}, Action: scenario.Action{Kind: scenario.DoKill, Who: "producer"}, Result: evidence.Done}
	err = errors.Join(w.Open(evidence.DiagnosticFile), w.EventAt(zero, evidence.Start{PID: 7}),
		w.Append(zero+10, "report", evidence.ReportFile, bytes.Repeat([]byte("ab"), 500)), w.EventAt(zero+20, kill),
		w.Packet(zero+30, evidence.Packet{Flags: []string{}}, []byte("{}\n")), w.EventAt(zero+40, evidence.EOF{Channel: "report"}),
		w.EventAt(zero+45, evidence.ProducerExit{PID: 9, Status: new(int)}), w.EventAt(zero+50, evidence.Exit{Who: "supervisor", PID: 7, Signal: &signal}), w.EventAt(zero+900, evidence.Leftover{What: "process", Detail: "8"}), w.Close())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestExhibitShowsWhatWasRecorded(t *testing.T) {
	e := Load(recorded(t), "attempts/x")
	if e.Problem != "" || e.Attempt != "attempts/x" || e.Ended != "signal 9" || e.Span != 50 || e.Cell != "direct/jailed" {
		t.Errorf("got %+v", e)
	}
	if len(e.Lanes) != 2 || e.Lanes[0].Bytes != 1000 || e.Lanes[0].Steps[0] != (reports.Step{At: 10, Bytes: 1000}) || e.Lanes[0].End != 40 || e.Lanes[1].Marks[0] != 30 {
		t.Errorf("lanes %+v", e.Lanes)
	}
	var said []string
	for _, m := range e.Moments {
		said = append(said, m.Kind+" "+m.Text)
	}
	want := "kill kill producer at bytes report 7: done; end producer 9 exited with 0; exit supervisor killed by signal 9; leftover left behind: process 8"
	if got := strings.Join(said, "; "); got != want {
		t.Errorf("moments %q, want %q", got, want)
	}
	if e.Limits[0].Length != 200_000_000 || e.Limits[1].From != 200_000_000 || e.Limits[2].From != 1_200_000_000 {
		t.Errorf("limits %+v", e.Limits)
	}
	if s := e.Streams[0]; s.Bytes != 1000 || len(s.First) != reports.StreamBytes || len(s.Last) != reports.StreamBytes {
		t.Errorf("streams %+v", e.Streams)
	}
	if len(e.Packets) != 1 || string(e.Packets[0]) != "{}\n" || e.Files[0] != evidence.EventsFile || len(e.Files) != 7 {
		t.Errorf("packets %q, files %q", e.Packets, e.Files)
	}
}

func TestExhibitSaysWhatCannotBeRead(t *testing.T) {
	dir := recorded(t)
	if err := os.WriteFile(filepath.Join(dir, evidence.ReportFile), []byte("other"), 0o644); err != nil {
		t.Fatal(err)
	}
	if e := Load(dir, "x"); e.Problem != "evidence altered: report.bin" {
		t.Errorf("got %q", e.Problem)
	}
	if err := os.Truncate(filepath.Join(dir, evidence.EventsFile), 100); err != nil {
		t.Fatal(err)
	}
	if e := Load(dir, "x"); !strings.HasPrefix(e.Problem, "the evidence cannot be read: ") || strings.Contains(e.Problem, dir) {
		t.Errorf("got %q", e.Problem)
	}
}
