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

// limitKnobs and activationKnobs are what limit and negotiate give.
var (
	limitKnobs      = []string{scenario.KnobReport, scenario.KnobDiagnostic, scenario.KnobWall, scenario.KnobStall}
	activationKnobs = []string{scenario.KnobChannel, scenario.KnobTerminal}
)

func lintLimit(arguments []string) error {
	_, err := parseOptions(arguments, scenario.RouteCLI, limitKnobs)
	return err
}

// parseOptions reads: [cli|env] KNOB=VALUE…; the value may be any text.
func parseOptions(arguments []string, route string, knobs []string) ([]scenario.Option, error) {
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
		if err := oneOf(knob, knobs...); err != nil {
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

// route is the flag, or in the entrypoint, which has none, the variable.
func (s *session) route() string {
	if s.cell.Facade == "entrypoint" {
		return scenario.RouteEnv
	}
	return scenario.RouteCLI
}

// limit replaces an earlier value of the same knob and route.
func (s *session) limit(arguments []string) error {
	options, err := parseOptions(arguments, s.route(), limitKnobs)
	if err != nil {
		return err
	}
	for _, o := range options {
		s.dropOption(o)
		s.next.Options = append(s.next.Options, o)
	}
	return nil
}

func (s *session) dropOption(o scenario.Option) {
	s.next.Options = slices.DeleteFunc(slices.Clone(s.next.Options), func(old scenario.Option) bool {
		return old.Knob == o.Knob && old.Route == o.Route
	})
}

func lintNegotiate(arguments []string) error {
	if len(arguments) > 0 && arguments[0] == "without" {
		return withheld(arguments[1:])
	}
	_, err := parseOptions(arguments, scenario.RouteCLI, activationKnobs)
	return err
}

func withheld(knobs []string) error {
	if len(knobs) == 0 {
		return errors.New("without: want channel or terminal")
	}
	for _, knob := range knobs {
		if err := oneOf(knob, activationKnobs...); err != nil {
			return err
		}
	}
	return nil
}

// negotiate replaces what activates supervision, or withholds it. A knob that
// stands several times in the line is given as often.
func (s *session) negotiate(arguments []string) error {
	if err := lintNegotiate(arguments); err != nil {
		return err
	}
	if arguments[0] == "without" {
		s.next.Withheld = arguments[1:]
		return nil
	}
	options, err := parseOptions(arguments, s.route(), activationKnobs)
	if err != nil {
		return err
	}
	for _, o := range options {
		s.dropOption(o)
	}
	s.next.Options = append(s.next.Options, options...)
	return nil
}
