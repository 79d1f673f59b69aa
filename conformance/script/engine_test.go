package script

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"touchstone/conformance/evidence"
	"touchstone/conformance/launcherfile"
	"touchstone/conformance/oracle"
	"touchstone/conformance/scenario"
)

// fake makes records of attempts that end as it is told, and remembers what it
// was asked for.
type fake struct {
	t        *testing.T
	exit     func(scenario.Scenario) (int, error)
	asked    []scenario.Scenario
	payloads []string
	document string
	hangs    func(attempt int) bool // has to be ended by the driver
}

func (f *fake) Run(s scenario.Scenario, payload []byte) (*evidence.Attempt, error) {
	f.asked, f.payloads = append(f.asked, s), append(f.payloads, string(payload))
	status, err := f.exit(s)
	if err != nil {
		return nil, err
	}
	return f.record(s, status, ""), nil
}

func (f *fake) Reference(s scenario.Scenario) (*evidence.Attempt, error) {
	if f.document == "" {
		return nil, errors.New("no engine here")
	}
	return f.record(s, 0, f.document), nil
}

func (f *fake) record(s scenario.Scenario, status int, stdout string) *evidence.Attempt {
	f.t.Helper()
	dir := f.t.TempDir()
	text, err := scenario.Encode(s)
	launch, launchErr := json.Marshal(evidence.Launch{})
	w, writerErr := evidence.NewWriter(dir)
	if err := errors.Join(err, launchErr, writerErr); err != nil {
		f.t.Fatal(err)
	}
	for name, content := range map[string][]byte{evidence.ScenarioFile: text, evidence.LaunchFile: launch, evidence.LauncherFile: []byte("{}")} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			f.t.Fatal(err)
		}
		w.Include(name)
	}
	w.Event(evidence.Start{PID: 2})
	if stdout != "" {
		w.Append(evidence.Monotonic(), "stdout", evidence.StdoutFile, []byte(stdout))
	}
	if f.hangs != nil && f.hangs(s.Number) {
		w.Event(evidence.Watchdog{LimitMS: 1, Waiting: "exit"})
	}
	w.Event(evidence.Exit{Who: "supervisor", PID: 2, Status: &status})
	if err := w.Close(); err != nil {
		f.t.Fatal(err)
	}
	a, err := evidence.Load(dir)
	if err != nil {
		f.t.Fatal(err)
	}
	return a
}

// testFile is a launcher that can be asked for limits on the command line only.
func testFile() launcherfile.File {
	return launcherfile.File{Name: "fake",
		Facade: map[string]launcherfile.Facade{"direct": {Invocation: "run_json", Command: []string{"x"},
			Options: map[string][]string{"report": {"{value}"}, "wall": {"{value}"}}}},
		Profile:   map[string]launcherfile.Profile{"unjailed": {}, "jailed": {}},
		Shape:     map[string]launcherfile.Shape{"full": {Hole: []string{"null", "[{value}]"}}},
		Reference: launcherfile.Reference{Command: []string{"x"}}}
}

var testCell = scenario.Cell{Facade: "direct", Profile: "unjailed"}

func runScript(t *testing.T, f *fake, body string) Result {
	t.Helper()
	if f.exit == nil {
		f.exit = func(scenario.Scenario) (int, error) { return 0, nil }
	}
	f.t = t
	return runAsked(t, f, body)
}

func runAsked(t *testing.T, attempts Attempts, body string) Result {
	t.Helper()
	s, err := Parse("T14-subject.txtar", []byte(head+body))
	if err != nil {
		t.Fatal(err)
	}
	if said := Lint(s, nil); len(said) > 0 {
		t.Fatalf("lint: %v", said)
	}
	work := t.TempDir()
	result := Run(s, testCell, testFile(), attempts, work)
	if left, err := os.ReadDir(work); err != nil || len(left) > 0 {
		t.Errorf("work folder: %d entries left, %v", len(left), err)
	}
	return result
}

func expect(t *testing.T, r Result, id string, wanted ...oracle.Verdict) {
	t.Helper()
	if got := r.verdictsOf(id); !slices.Equal(got, wanted) {
		t.Errorf("%s: got %v, want %v: %+v", id, got, wanted, r.Findings)
	}
}

func TestFailedCheckDoesNotStopTheScript(t *testing.T) {
	r := runScript(t, &fake{}, "launch\ncheck T14.01 exit 1\ncheck T14.02 exit 0\n")
	expect(t, r, "T14.01", oracle.Fail)
	expect(t, r, "T14.02", oracle.Pass)
	if f := r.Findings[slices.IndexFunc(r.Findings, func(f Finding) bool { return f.ID == "T14.01" })]; f.Line != 3 || f.Seen != "exit 0" || f.Wanted != "exit 1" {
		t.Errorf("got %+v", f)
	}
}

func TestCheckHoldsInEveryAttempt(t *testing.T) {
	f := &fake{exit: func(s scenario.Scenario) (int, error) { return s.Number % 2, nil }}
	r := runScript(t, f, "launch times=2\ncheck T14.01 exit 0\nlaunch\ncheck T14.02 exit 0\n")
	expect(t, r, "T14.01", oracle.Fail)
	expect(t, r, "T14.02", oracle.Pass)
	if len(r.Attempts) != 3 {
		t.Errorf("%d attempts", len(r.Attempts))
	}
}

func TestFaultOfTheSuiteBreaksWhatFollows(t *testing.T) {
	f := &fake{exit: func(s scenario.Scenario) (int, error) {
		if s.Number == 1 {
			return 0, errors.New("no memory")
		}
		return 0, nil
	}}
	r := runScript(t, f, "launch\ncheck T14.01 exit 0\nlaunch\ncheck T14.02 exit 0\nfresh\nlaunch\ncheck T14.03 exit 0\n")
	expect(t, r, "T14.01", oracle.Pass)
	expect(t, r, "T14.02", oracle.Broken)
	expect(t, r, "T14.03", oracle.Broken)
	if len(f.asked) != 2 {
		t.Errorf("%d attempts were made after a fault", len(f.asked)-2)
	}
}

func TestWhatCannotBeAskedIsNotRunUntilFresh(t *testing.T) {
	r := runScript(t, &fake{}, "limit env wall=5\nlaunch\ncheck T14.01 exit 0\nlaunch\ncheck T14.02 exit 0\nfresh\nlaunch\ncheck T14.03 exit 0\n")
	expect(t, r, "T14.01", oracle.NotRun)
	expect(t, r, "T14.02", oracle.NotRun)
	expect(t, r, "T14.03", oracle.Pass)
	want := "the launcher file of fake has no facade.direct.variables.wall, which the contract demands of every launcher; contracts/README.md explains its keys"
	if f := r.Findings[0]; f.Reason != want {
		t.Errorf("reason %q, want %q", f.Reason, want)
	}
}

func TestPanicIsBroken(t *testing.T) {
	f := &fake{exit: func(scenario.Scenario) (int, error) { panic("a mistake of ours") }}
	r := runScript(t, f, "launch\ncheck T14.01 exit 0\n")
	expect(t, r, "T14.01", oracle.Broken)
	if !strings.Contains(r.Findings[0].Reason, "a mistake of ours") {
		t.Errorf("reason %q", r.Findings[0].Reason)
	}
}

// TestNothingPassesByNotBeingReached: a script that testscript gives up on.
func TestNothingPassesByNotBeingReached(t *testing.T) {
	s, err := Parse("T14-subject.txtar", []byte(head+"launch\nexec false\nstop\ncheck T14.01 exit 0\n"))
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{t: t, exit: func(scenario.Scenario) (int, error) { return 0, nil }}
	r := Run(s, testCell, testFile(), f, t.TempDir()) // not linted: as if the linter had a hole
	expect(t, r, "T14.01", oracle.Broken)
}

func TestReferenceThatCannotBeMade(t *testing.T) {
	r := runScript(t, &fake{}, "launch\ncheck T14.01 report equals-reference\ncheck T14.02 exit 0\n")
	expect(t, r, "T14.01", oracle.Broken)
	expect(t, r, "T14.02", oracle.Pass)
	r = runScript(t, &fake{document: "{}\n"}, "launch\ncheck T14.01 report equals-reference\n")
	expect(t, r, "T14.01", oracle.Fail) // the fake launcher reports nothing
}

func TestLaunchDimensionsMultiply(t *testing.T) {
	f := &fake{}
	runScript(t, f, "document a literal \"A\"\ndocument b literal \"B\"\nfixture send k=0\nlimit cli report=7\n"+
		"launch times=2 each payload=a,b arg.k=1,2 knob=wall route=cli value=\"x y\",5\ncheck T14.01 exit 0\n")
	if len(f.asked) != 16 {
		t.Fatalf("%d attempts, want 16", len(f.asked))
	}
	seen := map[string]int{}
	for i, s := range f.asked {
		if s.Number != i || len(s.Options) != 2 || s.Options[0].Value != "7" || s.Fixture.PayloadFile == "" {
			t.Errorf("attempt %d: %+v", i, s)
		}
		seen[f.payloads[i]+s.Fixture.Args["k"]+s.Options[1].Value]++
	}
	if len(seen) != 8 || seen["A1x y"] != 2 || seen["B25"] != 2 {
		t.Errorf("choices %v", seen)
	}
}

func TestWhatHungIsNotRepeated(t *testing.T) {
	f := &fake{hangs: func(attempt int) bool { return attempt == 1 }}
	runScript(t, f, "fixture send k=0\nlaunch times=3 each arg.k=1,2\ncheck T14.01 exit 0\n")
	asked := ""
	for _, s := range f.asked {
		asked += s.Fixture.Args["k"]
	}
	if asked != "11222" {
		t.Errorf("attempts of %s, want two of 1 and three of 2", asked)
	}
}

func TestSettingsReachTheScenario(t *testing.T) {
	f := &fake{}
	runScript(t, f, strings.Join([]string{
		`fixture plain trades=3`, `grant report=5000 memory=1`, `request mode=FULL operation=capabilities`, `endpoint report=stream terminal=same:report sink=pipe`,
		`admission cut`, `deprive descriptors=9`, `number terminal=900`, `negotiate without channel`, `negotiate env terminal=" 7" terminal=x`,
		`extra-descriptors 2`, `pace report bytes=10 every=20ms`, `bars 9`, `spool 100`, `planned-sink 7`, `hang 5s`, `inputs a=b`,
		`at rendezvous 2 kill producer TERM`, `at report bytes 5 observe producer`, `at time 300ms cancel`, `at rendezvous 1 poke 0 supervisor-pid`,
		`let n $grant_report - 1`, `limit report=$n`, `control`,
	}, "\n")+"\nfresh\nlaunch\ncheck T14.01 exit 0\n")
	s := f.asked[0]
	if s.Kind != scenario.Control || s.Fixture.Args["trades"] != "3" || *s.Grants.Report != 5000 || s.Mode != "FULL" || s.Operation != "capabilities" ||
		s.Endpoints.Report != "stream" || s.Endpoints.Terminal != "same:report" || s.Endpoints.Sink != "pipe" || s.Endpoints.Numbers["terminal"] != 900 || s.Withheld[0] != "channel" || s.Admission != "cut" || s.Deprived != "descriptors=9" || s.ExtraDescriptors != 2 || s.Bars != 9 || s.Spool.Bytes != 100 || *s.PlannedSink != 7 || s.HangMS != 5000 ||
		s.Inputs["a"] != "b" || len(s.Controls) != 4 {
		t.Errorf("got %+v", s)
	}
	c := s.Controls
	if c[0].Trigger.N != 2 || c[0].Action.Signal != "TERM" || c[1].Trigger.Channel != "report" || c[1].Trigger.N != 5 || c[2].Trigger.N != 300 || c[3].Action.Value != "supervisor-pid" {
		t.Errorf("got %+v", c)
	}
	if after := f.asked[1]; len(after.Controls) != 0 || after.Grants.Report != nil || after.Fixture.Name != "plain" {
		t.Errorf("fresh forgot too little: %+v", after)
	}
}

func TestLimitsReplaceByKnobAndRoute(t *testing.T) {
	f := &fake{}
	runScript(t, f, "limit report=1 wall=2\nlimit report=3\nlet n 5 - 1\nlimit wall=$n\nlaunch\ncheck T14.01 exit 0\n")
	want := []scenario.Option{{Knob: "report", Route: "cli", Value: "3"}, {Knob: "wall", Route: "cli", Value: "4"}}
	if !slices.Equal(f.asked[0].Options, want) {
		t.Errorf("got %+v", f.asked[0].Options)
	}
}

func TestNegativeNumbersAreRefused(t *testing.T) {
	r := runScript(t, &fake{}, "let n 1 - 2\nlaunch\ncheck T14.01 exit 0\n")
	expect(t, r, "T14.01", oracle.Broken)
}

func TestDocuments(t *testing.T) {
	reference := `{"engine":"pineforge","a":null}` + "\n"
	for line, wanted := range map[string]string{
		`reference`:                                  reference,
		`reference pad=2`:                            `{  "engine":"pineforge","a":null}` + "\n",
		`reference size=34`:                          `{  "engine":"pineforge","a":null}` + "\n",
		`reference drop-lf`:                          `{"engine":"pineforge","a":null}`,
		`reference drop-lf append="\r\n"`:            `{"engine":"pineforge","a":null}` + "\r\n",
		`reference prepend="\ufeff"`:                 "\ufeff" + reference,
		`reference truncate=3`:                       `{"e`,
		`reference replace="null"=>"01"`:             `{"engine":"pineforge","a":01}` + "\n",
		`reference value="\"\xff"`:                   `{"engine":"pineforge","a":[` + "\"\xff]}\n",
		`reference replace="a"=>"b" replace="n"=>""`: `{"egine":"pineforge","b":null}` + "\n",
		`literal "x\x00y" append="=>"`:               "x\x00y=>",
		`failure run_aborted`:                        `{"engine":"pineforge","error":"declared by a fixture","code":"run_aborted","args":{}}` + "\n",
		`failure legacy`:                             `{"engine":"pineforge","error":"the run did not complete"}` + "\n",
		`failure report_sink_failed reason=sink_exhausted sink_bytes=5 cap_bytes=4 drop-lf`: `{"engine":"pineforge","error":"declared by a fixture","code":"report_sink_failed","args":{"reason":"sink_exhausted","sink_bytes":5,"cap_bytes":4}}`,
		`failure report_result_invalid reason=nonfinite field="é" args-size=39`:             `{"engine":"pineforge","error":"declared by a fixture","code":"report_result_invalid","args":{"reason":"nonfinite","field":"éxxxx"}}` + "\n",
	} {
		f := &fake{document: reference}
		r := runScript(t, f, fmt.Sprintf("document d %s\nfixture send\npayload d\nlimit report=$d_size\nlaunch\ncheck T14.01 exit 0\n", line))
		expect(t, r, "T14.01", oracle.Pass)
		if len(f.payloads) == 1 && (f.payloads[0] != wanted || f.asked[0].Options[0].Value != fmt.Sprint(len(wanted))) {
			t.Errorf("%s: got %q, want %q", line, f.payloads[0], wanted)
		}
	}
	for _, line := range []string{`reference size=3`, `reference truncate=99`, `literal "x" drop-lf`, `literal "x" pad=1`, `reference replace="zz"=>"y"`, `literal "x" args-size=9`} {
		r := runScript(t, &fake{document: reference}, "document d "+line+"\nlaunch\ncheck T14.01 exit 0\n")
		expect(t, r, "T14.01", oracle.Broken)
	}
}

// A launcher file that names no place for a value cannot be asked for one.
func TestValueNeedsHole(t *testing.T) {
	f := &fake{document: `{"a":null}` + "\n", t: t}
	s, err := Parse("T14-subject.txtar", []byte(head+"document d reference value=\"1\"\nlaunch\ncheck T14.01 exit 0\n"))
	if err != nil {
		t.Fatal(err)
	}
	file := testFile()
	file.Shape = nil
	expect(t, Run(s, testCell, file, f, t.TempDir()), "T14.01", oracle.NotRun)
}
