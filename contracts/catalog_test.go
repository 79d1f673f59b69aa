package contracts

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCatalogCounts(t *testing.T) {
	catalog := LoadCatalog()
	origins := map[string]int{}
	for _, code := range catalog.Codes {
		origins[code.Origin]++
	}
	want := map[string]int{OriginPublic: 64, OriginContractNew: 7, OriginContractNamed: 3}
	if diff := cmp.Diff(want, origins); diff != "" {
		t.Errorf("codes by origin: -want +got\n%s", diff)
	}
	if got := len(catalog.Classes); got != 9 {
		t.Errorf("%d classes, want 9", got)
	}
	if got := len(catalog.Kinds); got != 11 {
		t.Errorf("%d kinds, want 11", got)
	}
}

// TestCatalogNames: every name has the form that the catalog prescribes, and
// that the schemas repeat.
func TestCatalogNames(t *testing.T) {
	form := regexp.MustCompile(`^[a-z][a-z0-9_]{2,47}$`)
	catalog := LoadCatalog()
	for name := range catalog.Codes {
		if !form.MatchString(name) {
			t.Errorf("code %q does not match %s", name, form)
		}
	}
	for _, name := range ContractCodes() {
		if _, found := catalog.Codes[name]; !found {
			t.Errorf("code %q is not in the catalog", name)
		}
	}
	for schema, where := range map[string]string{"terminal.v1": "$defs.code.pattern", "failure.v1": "properties.code.pattern"} {
		if got := at(decodeSchema(t, schema), strings.Split(where, ".")); got != form.String() {
			t.Errorf("%s: pattern %v, want %s", schema, got, form)
		}
	}
	forty8 := strings.Repeat("a", 48)
	for _, name := range []string{"", "ab", "abc", "a_9", "9ab", "_ab", "aBc", "abC", "ab-", "ab\xc3\xa9", "abc\n", forty8, forty8 + "a"} {
		if isName(name) != form.MatchString(name) {
			t.Errorf("name %q: %t, the pattern says otherwise", name, isName(name))
		}
	}
}

// TestContractRows spells R20's table.
func TestContractRows(t *testing.T) {
	integer, optional := Arg{Kind: "integer"}, Arg{Kind: "integer", Optional: true}
	vocab := func(words string) Arg { return Arg{Kind: "vocab", Values: strings.Fields(words)} }
	row := func(class, english string, args map[string]Arg) Code {
		return Code{Class: class, Args: args, English: []string{english}, Since: "1.8.0", Origin: OriginContractNew}
	}
	bytes := map[string]Arg{"cap_bytes": integer, "used_bytes": integer, "requested_bytes": integer}
	report := maps.Clone(bytes)
	report["channel"] = vocab("json aggregate")
	want := map[string]Code{
		CodeReportBudgetExceeded:     row("resource", "The report exceeds its admitted byte budget.", report),
		CodeDiagnosticBudgetExceeded: row("resource", "The diagnostics exceed their admitted byte budget.", bytes),
		CodeReportChannelFailed: row("resource", "A report transport could not complete.", map[string]Arg{
			"channel": vocab("report sink candidate diagnostic status"),
			"reason":  vocab("setup io peer_closed deadline protocol"),
		}),
		CodeRunIsolationUnavailable: row("unsupported", "The requested report isolation is unavailable.", map[string]Arg{
			"reason": vocab("platform policy descriptor"),
		}),
		CodeRunProcessRefused: row("resource", "The native process attempted forbidden process creation.", map[string]Arg{
			"operation": vocab("fork vfork clone clone3"),
		}),
		CodeRunDeadlineExceeded: row("resource", "The admitted channel lifetime expired.", map[string]Arg{
			"stage": {Kind: "vocab", Values: Stages()},
		}),
		CodeRunProducerFailed: row("resource", "The native report producer did not complete successfully.", map[string]Arg{
			"reason": vocab("exit signal claim"), "exit_status": optional, "signal": optional,
		}),
	}
	got := LoadCatalog().Codes
	maps.DeleteFunc(got, func(_ string, code Code) bool { return code.Origin != OriginContractNew })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestExistingRows: the codes that the contract keeps, as it names them.
func TestExistingRows(t *testing.T) {
	codes := LoadCatalog().Codes
	want := Code{Class: "engine_fault", Origin: OriginContractNamed, English: []string{}, Args: map[string]Arg{
		"reason":     {Kind: "vocab", Values: []string{"sink_exhausted", "sink_peer_closed", "sink_io"}},
		"sink_bytes": {Kind: "integer", Optional: true},
		"cap_bytes":  {Kind: "integer", Optional: true},
	}}
	if diff := cmp.Diff(want, codes[CodeReportSinkFailed]); diff != "" {
		t.Errorf("%s: -want +got\n%s", CodeReportSinkFailed, diff)
	}
	if got := codes[CodeRunRequestInvalid].Args["option"]; got.Optional || !slices.Contains(got.Values, "arguments") {
		t.Errorf("%s: option %v, want a required vocab with arguments", CodeRunRequestInvalid, got)
	}
	for _, name := range []string{CodeRunAborted, CodeHarnessInternalError} {
		if code := codes[name]; code.Class != "engine_fault" || len(code.Args) != 0 || code.Retryable != (name == CodeRunAborted) {
			t.Errorf("%s: %+v", name, code)
		}
	}
	mode := codes[CodeReportModeUnsupported].Args
	if len(mode) != 2 || !slices.Equal(mode["contract"].Values, []string{"pineforge-report/v1"}) || mode["mode"].Optional {
		t.Errorf("%s: args %v", CodeReportModeUnsupported, mode)
	}
}

func TestParseCatalogRefuses(t *testing.T) {
	const head = `{"schema":"pineforge-run-failure-catalog/v1","classes":["input"],"kinds":["integer","vocab"],"codes":`
	good := head + `{"abc":{"class":"input","args":{"n":{"kind":"vocab","values":["x"]}},"later":1}},"later":2}`
	if catalog, err := ParseCatalog([]byte(good)); err != nil || catalog.Codes["abc"].Class != "input" {
		t.Fatalf("a sound catalog: %v, %v", catalog, err)
	}
	for what, content := range map[string]string{
		"nothing":               ``,
		"another schema":        strings.Replace(good, "/v1", "/v2", 1),
		"no codes":              head + `{}}`,
		"a duplicate code":      head + `{"abc":{"class":"input"},"abc":{"class":"input"}}}`,
		"a bad name":            head + `{"Abc":{"class":"input"}}}`,
		"a short name":          head + `{"ab":{"class":"input"}}}`,
		"an unknown class":      head + `{"abc":{"class":"output"}}}`,
		"an unknown kind":       head + `{"abc":{"class":"input","args":{"n":{"kind":"real"}}}}}`,
		"a vocab without words": head + `{"abc":{"class":"input","args":{"n":{"kind":"vocab"}}}}}`,
		"an integer with words": head + `{"abc":{"class":"input","args":{"n":{"kind":"integer","values":["x"]}}}}}`,
		"a wrong type":          head + `{"abc":{"class":1}}}`,
		"bad UTF-8":             strings.Replace(good, "later", "l\xff", 1),
		"something behind":      good + "{}",
	} {
		if _, err := ParseCatalog([]byte(content)); !errors.Is(err, ErrCatalog) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestCatalogIsTheCallers: changing what LoadCatalog returned changes nothing.
func TestCatalogIsTheCallers(t *testing.T) {
	first := LoadCatalog()
	first.Codes[CodeRunAborted].Args["x"] = Arg{}
	delete(first.Codes, CodeRunProducerFailed)
	again := LoadCatalog()
	if _, found := again.Codes[CodeRunProducerFailed]; !found || len(again.Codes[CodeRunAborted].Args) != 0 {
		t.Error("a change came back")
	}
}

// FuzzParseCatalog: whatever is accepted keeps the layout's own rules.
func FuzzParseCatalog(f *testing.F) {
	f.Add(mustRead("failure-catalog.v1.json"))
	f.Add([]byte(`{"schema":"pineforge-run-failure-catalog/v1","classes":["a"],"kinds":[],"codes":{"abc":{"class":"a"}}}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		catalog, err := ParseCatalog(content)
		if err != nil {
			if !errors.Is(err, ErrCatalog) {
				t.Errorf("another error: %v", err)
			}
			return
		}
		for name, code := range catalog.Codes {
			if !isName(name) || !slices.Contains(catalog.Classes, code.Class) {
				t.Errorf("code %q of class %q", name, code.Class)
			}
		}
	})
}
