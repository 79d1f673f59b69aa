package oracle

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
)

var exampleRecords = []string{"success.json", "diagnostic_budget_exceeded.json"}

func TestExamplesAreRecords(t *testing.T) {
	for _, name := range exampleRecords {
		if problems := DecodeRecord(example(t, name)).Problems(); len(problems) > 0 {
			t.Errorf("%s: %s", name, strings.Join(problems, "\n"))
		}
	}
}

// free are the places whose content the record's shape leaves open.
func free(path string) bool {
	return path == "sink_verification.finalizer_version" || strings.HasPrefix(path, "failure.args.") ||
		strings.HasPrefix(path, "producer.failure.args.")
}

// alteration changes a record at a path; id is an assertion that must notice,
// empty where several may.
type alteration struct {
	name string
	do   func(root *node, path string)
	only func(value *node) bool
}

var alterations = []alteration{
	{"removed", remove, nil},
	{"twice", duplicate, nil},
	{"an array", func(r *node, p string) { set(r, p, "[]") }, nil},
	{"unknown member", addMember, (*node).isObject},
	{"fraction", func(r *node, p string) { set(r, p, "1.5") }, isNumber},
	{"negative", func(r *node, p string) { set(r, p, "-1") }, isNumber},
	{"exponent", func(r *node, p string) { set(r, p, "1e2") }, isNumber},
	{"unsafe integer", func(r *node, p string) { set(r, p, "9007199254740992") }, isNumber},
	{"number as text", func(r *node, p string) { set(r, p, `"1"`) }, isNumber},
	{"foreign word", func(r *node, p string) { set(r, p, `"Foreign"`) }, (*node).isString},
	{"truth as number", func(r *node, p string) { set(r, p, "1") }, func(n *node) bool { return n.isTrue() || n.isFalse() }},
}

func isNumber(n *node) bool { return n.kind == '0' }

// alike leaves one of many places that the same shape judges: the members of
// all cells but two, and of all cells of four of the five stages.
func alike(path string) bool {
	entry, cell, inCell := strings.Cut(path, ".resources.")
	if !inCell {
		return false
	}
	name, _, inside := strings.Cut(cell, ".")
	if entry != "usage.job" && entry != "usage.stages.run" {
		return true
	}
	return inside && name != "wall" && name != "arena_capacity"
}

// TestEveryAlterationIsSeen alters every member of both examples in every way
// that applies. It also collects which assertions can fail by shape alone.
func TestEveryAlterationIsSeen(t *testing.T) {
	noticed := map[string]bool{}
	for _, name := range exampleRecords {
		original := example(t, name)
		for _, path := range paths(parsed(t, original)) {
			if alike(path) {
				continue
			}
			for _, a := range alterations {
				root := parsed(t, original)
				value := root.at(strings.Split(path, ".")...)
				if free(path) && a.name != "twice" || a.only != nil && !a.only(value) || path == "failure.args" && a.name == "unknown member" {
					continue
				}
				a.do(root, path)
				record := DecodeRecord(packet(root))
				if len(record.faults) == 0 {
					t.Errorf("%s: %s %s: not noticed", name, path, a.name)
				}
				for _, f := range record.faults {
					noticed[f.ID] = true
				}
			}
		}
	}
	for _, r := range rules {
		byShape := r.relate == nil && r.id != "T1.33" && r.id != "T34.11" && r.id != "T34.12"
		if byShape && !noticed[r.id] && !cellID(r.id) {
			t.Errorf("no alteration makes %s fail", r.id)
		}
	}
}

func cellID(id string) bool {
	return slices.ContainsFunc(cellRules, func(c cellRule) bool { return c.id == id })
}

func TestFraming(t *testing.T) {
	whole := example(t, "success.json")
	for name, c := range map[string]struct {
		packet []byte
		id     string
	}{
		"no LF":           {bytes.TrimSuffix(whole, []byte("\n")), "T1.33"},
		"two LFs":         {append(bytes.Clone(whole), '\n'), "T1.33"},
		"leading blank":   {append([]byte(" "), whole...), "T1.33"},
		"inner blank":     {bytes.Replace(whole, []byte(":"), []byte(": "), 1), "T1.33"},
		"two objects":     {append(bytes.Clone(whole), "{}\n"...), "T1.33"},
		"invalid UTF-8":   {bytes.Replace(whole, []byte("success"), []byte("succ\xffss"), 1), "T1.33"},
		"not JSON":        {[]byte("hello\n"), "T1.33"},
		"an array":        {[]byte("[]\n"), "T1.33"},
		"empty":           {nil, "T1.33"},
		"over the packet": {append(bytes.Repeat([]byte(" "), terminalBytes), whole...), "T1.34"},
	} {
		record := DecodeRecord(c.packet)
		if !slices.ContainsFunc(record.faults, func(f fault) bool { return f.ID == c.id }) {
			t.Errorf("%s: %s did not notice: %v", name, c.id, record.Problems())
		}
	}
}

// TestUsageCells breaks every cell of every entry in each way that only a rule
// between its members can see.
func TestUsageCells(t *testing.T) {
	for _, rule := range cellRules {
		for _, entry := range []string{"usage.job", "usage.stages.run"} {
			path := entry + ".resources." + rule.name
			wrongUnit := "ms"
			if rule.unit == "ms" {
				wrongUnit = "us"
			}
			expectFault(t, rule.id, path+" unit", func(root *node) { set(root, path+".unit", text(wrongUnit)) })
			expectFault(t, rule.id, path+" source", func(root *node) {
				set(root, path+".state", `"measured"`)
				set(root, path+".used", "1")
				set(root, path+".source", `"none"`)
			})
			expectFault(t, "T34.11", path+" used", func(root *node) {
				set(root, path+".state", `"unavailable"`)
				set(root, path+".used", "0")
			})
		}
		expectFault(t, "T34.12", rule.name+" of an absent stage", func(root *node) {
			set(root, "usage.stages.compile.resources."+rule.name+".limit", "5")
		})
	}
}

func expectFault(t *testing.T, id, what string, alter func(*node)) {
	t.Helper()
	root := parsed(t, example(t, "success.json"))
	alter(root)
	record := DecodeRecord(packet(root))
	if !slices.ContainsFunc(record.faults, func(f fault) bool { return f.ID == id }) {
		t.Errorf("%s: %s did not notice: %v", what, id, record.Problems())
	}
}

// seed is printed, so that a failing property can be repeated.
func seed(t *testing.T) int64 {
	value := time.Now().UnixNano()
	if fixed := os.Getenv("GOPTER_SEED"); fixed != "" {
		fmt.Sscan(fixed, &value)
	}
	t.Logf("GOPTER_SEED=%d", value)
	return value
}

// TestAlteredRecordsProperty: any set of alterations at any places is noticed,
// and the tree that is decoded is the tree that was encoded.
func TestAlteredRecordsProperty(t *testing.T) {
	parameters := gopter.DefaultTestParametersWithSeed(seed(t))
	parameters.MinSuccessfulTests = 300
	properties := gopter.NewProperties(parameters)
	original := example(t, "success.json")
	all := paths(parsed(t, original))
	properties.Property("altered anywhere, noticed", prop.ForAll(func(places []int, way int) bool {
		root := parsed(t, original)
		for _, p := range places {
			path := all[p]
			if root.at(strings.Split(path, ".")...) == nil || free(path) {
				continue
			}
			a := alterations[way]
			if a.only == nil || a.only(root.at(strings.Split(path, ".")...)) {
				a.do(root, path)
			}
		}
		content := packet(root)
		decoded := DecodeRecord(content)
		same := string(packet(decoded.root)) == string(content)
		return same && (len(decoded.faults) > 0) == !bytes.Equal(content, original)
	}, gen.SliceOfN(3, gen.IntRange(0, len(all)-1)), gen.IntRange(0, len(alterations)-1)))
	properties.Property("any bytes, no panic and a reason", prop.ForAll(func(content []byte) bool {
		return len(DecodeRecord(content).Problems()) > 0
	}, gen.SliceOf(gen.UInt8())))
	properties.TestingRun(t)
}

func FuzzDecodeRecord(f *testing.F) {
	for _, name := range exampleRecords {
		f.Add(example(f, name))
	}
	f.Add([]byte("{}\n"))
	f.Add([]byte(`{"a":1,"a":2}` + "\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		record := DecodeRecord(content)
		if len(record.faults) > 0 {
			return
		}
		// What is accepted is what the contract calls a record: spelled again it
		// is the same bytes, within the packet, with no member twice.
		if !bytes.HasSuffix(content, []byte("}\n")) || len(content) > terminalBytes || duplicateMember(record.root) != "" {
			t.Errorf("accepted: %q", content)
		}
		if len(DecodeRecord(packet(record.root)).faults) > 0 {
			t.Errorf("not accepted again: %q", packet(record.root))
		}
	})
}
