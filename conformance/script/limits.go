package script

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"touchstone/conformance/scenario"
)

var variableName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

func lintLet(arguments []string) error {
	_, _, err := parseLet(arguments)
	return err
}

// parseLet reads: NAME N [+ N | - N]….
func parseLet(arguments []string) (name string, value uint64, err error) {
	if len(arguments) < 2 || len(arguments)%2 != 0 || !variableName.MatchString(arguments[0]) {
		return "", 0, fmt.Errorf("want NAME N [+ N | - N]…")
	}
	total, err := strconv.ParseInt(arguments[1], 10, 64)
	for i := 2; i < len(arguments) && err == nil; i += 2 {
		var n int64
		n, err = strconv.ParseInt(arguments[i+1], 10, 64)
		switch arguments[i] {
		case "+":
			total += n
		case "-":
			total -= n
		default:
			return "", 0, fmt.Errorf("unknown operator %q", arguments[i])
		}
	}
	return arguments[0], uint64(total), err
}

func (s *session) let(arguments []string) error {
	name, value, err := parseLet(arguments)
	if err != nil {
		return err
	}
	if int64(value) < 0 {
		return fmt.Errorf("%s would be negative", name)
	}
	s.setenv(name, strconv.FormatUint(value, 10))
	return nil
}

func lintLimit(arguments []string) error {
	_, err := parseLimit(arguments, scenario.RouteCLI)
	return err
}

// parseLimit reads: [cli|env] KNOB=VALUE…; the value may be any text.
func parseLimit(arguments []string, route string) ([]scenario.Option, error) {
	if len(arguments) > 0 && (arguments[0] == scenario.RouteCLI || arguments[0] == scenario.RouteEnv) {
		route, arguments = arguments[0], arguments[1:]
	}
	if len(arguments) == 0 {
		return nil, errors.New("no KNOB=VALUE")
	}
	var options []scenario.Option
	for _, a := range arguments {
		knob, rest, err := assignment(a)
		if err != nil {
			return nil, err
		}
		if err := oneOf(knob, scenario.KnobReport, scenario.KnobDiagnostic, scenario.KnobWall, scenario.KnobStall); err != nil {
			return nil, err
		}
		value, err := decode(rest)
		if err != nil {
			return nil, err
		}
		options = append(options, scenario.Option{Knob: knob, Route: route, Value: value})
	}
	return options, nil
}

// limit replaces an earlier value of the same knob and route. Without a route
// it is the flag, or in the entrypoint, which has none, the variable.
func (s *session) limit(arguments []string) error {
	route := scenario.RouteCLI
	if s.cell.Facade == "entrypoint" {
		route = scenario.RouteEnv
	}
	options, err := parseLimit(arguments, route)
	if err != nil {
		return err
	}
	for _, o := range options {
		s.next.Options = slices.DeleteFunc(slices.Clone(s.next.Options), func(old scenario.Option) bool {
			return old.Knob == o.Knob && old.Route == o.Route
		})
		s.next.Options = append(s.next.Options, o)
	}
	return nil
}
