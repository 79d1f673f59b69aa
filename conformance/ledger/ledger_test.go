package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

var digest = strings.Repeat("ab", 32)

// made is a ledger in which text stands wherever a name or reason can.
func made(text string, gates int) Ledger {
	var b Builder
	b.Start("run-"+text, "2026-01-02T03:04:05Z", text)
	names := []string{}
	for i := range gates {
		names = append(names, fmt.Sprintf("T%d", i+1))
	}
	b.Objective(Objective{Repository: "touchstone", Owner: text, Purpose: text, Scope: text, Gates: names})
	b.Candidate(Candidate{Repository: text, Commit: text, Artifact: digest, Evidence: digest, Owner: text})
	b.Attempt("certify", digest)
	b.Progress("failed", digest, text)
	for i, name := range names {
		b.Gate(Gate{Name: name, Status: []string{"passed", "failed", "unavailable"}[i%3], Evidence: digest, Locator: text, Verifier: "v"})
	}
	b.Decision(false, text)
	return b.Ledger()
}

// schema is the neighbour's own, with a check that the document is a ledger.
func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	content, err := os.ReadFile("testdata/build-ledger.v1.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("https://ledger.invalid/s", document); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("https://ledger.invalid/s#/$defs/ledger")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func TestAnyRunGivesAValidLedgerProperty(t *testing.T) {
	s := schema(t)
	seed := time.Now().UnixNano()
	if fixed := os.Getenv("GOPTER_SEED"); fixed != "" {
		fmt.Sscan(fixed, &seed)
	}
	t.Logf("GOPTER_SEED=%d", seed)
	properties := gopter.NewProperties(gopter.DefaultTestParametersWithSeed(seed))
	properties.Property("valid by the neighbour's schema, and sound", prop.ForAll(func(name []byte, gates int) bool {
		content, err := Encode(made(string(name), gates))
		if err != nil {
			return false
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
		if err == nil {
			err = s.Validate(document)
		}
		if err == nil {
			err = Check(content)
		}
		if err != nil {
			t.Log(err)
		}
		return err == nil
	}, gen.SliceOf(gen.UInt8()), gen.IntRange(0, 40)))
	properties.TestingRun(t)
}

func TestEveryFlippedBitOfALedgerIsFound(t *testing.T) {
	content, err := Encode(made("x", 2))
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(content); err != nil {
		t.Fatalf("the accepted twin: %v", err)
	}
	for i := range content {
		altered := bytes.Clone(content)
		altered[i] ^= 1
		if Check(altered) == nil {
			t.Errorf("byte %d flipped unnoticed: %q", i, altered[max(0, i-20):min(len(altered), i+20)])
		}
	}
}

// TestTampering: whole records changed, with the head made right again.
func TestTampering(t *testing.T) {
	for name, tamper := range map[string]func(*Ledger){
		"a gate that failed says passed": func(l *Ledger) {
			l.Records[5].Data = bytes.Replace(l.Records[5].Data, []byte(`"failed"`), []byte(`"passed"`), 1)
		},
		"a gate left out":      func(l *Ledger) { l.Records = append(l.Records[:4], l.Records[5:]...) },
		"records swapped":      func(l *Ledger) { l.Records[0], l.Records[1] = l.Records[1], l.Records[0] },
		"a record twice":       func(l *Ledger) { l.Records = append(l.Records, l.Records[4]) },
		"another run's record": func(l *Ledger) { l.Records[len(l.Records)-1].Run = "run-y" },
		"no records":           func(l *Ledger) { l.Records = nil },
	} {
		l := made("x", 2)
		before, _ := json.Marshal(l)
		tamper(&l)
		if after, _ := json.Marshal(l); bytes.Equal(before, after) {
			t.Errorf("%s: the case changes nothing", name)
		}
		var err error
		if l.Head, err = head(l.Records); err != nil {
			t.Fatal(err)
		}
		content, err := Encode(l)
		if err != nil {
			t.Fatal(err)
		}
		if Check(content) == nil {
			t.Errorf("%s: unnoticed", name)
		}
	}
}

func FuzzCheck(f *testing.F) {
	content, err := Encode(made("x", 2))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(content)
	f.Add([]byte(`{"schema":"atelier-harness-ledger@v1","profile":"build","records":[],"head":""}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		var l Ledger
		if Check(content) == nil && (json.Unmarshal(content, &l) != nil || len(l.Records) == 0) {
			t.Errorf("accepted: %q", content)
		}
	})
}
