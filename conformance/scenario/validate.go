package scenario

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
)

// Encode is the scenario as compact JSON with a final newline.
func Encode(s Scenario) ([]byte, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	text, err := json.Marshal(s, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode scenario: %w", err)
	}
	return append(text, '\n'), nil
}

// Decode reads what Encode wrote. Unknown and duplicate members are refused.
func Decode(text []byte) (Scenario, error) {
	var s Scenario
	if err := json.Unmarshal(text, &s, json.RejectUnknownMembers(true)); err != nil {
		return Scenario{}, fmt.Errorf("decode scenario: %w", err)
	}
	if err := s.Validate(); err != nil {
		return Scenario{}, err
	}
	return s, nil
}

// Validate says what of the scenario no attempt could do. It knows nothing of
// the launcher.
func (s Scenario) Validate() error {
	checks := []func() error{s.checkHead, s.checkFixture, s.checkBuild, s.checkOptions, s.Endpoints.Check, s.checkPaces, s.checkControls, s.checkFaults, s.checkRelay, s.checkFinalizer}
	for _, check := range checks {
		if err := check(); err != nil {
			return fmt.Errorf("scenario %s %s/%d: %w", s.Script, s.Cell, s.Number, err)
		}
	}
	return nil
}

func (s Scenario) checkHead() error {
	if s.Version != 1 {
		return fmt.Errorf("version: got %d, want 1", s.Version)
	}
	if s.Number < 0 || s.Bars < 0 || s.ExtraDescriptors < 0 || s.ExtraDescriptors > 64 {
		return fmt.Errorf("number %d, bars %d, extra descriptors %d: out of range", s.Number, s.Bars, s.ExtraDescriptors)
	}
	return first(
		oneOf("facade", s.Cell.Facade, "direct", "entrypoint"),
		oneOf("profile", s.Cell.Profile, "unjailed", "jailed"),
		oneOf("kind", string(s.Kind), string(Launch), string(Reference), string(Control), string(Hosted), string(Alone)),
		oneOf("admission", s.Admission, "", AdmissionNone, AdmissionCut, AdmissionMisnamed),
		CheckDeprived(s.Deprived),
		oneOf("operation", string(s.Operation), "", string(Full), string(Capabilities), string(Validation)),
	)
}

// CheckDeprived says what is wrong with a word for what a launcher is started
// without.
func CheckDeprived(what string) error {
	kind, text, counted := strings.Cut(what, "=")
	if !counted {
		return oneOf("deprived", kind, "", Namespaces, Filters, Privilege, Groups)
	}
	if n, err := strconv.ParseUint(text, 10, 16); err != nil || n < 3 {
		return fmt.Errorf("deprived %q: want a number from 3 on", what)
	}
	return oneOf("deprived", kind, Descriptors)
}

func (s Scenario) checkFixture() error {
	if s.Fixture.Name == "" {
		return fmt.Errorf("fixture: no name")
	}
	if p := s.Fixture.PayloadFile; p != "" && p != filepath.Base(p) {
		return fmt.Errorf("payload file %q: not a name within the attempt folder", p)
	}
	if s.OldTarget != "" && s.Requests[RequestPathSink] == "" {
		return fmt.Errorf("old target: no named sink")
	}
	for name := range s.Requests {
		if err := oneOf("request", name, RequestPathSink, RequestSpillFolder, RequestWindow, RequestSinkFD, RequestPhaseFD, RequestExplain,
			RequestHelp, RequestConvert, RequestTranspile, RequestPrivate); err != nil {
			return err
		}
	}
	return nil
}

func (s Scenario) checkOptions() error {
	for _, o := range s.Options {
		err := first(
			oneOf("knob", o.Knob, KnobReport, KnobDiagnostic, KnobWall, KnobStall, KnobChannel, KnobTerminal),
			oneOf("route", o.Route, RouteCLI, RouteEnv),
		)
		if err != nil {
			return err
		}
	}
	for _, knob := range s.Withheld {
		if err := oneOf("withheld", knob, KnobChannel, KnobTerminal); err != nil {
			return err
		}
	}
	return nil
}

func (s Scenario) checkPaces() error {
	seen := map[string]bool{}
	for _, p := range s.Paces {
		if err := oneOf("pace channel", p.Channel, ChannelReport, ChannelDiagnostic, ChannelSink); err != nil {
			return err
		}
		if p.Bytes <= 0 || p.EveryMS == 0 {
			return fmt.Errorf("pace %s: %d bytes every %d ms: both must be positive", p.Channel, p.Bytes, p.EveryMS)
		}
		if seen[p.Channel] {
			return fmt.Errorf("pace %s: given twice", p.Channel)
		}
		seen[p.Channel] = true
	}
	return nil
}

func (s Scenario) checkControls() error {
	for _, r := range s.Controls {
		if err := first(r.Trigger.check(), r.Action.check()); err != nil {
			return err
		}
		if r.Trigger.Kind == AtTime && s.HangMS != 0 && r.Trigger.N >= s.HangMS {
			return fmt.Errorf("trigger time %d ms: not before the hang limit of %d ms", r.Trigger.N, s.HangMS)
		}
	}
	return nil
}

func (t Trigger) check() error {
	switch t.Kind {
	case AtBytes, AtEOF:
		if t.Kind == AtBytes && t.N == 0 {
			return fmt.Errorf("trigger bytes: counts from 1; use %s", AtSpawn)
		}
		return oneOf("trigger channel", t.Channel, ChannelReport, ChannelDiagnostic, ChannelSink)
	case AtRendezvous:
		if t.N == 0 {
			return fmt.Errorf("trigger rendezvous: points count from 1")
		}
	}
	return oneOf("trigger", t.Kind, AtSpawn, AtRendezvous, AtPacket, AtTime, AtChild, AtGone, AtReaped, AtCreating, AtJudged, AtStopped)
}

func (a Action) check() error {
	switch a.Kind {
	case DoKill, DoStop, DoContinue, DoObserve, DoPlant:
		if a.Kind == DoObserve && a.Who == Storage {
			return nil
		}
		return oneOf("action who", a.Who, Supervisor, Producer, Finalizer)
	case DoClose, DoPause, DoResume:
		return oneOf("action channel", a.Channel, ChannelReport, ChannelDiagnostic, ChannelTerminal, ChannelSink)
	case DoHold:
		return oneOf("action channel", a.Channel, ChannelDiagnostic)
	case DoPoke:
		if a.Word < 0 || a.Word > 7 || a.Value == "" {
			return fmt.Errorf("action poke: word %d value %q: want a word 0..7 and a value", a.Word, a.Value)
		}
		return nil
	}
	return oneOf("action", a.Kind, DoCancel)
}

func oneOf(what, got string, allowed ...string) error {
	if slices.Contains(allowed, got) {
		return nil
	}
	return fmt.Errorf("%s: %q is none of %q", what, got, allowed)
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// checkFaults: what a line says is for the tracer to refuse.
func (s Scenario) checkFaults() error {
	switch {
	case len(s.Faults) == 0:
		return nil
	case s.Kind != Launch:
		return fmt.Errorf("faults: an attempt of kind %s has no supervisor", s.Kind)
	case s.Deprived != "":
		return fmt.Errorf("faults: not together with deprived %q", s.Deprived)
	}
	for _, line := range s.Faults {
		if strings.TrimSpace(line) == "" || strings.ContainsAny(line, "\n\r") {
			return fmt.Errorf("fault %q: want one line", line)
		}
	}
	return nil
}

func (s Scenario) checkRelay() error {
	if len(s.Relay) > 0 && s.Kind != Hosted {
		return fmt.Errorf("relay: the attempt has no host of its own")
	}
	_, err := ParseRelay(s.Relay)
	return err
}
