package admission

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"touchstone/contracts"
)

// Operation is what the producer is asked for; it decides the shape that its
// document must have.
type Operation uint8

// The operations. Rules: C-30.
const (
	Backtest Operation = iota
	Capabilities
	Validation
)

// Profiles. Rules: C-70.
const (
	Unjailed = "unjailed"
	Jailed   = "jailed"
)

// ModeFull is the only report mode with a provider. Rules: R01, C-72.
const ModeFull = "FULL"

// Reserved descriptor numbers. Rules: R03.
const (
	FirstFD = 3 // lowest number that the host may choose
	ArenaFD = 5 // the attempt arena
)

// NoFD is the number of an endpoint that was not given.
const NoFD = -1

// LargestLimit is the largest value of a limit (inclusive). Rules: R07.
const LargestLimit = 1<<53 - 2

// Request is the direct facade's command line, with the environment where the
// command line is silent; or the entrypoint's environment.
type Request struct {
	Negotiated bool // a report channel was asked for, whatever its version
	Terminal   int  // descriptor number, NoFD if none or none valid

	ReportBytes, DiagnosticBytes, WallMS, StallMS *int64 // nil if omitted or malformed

	Profile   string
	Mode      string
	Operation Operation
	Library   string // path, "" if none
	Chart     string // path, "" if none
	SinkPath  string
	SinkFD    int      // NoFD if none
	Engine    []string // the producer's arguments, in a fixed order
	Build     *Build   // of the entrypoint; nil in the direct facade
}

// Invocation is the facade's name in the record.
func (r Request) Invocation() string {
	if r.Build != nil {
		return contracts.InvocationEntrypoint
	}
	return contracts.InvocationRunJSON
}

// Parse reads the request. With an error, a usage refusal, the request holds
// what could be read all the same.
//
// Without negotiation only the use of a supervision knob is an error; all else
// is the legacy producer's business.
//
// Rules: R01, R07, C-5 to C-9.
func Parse(args []string, lookup func(string) (string, bool)) (Request, error) {
	return interpret(collect(args, lookup))
}

// interpret reads what was given to either facade.
func interpret(given values, refusal error) (Request, error) {
	r := Request{Negotiated: given.given("--report-channel"), Terminal: NoFD, SinkFD: NoFD,
		Profile: Unjailed, Mode: ModeFull}
	if !r.Negotiated {
		return r, given.knobs()
	}
	refusals := []error{refusal, r.channel(given), r.limits(given), r.sinks(given), r.engine(given)}
	for _, o := range options {
		if o.utility && given.given(o.flag) {
			refusals = append(refusals, fmt.Errorf("argument %s: another protocol", o.flag))
		}
	}
	return r, errors.Join(refusals...)
}

// knobs refuses every supervision knob, as nothing was activated.
func (v values) knobs() error {
	for _, o := range options {
		if o.knob && v.given(o.flag) {
			return fmt.Errorf("argument %s: needs --report-channel", o.flag)
		}
	}
	return nil
}

// channel reads version and status endpoint. Only the literal version counts.
func (r *Request) channel(given values) error {
	fd, err := descriptor(given, "--terminal-status-fd")
	r.Terminal = fd
	if version := given["--report-channel"]; version != contracts.Contract {
		return errors.Join(fmt.Errorf("report channel %q: not supported", version), err)
	}
	if err == nil && fd == NoFD {
		return errors.New("argument --terminal-status-fd: required")
	}
	return err
}

func (r *Request) limits(given values) error {
	var refusals []error
	for flag, limit := range map[string]**int64{
		"--report-max-bytes": &r.ReportBytes, "--diagnostic-max-bytes": &r.DiagnosticBytes,
		"--channel-wall-ms": &r.WallMS, "--channel-stall-ms": &r.StallMS,
	} {
		if !given.given(flag) {
			continue
		}
		n, err := decimal(given[flag], LargestLimit)
		if err != nil {
			refusals = append(refusals, fmt.Errorf("argument %s: %w", flag, err))
			continue
		}
		*limit = &n
	}
	return errors.Join(refusals...)
}

func (r *Request) sinks(given values) error {
	fd, err := descriptor(given, "--report-sink-fd")
	r.SinkFD, r.SinkPath = fd, given["--report-sink"]
	switch path := given.given("--report-sink"); {
	case path && given.given("--report-sink-fd"):
		return errors.New("arguments --report-sink and --report-sink-fd: exclude each other")
	case path && r.SinkPath == "":
		return errors.New("argument --report-sink: empty")
	case path && given["--profile"] == Jailed:
		return errors.New("argument --report-sink: not in the jailed profile")
	case given.given("--spill-folder") && given["--profile"] == Jailed:
		return errors.New("argument --spill-folder: not in the jailed profile")
	}
	return err
}

func (r *Request) engine(given values) error {
	if profile := given["--profile"]; given.given("--profile") {
		if profile != Unjailed && profile != Jailed {
			return fmt.Errorf("profile %q: unknown", profile)
		}
		r.Profile = profile
	}
	if given.given("--report-mode") {
		r.Mode = given["--report-mode"]
	}
	for _, o := range options {
		if !o.engine || !given.given(o.flag) {
			continue
		}
		r.Engine = append(r.Engine, o.flag)
		if !o.bare {
			r.Engine = append(r.Engine, absolute(o.flag, given[o.flag]))
		}
	}
	r.Library, r.Chart = absolute("--so", given["--so"]), absolute("--ohlcv", given["--ohlcv"])
	return r.operation(given)
}

// absolute resolves the two paths that the producer opens: it sees the files at
// their absolute path, and has another working directory.
func absolute(flag, value string) string {
	if flag != "--so" && flag != "--ohlcv" || value == "" {
		return value
	}
	path, err := filepath.Abs(value)
	if err != nil || filepath.IsAbs(value) {
		return value // as given: a report repeats it
	}
	return path
}

// operation also refuses what the engine's own parser would: a request without
// the files that its operation needs, or for two operations.
func (r *Request) operation(given values) error {
	capabilities, validation := given.given("--capabilities-json"), given.given("--validate-window-only")
	switch {
	case capabilities && validation:
		return errors.New("arguments --capabilities-json and --validate-window-only: exclude each other")
	case r.Mode != ModeFull && r.Mode != "SUMMARY_ONLY" && r.Mode != "STREAMED":
		return fmt.Errorf("report mode %q: unknown", r.Mode)
	case capabilities:
		r.Operation = Capabilities
	case validation:
		r.Operation = Validation
	}
	if r.Library == "" && !validation {
		return errors.New("argument --so: required")
	}
	if r.Chart == "" && !capabilities {
		return errors.New("argument --ohlcv: required")
	}
	return nil
}

// descriptor reads a descriptor number that the host may choose.
func descriptor(given values, flag string) (int, error) {
	if !given.given(flag) {
		return NoFD, nil
	}
	n, err := decimal(given[flag], math.MaxInt32)
	if err != nil {
		return NoFD, fmt.Errorf("argument %s: %w", flag, err)
	}
	if n < FirstFD || n == ArenaFD {
		return NoFD, fmt.Errorf("argument %s: descriptor %d: reserved", flag, n)
	}
	return int(n), nil
}

// decimal reads digits only, at most largest (inclusive): no sign, no space,
// not empty. Leading zeros are accepted. Rules: R07, C-9.
func decimal(text string, largest int64) (int64, error) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, fmt.Errorf("value %q: not a decimal integer", text)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n > largest {
		return 0, fmt.Errorf("value %q: above %d", text, largest)
	}
	return n, nil
}
