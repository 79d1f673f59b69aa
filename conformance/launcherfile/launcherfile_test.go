package launcherfile

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"touchstone/conformance/scenario"
)

func reference(t *testing.T) File {
	t.Helper()
	f, err := Read("../launchers/reference.toml")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func values() Values {
	return Values{Bin: "/b", Library: "/a/fixture.so", OHLCV: "/a/ohlcv.csv", Spool: "/a/spool", Pairing: "/a/pairing.json",
		Attempt: "/a", AttemptID: strings.Repeat("0f", 16), TerminalFD: 9, LaunchFD: 7}
}

func plain(options ...scenario.Option) scenario.Scenario {
	return scenario.Scenario{Version: 1, Kind: scenario.Launch, Cell: scenario.Cell{Facade: "direct", Profile: "jailed"},
		Fixture: scenario.Fixture{Name: "plain"}, Options: options}
}

func TestReferenceLauncherFileRendersALaunch(t *testing.T) {
	s := plain(
		scenario.Option{Knob: "report", Route: "cli", Value: " 5 {bin}"},
		scenario.Option{Knob: "report", Route: "env", Value: ""},
	)
	s.Mode, s.Operation = "FULL", scenario.Capabilities
	s.Requests = map[string]string{"path_sink": "/x"}
	got, err := reference(t).Supervised(s, values())
	if err != nil {
		t.Fatal(err)
	}
	argv := []string{"/b/refsup", "run_json", "--so", "/a/fixture.so", "--ohlcv", "/a/ohlcv.csv",
		"--report-channel", "supervised/v1", "--terminal-status-fd", "9", "--capabilities-json", "--report-mode", "FULL",
		"--report-sink", "/x", "--report-max-bytes", " 5 {bin}"}
	if diff := cmp.Diff(argv, got.Argv); diff != "" {
		t.Errorf("argv (-want +got):\n%s", diff)
	}
	environment := []string{"LANG=C", "PATH=" + searchPath, "PINEFORGE_PROFILE=jailed", "PINEFORGE_REPORT_MAX_BYTES=", "TOUCHSTONE_LAUNCH_FD=7", "TOUCHSTONE_PRODUCER=/b/producer"}
	if diff := cmp.Diff(environment, got.Environment); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
	document := `{"version":1,"attempt_id":"0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f","grants":{"report_bytes":67108864,` +
		`"diagnostic_bytes":1048576,"wall_ms":600000,"stall_ms":5000,"memory_bytes":null},"planned_sink_bytes":null,` +
		`"spool":{"path":"/a/spool","bytes":83886080},"pairing":"/a/pairing.json"}`
	if diff := cmp.Diff(document, got.Document); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
	if want := []Descriptor{{Number: 5, Kind: "memfd", Bytes: 16777216}}; !slices.Equal(got.Descriptors, want) {
		t.Errorf("descriptors: got %v, want %v", got.Descriptors, want)
	}
}

func TestActivationIsReplacedOrWithheld(t *testing.T) {
	for name, c := range map[string]struct {
		withheld []string
		options  []scenario.Option
		argv     string // from the last usual argument on
		variable string
	}{
		"withheld":    {[]string{"channel", "terminal"}, nil, "ohlcv.csv", ""},
		"another":     {nil, []scenario.Option{{Knob: "channel", Route: "cli", Value: "x"}, {Knob: "channel", Route: "cli", Value: "y"}}, "ohlcv.csv --terminal-status-fd 9 --report-channel x --report-channel y", ""},
		"by variable": {[]string{"channel"}, []scenario.Option{{Knob: "terminal", Route: "env", Value: "7"}}, "ohlcv.csv", "PINEFORGE_TERMINAL_STATUS_FD=7"},
	} {
		s := plain(c.options...)
		s.Withheld = c.withheld
		got, err := reference(t).Supervised(s, values())
		if err != nil {
			t.Fatal(err)
		}
		if argv := strings.Join(got.Argv, " "); !strings.HasSuffix(argv, c.argv) || (c.variable != "" && !slices.Contains(got.Environment, c.variable)) {
			t.Errorf("%s: argv %s, environment %q", name, argv, got.Environment)
		}
	}
}

func TestFurtherEndpointsAreRequested(t *testing.T) {
	s, v := plain(), values()
	s.Endpoints.Sink, s.Endpoints.Phase, v.SinkFD, v.PhaseFD = scenario.Pipe, "same:report", 31, 32
	s.Requests = map[string]string{"phase_fd": "x"}
	got, err := reference(t).Supervised(s, v)
	if argv := strings.Join(got.Argv, " "); err != nil || !strings.HasSuffix(argv, "--run-phase-fd x --report-sink-fd 31") {
		t.Errorf("argv %s: %v", argv, err)
	}
}

func TestDocumentEscapesWhatItIsGiven(t *testing.T) {
	v := values()
	v.Spool = `/a "b"\c`
	got, err := reference(t).Supervised(plain(), v)
	if err != nil {
		t.Fatal(err)
	}
	if want := `"path":"/a \"b\"\\c"`; !strings.Contains(got.Document, want) {
		t.Errorf("document %s lacks %s", got.Document, want)
	}
}

func TestUnsupervisedRunAsksTheSame(t *testing.T) {
	s := plain()
	s.Kind, s.Inputs = scenario.Reference, map[string]string{"b": "2", "a": "{bin}"}
	got, err := reference(t).Unsupervised(s, values())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"/b/refsup", "run_json", "--so", "/a/fixture.so", "--ohlcv", "/a/ohlcv.csv", "--inputs", `{"a":"{bin}","b":"2"}`}
	if diff := cmp.Diff(want, got.Argv); diff != "" {
		t.Errorf("argv (-want +got):\n%s", diff)
	}
	if !slices.Contains(got.Environment, "TOUCHSTONE_PRODUCER=/b/producer") {
		t.Errorf("environment %q lacks the producer", got.Environment)
	}
}

const minimal = `version = 1
name = "small"
[facade.direct]
invocation = "run_json"
command = ["{here}/run", "{terminal_fd}"]
[profile.unjailed]
[producer]
abi = "reference"
`

func TestMissingNamesWhatCannotBeAsked(t *testing.T) {
	small, err := Parse("small.toml", "/here", []byte(minimal))
	if err != nil {
		t.Fatal(err)
	}
	n := uint64(4096)
	cases := map[string]struct {
		change func(*scenario.Scenario)
		want   string
	}{
		"nothing":   {func(*scenario.Scenario) {}, ""},
		"facade":    {func(s *scenario.Scenario) { s.Cell.Facade = "entrypoint" }, "no facade entrypoint"},
		"profile":   {func(s *scenario.Scenario) { s.Cell.Profile = "jailed" }, "no profile jailed"},
		"option":    {func(s *scenario.Scenario) { s.Options = []scenario.Option{{Knob: "wall", Route: "env", Value: "1"}} }, "no facade.direct.variables.wall" + Demanded},
		"flag":      {func(s *scenario.Scenario) { s.Options = []scenario.Option{{Knob: "wall", Route: "cli", Value: "1"}} }, "no facade.direct.options.wall" + Demanded},
		"grant":     {func(s *scenario.Scenario) { s.Grants.Report = &n }, "no {grant_report}, as in launch.document" + Demanded},
		"memory":    {func(s *scenario.Scenario) { s.Grants.Memory = &n }, "no {memory_or_null}, as in launch.document"},
		"plan":      {func(s *scenario.Scenario) { s.PlannedSink = &n }, "no {planned_sink_or_null}, as in launch.document"},
		"spool":     {func(s *scenario.Scenario) { s.Spool.Bytes = n }, "no {spool}, as in launch.document"},
		"operation": {func(s *scenario.Scenario) { s.Operation = scenario.Validation }, "no facade.direct.options.validation"},
		"path sink": {func(s *scenario.Scenario) { s.Requests = map[string]string{"path_sink": "/x"} }, "no facade.direct.options.path_sink"},
		"cancel": {func(s *scenario.Scenario) {
			s.Controls = []scenario.Rule{{Trigger: scenario.Trigger{Kind: scenario.AtSpawn}, Action: scenario.Action{Kind: scenario.DoCancel}}}
		}, "no cancel.signal" + Demanded},
		"reference": {func(s *scenario.Scenario) { s.Kind = scenario.Reference }, "no reference.command"},
	}
	for name, c := range cases {
		s := plain()
		s.Cell.Profile = "unjailed"
		c.change(&s)
		if got := strings.Join(small.Missing(s), ", "); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
		_, err := small.Supervised(s, values())
		if s.Kind == scenario.Launch && (err == nil) != (c.want == "") {
			t.Errorf("%s: rendered with error %v, but missing is %q", name, err, c.want)
		}
	}
}

func TestRefusalsAreOneLineThatNamesFileKeyAndFix(t *testing.T) {
	gap := "[[gap]]\nid = \"T14.03\"\nreason = \"r\"\nowner = \"o\"\nexpiry = \"2030-01-31\"\n"
	cases := map[string]struct{ text, want string }{
		"loose slack":     {minimal + "[tolerance]\nslack_ms = 5001\n", "tolerance.slack_ms: 5001 would let a late launcher pass; write at most 5000"},
		"unknown key":     {minimal + "[tolerance]\nslack = 3\n", "bad.toml:10: tolerance.slack: unknown key; remove it"},
		"duplicate key":   {"version = 1\nversion = 1\n", "; keep one: each key stands once"},
		"duplicate table": {minimal + "[profile.unjailed]\n", "; keep one: each key stands once"},
		"negative slack":  {minimal + "[tolerance]\nslack_ms = -1\n", "slack_ms: got -1, want a whole number that is not negative; correct the line"},
		"syntax":          {"version = \n", "; correct the line"},
		"type":            {"version = \"1\"\n", "bad.toml:1: "},
		"version":         {strings.Replace(minimal, "version = 1", "version = 2", 1), "version: got 2; write version = 1"},
		"no version":      {strings.Replace(minimal, "version = 1", "", 1), "version: missing; write version = 1"},
		"no name":         {strings.Replace(minimal, `name = "small"`, "", 1), "name: missing; give the launcher a name"},
		"no invocation":   {strings.Replace(minimal, `invocation = "run_json"`, "", 1), "facade.direct.invocation: missing; use run_json"},
		"no ABI":          {strings.Replace(minimal, `abi = "reference"`, "", 1), "producer.abi: missing; name the NAME"},
		"nothing":         {"", "version: missing; "},
		"name":            {strings.Replace(minimal, `"small"`, `"Small One"`, 1), "name: "},
		"no command":      {strings.Replace(minimal, `["{here}/run", "{terminal_fd}"]`, "[]", 1), "facade.direct.command: missing; give the program"},
		"placeholder":     {strings.Replace(minimal, "{terminal_fd}", "{terminal}", 1), "facade.direct.command: placeholder {terminal} is unknown here; use one of {"},
		"unclosed":        {strings.Replace(minimal, "{terminal_fd}", "{terminal_fd", 1), "facade.direct.command: placeholder {terminal_fd is not closed; write {terminal_fd}, or"},
		"dash":            {strings.Replace(minimal, "{terminal_fd}", "{terminal-fd}", 1), "facade.direct.command: placeholder {terminal is not closed"},
		"half a template": {minimal + "[pairing]\ntemplate = '{\"a\":{\"b\":\"{library\"}}'\n", "pairing.template: placeholder {library is not closed"},
		"value":           {strings.Replace(minimal, "{terminal_fd}", "{value}", 1), "placeholder {value} is unknown here"},
		"facade":          {strings.Replace(minimal, "facade.direct", "facade.indirect", 1), "facade.indirect: unknown facade; use direct or entrypoint"},
		"option key":      {minimal + "[facade.direct.options]\nspeed = []\n", "facade.direct.options.speed: unknown key; use one of channel terminal report"},
		"half a launch":   {minimal + "[launch]\ndocument = \"x\"\n", "launch.document: "},
		"signal":          {minimal + "[cancel]\nsignal = \"SIGTERM\"\n", "cancel.signal: unknown signal \"SIGTERM\"; name it without SIG"},
		"route":           {strings.Replace(minimal, "[producer]", "[producer]\ncandidate = \"3\"", 1), "producer.candidate: got \"3\"; use env:NAME or fd:N"},
		"descriptor":      {minimal + "[[profile.unjailed.descriptor]]\nnumber = 2\nkind = \"memfd\"\nbytes = 1\n", "profile.unjailed.descriptor[0].number: got 2; give a number in 3..63"},
		"its kind":        {minimal + "[[profile.unjailed.descriptor]]\nnumber = 3\nkind = \"pipe\"\nbytes = 1\n", "descriptor[0].kind: got \"pipe\"; write kind = \"memfd\""},
		"its bytes":       {minimal + "[[profile.unjailed.descriptor]]\nnumber = 3\nkind = \"memfd\"\n", "descriptor[0].bytes: got 0; give a size above 0"},
		"its number":      {minimal + strings.Repeat("[[profile.unjailed.descriptor]]\nnumber = 3\nkind = \"memfd\"\nbytes = 1\n", 2), "descriptor[1].number: 3 is taken by an earlier one"},
		"gap id":          {minimal + strings.Replace(gap, "T14.03", "T37.01", 1), "gap[0].id: \"T37.01\" is no assertion"},
		"gap twice":       {minimal + gap + gap, "gap[1].id: T14.03 is declared twice; keep one"},
		"gap expiry":      {minimal + strings.Replace(gap, "2030-01-31", "2030-02-31", 1), "gap[0].expiry: got \"2030-02-31\"; write a day"},
		"gap owner":       {minimal + strings.Replace(gap, `"o"`, `""`, 1), "gap[0]: reason or owner is missing"},
	}
	for name, c := range cases {
		_, err := Parse("bad.toml", "/", []byte(c.text))
		var refusal *Error
		switch {
		case !errors.As(err, &refusal):
			t.Errorf("%s: got %v, want a refusal", name, err)
		case !strings.HasPrefix(err.Error(), "launcher file bad.toml") || strings.Contains(err.Error(), "\n"):
			t.Errorf("%s: not one line that names the file: %q", name, err)
		case !strings.Contains(err.Error(), c.want):
			t.Errorf("%s: got %q, want it to contain %q", name, err, c.want)
		}
	}
	if _, err := Parse("good.toml", "/", []byte(minimal+gap)); err != nil {
		t.Errorf("the accepted twin: %v", err)
	}
}

func TestReadOfAMissingFileSaysSo(t *testing.T) {
	_, err := Read("no-such.toml")
	if want := "launcher file no-such.toml: read: no such file or directory; name a readable file or a known launcher"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestEncodeDecodeKeepsTheFile(t *testing.T) {
	f := reference(t)
	text, err := Encode(f)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Encode(got)
	if err != nil {
		t.Fatal(err)
	}
	if string(again) != string(text) || got.Launch.Document != f.Launch.Document || got.Folder == "" {
		t.Errorf("got %s, want %s", again, text)
	}
	if _, err := Decode([]byte(strings.Replace(string(text), `"version":1`, `"version":1,"version":1`, 1))); err == nil {
		t.Error("a duplicate member was accepted")
	}
}

func TestCells(t *testing.T) {
	want := []scenario.Cell{{Facade: "direct", Profile: "unjailed"}, {Facade: "direct", Profile: "jailed"},
		{Facade: "entrypoint", Profile: "unjailed"}, {Facade: "entrypoint", Profile: "jailed"}}
	if got := reference(t).Cells(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestLiteralBracesStay(t *testing.T) {
	text := minimal + "[facade.direct.options]\ninputs = ['{\"x\":{ a}}', '{value}', '${HOME}']\n" +
		"[pairing]\ntemplate = '{\"a\":{},\"b\":{\"c\":\"{library}\"}}'\n"
	f, err := Parse("good.toml", "/", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s := plain()
	s.Cell.Profile, s.Inputs = "unjailed", map[string]string{"k": "{library"}
	got, err := f.Supervised(s, values())
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"a":{},"b":{"c":"/a/fixture.so"}}`; got.Pairing != want {
		t.Errorf("got %s, want %s", got.Pairing, want)
	}
	if want := []string{`{"x":{ a}}`, `{"k":"{library"}`, "${HOME}"}; !slices.Equal(got.Argv[2:], want) {
		t.Errorf("got %q, want %q", got.Argv[2:], want)
	}
}

// TestOptionsKeepTheirValue: what a knob or mode is set to must reach the
// launcher; the operations are asked for by the option alone.
func TestOptionsKeepTheirValue(t *testing.T) {
	for _, name := range []string{"report", "diagnostic", "wall", "stall", "mode"} {
		head := minimal + "[facade.direct.options]\n" + name
		for _, pieces := range []string{`["--x"]`, `[]`, `["--x", "{library}"]`} {
			_, err := Parse("bad.toml", "/", []byte(head+" = "+pieces+"\n"))
			if want := "launcher file bad.toml: facade.direct.options." + name + ": no {value}; put {value} where"; err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: got %v, want %s", pieces, err, want)
			}
		}
		if _, err := Parse("good.toml", "/", []byte(head+" = [\"--x={value}\"]\n")); err != nil {
			t.Errorf("the accepted twin: %v", err)
		}
	}
	if _, err := Parse("good.toml", "/", []byte(minimal+"[facade.direct.options]\ncapabilities = [\"--c\"]\n")); err != nil {
		t.Errorf("an operation without a value: %v", err)
	}
}

// TestEntrypointIsGivenMountsAndTools: variables only, and a stand-in takes the
// compiler's place unless a source is given.
func TestEntrypointIsGivenMountsAndTools(t *testing.T) {
	s, v := plain(scenario.Option{Knob: "report", Route: "env", Value: "5"}), values()
	s.Cell = scenario.Cell{Facade: "entrypoint", Profile: "jailed"}
	v.Mounts, v.StandIns = "/m", map[string]string{"compiler": "/t/compiler"}
	got, err := reference(t).Supervised(s, v)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"/b/refsup", "entrypoint"}; !slices.Equal(got.Argv, want) {
		t.Errorf("argv %q, want %q", got.Argv, want)
	}
	for _, want := range []string{"PINEFORGE_IN_DIR=/m", "PINEFORGE_REPORT_CHANNEL=supervised/v1", "PINEFORGE_TERMINAL_STATUS_FD=9",
		"PINEFORGE_PROFILE=jailed", "PINEFORGE_REPORT_MAX_BYTES=5"} {
		if !slices.Contains(got.Environment, want) {
			t.Errorf("environment %q lacks %s", got.Environment, want)
		}
	}
	for _, want := range []string{`"transpiler":{"path":"/b/reftranspile"}`, `"compiler":{"path":"/t/compiler"`, `"binder":{"path":"/b/refbind"}`} {
		if !strings.Contains(got.Pairing, want) {
			t.Errorf("pairing %s lacks %s", got.Pairing, want)
		}
	}
}

func TestMissingNamesWhatAnEntrypointLacks(t *testing.T) {
	text := strings.Replace(minimal, "facade.direct", "facade.entrypoint", 1)
	mounted := strings.Replace(text, "{terminal_fd}", "{terminal_fd} {mounts}", 1)
	whole := mounted + "[pairing]\ntemplate = '{compiler}'\n"
	source := func(s *scenario.Scenario) { s.Source = &scenario.Source{Name: "a.cpp"} }
	for name, c := range map[string]struct {
		text   string
		change func(*scenario.Scenario)
		want   string
	}{
		"mounts":      {text, nil, "no way to set {mounts}"},
		"compiler":    {mounted, nil, "no way to set {compiler}"},
		"own":         {mounted, source, ""},
		"binder":      {whole, func(s *scenario.Scenario) { s.Tools = map[string]map[string]string{"binder": nil} }, "no way to set {binder}"},
		"whole":       {whole, nil, ""},
		"direct":      {minimal, source, "no tools in facade direct"},
		"direct only": {minimal, nil, ""},
	} {
		f, err := Parse("small.toml", "/here", []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		s := plain()
		s.Cell = f.Cells()[0]
		if c.change != nil {
			c.change(&s)
		}
		if got := strings.Join(f.Missing(s), ", "); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
