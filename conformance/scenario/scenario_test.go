package scenario

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
)

func small() Scenario {
	return Scenario{Version: 1, Kind: Launch, Cell: Cell{"direct", "unjailed"}, Fixture: Fixture{Name: "plain"}}
}

func n(v uint64) *uint64 { return &v }

func TestEncodeDecodeKeepsEverything(t *testing.T) {
	s := Scenario{Version: 1, Test: "T23", Script: "T23-x", Cell: Cell{"entrypoint", "jailed"}, Number: 7, Kind: Control,
		Operation: Validation, Mode: "STREAMED", Fixture: Fixture{"send", map[string]string{"a": "b=\x01"}, "p.bin"},
		Options: []Option{{"wall", "env", " 5\t"}, {"wall", "cli", ""}}, Grants: Grants{Report: n(0), Memory: n(1 << 52)},
		PlannedSink: n(9), Spool: Spool{Bytes: 1}, Withheld: []string{"terminal"}, Admission: "cut", Deprived: "filters",
		Endpoints: Endpoints{Report: "stream", Terminal: "same:report", Numbers: map[string]int{"terminal": 900}}, ExtraDescriptors: 3,
		Inputs: map[string]string{"x": "1"}, Requests: map[string]string{"path_sink": "/x"}, Bars: 8,
		Source: &Source{"a.cpp", "int x;"}, Tools: map[string]map[string]string{"binder": {"out": "9"}}, Unmounted: []string{"ohlcv"}, Paces: []Pace{{"report", 1, 2}}, HangMS: 99, Faults: []string{},
		Controls: []Rule{{Trigger{"bytes", "report", 5}, Action{Kind: "kill", Who: "producer", Signal: "TERM"}},
			{Trigger{Kind: "rendezvous", N: 1}, Action{Kind: "poke", Word: 7, Value: "3"}}}}
	text, err := Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDecodeIsStrict(t *testing.T) {
	text, err := Encode(small())
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{`{"version":1`, `{"version":1,"surprise":0`}, {`{"version":1`, `{"version":1,"version":1`}, {`{"version":1`, `{"version":2`},
		{`"kind":"launch"`, `"kind":"lunch"`}, {"}\n", "}\n{}\n"},
	} {
		broken := strings.Replace(string(text), change[0], change[1], 1)
		if _, err := Decode([]byte(broken)); broken == string(text) || err == nil {
			t.Errorf("accepted: %s", broken)
		}
	}
}

func TestValidateNamesWhatIsWrong(t *testing.T) {
	rule := func(tr Trigger, a Action) func(*Scenario) {
		return func(s *Scenario) { s.Controls = []Rule{{tr, a}} }
	}
	spawn, cancel := Trigger{Kind: AtSpawn}, Action{Kind: DoCancel}
	cases := map[string]struct {
		change func(*Scenario)
		want   string // "" is accepted
	}{
		"plain":             {func(*Scenario) {}, ""},
		"no fixture":        {func(s *Scenario) { s.Fixture.Name = "" }, "fixture: no name"},
		"payload elsewhere": {func(s *Scenario) { s.Fixture.PayloadFile = "../x" }, "payload file"},
		"facade":            {func(s *Scenario) { s.Cell.Facade = "side" }, `facade: "side" is none of`},
		"path sink":         {func(s *Scenario) { s.Requests = map[string]string{"path_sink": "/x"} }, ""},
		"other request":     {func(s *Scenario) { s.Requests = map[string]string{"speed": "9"} }, `request: "speed"`},
		"knob":              {func(s *Scenario) { s.Options = []Option{{"speed", "cli", "1"}} }, `knob: "speed"`},
		"route":             {func(s *Scenario) { s.Options = []Option{{"wall", "mail", "1"}} }, `route: "mail"`},
		"admission":         {func(s *Scenario) { s.Admission = "late" }, `admission: "late"`},
		"deprived":          {func(s *Scenario) { s.Deprived = "descriptors=9" }, ""},
		"deprived of sleep": {func(s *Scenario) { s.Deprived = "sleep" }, `deprived: "sleep"`},
		"deprived of all":   {func(s *Scenario) { s.Deprived = "descriptors=2" }, "from 3 on"},
		"kind":              {func(s *Scenario) { s.Endpoints.Report = "tube" }, "report endpoint"},
		"kind of another":   {func(s *Scenario) { s.Endpoints.Report = "listening" }, "report endpoint"},
		"alias":             {func(s *Scenario) { s.Endpoints.Diagnostic = "same:report" }, ""},
		"alias of itself":   {func(s *Scenario) { s.Endpoints.Report = "same:report" }, "want another"},
		"alias of an alias": {func(s *Scenario) { s.Endpoints = Endpoints{Diagnostic: "same:report", Phase: "same:diagnostic"} }, "stands by itself"},
		"alias of nothing":  {func(s *Scenario) { s.Endpoints.Report = "same:sink" }, "stands by itself"},
		"number of report":  {func(s *Scenario) { s.Endpoints.Numbers = map[string]int{"report": 9} }, `number: "report"`},
		"number":            {func(s *Scenario) { s.Endpoints.Numbers = map[string]int{"sink": 2} }, "not in 3..1023"},
		"withheld":          {func(s *Scenario) { s.Withheld = []string{"wall"} }, `withheld: "wall"`},
		"pace of nothing":   {func(s *Scenario) { s.Paces = []Pace{{"report", 0, 1}} }, "must be positive"},
		"pace twice":        {func(s *Scenario) { s.Paces = []Pace{{"report", 1, 1}, {"report", 1, 1}} }, "given twice"},
		"cancel":            {rule(spawn, cancel), ""},
		"point 0":           {rule(Trigger{Kind: AtRendezvous}, cancel), "points count from 1"},
		"bytes 0":           {rule(Trigger{Kind: AtBytes, Channel: "report"}, cancel), "counts from 1"},
		"bytes of terminal": {rule(Trigger{Kind: AtBytes, Channel: "terminal", N: 1}, cancel), "trigger channel"},
		"no trigger":        {rule(Trigger{Kind: "later"}, cancel), `trigger: "later"`},
		"who":               {rule(spawn, Action{Kind: DoKill, Who: "host"}), "action who"},
		"word":              {rule(spawn, Action{Kind: DoPoke, Word: 8, Value: "1"}), "want a word 0..7"},
		"action":            {rule(spawn, Action{Kind: "tickle"}), `action: "tickle"`},
		"late":              {func(s *Scenario) { s.HangMS = 5; s.Controls = []Rule{{Trigger{Kind: AtTime, N: 5}, cancel}} }, "not before the hang limit"},
	}
	for name, c := range cases {
		s := small()
		c.change(&s)
		err := s.Validate()
		if (err == nil) != (c.want == "") || (err != nil && !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func TestDefaultsAreTheContracts(t *testing.T) {
	want := Granted{Report: 67_108_864, Diagnostic: 1_048_576, Wall: 600_000, Stall: 5_000}
	if got := (Grants{}).Resolve(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := (Grants{Report: n(0)}).Resolve().Report; got != 0 {
		t.Errorf("a zero grant became %d", got)
	}
}

func TestEffectiveLimits(t *testing.T) {
	cases := []struct {
		options []Option
		grant   *uint64
		want    uint64
	}{
		{nil, nil, 600_000}, {nil, n(900_000), 600_000}, {nil, n(700), 700}, {[]Option{{"wall", "cli", "0"}}, n(900_000), 900_000},
		{[]Option{{"wall", "env", "50"}}, nil, 50}, {[]Option{{"wall", "cli", "60"}, {"wall", "env", "50"}}, nil, 60},
		{[]Option{{"wall", "cli", "-1"}}, nil, 600_000}, {[]Option{{"stall", "cli", "7"}}, nil, 600_000},
		{[]Option{{"wall", "cli", "800"}}, n(700), 700},
	}
	for _, c := range cases {
		s := small()
		s.Options, s.Grants.Wall = c.options, c.grant
		if got := s.WallMS(); got != c.want {
			t.Errorf("%v grant %v: got %d, want %d", c.options, c.grant, got, c.want)
		}
	}
}

func TestOwesRecord(t *testing.T) {
	given := func(knob, value string) func(*Scenario) {
		return func(s *Scenario) { s.Options = append(s.Options, Option{knob, "cli", value}) }
	}
	at := func(number int) func(*Scenario) {
		return func(s *Scenario) { s.Endpoints.Numbers = map[string]int{"terminal": number} }
	}
	cases := map[string]struct {
		changes []func(*Scenario)
		owed    bool
	}{
		"usual":           {nil, true},
		"the literal":     {[]func(*Scenario){given("channel", "supervised/v1")}, true},
		"another version": {[]func(*Scenario){given("channel", "supervised/v2")}, false},
		"two versions":    {[]func(*Scenario){given("channel", "supervised/v1"), given("channel", "x")}, false},
		"its number":      {[]func(*Scenario){at(900), given("terminal", "900")}, true},
		"another number":  {[]func(*Scenario){at(900), given("terminal", "901")}, false},
		"a drawn number":  {[]func(*Scenario){given("terminal", "901")}, false},
		"the arena":       {[]func(*Scenario){at(5)}, false},
		"withheld":        {[]func(*Scenario){func(s *Scenario) { s.Withheld = []string{"channel"} }}, false},
		"filled":          {[]func(*Scenario){func(s *Scenario) { s.Endpoints.Terminal = Filled }}, false},
		"filled for a while": {[]func(*Scenario){func(s *Scenario) {
			s.Endpoints.Terminal = Filled
			s.Controls = []Rule{{Trigger{Kind: AtSpawn}, Action{Kind: DoResume, Channel: ChannelTerminal}}}
		}}, true},
		"a narrow pair":    {[]func(*Scenario){func(s *Scenario) { s.Endpoints.Terminal = Narrow }}, false},
		"a pipe":           {[]func(*Scenario){func(s *Scenario) { s.Endpoints.Terminal = Pipe }}, false},
		"an alias":         {[]func(*Scenario){func(s *Scenario) { s.Endpoints.Phase = "same:terminal" }}, false},
		"an alias of data": {[]func(*Scenario){func(s *Scenario) { s.Endpoints.Diagnostic = "same:report" }}, true},
		"a failing send":   {[]func(*Scenario){func(s *Scenario) { s.Faults = []string{"rule a: on %send fd terminal ; do errno EPIPE"} }}, false},
		"interruptions":    {[]func(*Scenario){func(s *Scenario) { s.Faults = []string{"rule a: on %send fd terminal ; do errno EINTR storm 3"} }}, true},
		"its own end":      {[]func(*Scenario){func(s *Scenario) { s.Endpoints.Report = "peer:terminal" }}, false},
	}
	for name, c := range cases {
		s := small()
		for _, change := range c.changes {
			change(&s)
		}
		if got := s.OwesRecord(); got != c.owed {
			t.Errorf("%s: got %t", name, got)
		}
	}
}

func TestHangAndSpoolLimitsStayBounded(t *testing.T) {
	seed := time.Now().UnixNano()
	parameters := gopter.DefaultTestParametersWithSeed(seed)
	properties := gopter.NewProperties(parameters)
	properties.Property("W+G+P and the slack, of each at most 20 s, and a margin", prop.ForAll(
		func(wall, stall, slack uint64) bool {
			s := small()
			s.Grants = Grants{Wall: &wall, Stall: &stall}
			got := s.HangLimit(slack)
			return got == min(wall, 20_000)+1_000+min(stall, 5_000)+min(slack, 20_000)+3_000
		}, gen.UInt64(), gen.UInt64(), gen.UInt64()))
	properties.Property("for what is known to be broken, what a sound launcher took in the place of a W over 10 s, and never longer", prop.ForAll(
		func(wall, stall, sound uint64) bool {
			s := small()
			s.Grants = Grants{Wall: &wall, Stall: &stall}
			got, whole := s.BriefLimit(1_500, sound), s.HangLimit(1_500)
			return got <= whole && (got == whole || (wall > 10_000 && got == sound+1_000+min(stall, 5_000)+1_500))
		}, gen.UInt64Range(0, 40_000), gen.UInt64Range(0, 8_000), gen.UInt64Range(0, 30_000)))
	properties.Property("a spool holds the report grant or is at its ceiling", prop.ForAll(
		func(report uint64) bool {
			s := small()
			s.Grants.Report = &report
			got := s.SpoolBytes()
			return got <= spoolCeiling && (got > report || got == spoolCeiling)
		}, gen.UInt64()))
	properties.Property("options come back byte for byte", prop.ForAll(
		func(value string) bool {
			s := small()
			s.Options = []Option{{"report", "cli", value}}
			text, err := Encode(s)
			if err != nil {
				return false
			}
			got, err := Decode(text)
			return err == nil && got.Options[0].Value == value
		}, gen.AnyString()))
	if !properties.Run(gopter.ConsoleReporter(false)) {
		t.Errorf("seed %d", seed)
	}
	fmt.Printf("seed %d\n", seed)
}

func FuzzDecode(f *testing.F) {
	text, err := Encode(small())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Decode(text)
		if err != nil {
			return
		}
		again, err := Encode(s)
		if err != nil {
			t.Fatalf("decoded but not encoded: %v", err)
		}
		if _, err := Decode(again); err != nil {
			t.Errorf("does not come back: %v: %s", err, again)
		}
	})
}
