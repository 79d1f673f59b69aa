package launcherfile

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"touchstone/conformance/scenario"
)

// Paths and numbers of one attempt that placeholders stand for.
type Values struct {
	Bin        string // folder of the launcher's binaries
	Library    string // the patched strategy library
	OHLCV      string
	Spool      string
	Pairing    string            // where the rendered pairing file is
	Mounts     string            // folder of the entrypoint's source and market data
	StandIns   map[string]string // by the tool whose place they take, or finalizer: programs of the suite
	Attempt    string            // the attempt folder
	AttemptID  string            // 32 lower-case hexadecimal digits
	TerminalFD int
	LaunchFD   int
	SinkFD     int // of the external sink, where the scenario has one
	PhaseFD    int // of the external progress, where the scenario has one
	// Of a hosted attempt only.
	Results   string // folder where the host's results belong
	Relay     string // the relay's program
	RelayPlan string // its plan file
}

// Command is a process to start, all placeholders filled in.
type Command struct {
	Argv        []string
	Environment []string     // KEY=value, sorted; nothing is inherited
	Descriptors []Descriptor // that the profile asks for
	Document    string       // to be readable on Values.LaunchFD; "" is none
	Pairing     string       // content of Values.Pairing; "" is none
}

// Path is the search path of the command's environment.
func (c Command) Path() string {
	for _, v := range c.Environment {
		if path, found := strings.CutPrefix(v, "PATH="); found {
			return path
		}
	}
	return ""
}

// Fixed variables of every started process.
const (
	searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	locale     = "C"
)

// Supervised is the launch of the launcher for a scenario. It fails where
// Missing is not empty.
func (f File) Supervised(s scenario.Scenario, v Values) (Command, error) {
	if missing := f.Missing(s); len(missing) > 0 {
		return Command{}, fmt.Errorf("launcher %s cannot be asked: %s", f.Name, missing[0])
	}
	if s.Admission == scenario.AdmissionMisnamed {
		v.AttemptID = v.AttemptID[1:]
	}
	r := renderer{values: f.launchValues(s, v), environment: map[string]string{"PATH": searchPath, "LANG": locale}}
	facade, profile := f.Facade[s.Cell.Facade], f.Profile[s.Cell.Profile]
	r.arguments(facade.Command)
	r.arguments(profile.Arguments)
	r.variables(facade.Environment)
	r.variables(profile.Environment)
	document := r.admission(f, s.Admission, v)
	r.activate(s, v, facade)
	r.requests(endpointRequests(s, v), facade.Options, facade.Variables)
	for _, o := range s.Options {
		if o.Route == scenario.RouteEnv {
			r.environment[facade.Variables[o.Knob]] = o.Value
			continue
		}
		r.option(facade.Options[o.Knob], o.Value)
	}
	command := r.command()
	command.Descriptors = slices.Clone(profile.Descriptor)
	command.Document = document
	command.Pairing = r.document(f.Pairing.Template)
	return command, r.err
}

// Unsupervised is the reference command for a scenario.
func (f File) Unsupervised(s scenario.Scenario, v Values) (Command, error) {
	if missing := f.Missing(s); len(missing) > 0 {
		return Command{}, fmt.Errorf("launcher %s cannot be asked: %s", f.Name, missing[0])
	}
	r := renderer{values: f.fileValues(v), environment: map[string]string{"PATH": searchPath, "LANG": locale}}
	r.arguments(f.Reference.Command)
	r.variables(f.Reference.Environment)
	r.requests(s, f.Reference.Options, nil)
	return r.command(), r.err
}

// admission gives what the host admits the launch with, and returns the launch
// document, "" for none.
//
// Rules: C-2, C-3.
func (r *renderer) admission(f File, how string, v Values) (document string) {
	if how == scenario.AdmissionNone {
		return ""
	}
	r.variables(f.Launch.Environment)
	if f.Launch.DescriptorVariable != "" {
		r.environment[f.Launch.DescriptorVariable] = strconv.Itoa(v.LaunchFD)
	}
	document = r.document(f.Launch.Document)
	if how == scenario.AdmissionCut {
		document = document[:len(document)/2]
	}
	return document
}

// activate gives what activates supervision, unless the scenario gives or
// withholds it: by option where there is one, else by variable. A file with
// neither has it in its command.
func (r *renderer) activate(s scenario.Scenario, v Values, facade Facade) {
	for _, usual := range []request{{scenario.KnobChannel, scenario.Contract}, {scenario.KnobTerminal, strconv.Itoa(v.TerminalFD)}} {
		pieces, byOption := facade.Options[usual.name]
		name, byVariable := facade.Variables[usual.name]
		switch {
		case slices.Contains(s.Withheld, usual.name), slices.ContainsFunc(s.Options, func(o scenario.Option) bool { return o.Knob == usual.name }):
		case byOption:
			r.option(pieces, usual.value)
		case byVariable:
			r.environment[name] = usual.value
		}
	}
}

// endpointRequests is the scenario with a request for each further endpoint of
// the host, which has no default number.
func endpointRequests(s scenario.Scenario, v Values) scenario.Scenario {
	requests := maps.Clone(s.Requests)
	for name, number := range map[string]int{scenario.RequestSinkFD: v.SinkFD, scenario.RequestPhaseFD: v.PhaseFD} {
		if s.Endpoints.Kind(strings.TrimSuffix(name, "_fd")) == "" {
			continue
		}
		if requests == nil {
			requests = map[string]string{}
		}
		if _, given := requests[name]; !given {
			requests[name] = strconv.Itoa(number)
		}
	}
	s.Requests = requests
	return s
}

// CatalogPath is the file of the failure catalog, "" for none.
func (f File) CatalogPath(bin string) string {
	return strings.NewReplacer("{bin}", bin, "{here}", f.Folder).Replace(f.Catalog)
}

// FinalizerPath is the executable by which V is known.
func (f File) FinalizerPath(v Values) (string, error) {
	if f.Finalizer.Executable == "" {
		return "", fmt.Errorf("launcher %s names no finalizer", f.Name)
	}
	return fill(f.Finalizer.Executable, f.fileValues(v))
}

func (f File) fileValues(v Values) map[string]string {
	return map[string]string{"bin": v.Bin, "here": f.Folder, "library": v.Library, "ohlcv": v.OHLCV, "attempt": v.Attempt}
}

func (f File) launchValues(s scenario.Scenario, v Values) map[string]string {
	values, g := f.fileValues(v), s.Grants.Resolve()
	values["terminal_fd"] = strconv.Itoa(v.TerminalFD)
	values["launch_fd"] = strconv.Itoa(v.LaunchFD)
	values["attempt_id"] = v.AttemptID
	values["grant_report"] = strconv.FormatUint(g.Report, 10)
	values["grant_diagnostic"] = strconv.FormatUint(g.Diagnostic, 10)
	values["grant_wall"] = strconv.FormatUint(g.Wall, 10)
	values["grant_stall"] = strconv.FormatUint(g.Stall, 10)
	values["memory_or_null"] = orNull(g.Memory)
	values["planned_sink_or_null"] = orNull(s.PlannedSink)
	values["spool"] = v.Spool
	values["spool_bytes"] = strconv.FormatUint(s.SpoolBytes(), 10)
	values["pairing"], values["mounts"] = v.Pairing, v.Mounts
	programs := f.Tools.programs()
	programs[scenario.Finalizer] = f.Finalizer.Executable
	if programs["producer"] = f.Producer.Executable; s.Libc == scenario.Musl {
		programs["producer"] = f.Producer.Musl
	}
	for name, program := range programs {
		values[name] = strings.NewReplacer("{bin}", v.Bin, "{here}", f.Folder).Replace(program)
		if standIn := v.StandIns[name]; standIn != "" {
			values[name] = standIn
		}
	}
	return values
}

func orNull(n *uint64) string {
	if n == nil {
		return "null"
	}
	return strconv.FormatUint(*n, 10)
}

// renderer fills placeholders; its first error sticks.
type renderer struct {
	values      map[string]string
	environment map[string]string
	argv        []string
	err         error
}

func (r *renderer) fill(text string, values map[string]string) string {
	out, err := fill(text, values)
	if err != nil && r.err == nil {
		r.err = err
	}
	return out
}

func (r *renderer) arguments(texts []string) {
	for _, text := range texts {
		r.argv = append(r.argv, r.fill(text, r.values))
	}
}

func (r *renderer) variables(variables map[string]string) {
	for _, name := range sorted(variables) {
		r.environment[name] = r.fill(variables[name], r.values)
	}
}

// option appends the arguments of an option. The value is put in last, so
// that braces in it stay as they are.
func (r *renderer) option(pieces []string, value string) {
	values := map[string]string{"value": value}
	for name, v := range r.values {
		values[name] = v
	}
	for _, piece := range pieces {
		r.argv = append(r.argv, r.fill(piece, values))
	}
}

// requests asks for the scenario's operation, mode and inputs, by argument
// where there is one, else by variable.
func (r *renderer) requests(s scenario.Scenario, options map[string][]string, variables map[string]string) {
	for _, request := range wanted(s) {
		if pieces, ok := options[request.name]; ok {
			r.option(pieces, request.value)
		} else {
			r.environment[variables[request.name]] = request.value
		}
	}
}

// document fills a JSON template: what is put in is escaped for a JSON string.
func (r *renderer) document(template string) string {
	values := map[string]string{}
	for name, value := range r.values {
		quoted, err := jsontext.AppendQuote(nil, value)
		if err != nil && r.err == nil {
			r.err = fmt.Errorf("placeholder {%s}: %w", name, err)
		}
		values[name] = string(quoted[1 : len(quoted)-1])
	}
	return r.fill(template, values)
}

func (r *renderer) command() Command {
	c := Command{Argv: r.argv}
	for _, name := range sorted(r.environment) {
		c.Environment = append(c.Environment, name+"="+r.environment[name])
	}
	return c
}

// request is something asked for beyond the plain full operation.
type request struct{ name, value string }

func wanted(s scenario.Scenario) []request {
	var asked []request
	if op := s.WantedOperation(); op != scenario.Full {
		asked = append(asked, request{string(op), "1"})
	}
	if s.Mode != "" {
		asked = append(asked, request{"mode", s.Mode})
	}
	if len(s.Inputs) > 0 {
		text, err := json.Marshal(s.Inputs, json.Deterministic(true))
		if err != nil {
			panic("bug: a map of strings has no JSON: " + err.Error())
		}
		asked = append(asked, request{"inputs", string(text)})
	}
	for _, name := range sorted(s.Requests) {
		asked = append(asked, request{name, s.Requests[name]})
	}
	return asked
}
