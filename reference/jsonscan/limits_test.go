package jsonscan

import (
	"errors"
	"fmt"
	"math/rand"
	"runtime"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/prop"
)

// TestLimits has for each limit a document at it and one over it.
func TestLimits(t *testing.T) {
	nested := func(depth int) string {
		return `{"a":` + strings.Repeat("[", depth-1) + strings.Repeat("]", depth-1) + "}"
	}
	for _, c := range []struct {
		name     string
		limits   Limits
		at, over string
		rule     Rule
		offset   int64
	}{
		{"depth of arrays", Limits{Depth: 4}, nested(4), nested(5), RuleDepth, 8},
		{"depth of objects", Limits{Depth: 2}, `{"a":{}}`, `{"a":{"b":{}}}`, RuleDepth, 10},
		{"default depth", Limits{}, nested(DefaultDepth), nested(DefaultDepth + 1), RuleDepth, 5 + DefaultDepth - 1},
		{"names of one object", Limits{LiveKeys: 2}, `{"a":1,"b":2}`, `{"a":1,"b":2,"c":3}`, RuleLiveKeys, 16},
		{"names of open objects", Limits{LiveKeys: 2}, `{"a":{"b":1},"c":1}`, `{"a":{"b":{"c":1}}}`, RuleLiveKeys, 14},
		{"names of arrays' objects", Limits{LiveKeys: 2}, `{"a":[{"a":1},{"a":1}]}`, `{"a":[{"a":1},{"a":1,"b":2}]}`, RuleLiveKeys, 24},
	} {
		for _, chunk := range chunkSizes {
			if err := feed(New(c.limits), []byte(c.at+"\n"), chunk); err != nil {
				t.Errorf("%s: at the limit in chunks of %d: %v", c.name, chunk, err)
			}
			var broken *Error
			err := feed(New(c.limits), []byte(c.over+"\n"), chunk)
			if !errors.As(err, &broken) || *broken != (Error{c.offset, c.rule}) {
				t.Errorf("%s: over the limit in chunks of %d: got %v, want byte %d: %s", c.name, chunk, err, c.offset, c.rule)
			}
		}
	}
}

func TestDefaultLiveKeys(t *testing.T) {
	var names strings.Builder
	for i := range DefaultLiveKeys {
		fmt.Fprintf(&names, `"%d":0,`, i)
	}
	at := "{" + strings.TrimSuffix(names.String(), ",") + "}\n"
	if err := scan([]byte(at), 4096); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	var broken *Error
	if err := scan([]byte("{"+names.String()+"\"x\":0}\n"), 4096); !errors.As(err, &broken) || broken.Rule != RuleLiveKeys {
		t.Errorf("over the limit: %v", err)
	}
}

// TestMemory holds the scanner to what it may allocate in all, garbage
// included, while it scans documents of 8 MiB.
func TestMemory(t *testing.T) {
	const size = 8 << 20
	objects := strings.Repeat(`{"first":1,"second":"x\u0061"},`, size/31)
	for _, c := range []struct {
		name, document string
		limits         Limits
		bytes          uint64
		rule           Rule
	}{
		{"one string", `{"a":"` + strings.Repeat("é", size/2) + "\"}\n", Limits{}, 64 << 10, ""},
		{"one name", `{"` + strings.Repeat("a", size) + "\":1}\n", Limits{}, 64 << 10, ""},
		{"one number", `{"a":1` + strings.Repeat("0", size) + "}\n", Limits{}, 64 << 10, ""},
		{"an oversized capture", `{"a":"` + strings.Repeat("a", size) + "\"}\n", Limits{Capture: []string{"a"}, CaptureBytes: 1 << 20}, 6 << 20, ""},
		{"many objects", `{"a":[` + objects + "{}]}\n", Limits{}, 64 << 10, ""},
		{"as many names as may live", manyNames(size), Limits{}, 20 << 20, RuleLiveKeys},
		{"as deep as may be", `{"a":` + strings.Repeat(`[`, size), Limits{}, 2 << 20, RuleDepth},
	} {
		document := []byte(c.document)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s := New(c.limits)
		err := feed(s, document, 64<<10)
		runtime.ReadMemStats(&after)
		var broken *Error
		if errors.As(err, &broken) != (c.rule != "") || broken != nil && broken.Rule != c.rule {
			t.Errorf("%s: got %v, want %q", c.name, err, c.rule)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > c.bytes {
			t.Errorf("%s: allocated %d bytes, want at most %d", c.name, used, c.bytes)
		}
	}
}

func manyNames(size int) string {
	var document strings.Builder
	document.WriteByte('{')
	for i := 0; document.Len() < size; i++ {
		fmt.Fprintf(&document, `"name number %d":0,`, i)
	}
	return document.String()
}

// TestNameSet compares the set with maps, through random openings, names and
// closings.
func TestNameSet(t *testing.T) {
	parameters := gopter.DefaultTestParameters()
	parameters.MinSuccessfulTests = 300
	t.Logf("seed %d", parameters.Seed())
	properties := gopter.NewProperties(parameters)
	properties.Property("as a stack of maps", prop.ForAll(nameSetLikeMaps, gopter.Gen(func(p *gopter.GenParameters) *gopter.GenResult {
		return gopter.NewGenResult(p.Rng.Int63(), gopter.NoShrinker)
	})))
	properties.TestingRun(t)
}

func nameSetLikeMaps(seed int64) (bool, error) {
	rng := rand.New(rand.NewSource(seed))
	var set nameSet
	set.table = make([]uint64, firstTable)
	levels, marks := []map[uint64]bool{{}}, []int{0}
	for step := range 2000 {
		switch top := len(levels) - 1; {
		case rng.Intn(20) == 0:
			levels, marks = append(levels, map[uint64]bool{}), append(marks, set.live())
		case rng.Intn(20) == 0 && top > 0:
			set.drop(marks[top])
			levels, marks = levels[:top], marks[:top]
		default:
			hash := uint64(rng.Intn(300)) << 30 // few slots, many collisions of place
			if fresh := set.add(hash, top); fresh == levels[top][hash] {
				return false, fmt.Errorf("step %d: hash %d fresh=%t, map says %t", step, hash, fresh, !levels[top][hash])
			}
			levels[top][hash] = true
		}
	}
	set.drop(0)
	for _, key := range set.table {
		if key != 0 {
			return false, errors.New("a key stayed after all were dropped")
		}
	}
	return true, nil
}
