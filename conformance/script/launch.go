package script

import (
	"fmt"
	"slices"
	"strings"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

// launchPlan is what a launch line asks: how often, and which one thing each
// attempt has of its own.
type launchPlan struct {
	times    int
	knobs    []string // with routes and values: one option an attempt
	routes   []string
	values   []string
	payloads []string
	fixture  []argumentChoice
}

type argumentChoice struct {
	key    string
	values []string
}

// maxAttempts bounds one launch line.
const maxAttempts = 400

// parseLaunch reads: [times=N] [each DIMENSION=A,B…]. Dimensions are knob,
// route and value (together), payload, and arg.KEY for a fixture argument.
func parseLaunch(arguments []string) (launchPlan, error) {
	plan := launchPlan{times: 1}
	for i, a := range arguments {
		if a == "each" {
			return plan, plan.dimensions(arguments[i+1:])
		}
		key, value, err := assignment(a)
		if err != nil || key != "times" {
			return plan, fmt.Errorf("%q: want times=N or each", a)
		}
		n, err := number(value)
		if err != nil || n == 0 || n > maxAttempts {
			return plan, fmt.Errorf("times=%s: want 1..%d", value, maxAttempts)
		}
		plan.times = int(n)
	}
	return plan, nil
}

func (p *launchPlan) dimensions(arguments []string) error {
	if len(arguments) == 0 {
		return fmt.Errorf("each: no dimension")
	}
	for _, a := range arguments {
		key, list, err := assignment(a)
		if err != nil {
			return err
		}
		values, err := splitList(list)
		if err != nil {
			return err
		}
		switch name, isArg := strings.CutPrefix(key, "arg."); {
		case isArg && name != "":
			p.fixture = append(p.fixture, argumentChoice{name, values})
		case key == "knob":
			p.knobs = values
		case key == "route":
			p.routes = values
		case key == "value":
			p.values = values
		case key == "payload":
			p.payloads = values
		default:
			return fmt.Errorf("each: unknown dimension %q", key)
		}
	}
	return p.checkOptions()
}

func (p *launchPlan) checkOptions() error {
	given := 0
	for _, list := range [][]string{p.knobs, p.routes, p.values} {
		if len(list) > 0 {
			given++
		}
	}
	if given != 0 && given != 3 {
		return fmt.Errorf("each: knob, route and value go together")
	}
	for _, k := range p.knobs {
		if err := oneOf(k, slices.Concat(limitKnobs, activationKnobs)...); err != nil {
			return err
		}
	}
	for _, r := range p.routes {
		if err := oneOf(r, scenario.RouteCLI, scenario.RouteEnv); err != nil {
			return err
		}
	}
	if n := p.attempts(); n > maxAttempts {
		return fmt.Errorf("%d attempts, at most %d", n, maxAttempts)
	}
	return nil
}

// one attempt of a launch: the scenario and its payload's document.
type planned struct {
	scenario scenario.Scenario
	document string
}

func (p launchPlan) attempts() int {
	n := p.times
	for _, size := range []int{len(p.knobs), len(p.routes), len(p.values), len(p.payloads)} {
		n *= max(size, 1)
	}
	for _, f := range p.fixture {
		n *= len(f.values)
	}
	return n
}

// expand gives the attempts in order: the repeats of a choice stand together,
// the last dimension varies fastest.
func (p launchPlan) expand(base scenario.Scenario, document string) []planned {
	all := []planned{{base, document}}
	all = vary(all, p.payloads, func(a planned, name string) planned {
		a.document = name
		return a
	})
	for _, f := range p.fixture {
		all = vary(all, f.values, func(a planned, value string) planned {
			a.scenario.Fixture.Args = with(a.scenario.Fixture.Args, f.key, value)
			return a
		})
	}
	return p.repeat(p.withOptions(all))
}

func (p launchPlan) withOptions(all []planned) []planned {
	if len(p.knobs) == 0 {
		return all
	}
	var out []planned
	for _, a := range all {
		for _, knob := range p.knobs {
			for _, route := range p.routes {
				for _, value := range p.values {
					next := a
					next.scenario.Options = append(slices.Clone(a.scenario.Options), scenario.Option{Knob: knob, Route: route, Value: value})
					out = append(out, next)
				}
			}
		}
	}
	return out
}

func (p launchPlan) repeat(all []planned) []planned {
	out := make([]planned, 0, len(all)*p.times)
	for _, a := range all {
		for range p.times {
			out = append(out, a)
		}
	}
	return out
}

func vary(all []planned, values []string, set func(planned, string) planned) []planned {
	if len(values) == 0 {
		return all
	}
	var out []planned
	for _, a := range all {
		for _, v := range values {
			out = append(out, set(a, v))
		}
	}
	return out
}

func with(args map[string]string, key, value string) map[string]string {
	out := map[string]string{key: value}
	for k, v := range args {
		if k != key {
			out[k] = v
		}
	}
	return out
}

// launch runs the attempts of one line. They become the current ones, and the
// universal checks are made of each.
func (s *session) launch(arguments []string) error {
	plan, err := parseLaunch(arguments)
	if err != nil {
		return err
	}
	s.current, s.request, s.skipped = nil, s.next, s.unasked()
	if s.skipped {
		s.number += plan.attempts()
		return nil
	}
	for i, p := range plan.expand(s.next, s.payloadName) {
		if i%plan.times > 0 && hung(s.current[len(s.current)-1]) {
			continue
		}
		a, err := s.run(p.scenario, p.document)
		if err != nil {
			s.current = nil
			return err
		}
		s.current = append(s.current, a)
		s.universal(a)
		if asker, asks := s.attempts.(Asker); asks && asker.Suffices(a) {
			return nil
		}
	}
	return nil
}

// hung says that the driver had to end the attempt. The same again would show
// the same, one hang limit later.
func hung(a *evidence.Attempt) bool {
	_, given := evidence.First[evidence.Watchdog](a)
	return given
}
