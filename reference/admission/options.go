package admission

import (
	"fmt"
	"strings"
)

// option is one flag of the run_json facade. There are no abbreviations.
type option struct {
	flag    string
	env     string // environment twin, read only where the flag is absent
	shell   string // variable of the entrypoint facade, which has no flags; empty is none
	knob    bool   // belongs to supervision: refused without activation
	bare    bool   // takes no value
	engine  bool   // passed on to the producer
	utility bool   // another protocol: refused under supervision
}

// options are all flags. Rules: C-5, C-70 to C-72.
var options = []option{
	{flag: "--report-channel", env: "PINEFORGE_REPORT_CHANNEL"},
	{flag: "--terminal-status-fd", env: "PINEFORGE_TERMINAL_STATUS_FD", knob: true},
	{flag: "--report-max-bytes", env: "PINEFORGE_REPORT_MAX_BYTES", knob: true},
	{flag: "--diagnostic-max-bytes", env: "PINEFORGE_DIAGNOSTIC_MAX_BYTES", knob: true},
	{flag: "--channel-wall-ms", env: "PINEFORGE_CHANNEL_WALL_MS", knob: true},
	{flag: "--channel-stall-ms", env: "PINEFORGE_CHANNEL_STALL_MS", knob: true},
	{flag: "--profile", env: "PINEFORGE_PROFILE"},
	{flag: "--report-mode", shell: "PINEFORGE_REPORT_MODE"},
	{flag: "--so", engine: true},
	{flag: "--ohlcv", engine: true},
	{flag: "--inputs", shell: "PINEFORGE_INPUTS", engine: true},
	{flag: "--overrides", shell: "PINEFORGE_OVERRIDES", engine: true},
	{flag: "--input-tf", shell: "PINEFORGE_INPUT_TF", engine: true},
	{flag: "--script-tf", shell: "PINEFORGE_SCRIPT_TF", engine: true},
	{flag: "--trade-start-ms", shell: "PINEFORGE_TRADE_START_MS", engine: true},
	{flag: "--chart-tz", shell: "PINEFORGE_CHART_TZ", engine: true},
	{flag: "--capabilities-json", bare: true, engine: true},
	{flag: "--validate-window-only", bare: true, engine: true},
	{flag: "--report-policy", shell: "PINEFORGE_REPORT_POLICY", engine: true},
	{flag: "--window-start-ms", shell: "PINEFORGE_WINDOW_START_MS", engine: true},
	{flag: "--window-end-ms", shell: "PINEFORGE_WINDOW_END_MS", engine: true},
	{flag: "--preroll-bars", shell: "PINEFORGE_PREROLL_BARS", engine: true},
	{flag: "--fed-start-ms", shell: "PINEFORGE_FED_START_MS", engine: true},
	{flag: "--report-sink", engine: true},
	{flag: "--report-sink-fd", engine: true},
	{flag: "--spill-folder"}, // S keeps everything in the spool: it is refused or of no use (C-70)
	{flag: "--run-phase-fd", shell: "PINEFORGE_RUN_PHASE_FD", utility: true},
	{flag: "--csv2bin", utility: true},
	{flag: "--help", bare: true, utility: true},
}

// values is what was given, by flag; a bare flag has the value "".
type values map[string]string

// given reports whether a flag, or its twin, was given.
func (v values) given(flag string) bool {
	_, found := v[flag]
	return found
}

// collect reads the command line, then the twins of the flags that it does not
// hold. It goes on after an error, so that a refusal can still be delivered
// through what was right, and returns the first error.
//
// A flag repeated with the same value is accepted (C-9), with another refused.
func collect(args []string, lookup func(string) (string, bool)) (values, error) {
	found := values{}
	var refusal error
	note := func(err error) {
		if refusal == nil {
			refusal = err
		}
	}
	for len(args) > 0 {
		rest, err := found.take(args)
		note(err)
		args = rest
	}
	for _, o := range options {
		if found.given(o.flag) || o.env == "" {
			continue
		}
		if value, set := lookup(o.env); set {
			found[o.flag] = value
		}
	}
	return found, refusal
}

// take consumes one argument, with its value, and returns the rest.
func (v values) take(args []string) ([]string, error) {
	flag, value, joined := strings.Cut(args[0], "=")
	rest := args[1:]
	o, known := find(flag)
	switch {
	case !known:
		return rest, fmt.Errorf("argument %q: unknown", flag)
	case o.bare && joined:
		return rest, fmt.Errorf("argument %s: takes no value", flag)
	case !o.bare && !joined && len(rest) == 0:
		return rest, fmt.Errorf("argument %s: has no value", flag)
	case !o.bare && !joined:
		value, rest = rest[0], rest[1:]
	}
	if before, twice := v[flag]; twice && before != value {
		return rest, fmt.Errorf("argument %s: given twice, %q and %q", flag, before, value)
	}
	v[flag] = value
	return rest, nil
}

func find(flag string) (option, bool) {
	for _, o := range options {
		if o.flag == flag {
			return o, true
		}
	}
	return option{}, false
}
