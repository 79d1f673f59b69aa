package alter

import (
	"slices"
	"strings"
	"testing"

	"touchstone/conformance/certify"
)

func TestCoverageNamesOperators(t *testing.T) {
	all, err := Coverage()
	if err != nil {
		t.Fatal(err)
	}
	covered, found := map[string]bool{}, map[string]bool{}
	for _, u := range all {
		covered[u.ID], found[u.Operator] = true, true
	}
	if len(covered) < 756 {
		t.Errorf("%d assertions, want at least 756", len(covered))
	}
	for _, id := range certify.UniversalIDs() {
		if !covered[id] {
			t.Errorf("%s, which is checked of every attempt, noticed nothing yet: touchstone zoo alter RUN --more --write", id)
		}
	}
	for _, o := range Operators() {
		if !found[o.Name] || len(o.IDs) == 0 {
			t.Errorf("%s: nothing noticed it, or it names nothing", o.Name)
		}
	}
	operators := Operators()
	rows := map[string]bool{}
	for _, u := range all {
		if !slices.ContainsFunc(operators, func(o Operator) bool { return o.Name == u.Operator }) {
			t.Errorf("%s: no operator %q", u.ID, u.Operator)
		}
		if rows[u.ID+u.Operator] {
			t.Errorf("%s by %s twice", u.ID, u.Operator)
		}
		rows[u.ID+u.Operator] = true
	}
	if Spell(all) != coverage {
		t.Error("coverage.tsv is not spelled as it would be written")
	}
}

func TestTableRefusesWrongLines(t *testing.T) {
	good := "a\tmember zero exit_status\tasked\tT1.44\tsays"
	if _, err := parse(heading + "\n" + good + "\n"); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"other heading":     "name\n" + good,
		"twice":             heading + "\n" + good + "\n" + good,
		"unknown kind":      heading + "\n" + strings.Replace(good, "member", "number", 1),
		"unknown assertion": heading + "\n" + strings.Replace(good, "T1.44", "T1.99", 1),
		"found":             heading + "\n" + strings.Replace(good, "asked", "never", 1),
		"no text":           heading + "\n" + strings.Replace(good, "says", "", 1),
	} {
		if _, err := parse(text); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestUnder(t *testing.T) {
	for _, one := range []struct {
		pattern, path string
		wanted        bool
	}{
		{"*", "version", true}, {"*", "usage.version", false}, {"**", "a.b", true}, {"failure.**", "failure.args.x", true},
		{"failure.**", "failure", false}, {"channels.*.*_bytes", "channels.report.written_bytes", true}, {"a.b", "a.c", false},
	} {
		if under(one.pattern, one.path) != one.wanted {
			t.Errorf("%s under %s: %t", one.path, one.pattern, !one.wanted)
		}
	}
}

func TestMembersOfAText(t *testing.T) {
	text := []byte(`{"a":1,"b":{"c":"x","d":[true,null]}}`)
	find := func(path string) member {
		all := read(text)
		return all[slices.IndexFunc(all, func(m member) bool { return m.path == path })]
	}
	for path, wanted := range map[string]string{
		"a": `{"b":{"c":"x","d":[true,null]}}`, "b": `{"a":1}`, "b.c": `{"a":1,"b":{"d":[true,null]}}`, "b.d": `{"a":1,"b":{"c":"x"}}`,
	} {
		if got := string(find(path).without(text)); got != wanted {
			t.Errorf("without %s: %s", path, got)
		}
	}
	if got := string(find("b.c").twice(text)); got != `{"a":1,"b":{"c":"x","c":"x","d":[true,null]}}` {
		t.Errorf("twice: %s", got)
	}
	if got := find("b.d.1").value(text); got != "null" {
		t.Errorf("item: %s", got)
	}
	if read([]byte("{")) != nil || read([]byte("{} {}")) != nil {
		t.Error("read what is no text")
	}
}

func TestRecountIsTheLength(t *testing.T) {
	text := []byte(`{"channels":{"status":{"observed_bytes":9,"accepted_bytes":9,"written_bytes":9,"limit_bytes":65536}}}` + "\n")
	got := recount(text)
	if n := strings.Count(string(got), ":108"); len(got) != 108 || n != 3 {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}
