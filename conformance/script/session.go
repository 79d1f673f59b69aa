package script

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"touchstone/conformance/evidence"
	"touchstone/conformance/launcherfile"
	"touchstone/conformance/oracle"
	"touchstone/conformance/scenario"
)

// Attempts runs attempts, or finds them in a record: the engine does not know
// which. Run is called in a fixed order for each script and cell. payload is
// the content of the scenario's payload file, nil when it names none.
//
// Reference gives the unsupervised run of a request, made once for all scripts
// of a cell. Both may be called for several cells concurrently.
type Attempts interface {
	Run(s scenario.Scenario, payload []byte) (*evidence.Attempt, error)
	Reference(s scenario.Scenario) (*evidence.Attempt, error)
}

// Finding is an oracle's finding with its place in the script.
type Finding struct {
	oracle.Finding
	Line  int    `json:"line"` // of the script; 0 for a universal check
	Phase string `json:"phase"`
}

// Leak is something that an attempt left behind.
type Leak struct {
	Attempt string `json:"attempt"`
	What    string `json:"what"`
}

// session is one script in one cell while it runs.
type session struct {
	script   Script
	cell     scenario.Cell
	file     launcherfile.File
	attempts Attempts

	next        scenario.Scenario // settings of the next launch
	payloadName string
	documents   map[string][]byte
	number      int // of the next attempt

	current     []*evidence.Attempt // of the last launch
	request     scenario.Scenario   // of the last launch
	controlled  *evidence.Attempt
	identities  []string // of the attempts so far
	findings    []Finding
	leaks       []Leak
	directories []string

	line    int
	skipped bool   // the last launch was left out
	missing string // why later checks are not run, until fresh
	broken  string // why all later checks are broken
	setenv  func(name, value string)
}

func newSession(s Script, cell scenario.Cell, file launcherfile.File, attempts Attempts) *session {
	session := &session{script: s, cell: cell, file: file, attempts: attempts, documents: map[string][]byte{}}
	session.forget()
	return session
}

func (s *session) forget() {
	s.next = scenario.Scenario{
		Version: 1, Test: s.script.Test, Script: s.script.Name, Cell: s.cell, Kind: scenario.Launch,
		Fixture: scenario.Fixture{Name: "plain"},
	}
	s.payloadName, s.missing, s.controlled = "", "", nil
}

func (s *session) fresh([]string) error {
	s.forget()
	s.exportGrants()
	return nil
}

// exportGrants sets the predefined variables.
func (s *session) exportGrants() {
	g := s.next.Grants.Resolve()
	for name, value := range map[string]uint64{"report": g.Report, "diagnostic": g.Diagnostic, "wall": g.Wall, "stall": g.Stall} {
		s.setenv("grant_"+name, strconv.FormatUint(value, 10))
	}
}

func (s *session) payload(arguments []string) error {
	if _, found := s.documents[arguments[0]]; !found {
		return fmt.Errorf("no document %q", arguments[0])
	}
	s.payloadName = arguments[0]
	return nil
}

func (s *session) catalog([]string) error {
	s.next.Catalog = true
	return nil
}

// payloadFile is the name of the payload within an attempt folder.
const payloadFile = "payload.bin"

// run makes one attempt, after asking whether the launcher can be asked for it.
func (s *session) run(next scenario.Scenario, document string) (*evidence.Attempt, error) {
	next.Number = s.number
	var payload []byte
	if document != "" {
		content, found := s.documents[document]
		if !found {
			return nil, fmt.Errorf("no document %q", document)
		}
		next.Fixture.PayloadFile, payload = payloadFile, content
	}
	if missing := s.file.Missing(next); len(missing) > 0 {
		return nil, s.lacks(missing)
	}
	s.number++
	a, err := s.attempts.Run(next, payload)
	if err != nil {
		return nil, fmt.Errorf("attempt %d: %w", next.Number, err)
	}
	s.directories = append(s.directories, a.Dir)
	return a, nil
}

// lacks names the launcher file, its keys and where they are explained.
func (s *session) lacks(keys []string) error {
	return &needsError{fmt.Sprintf("the launcher file of %s has %s; contracts/README.md explains its keys", s.file.Name, strings.Join(keys, ", "))}
}

func (s *session) universal(a *evidence.Attempt) {
	facts := s.facts()
	for _, f := range s.judge(Judgement{Attempts: []*evidence.Attempt{a}, Facts: facts}) {
		s.found(Finding{Finding: f, Phase: "every attempt"})
	}
	for _, leak := range oracle.Leaks(a, facts) {
		s.leaks = append(s.leaks, Leak{a.Dir, leak})
	}
	s.identities = append(s.identities, a.Launch.AttemptID)
}

// control runs the current fixture with no supervision. Controls stay: a
// fixture that stops at a rendezvous must be let go on.
func (s *session) control([]string) error {
	next := s.next
	next.Kind, next.Options, next.Paces, next.Faults = scenario.Control, nil, nil, nil
	a, err := s.run(next, s.payloadName)
	s.controlled = a
	return err
}

func (s *session) makeReference([]string) error {
	_, err := s.referenceDocument(s.next)
	return err
}

// referenceDocument is the engine's own document for the same logical request.
// The fixture is always plain (select_window where one is requested: plain takes
// none), with the trades and points of the current one: what else a fixture
// does must not change the report.
func (s *session) referenceDocument(request scenario.Scenario) ([]byte, error) {
	reference := scenario.Scenario{
		Version: 1, Test: "reference", Script: "reference", Cell: s.cell, Kind: scenario.Reference,
		Operation: request.Operation, Mode: request.Mode, Inputs: request.Inputs, Requests: request.Requests, Bars: request.Bars,
		Fixture: scenario.Fixture{Name: "plain"},
	}
	if _, window := request.Requests[scenario.RequestWindow]; window {
		reference.Fixture.Name = "select_window"
	}
	for _, key := range []string{"trades", "points"} {
		if value, given := request.Fixture.Args[key]; given {
			if reference.Fixture.Args == nil {
				reference.Fixture.Args = map[string]string{}
			}
			reference.Fixture.Args[key] = value
		}
	}
	if missing := s.file.Missing(reference); len(missing) > 0 {
		return nil, s.lacks(missing)
	}
	a, err := s.attempts.Reference(reference)
	if err != nil {
		return nil, fmt.Errorf("reference: %w", err)
	}
	if exit, found := a.Exit(); len(a.Tampered) > 0 || !found || exit.Body.Status == nil || *exit.Body.Status != 0 || len(a.Stdout()) == 0 {
		return nil, fmt.Errorf("reference: %s: no document with exit 0, or altered: %q", a.Dir, a.Stderr())
	}
	return a.Stdout(), nil
}

func (s *session) facts() oracle.Facts {
	shape := s.file.Shape[string(s.request.WantedOperation())]
	_, named := s.request.Requests[scenario.RequestPathSink]
	if s.request.WantedOperation() == scenario.Full && (named || s.request.Endpoints.Kind(scenario.ChannelSink) != "") {
		shape = s.file.Shape["summary"]
	}
	return oracle.Facts{
		Invocation:         s.file.Facade[s.cell.Facade].Invocation,
		HarnessDiagnostics: []byte(s.file.Diagnostics.Harness),
		Slack:              time.Duration(s.file.Tolerance.SlackMS) * time.Millisecond,
		Volatile:           s.file.Reference.Volatile,
		SuccessMembers:     shape.Members,
		FailureMembers:     s.file.Shape["failure"].Members,
		Documents:          s.documents,
		Control:            s.controlled,
		Host:               hostFacts(s.file.Host.Disposition),
		Earlier:            s.identities,
		Grants:             s.grantsAll(),
		Profiles:           profileFacts(s.file.Profile),
	}
}

func (s *session) grantsAll() bool {
	return !slices.ContainsFunc([]string{"grant_report", "grant_diagnostic", "grant_wall", "grant_stall"},
		func(name string) bool { return !s.file.CanSet(s.cell, name) })
}

// profileFacts are the words of each profile that stand in a launch as they are.
func profileFacts(profiles map[string]launcherfile.Profile) map[string]oracle.ProfileWords {
	facts := map[string]oracle.ProfileWords{}
	for name, p := range profiles {
		var words oracle.ProfileWords
		for _, text := range p.Arguments {
			if !strings.Contains(text, "{") {
				words.Arguments = append(words.Arguments, text)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(p.Environment)) {
			if text := p.Environment[key]; !strings.Contains(text, "{") {
				words.Environment = append(words.Environment, key+"="+text)
			}
		}
		for _, d := range p.Descriptor {
			words.Numbers = append(words.Numbers, d.Number)
		}
		facts[name] = words
	}
	return facts
}

func hostFacts(d launcherfile.Disposition) oracle.Host {
	return oracle.Host{File: d.File, Report: d.Report, Sink: d.Sink, Outcome: d.Outcome, Accepted: d.Accepted, Rejected: d.Rejected,
		Code: d.Code, Args: d.Args, Authority: d.Authority, HostWord: d.HostWord, Storage: d.Storage, Exit: d.Exit, Signal: d.Signal, Record: d.Record,
		Attempt: d.Attempt, ReportBytes: d.ReportBytes, DiagnosticBytes: d.DiagnosticBytes, SinkBytes: d.SinkBytes}
}

// check records one finding and never stops the script.
func (s *session) check(arguments []string) error {
	parsed, err := parseCheck(arguments)
	if err != nil {
		return err
	}
	if s.skipped {
		s.undecided(parsed.id, errUnasked)
		return nil
	}
	facts := s.facts()
	if slices.Equal(parsed.words, []string{"report", "equals-reference"}) {
		if facts.Reference, err = s.referenceDocument(s.request); err != nil {
			s.undecided(parsed.id, err)
			return nil
		}
	}
	for _, f := range s.judge(Judgement{ID: parsed.id, Words: parsed.words, Attempts: s.current, Facts: facts}) {
		s.record(f)
	}
	return nil
}

func (s *session) record(f oracle.Finding) {
	s.found(Finding{Finding: f, Line: s.line, Phase: s.phase()})
}

func (s *session) undecided(id string, cause error) {
	verdict := oracle.Broken
	if needs := (*needsError)(nil); errors.As(cause, &needs) {
		verdict = oracle.NotRun
	}
	s.record(oracle.Finding{ID: id, Rule: oracle.Rule(id), Verdict: verdict, Reason: cause.Error()})
}

func (s *session) phase() string {
	for _, statement := range s.script.Statements {
		if statement.Line == s.line {
			return statement.Phase
		}
	}
	return s.script.Title
}
