package oracle

import (
	"bytes"
	"os"
	"testing"

	"touchstone/conformance/evidence"
)

// catalogued is a success with the project's own catalog, and one text in it
// replaced by another.
func catalogued(t *testing.T, old, replacement string) *model {
	t.Helper()
	content, err := os.ReadFile("../../contracts/failure-catalog.v1.json")
	if err != nil {
		t.Fatal(err)
	}
	if old != "" && bytes.Count(content, []byte(old)) != 1 {
		t.Fatalf("%q stands %d times in the catalog", old, bytes.Count(content, []byte(old)))
	}
	m := successModel(t)
	m.scenario.Catalog, m.catalog = true, bytes.Replace(content, []byte(old), []byte(replacement), 1)
	return m
}

// TestCatalogNouns: each holds of the project's catalog, and not of one with a
// row altered.
func TestCatalogNouns(t *testing.T) {
	isolation := []string{"catalog", "run_isolation_unavailable", "unsupported", "reason=platform,descriptor,policy",
		"english=The requested report isolation is unavailable."}
	for name, c := range map[string]struct {
		words            []string
		old, replacement string
	}{
		"another text":          {isolation, "The requested report isolation is unavailable.", "No isolation."},
		"another class":         {isolation, "\"class\": \"unsupported\",\n   \"english\": [\n    \"The requested report isolation", "\"class\": \"resource\",\n   \"english\": [\n    \"The requested report isolation"},
		"a row that is gone":    {isolation, "\"run_isolation_unavailable\"", "\"run_isolation_absent\""},
		"a new name":            {[]string{"catalog", "spelled", "run_deadline_exceeded"}, "\"run_deadline_exceeded\"", "\"run_deadline_overdue\""},
		"an old name":           {[]string{"catalog", "kept"}, "\"run_aborted\"", "\"run_stopped\""},
		"no catalog":            {[]string{"catalog", "kept"}, "pineforge-run-failure-catalog/v1", "another/v1"},
		"no catalog, for a row": {isolation, "pineforge-run-failure-catalog/v1", "another/v1"},
	} {
		if f := Check("T36.19", c.words, []*evidence.Attempt{catalogued(t, "", "").build(t)}, Facts{}); f.Verdict != Pass {
			t.Errorf("%s: on the sound catalog: %+v", name, f)
		}
		if f := Check("T36.19", c.words, []*evidence.Attempt{catalogued(t, c.old, c.replacement).build(t)}, Facts{}); f.Verdict != Fail {
			t.Errorf("%s: got %+v, want a failure", name, f)
		}
	}
	if f := Check("T36.24", []string{"catalog", "kept"}, []*evidence.Attempt{successModel(t).build(t)}, Facts{}); f.Verdict != Broken {
		t.Errorf("no catalog was asked for: %+v", f)
	}
}

// TestCatalogKinds: an argument of another kind is found by its spelling.
func TestCatalogKinds(t *testing.T) {
	m := catalogued(t, "", "")
	m.catalog = bytes.ReplaceAll(m.catalog, []byte("\"kind\": \"integer\""), []byte("\"kind\": \"string\""))
	for _, words := range [][]string{{"catalog", "spelled", "diagnostic_budget_exceeded"}, {"catalog", "kept"}} {
		if f := Check("T36.23", words, []*evidence.Attempt{m.build(t)}, Facts{}); f.Verdict != Fail {
			t.Errorf("%q: %+v", words, f)
		}
	}
}
