package host

import (
	"math"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
)

func TestRender(t *testing.T) {
	values := map[string]string{"terminal_fd": "3", "attempt_id": sampleID}
	for word, want := range map[string]string{
		"": "", "x": "x", "{terminal_fd}": "3", "a{terminal_fd}b{attempt_id}": "a3b" + sampleID, `{"length":3}`: `{"length":3}`,
		"{": "{", "{}": "{}", "{{terminal_fd}}": "{3}", "{1}": "{1}", "{ terminal_fd}": "{ terminal_fd}",
	} {
		if got, err := render(word, values); err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", word, got, err, want)
		}
	}
	for _, word := range []string{"{sink_fd}", "{terminal_fd", "{x", "a{b}c", "{terminal_fd }"} {
		if got, err := render(word, values); err == nil {
			t.Errorf("%q: %q", word, got)
		}
	}
	properties := gopter.NewProperties(parameters(t, 500))
	properties.Property("what opens no placeholder stands as it is", prop.ForAll(func(text string) bool {
		for c := 'a'; c <= 'z'; c++ {
			text = strings.ReplaceAll(text, "{"+string(c), "{.")
		}
		got, err := render(text+"{terminal_fd}"+text, values)
		return err == nil && got == text+"3"+text
	}, gen.OneGenOf(gen.AnyString(), gen.RegexMatch(`[{}a".]{0,12}`))))
	properties.TestingRun(t)
}

// TestLimits: what S will be asked is found where S looks for it, and the watch
// follows from it.
func TestLimits(t *testing.T) {
	number := func(n int64) *int64 { return &n }
	for _, c := range []struct {
		name, invocation string
		command          []string
		variable         string // of the wall limit; "" is not set
		granted          int64
		requested        *int64
		effective        int64
	}{
		{"nothing", "run_json", nil, "", 600000, nil, 600000},
		{"default below the grant", "run_json", nil, "", 900000, nil, 600000},
		{"default above the grant", "run_json", nil, "", 5, nil, 5},
		{"flag", "run_json", []string{"--channel-wall-ms", "7"}, "", 9, number(7), 7},
		{"joined", "run_json", []string{"--channel-wall-ms=7"}, "8", 9, number(7), 7},
		{"variable", "run_json", nil, "8", 9, number(8), 8},
		{"zero", "run_json", []string{"--channel-wall-ms", "0"}, "", 9, number(0), 9},
		{"at the grant", "run_json", nil, "9", 9, number(9), 9},
		{"above the grant", "run_json", nil, "10", 9, number(10), 9},
		{"malformed", "run_json", []string{"--channel-wall-ms", "+7"}, "8", 9, nil, 9},
		{"empty variable", "run_json", nil, "-", 9, nil, 9},
		{"too large", "run_json", nil, "9007199254740991", 9, nil, 9},
		{"flag of the other facade", "entrypoint", []string{"--channel-wall-ms", "7"}, "", 9, nil, 9},
		{"variable of the entrypoint", "entrypoint", []string{"--channel-wall-ms", "7"}, "8", 9, number(8), 8},
	} {
		o := Options{Invocation: c.invocation, Command: append([]string{"s"}, c.command...), Grants: Grants{1, 1, c.granted, 400, 0}}
		got := o.limits(func(name string) (string, bool) {
			if name != "PINEFORGE_CHANNEL_WALL_MS" || c.variable == "" {
				return "", false
			}
			return strings.TrimPrefix(c.variable, "-"), true
		})
		wall := got[wallMS]
		if same := (wall.Requested == nil) == (c.requested == nil) && (c.requested == nil || *wall.Requested == *c.requested); !same ||
			wall.Effective != c.effective || wall.Granted != c.granted {
			t.Errorf("%s: %+v", c.name, wall)
		}
		if want := c.effective + stopGraceMS + 400; got.watch().Milliseconds() != want {
			t.Errorf("%s: watch %s, want %d ms", c.name, got.watch(), want)
		}
	}
}

// TestLongWatch: no grant, however large, makes the watch run out at once.
func TestLongWatch(t *testing.T) {
	for _, ms := range []int64{math.MaxInt64 / 2000000, largest / 2, largest} {
		l := Limits{wallMS: {nil, ms, ms}, stallMS: {nil, ms, ms}}
		if l.watch() <= 0 || l.cancelWatch() <= 0 {
			t.Errorf("%d ms: watch %s, after a cancellation %s", ms, l.watch(), l.cancelWatch())
		}
	}
}
