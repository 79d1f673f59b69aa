package evidence

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"

	"touchstone/conformance/scenario"
)

func status(n int) *int { return &n }

// recorded writes a small whole attempt and returns its folder.
func recorded(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	s, err := scenario.Encode(scenario.Scenario{Version: 1, Kind: scenario.Launch, Script: "T14-x",
		Cell: scenario.Cell{Facade: "direct", Profile: "jailed"}, Fixture: scenario.Fixture{Name: "plain"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{ScenarioFile: string(s), LauncherFile: "{}\n", LaunchFile: `{"argv":["x"],"later":1}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w, err := NewWriter(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{ScenarioFile, LauncherFile, LaunchFile} {
		w.Include(name)
	}
	err = errors.Join(w.Open(DiagnosticFile), w.EventAt(100, Start{ArgvSHA256: "00", PID: 7}),
		w.Append(110, "report", ReportFile, []byte("{}")), w.Append(120, "report", ReportFile, []byte("\n")),
		w.EventAt(130, EOF{Channel: "report"}), w.Packet(90, Packet{Flags: []string{}, CredentialsPID: 7}, []byte("m\n")),
		w.Packet(140, Packet{Index: 1}, nil), w.EventAt(1_100, Exit{Who: "supervisor", PID: 7, Status: status(0)}), w.Close())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestLoadReadsWhatWasWritten(t *testing.T) {
	a, err := Load(recorded(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Tampered) != 0 || a.Scenario.Script != "T14-x" || a.Launch.Argv[0] != "x" || string(a.Launcher) != "{}\n" {
		t.Errorf("got %+v", a)
	}
	if string(a.ReportBytes()) != "{}\n" || a.DiagnosticBytes() == nil || len(a.DiagnosticBytes()) != 0 {
		t.Errorf("report %q diagnostics %q", a.ReportBytes(), a.DiagnosticBytes())
	}
	packets := a.Packets()
	if len(packets) != 2 || string(packets[0].Bytes) != "m\n" || packets[0].Body.Size != 2 || len(packets[1].Bytes) != 0 || packets[0].Mono != 130 {
		t.Errorf("packets %+v: a stamp that falls is raised", packets)
	}
	if took, ok := a.Elapsed(); !ok || took != 1000*time.Nanosecond {
		t.Errorf("elapsed %v %v", took, ok)
	}
	if at, ok := a.LastByte("report"); !ok || at != 120 {
		t.Errorf("last byte at %d %v", at, ok)
	}
	if _, ok := a.LastByte("diagnostic"); ok {
		t.Error("a last byte of an empty channel")
	}
	if at, ok := a.Ended("report"); !ok || at != 130 {
		t.Errorf("end at %d %v", at, ok)
	}
	kinds := []string{}
	for i, e := range a.Events {
		if e.Seq != uint64(i) {
			t.Errorf("event %d has seq %d", i, e.Seq)
		}
		kinds = append(kinds, e.Body.Kind())
	}
	want := []string{"start", "bytes", "bytes", "eof", "packet", "packet", "exit", "hashes", "end"}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEveryAlteredFileIsNamed(t *testing.T) {
	names := []string{ScenarioFile, LauncherFile, LaunchFile, ReportFile, PacketFile(0), PacketFile(1), DiagnosticFile, EventsFile}
	for _, name := range names {
		dir := recorded(t)
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		switch name {
		case EventsFile:
			text = bytes.Replace(text, []byte(`"ts_mono":110`), []byte(`"ts_mono":111`), 1)
		case ScenarioFile:
			text = bytes.Replace(text, []byte("T14-x"), []byte("T14-y"), 1)
		default:
			text = append(text, ' ')
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		a, err := Load(dir)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !slices.Equal(a.Tampered, []string{name}) {
			t.Errorf("%s: tampered %q", name, a.Tampered)
		}
	}
}

func TestAMissingFileIsTampered(t *testing.T) {
	dir := recorded(t)
	if err := os.Remove(filepath.Join(dir, ReportFile)); err != nil {
		t.Fatal(err)
	}
	a, err := Load(dir)
	if err != nil || !slices.Equal(a.Tampered, []string{ReportFile}) {
		t.Errorf("got %v, %v", a, err)
	}
}

func TestEveryFlippedBitOfTheEventsIsNoticed(t *testing.T) {
	dir := recorded(t)
	path := filepath.Join(dir, EventsFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range text {
		flipped := bytes.Clone(text)
		flipped[i] ^= 1
		if err := os.WriteFile(path, flipped, 0o644); err != nil {
			t.Fatal(err)
		}
		if a, err := Load(dir); err == nil && len(a.Tampered) == 0 {
			t.Errorf("byte %d of %d flipped unnoticed: %q", i, len(text), flipped[max(0, i-20):min(len(text), i+20)])
		}
	}
}

func TestReaderRefusesABrokenRecord(t *testing.T) {
	good, err := os.ReadFile(filepath.Join(recorded(t), EventsFile))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(good), "\n")
	lines = lines[:len(lines)-1]
	last := len(lines) - 1
	cases := map[string]struct{ text, want string }{
		"nothing":        {"", "not complete"},
		"no end":         {strings.Join(lines[:last], ""), "there is no end"},
		"cut":            {string(good[:len(good)-1]), "not complete"},
		"gap":            {lines[0] + strings.Join(lines[2:], ""), "seq: got 2, want 1"},
		"twice":          {lines[0] + string(good), "seq: got 0, want 1"},
		"past the end":   {string(good) + strings.Replace(lines[0], `"seq":0`, `"seq":9`, 1), "follows the end"},
		"end too early":  {lines[0] + strings.Replace(lines[last], `"seq":8`, `"seq":1`, 1), "hashes"},
		"time falls":     {strings.Replace(string(good), `"ts_mono":120`, `"ts_mono":109`, 1), "ts_mono: 109 after 110"},
		"bytes jump":     {strings.Replace(string(good), `"offset":2`, `"offset":3`, 1), "bytes of report"},
		"bytes of none":  {strings.Replace(string(good), `"offset":2,"size":1`, `"offset":2,"size":0`, 1), "bytes of report"},
		"packet jumps":   {strings.Replace(string(good), `"index":1`, `"index":2`, 1), "packet index"},
		"no seq":         {strings.Replace(string(good), `"seq":0,`, ``, 1), "is missing"},
		"duplicate name": {strings.Replace(string(good), `"pid":7`, `"pid":7,"pid":7`, 1), "duplicate"},
		"wrong type":     {strings.Replace(string(good), `"pid":7`, `"pid":"7"`, 1), "start"},
		"not utf-8":      {strings.Replace(string(good), `"argv_sha256":"00"`, "\"argv_sha256\":\"\xff\"", 1), "UTF-8"},
		"two exits":      {strings.Replace(string(good), `"status":0,"signal":null`, `"status":0,"signal":9`, 1), "exactly one"},
		"empty line":     {lines[0] + "\n" + strings.Join(lines[1:], ""), "line 2"},
	}
	for name, c := range cases {
		if c.text == string(good) {
			t.Errorf("%s: the case changes nothing", name)
		}
		if _, _, err := parseEvents([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if _, altered, err := parseEvents(good); err != nil || altered {
		t.Errorf("the accepted twin: %v %v", altered, err)
	}
}

func TestUnknownKindsAndMembersAreKept(t *testing.T) {
	w, err := NewWriter(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Event(Unknown{Name: "later"}); err == nil {
		t.Error("an unknown kind was written")
	}
	if err := w.Close(); err == nil {
		t.Error("the first error did not stick")
	}
	e, err := decodeEvent([]byte(`{"seq":3,"ts_mono":4,"kind":"later","what":1}`))
	if u, ok := e.Body.(Unknown); err != nil || !ok || u.Name != "later" || e.Seq != 3 {
		t.Errorf("got %+v, %v", e, err)
	}
	e, err = decodeEvent([]byte(`{"seq":3,"ts_mono":4,"kind":"start","pid":1,"what":1}`))
	if s, ok := e.Body.(Start); err != nil || !ok || s.PID != 1 {
		t.Errorf("got %+v, %v", e, err)
	}
}

func TestARecordIsStartedOnce(t *testing.T) {
	if _, err := NewWriter(recorded(t)); !errors.Is(err, os.ErrExist) {
		t.Errorf("got %v", err)
	}
}

func TestEveryKindIsReadAsItIsWritten(t *testing.T) {
	bodies := []Body{Start{}, Bytes{}, EOF{}, Packet{Flags: []string{"MSG_TRUNC"}}, TerminalEOF{}, Rendezvous{Words: []uint64{1}}, Control{},
		Observe{Argv: []string{}, UIDs: []uint32{0}, GIDs: []uint32{}, Groups: []uint32{}, NSPIDs: []int{}, Descriptors: []Descriptor{{Number: 3}}, Cgroup: []string{},
			SupervisorUIDs: []uint32{}, SupervisorCgroup: []string{}, Environment: []string{}, WritableMappings: []string{}, HostEndpoints: []HostEndpoint{}},
		Producers{}, Exit{}, ProducerMounts{Mounts: []string{"1"}}, ProducerExit{PID: 3, Status: status(7)}, FinalizerExit{PID: 4, Status: status(6)}, ProducerTracer{PID: 3}, Injection{Status: status(0)}, Watchdog{}, Lateness{}, Leftover{}, Relayed{}, Result{}, Finalized{Argv: []string{"v"}}, Storage{Files: []StoredFile{{}}}, Target{Steps: []string{"moved"}}, Fault{}, Hashes{Files: map[string]string{}}, End{}}
	if len(bodies) != 26 || len(codecs) != 26 {
		t.Fatalf("%d bodies and %d codecs, want 26 of each", len(bodies), len(codecs))
	}
	for _, b := range bodies {
		text, err := encodeEvent(Event{Seq: 1, Mono: 2, Body: b})
		if err != nil {
			t.Fatal(err)
		}
		if prefix := fmt.Sprintf(`{"seq":1,"ts_mono":2,"kind":%q`, b.Kind()); !strings.HasPrefix(string(text), prefix) {
			t.Errorf("%s does not start with %s", text, prefix)
		}
		got, err := decodeEvent(bytes.TrimSuffix(text, []byte("\n")))
		if diff := cmp.Diff(Event{Seq: 1, Mono: 2, Body: b}, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", b.Kind(), err, diff)
		}
	}
}

func TestChannelsComeBackHoweverTheyWereCut(t *testing.T) {
	seed := time.Now().UnixNano()
	properties := gopter.NewProperties(gopter.DefaultTestParametersWithSeed(seed))
	properties.Property("bytes, order and stamps", prop.ForAll(
		func(pieces [][]byte, stamps []int64) bool {
			dir := recordedPieces(t, pieces, stamps)
			a, err := Load(dir)
			if err != nil || len(a.Tampered) != 0 || !bytes.Equal(a.ReportBytes(), bytes.Join(pieces, nil)) {
				t.Logf("%v", err)
				return false
			}
			return slices.IsSortedFunc(a.Events, func(a, b Event) int { return int(a.Mono - b.Mono) })
		},
		gen.SliceOf(gen.SliceOfN(3, gen.UInt8())), gen.SliceOf(gen.Int64Range(0, 1000))))
	properties.Property("a record with one event left out is refused", prop.ForAll(
		func(count, out int) bool {
			lines := bytes.SplitAfter(eventLines(t, count), []byte("\n"))
			lines = lines[:len(lines)-1]
			out %= len(lines)
			_, _, err := parseEvents(bytes.Join(slices.Delete(slices.Clone(lines), out, out+1), nil))
			return err != nil
		}, gen.IntRange(0, 6), gen.IntRange(0, 1000)))
	if !properties.Run(gopter.ConsoleReporter(false)) {
		t.Errorf("seed %d", seed)
	}
	fmt.Printf("seed %d\n", seed)
}

// recordedPieces is a whole record with the pieces as reads of the report.
func recordedPieces(t *testing.T, pieces [][]byte, stamps []int64) string {
	dir := recorded(t)
	if err := errors.Join(os.Remove(filepath.Join(dir, EventsFile)), os.Remove(filepath.Join(dir, ReportFile))); err != nil {
		t.Fatal(err)
	}
	w, err := NewWriter(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range pieces {
		mono := int64(0)
		if i < len(stamps) {
			mono = stamps[i]
		}
		err = errors.Join(err, w.Append(mono, "report", ReportFile, p))
	}
	for _, name := range []string{ScenarioFile, LauncherFile, LaunchFile} {
		w.Include(name)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

func eventLines(t *testing.T, count int) []byte {
	dir := recordedPieces(t, slices.Repeat([][]byte{[]byte("x")}, count), nil)
	text, err := os.ReadFile(filepath.Join(dir, EventsFile))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func FuzzParseEvents(f *testing.F) {
	text, err := os.ReadFile(filepath.Join(recorded(f), EventsFile))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"seq":0,"ts_mono":1,"kind":"hashes","files":{}}` + "\n" + `{"seq":1,"ts_mono":1,"kind":"end","sha256":""}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		events, _, err := parseEvents(text)
		if err != nil {
			return
		}
		for i, e := range events {
			if e.Seq != uint64(i) || (i > 0 && e.Mono < events[i-1].Mono) {
				t.Errorf("event %d: seq %d, stamp %d", i, e.Seq, e.Mono)
			}
		}
		if _, ended := events[len(events)-1].Body.(End); !ended {
			t.Error("accepted without an end")
		}
	})
}
