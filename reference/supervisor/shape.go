package supervisor

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"touchstone/contracts"
	"touchstone/reference/admission"
	"touchstone/reference/jsonscan"
	"touchstone/reference/outcome"
	"touchstone/reference/record"
)

// shape judges a whole, sound document by its top-level members: it is what
// was asked for, or a failure, or neither.
//
// Rules: R04, R11, C-30, C-31.
type shape struct {
	wanted map[string]byte // member of a success document, and its kind
}

// newShape returns the shape of one operation's documents. A report may have
// further members, as later engines add some, but none of these is optional. A
// report beside an explicit sink refers to it in place of what the sink holds.
func newShape(operation admission.Operation, route outcome.Route) shape {
	wanted := map[admission.Operation]map[string]byte{
		admission.Backtest: {"engine": '"', "input": '{', "applied_inputs": '{', "applied_overrides": '{',
			"applied_runtime": '{', "elapsed_seconds": '0', "summary": '{', "diagnostics": '{', "trades": '[',
			"metrics": '{', "equity_curve": '['},
		admission.Capabilities: {"engine": '"', "capabilities": '{'},
		admission.Validation:   {"engine": '"', "validation_only": 't', "report_window": '{'},
	}
	if route == outcome.Inherited || route == outcome.Named {
		delete(wanted[admission.Backtest], "trades")
		delete(wanted[admission.Backtest], "equity_curve")
		wanted[admission.Backtest]["report_sink"] = '{'
	}
	return shape{wanted: wanted[operation]}
}

// limits has the scanner keep only what judge reads. Args may be spelled far
// longer than the claim's limit, which is on their compact form (C-32).
func (s shape) limits() jsonscan.Limits {
	return jsonscan.Limits{Capture: []string{"code", "args"}, CaptureBytes: 8 * record.ProducerClaimBytes}
}

// judge settles a sound document.
func (s shape) judge(members []jsonscan.Member) message {
	kinds := make(map[string]byte, len(members))
	raw := make(map[string]jsonscan.Member)
	for _, m := range members {
		kinds[m.Name], raw[m.Name] = m.Kind, m
	}
	if kinds["engine"] == '"' && kinds["error"] == '"' {
		return s.claim(kinds, raw["code"], raw["args"])
	}
	for name, kind := range s.wanted {
		if kinds[name] != kind {
			return message{Settlement: outcome.Malformed}
		}
	}
	return message{Settlement: outcome.Successful}
}

// claim settles a failure document: the legacy form has neither code nor args
// (C-31), every other claim must follow the catalog. Only its size can have a
// sound claim omitted, never shortened.
func (s shape) claim(kinds map[string]byte, code, args jsonscan.Member) message {
	malformed := message{Settlement: outcome.Malformed}
	_, hasCode := kinds["code"]
	_, hasArgs := kinds["args"]
	for name := range kinds {
		if !slices.Contains([]string{"engine", "error", "code", "args"}, name) {
			return malformed
		}
	}
	if !hasCode && !hasArgs {
		return message{Settlement: outcome.Claimed}
	}
	var word string
	if err := json.Unmarshal(code.Raw, &word); err != nil || args.Kind != '{' {
		return malformed
	}
	row, known := contracts.LoadCatalog().Codes[word] // read for a claim only
	switch {
	case !known:
		return malformed
	case args.Oversized: // unread, so unjudged: it is no claim of ours to repeat
		return message{Settlement: outcome.Claimed, Omitted: true}
	case !validArgs(row, args.Raw):
		return malformed
	}
	compact := jsontext.Value(bytes.Clone(args.Raw))
	if err := compact.Format(); err != nil {
		return malformed
	}
	if len(compact) > record.ProducerClaimBytes {
		return message{Settlement: outcome.Claimed, Omitted: true}
	}
	return message{Settlement: outcome.Claimed, Code: word, Args: compact}
}

// validArgs holds args against the catalog's row: no other name, no missing
// one, every value of its kind.
//
// Rules: R11, R20.
func validArgs(row contracts.Code, raw jsontext.Value) bool {
	var args map[string]jsontext.Value
	if err := json.Unmarshal(raw, &args); err != nil {
		return false
	}
	for name, value := range args {
		declared, known := row.Args[name]
		if !known || !validArg(declared, value) {
			return false
		}
	}
	for name, declared := range row.Args {
		if _, given := args[name]; !given && !declared.Optional {
			return false
		}
	}
	return true
}

func validArg(declared contracts.Arg, value jsontext.Value) bool {
	text, isText := "", value.Kind() == '"'
	if isText && json.Unmarshal(value, &text) != nil {
		return false
	}
	switch declared.Kind {
	case "vocab":
		return isText && slices.Contains(declared.Values, text)
	case "integer":
		return isInteger(value)
	case "number":
		return isNumber(value)
	case "nullable_string":
		return isText || value.Kind() == 'n'
	case "scalar":
		return isText || value.Kind() == 'n' || value.Kind() == 't' || value.Kind() == 'f' || isNumber(value)
	case "identifier", "keyword", "pine_source", "string", "symbol", "timeframe":
		return isText && utf8.ValidString(text)
	}
	return false
}

// isInteger: spelled as one, and exact in every JSON reader.
func isInteger(value jsontext.Value) bool {
	n, err := strconv.ParseInt(string(value), 10, 64)
	return value.Kind() == '0' && err == nil && n >= -(1<<53-1) && n <= 1<<53-1 && !strings.HasPrefix(string(value), "-0")
}

func isNumber(value jsontext.Value) bool {
	n, err := strconv.ParseFloat(string(value), 64)
	return value.Kind() == '0' && err == nil && !math.IsInf(n, 0)
}
