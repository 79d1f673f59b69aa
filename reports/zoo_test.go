package reports

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func someZoo() Zoo {
	empty := func(id, state string) ZooRecord {
		return ZooRecord{ID: id, Kind: "reference", Mistake: "m", State: state, Named: []string{"T14.03"}, Kills: []Kill{}, Missed: []string{}, Undecided: []string{},
			Others: []string{}, Jobs: []string{}}
	}
	killed := empty("MUT058", Killed)
	killed.Kills = []Kill{{"T14.03", "T14-slow-reader", "direct/unjailed", "observed=4098 </td><script>alert(1)</script>", "observed=4097"}}
	return Zoo{Schema: "touchstone-zoo", Version: ZooVersion, Started: "2026-01-02T00:00:00Z", Jobs: 2, Chosen: "all records", Totals: map[string]int{Killed: 1, Dead: 1},
		Records: []ZooRecord{killed, empty("second/MUT017", Dead)}, Left: []string{"EQU001"}, Looser: []string{"MUT001: gone"}, IDs: ZooIDs{807, 400, 300, 20}, NotYet: []string{"T36.27"}}
}

func TestZooFollowsItsSchema(t *testing.T) {
	text, err := os.ReadFile("zoo.v1.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("zoo", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("zoo")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*Zoo)
		good   bool
	}{
		"as it is":                   {func(*Zoo) {}, true},
		"a kill without a kill":      {func(z *Zoo) { z.Records[0].Kills = []Kill{} }, false},
		"a dead one that was killed": {func(z *Zoo) { z.Records[1].Kills = z.Records[0].Kills }, false},
		"an unknown state":           {func(z *Zoo) { z.Records[0].State = "gone" }, false},
		"another schema":             {func(z *Zoo) { z.Schema = "x" }, false},
		"a nameless record":          {func(z *Zoo) { z.Left[0] = "x" }, false},
	} {
		z := someZoo()
		c.change(&z)
		content, err := EncodeZoo(z)
		if err != nil {
			t.Fatal(err)
		}
		var value any
		if err := json.Unmarshal(content, &value); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestZooPage(t *testing.T) {
	var out strings.Builder
	if err := WriteZooHTML(&out, someZoo()); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	for _, want := range []string{"not every one found", "MUT058", "second/MUT017", "T14-slow-reader", "<b>300</b>", "MUT001: gone", "T36.27", "&lt;script&gt;"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(page, "<script") || strings.Contains(page, "http://") || strings.Contains(page, "https://") {
		t.Error("the page runs or loads something")
	}
}

func TestGoodIsEveryOne(t *testing.T) {
	z := someZoo()
	z.Looser = nil
	if z.Good() {
		t.Error("good with a dead record")
	}
	z.Records, z.Totals = z.Records[:1], map[string]int{Killed: 1}
	if !z.Good() {
		t.Error("all are found, and not good")
	}
	z.Looser = []string{"MUT001: gone"}
	if z.Good() {
		t.Error("good though looser")
	}
}
