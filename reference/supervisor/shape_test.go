package supervisor

import (
	"fmt"
	"strings"
	"testing"

	"touchstone/contracts"
	"touchstone/reference/admission"
	"touchstone/reference/jsonscan"
	"touchstone/reference/outcome"
)

// settle scans and judges one document as the worker does.
func settle(t *testing.T, operation admission.Operation, document string) message {
	t.Helper()
	s := newShape(operation, outcome.NoSink)
	scanner := jsonscan.New(s.limits())
	if err := scanner.Write([]byte(document + "\n")); err != nil {
		t.Fatalf("%s: %v", document, err)
	}
	if err := scanner.Finish(); err != nil {
		t.Fatalf("%s: %v", document, err)
	}
	return s.judge(scanner.Members())
}

const (
	full = `{"engine":"p","input":{},"applied_inputs":{},"applied_overrides":{},"applied_runtime":{},` +
		`"elapsed_seconds":0,"summary":{},"diagnostics":{},"trades":[],"metrics":{},"equity_curve":[]}`
	capabilities = `{"engine":"p","capabilities":{}}`
	validation   = `{"engine":"p","validation_only":true,"report_window":{}}`
)

func TestShapes(t *testing.T) {
	documents := []string{full, capabilities, validation}
	for operation := range documents {
		for i, document := range documents {
			want := outcome.Malformed
			if i == operation {
				want = outcome.Successful
			}
			if got := settle(t, admission.Operation(operation), document); got.Settlement != want {
				t.Errorf("operation %d: %s: settlement %d, want %d", operation, document, got.Settlement, want)
			}
		}
	}
	for _, document := range []string{
		strings.Replace(full, `"trades":[]`, `"trades":{}`, 1), strings.Replace(full, `"summary":{},`, ``, 1),
		strings.Replace(validation, "true", "false", 1), `{}`, `{"engine":"p"}`,
	} {
		if got := settle(t, admission.Backtest, document); got.Settlement != outcome.Malformed {
			t.Errorf("%s: settlement %d", document, got.Settlement)
		}
	}
}

func TestClaimShapes(t *testing.T) {
	for claim, want := range map[string]outcome.Settlement{
		`{"engine":"p","error":"e"}`:                                                 outcome.Claimed,
		`{"engine":"p","error":"e","code":"run_aborted","args":{}}`:                  outcome.Claimed,
		`{"args":{},"code":"run\u005faborted","error":"e","engine":"p"}`:             outcome.Claimed,
		`{"engine":"p","error":"e","code":"run_aborted"}`:                            outcome.Malformed,
		`{"engine":"p","error":"e","args":{}}`:                                       outcome.Malformed,
		`{"engine":"p","error":"e","code":"run_aborted","args":[]}`:                  outcome.Malformed,
		`{"engine":"p","error":"e","code":"run_aborted","args":{"x":1}}`:             outcome.Malformed,
		`{"engine":"p","error":"e","code":"run_aborted","args":{},"x":1}`:            outcome.Malformed,
		`{"engine":"p","error":"e","code":7,"args":{}}`:                              outcome.Malformed,
		`{"engine":"p","error":"e","code":"no_such_code","args":{}}`:                 outcome.Malformed,
		`{"engine":"p","error":1,"code":"run_aborted","args":{}}`:                    outcome.Malformed,
		`{"engine":"p","error":"e","code":"recalc_cap","args":{"":null}}`:            outcome.Malformed,
		`{"engine":"p","error":"e","code":"run_deadline_exceeded","args":{}}`:        outcome.Malformed,
		`{"engine":"p","error":"e","code":"diagnostic_budget_exceeded","args":null}`: outcome.Malformed,
	} {
		if got := settle(t, admission.Backtest, claim); got.Settlement != want {
			t.Errorf("%s: settlement %d, want %d", claim, got.Settlement, want)
		}
	}
}

// samples are one valid and one invalid value of each kind.
var samples = map[string][2]string{
	"identifier": {`"a"`, `1`}, "integer": {`-7`, `1.0`}, "keyword": {`"k"`, `null`},
	"nullable_string": {`null`, `1`}, "number": {`1.5e3`, `"1"`}, "pine_source": {`"x"`, `[]`},
	"scalar": {`true`, `{}`}, "string": {`"s"`, `0`}, "symbol": {`"X:Y"`, `false`}, "timeframe": {`"15"`, `15`},
}

// TestEveryCode: the least args that a code takes are a claim, and so is none
// with one arg missing, of another kind, or outside its vocabulary.
func TestEveryCode(t *testing.T) {
	for code, row := range contracts.LoadCatalog().Codes {
		args := map[string]string{}
		for name, arg := range row.Args {
			args[name] = samples[arg.Kind][0]
			if arg.Kind == "vocab" {
				args[name] = fmt.Sprintf("%q", arg.Values[0])
			}
		}
		claims := func(change func(map[string]string)) bool {
			var list []string
			given := map[string]string{}
			for name, value := range args {
				given[name] = value
			}
			change(given)
			for name, value := range given {
				list = append(list, fmt.Sprintf("%q:%s", name, value))
			}
			document := fmt.Sprintf(`{"engine":"p","error":"e","code":%q,"args":{%s}}`, code, strings.Join(list, ","))
			return settle(t, admission.Backtest, document).Settlement == outcome.Claimed
		}
		if !claims(func(map[string]string) {}) {
			t.Errorf("%s with args %v: no claim", code, args)
		}
		for name, arg := range row.Args {
			wrong := samples[arg.Kind][1]
			if arg.Kind == "vocab" {
				wrong = `"outside"`
			}
			if claims(func(m map[string]string) { m[name] = wrong }) {
				t.Errorf("%s: arg %s takes %s", code, name, wrong)
			}
			if claims(func(m map[string]string) { delete(m, name) }) != arg.Optional {
				t.Errorf("%s: arg %s: optional is not %t", code, name, arg.Optional)
			}
		}
	}
}

func TestIntegers(t *testing.T) {
	for text, want := range map[string]bool{"0": true, "-1": true, "9007199254740991": true, "9007199254740992": false,
		"1.0": false, "1e2": false, "-0": false, "99999999999999999999": false} {
		if got := isInteger([]byte(text)); got != want {
			t.Errorf("%s: got %t", text, got)
		}
	}
}
