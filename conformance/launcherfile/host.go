package launcherfile

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"touchstone/conformance/scenario"
)

// Host is the launcher's own host, for the rows that are about one. An empty
// Command is none.
type Host struct {
	// Command starts the host, up to its options; Separator stands between
	// those and the supervisor's own command, behind our relay.
	Command   []string `toml:"command" json:"command"`
	Separator []string `toml:"separator" json:"separator"`
	// Options are the arguments appended for memory and planned_sink, with
	// {value}, for an external sink, for a named one with its path as {value}, and for a facade or profile by its name.
	Options map[string][]string `toml:"options" json:"options"`
	// Spelling is what stands in the supervisor's command for what only the host
	// knows: terminal_fd and, where it can pass one, sink_fd. A number in the
	// environment is env:NAME. named_sink stands for the path of a named sink,
	// where the host has a spelling of that.
	Spelling    map[string]string `toml:"spelling" json:"spelling"`
	Cancel      string            `toml:"cancel" json:"cancel"` // a signal, as TERM
	Disposition Disposition       `toml:"disposition" json:"disposition"`
}

// Disposition says where in {results} the host's document and its accepted
// results lie, and by which members (names with dots between) it says what. An
// empty member is not said, and what needs it is not run.
type Disposition struct {
	File      string `toml:"file" json:"file"`     // the document
	Report    string `toml:"report" json:"report"` // an accepted report
	Sink      string `toml:"sink" json:"sink"`     // an accepted external sink
	Outcome   string `toml:"outcome" json:"outcome"`
	Accepted  string `toml:"accepted" json:"accepted"` // value of Outcome
	Rejected  string `toml:"rejected" json:"rejected"` // value of Outcome
	Code      string `toml:"code" json:"code"`
	Args      string `toml:"args" json:"args"`
	Authority string `toml:"authority" json:"authority"`
	HostWord  string `toml:"host_word" json:"host_word"` // value of Authority: established by the host
	Exit      string `toml:"exit" json:"exit"`           // of the supervisor's wait status
	Signal    string `toml:"signal" json:"signal"`
	Record    string `toml:"record" json:"record"` // the believed record, null without one
	Attempt   string `toml:"attempt" json:"attempt"`
	// Of the prefixes that the host itself saw, in bytes.
	ReportBytes     string `toml:"report_bytes" json:"report_bytes"`
	DiagnosticBytes string `toml:"diagnostic_bytes" json:"diagnostic_bytes"`
	SinkBytes       string `toml:"sink_bytes" json:"sink_bytes"`
	Storage         string `toml:"storage" json:"storage"` // bytes of storage that it granted
}

// The keys of Host.Options that stand for what a scenario asks.
const (
	hostMemory  = "memory"
	hostPlanned = "planned_sink"
	hostSink    = "sink"
	hostNamed   = "named_sink"
)

var (
	hostOptions      = []string{hostMemory, hostPlanned, hostSink, hostNamed, "direct", "entrypoint", "unjailed", "jailed"}
	hostPlaceholders = append([]string{"value", "results"}, launchPlaceholders...)
)

func (f File) checkHost() *Error {
	h := f.Host
	if len(h.Command) == 0 {
		return nil
	}
	if p := checkCommand("host.command", h.Command, hostPlaceholders); p != nil {
		return p
	}
	if p := checkTexts("host.separator", h.Separator, hostPlaceholders); p != nil {
		return p
	}
	if p := checkOptions("host.options", h.Options, hostOptions, hostPlaceholders); p != nil {
		return p
	}
	for _, name := range sorted(h.Spelling) {
		if name != "terminal_fd" && name != "sink_fd" && name != hostNamed {
			return problem("host.spelling."+name, "unknown key", "use terminal_fd, sink_fd or named_sink")
		}
	}
	if h.Spelling["terminal_fd"] == "" {
		return problem("host.spelling.terminal_fd", "missing", "say how the host spells the number of the terminal endpoint in a command")
	}
	if h.Cancel != "" && unix.SignalNum("SIG"+h.Cancel) == 0 {
		return problem("host.cancel", fmt.Sprintf("unknown signal %q", h.Cancel), "name it without SIG, as in TERM")
	}
	return h.Disposition.check()
}

func (d Disposition) check() *Error {
	for _, required := range []struct{ key, text string }{{"file", d.File}, {"outcome", d.Outcome}, {"accepted", d.Accepted},
		{"rejected", d.Rejected}, {"code", d.Code}, {"args", d.Args}} {
		if required.text == "" {
			return problem("host.disposition."+required.key, "missing", "say where the host's document lies and which members are its decision")
		}
	}
	for key, name := range map[string]string{"file": d.File, "report": d.Report, "sink": d.Sink} {
		if strings.ContainsRune(name, '/') {
			return problem("host.disposition."+key, fmt.Sprintf("%q is no name in {results}", name), "let the host write it right there")
		}
	}
	return nil
}

// Hosted is the launch of the launcher's host for a scenario, with a relay in
// the supervisor's place: the real supervisor's command is the relay's. It fails
// where Missing is not empty.
func (f File) Hosted(s scenario.Scenario, v Values) (Command, error) {
	if missing := f.Missing(s); len(missing) > 0 {
		return Command{}, fmt.Errorf("launcher %s cannot be asked: %s", f.Name, missing[0])
	}
	facade, profile := f.Facade[s.Cell.Facade], f.Profile[s.Cell.Profile]
	r := renderer{values: f.launchValues(s, v), environment: map[string]string{"PATH": searchPath, "LANG": locale}}
	r.values["results"] = v.Results
	r.variables(facade.Environment)
	r.variables(profile.Environment)
	r.arguments(f.Host.Command)
	for _, asked := range hostAsks(s) {
		r.option(f.Host.Options[asked.name], asked.value)
	}
	r.arguments(f.Host.Separator)

	sink := "-"
	for name, text := range f.Host.Spelling {
		r.values[name] = text
	}
	if s.Endpoints.Kind(scenario.ChannelSink) != "" {
		sink = f.Host.Spelling["sink_fd"]
	}
	r.argv = append(r.argv, v.Relay, v.RelayPlan, f.Host.Spelling["terminal_fd"], sink, "--")
	r.arguments(facade.Command)
	r.arguments(profile.Arguments)
	for name, value := range map[string]string{scenario.KnobChannel: scenario.Contract, scenario.KnobTerminal: f.Host.Spelling["terminal_fd"]} {
		r.option(facade.Options[name], value)
	}
	r.requests(hostedRequests(s, f.Host.Spelling), facade.Options, facade.Variables)
	for _, o := range s.Options {
		if o.Route == scenario.RouteEnv {
			r.environment[facade.Variables[o.Knob]] = o.Value
			continue
		}
		r.option(facade.Options[o.Knob], o.Value)
	}
	command := r.command()
	r.values = f.launchValues(s, v)
	command.Pairing = r.document(f.Pairing.Template)
	return command, r.err
}

// hostedRequests is the scenario with the request for its external sink, and
// with the host's spelling of a named one.
func hostedRequests(s scenario.Scenario, spelling map[string]string) scenario.Scenario {
	requests := map[string]string{}
	for name, value := range s.Requests {
		requests[name] = value
		if name == scenario.RequestPathSink && spelling[hostNamed] != "" {
			requests[name] = spelling[hostNamed]
		}
	}
	if s.Endpoints.Kind(scenario.ChannelSink) != "" {
		requests[scenario.RequestSinkFD] = spelling["sink_fd"]
	}
	s.Requests = requests
	return s
}

// hostAsks are the options of a host that a scenario needs.
func hostAsks(s scenario.Scenario) []request {
	asked := []request{{name: s.Cell.Facade}, {name: s.Cell.Profile}}
	if s.Grants.Memory != nil {
		asked = append(asked, request{hostMemory, fmt.Sprint(*s.Grants.Memory)})
	}
	if s.PlannedSink != nil {
		asked = append(asked, request{hostPlanned, fmt.Sprint(*s.PlannedSink)})
	}
	if s.Endpoints.Kind(scenario.ChannelSink) != "" {
		asked = append(asked, request{name: hostSink})
	}
	if path := s.Requests[scenario.RequestPathSink]; path != "" {
		asked = append(asked, request{hostNamed, path})
	}
	return asked
}

// missingHost is what a hosted scenario asks that the file cannot set.
func (f File) missingHost(s scenario.Scenario) []string {
	if len(f.Host.Command) == 0 {
		return []string{"no host.command"}
	}
	facade := f.Facade[s.Cell.Facade]
	missing := missingRequests("facade."+s.Cell.Facade, hostedRequests(s, f.Host.Spelling), facade.Options, facade.Variables)
	missing = append(missing, f.missingOptions(s)...)
	for _, asked := range hostAsks(s)[2:] {
		if len(f.Host.Options[asked.name]) == 0 {
			missing = append(missing, "no host.options."+asked.name)
		}
	}
	if s.Endpoints.Kind(scenario.ChannelSink) != "" && f.Host.Spelling["sink_fd"] == "" {
		missing = append(missing, "no host.spelling.sink_fd")
	}
	if f.Host.Cancel == "" && slices.ContainsFunc(s.Controls, func(r scenario.Rule) bool { return r.Action.Kind == scenario.DoCancel }) {
		missing = append(missing, "no host.cancel")
	}
	return missing
}
