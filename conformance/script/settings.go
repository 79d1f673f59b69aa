package script

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"touchstone/conformance/scenario"
)

func setFixture(s *scenario.Scenario, words []string) error {
	if len(words) == 0 {
		return fmt.Errorf("no name")
	}
	args, err := pairs(words[1:])
	if err != nil {
		return err
	}
	s.Fixture = scenario.Fixture{Name: words[0], Args: args}
	return nil
}

func setLibc(s *scenario.Scenario, words []string) error {
	if len(words) != 1 {
		return fmt.Errorf("want %s", scenario.Musl)
	}
	s.Libc = words[0]
	return oneOf(words[0], scenario.Musl)
}

// pairs reads key=value words, each key once.
func pairs(words []string) (map[string]string, error) {
	values := map[string]string{}
	for _, w := range words {
		key, value, err := assignment(w)
		if err != nil {
			return nil, err
		}
		if _, twice := values[key]; twice {
			return nil, fmt.Errorf("%s given twice", key)
		}
		values[key] = value
	}
	return values, nil
}

// somePairs is pairs with at least one.
func somePairs(words []string) (map[string]string, error) {
	values, err := pairs(words)
	if err == nil && len(values) == 0 {
		err = fmt.Errorf("want key=value")
	}
	return values, err
}

func setGrant(s *scenario.Scenario, words []string) error {
	values, err := somePairs(words)
	if err != nil {
		return err
	}
	targets := map[string]**uint64{
		"report": &s.Grants.Report, "diagnostic": &s.Grants.Diagnostic,
		"wall": &s.Grants.Wall, "stall": &s.Grants.Stall, "memory": &s.Grants.Memory,
	}
	for knob, text := range values {
		target, known := targets[knob]
		if !known {
			return fmt.Errorf("unknown knob %q", knob)
		}
		n, err := number(text)
		if err != nil {
			return err
		}
		*target = &n
	}
	return nil
}

func setRequest(s *scenario.Scenario, words []string) error {
	values, err := somePairs(words)
	if err != nil {
		return err
	}
	for key, value := range values {
		switch key {
		case "mode":
			s.Mode = value
		case "mode-size":
			n, err := number(value)
			if err != nil || n == 0 || n > 1<<16 {
				return fmt.Errorf("mode-size=%s: want 1..%d", value, 1<<16)
			}
			s.Mode = strings.Repeat("x", int(n))
		case "operation":
			if err := oneOf(value, "full", "capabilities", "validation"); err != nil {
				return err
			}
			s.Operation = scenario.Operation(value)
		case "option":
			name, text, _ := strings.Cut(value, "=")
			s.Requests = with(s.Requests, name, text)
		default:
			return fmt.Errorf("unknown %q", key)
		}
	}
	return nil
}

func setEndpoint(s *scenario.Scenario, words []string) error {
	values, err := somePairs(words)
	if err != nil {
		return err
	}
	for name, kind := range values {
		if err := oneOf(name, scenario.EndpointNames...); err != nil {
			return err
		}
		s.Endpoints.Set(name, kind)
	}
	return s.Endpoints.Check()
}

func setAdmission(s *scenario.Scenario, words []string) error {
	if len(words) != 1 {
		return fmt.Errorf("want one word")
	}
	s.Admission = words[0]
	return oneOf(s.Admission, scenario.AdmissionNone, scenario.AdmissionCut, scenario.AdmissionMisnamed)
}

func setDeprived(s *scenario.Scenario, words []string) error {
	if len(words) != 1 || words[0] == "" {
		return fmt.Errorf("want one word")
	}
	s.Deprived = words[0]
	return scenario.CheckDeprived(s.Deprived)
}

func setNumber(s *scenario.Scenario, words []string) error {
	values, err := somePairs(words)
	if err != nil {
		return err
	}
	numbers := maps.Clone(s.Endpoints.Numbers)
	if numbers == nil {
		numbers = map[string]int{}
	}
	for name, text := range values {
		n, err := number(text)
		if err != nil {
			return err
		}
		numbers[name] = int(min(n, 1<<16))
	}
	s.Endpoints.Numbers = numbers
	return s.Endpoints.Check()
}

// one reads the only word as a number up to high.
func one(words []string, high uint64) (uint64, error) {
	if len(words) != 1 {
		return 0, fmt.Errorf("%d words, want one number", len(words))
	}
	n, err := number(words[0])
	if err == nil && n > high {
		err = fmt.Errorf("%d is more than %d", n, high)
	}
	return n, err
}

func setExtra(s *scenario.Scenario, words []string) error {
	n, err := one(words, 64)
	s.ExtraDescriptors = int(n)
	return err
}

func setBars(s *scenario.Scenario, words []string) error {
	n, err := one(words, 1_000_000)
	s.Bars = int(n)
	return err
}

func setSpool(s *scenario.Scenario, words []string) (err error) {
	s.Spool = scenario.Spool{}
	if len(words) == 2 {
		text, found := strings.CutPrefix(words[1], "real=")
		if s.Spool.Real, err = one([]string{text}, 1<<40); err != nil || !found || s.Spool.Real == 0 {
			return fmt.Errorf("%q: want real=N", words[1])
		}
		words = words[:1]
	}
	s.Spool.Bytes, err = one(words, 1<<40)
	return err
}

func setPlannedSink(s *scenario.Scenario, words []string) error {
	n, err := one(words, 1<<53)
	s.PlannedSink = &n
	return err
}

func setOldTarget(s *scenario.Scenario, words []string) (err error) {
	if len(words) != 1 || words[0] == "" {
		return fmt.Errorf("want one text")
	}
	s.OldTarget, err = decode(words[0])
	return err
}

func setInputs(s *scenario.Scenario, words []string) error {
	values, err := pairs(words)
	s.Inputs = values
	return err
}

func setHang(s *scenario.Scenario, words []string) error {
	if len(words) != 1 {
		return fmt.Errorf("want one duration")
	}
	ms, err := milliseconds(words[0])
	s.HangMS = ms
	return err
}

func setPace(s *scenario.Scenario, words []string) error {
	if len(words) != 3 {
		return fmt.Errorf("want a channel, bytes= and every=")
	}
	values, err := pairs(words[1:])
	if err != nil {
		return err
	}
	size, err := strconv.Atoi(values["bytes"])
	if err != nil || size <= 0 {
		return fmt.Errorf("bytes=%q: want a positive number", values["bytes"])
	}
	every, err := milliseconds(values["every"])
	if err != nil {
		return err
	}
	if err := oneOf(words[0], scenario.ChannelReport, scenario.ChannelDiagnostic, scenario.ChannelSink); err != nil {
		return err
	}
	s.Paces = slices.DeleteFunc(s.Paces, func(p scenario.Pace) bool { return p.Channel == words[0] })
	s.Paces = append(s.Paces, scenario.Pace{Channel: words[0], Bytes: size, EveryMS: every})
	return nil
}

func setControl(s *scenario.Scenario, words []string) error {
	trigger, rest, err := parseTrigger(words)
	if err != nil {
		return err
	}
	action, err := parseAction(rest)
	if err != nil {
		return err
	}
	s.Controls = append(s.Controls, scenario.Rule{Trigger: trigger, Action: action})
	return nil
}

// parseTrigger reads: spawn | child | producer gone|reaped|creating | finalizer reaped | rendezvous N | packet N |
// time DUR | stopped DUR | CHANNEL bytes N | CHANNEL eof.
func parseTrigger(words []string) (scenario.Trigger, []string, error) {
	if len(words) < 2 {
		return scenario.Trigger{}, nil, fmt.Errorf("want a trigger and an action")
	}
	var err error
	t := scenario.Trigger{Kind: words[0]}
	switch words[0] {
	case scenario.AtSpawn, scenario.AtChild:
		return t, words[1:], nil
	case scenario.Producer:
		t.Kind = words[1]
		return t, words[2:], oneOf(t.Kind, scenario.AtGone, scenario.AtReaped, scenario.AtCreating)
	case scenario.Finalizer:
		t.Kind = scenario.AtJudged
		return t, words[2:], oneOf(words[1], scenario.AtReaped)
	case scenario.AtRendezvous, scenario.AtPacket:
		t.N, err = number(words[1])
		return t, words[2:], err
	case scenario.AtTime, scenario.AtStopped:
		t.N, err = milliseconds(words[1])
		return t, words[2:], err
	case scenario.ChannelReport, scenario.ChannelDiagnostic, scenario.ChannelSink:
		t.Channel, t.Kind = words[0], words[1]
		if t.Kind == scenario.AtEOF {
			return t, words[2:], nil
		}
		if t.Kind == scenario.AtBytes && len(words) > 2 {
			size := strings.TrimPrefix(words[2], "n=")
			t.N, err = number(size)
			return t, words[3:], err
		}
	}
	return t, nil, fmt.Errorf("unknown trigger %q", strings.Join(words, " "))
}

// parseAction reads: kill WHO [SIGNAL] | stop|continue|observe WHO | cancel |
// poke WORD VALUE | close|pause|resume CHANNEL | hold diagnostic.
func parseAction(words []string) (scenario.Action, error) {
	if len(words) == 0 {
		return scenario.Action{}, fmt.Errorf("no action")
	}
	a := scenario.Action{Kind: words[0]}
	rest := words[1:]
	switch {
	case a.Kind == scenario.DoCancel && len(rest) == 0:
		return a, nil
	case a.Kind == scenario.DoKill && len(rest) == 2:
		a.Signal = rest[1]
		rest = rest[:1]
	case a.Kind == scenario.DoPoke && len(rest) == 2:
		n, err := strconv.Atoi(rest[0])
		if err != nil {
			return a, fmt.Errorf("poke: word %q", rest[0])
		}
		a.Word, a.Value = n, rest[1]
		return a, nil
	}
	if len(rest) != 1 {
		return a, fmt.Errorf("unknown action %q", strings.Join(words, " "))
	}
	switch a.Kind {
	case scenario.DoKill, scenario.DoStop, scenario.DoContinue, scenario.DoObserve, scenario.DoPlant:
		a.Who = rest[0]
		if a.Kind == scenario.DoObserve && a.Who == scenario.Storage {
			return a, nil
		}
		return a, oneOf(a.Who, scenario.Supervisor, scenario.Producer, scenario.Finalizer)
	case scenario.DoHold:
		a.Channel = rest[0]
		return a, oneOf(a.Channel, scenario.ChannelDiagnostic)
	case scenario.DoClose, scenario.DoPause, scenario.DoResume:
		a.Channel = rest[0]
		return a, oneOf(a.Channel, scenario.ChannelReport, scenario.ChannelDiagnostic, scenario.ChannelTerminal, scenario.ChannelSink)
	}
	return a, fmt.Errorf("unknown action %q", a.Kind)
}

// setHost makes the next launches hosted ones, with an honest relay or one that
// does as the words say.
func setHost(s *scenario.Scenario, words []string) error {
	if _, err := scenario.ParseRelay(words); err != nil {
		return err
	}
	s.Kind, s.Relay = scenario.Hosted, words
	return nil
}
