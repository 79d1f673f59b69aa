package script

import (
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

func TestSplitLine(t *testing.T) {
	variables := func(name string) string { return "<" + name + ">" }
	for line, wanted := range map[string][]string{
		``:                           nil,
		"  \t ":                      nil,
		`# all comment`:              nil,
		`launch # tail`:              {"launch"},
		`a b	c`:                      {"a", "b", "c"},
		`x=$N $M_size`:               {"x=<N>", "<M_size>"},
		`'a  b' 'it''s' '$N #'`:      {"a  b", "it's", "$N #"},
		`"a\tb" "\x00\xff" "$N # '"`: {"a\tb", "\x00\xff", "$N # '"},
		`value="","-1",'a b',5`:      {`value=,-1,a b,5`},
		`replace="a"=>"b"`:           {"replace=a=>b"},
		`"\u00e9\"" x"y"z`:           {"é\"", "xyz"},
	} {
		words, err := splitLine(line)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		var got []string
		for _, w := range words {
			text, err := decode(w.expand(variables))
			if err != nil {
				t.Errorf("%s: %v", line, err)
			}
			got = append(got, text)
		}
		if !slices.Equal(got, wanted) {
			t.Errorf("%s: got %q, want %q", line, got, wanted)
		}
	}
	for _, line := range []string{`"open`, `'open`, `"\q"`, "a\x01b", `"a\`} {
		if words, err := splitLine(line); err == nil {
			t.Errorf("%q is accepted: %v", line, words)
		}
	}
}

func TestLists(t *testing.T) {
	words, err := splitLine(`"","a,b",c,'d'`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := splitList(words[0].expand(os.Getenv))
	if err != nil || !slices.Equal(got, []string{"", "a,b", "c", "d"}) {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestQuotedTextArrivesProperty: whatever text stands in double quotes reaches
// a verb as it is, through testscript itself.
func TestQuotedTextArrivesProperty(t *testing.T) {
	seed := time.Now().UnixNano()
	if fixed := os.Getenv("GOPTER_SEED"); fixed != "" {
		fmt.Sscan(fixed, &seed)
	}
	t.Logf("GOPTER_SEED=%d", seed)
	parameters := gopter.DefaultTestParametersWithSeed(seed)
	properties := gopter.NewProperties(parameters)
	properties.Property("split, encode, decode", prop.ForAll(func(bytes []byte) bool {
		text := string(bytes)
		words, err := splitLine("literal " + fmt.Sprintf("%q", text) + " tail")
		if err != nil || len(words) != 3 {
			return false
		}
		got, err := decode(words[1].expand(func(string) string { return "wrong" }))
		encoded := words[1].encode()
		return err == nil && got == text && strings.HasPrefix(encoded, "'") && !strings.ContainsAny(encoded, "\n\r")
	}, gen.SliceOf(gen.UInt8())))
	properties.TestingRun(t)
}

func FuzzParse(f *testing.F) {
	f.Add("# T1 One sentence (R01)\nlaunch\ncheck T1.17 success\n")
	f.Add("# T1 One sentence (R01)\n[!jailed] launch each value=\"a\",'b'\n-- file --\n")
	f.Add("# T1 One sentence (R01)\n-- --\n") // a marker without a name is none
	f.Fuzz(func(t *testing.T, source string) {
		s, err := Parse("T01-x.txtar", []byte(source))
		if err != nil {
			return
		}
		Lint(s, nil)
		// Lines keep their numbers in what testscript gets.
		lines := strings.Split(string(s.executable()), "\n")
		for _, statement := range s.Statements {
			if statement.Line > len(lines) || !strings.Contains(lines[statement.Line-1], fmt.Sprintf("%s%d", lineWord, statement.Line)) {
				t.Errorf("line %d is lost", statement.Line)
			}
		}
	})
}
