package transpiler

import (
	"errors"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
)

const head = "strategy \"s\"\n"

// TestRefusals: every refusal names the place of what is wrong.
func TestRefusals(t *testing.T) {
	for source, want := range map[string]string{
		"":                                                `1:1: expected "strategy", found the end`,
		"strategy s":                                      `1:10: expected a text, found "s"`,
		"strategy \"s":                                    "1:10: text without an end",
		"strategy \"s\" x":                                `1:14: expected the end of the line, found "x"`,
		head + "let A = 1":                                "2:5: unexpected character 'A'",
		head + "let a = 1.":                               `2:9: number "1.": no digit behind the point`,
		head + "let a = 01":                               `2:9: number "01": begins with a zero`,
		head + "let a = 1 +":                              "2:12: expected a value, found the end",
		head + "let a = 1\nlet a = 2":                     `3:1: name "a": taken`,
		head + "let close = 1":                            `2:1: name "close": taken`,
		head + "let sma = 1":                              `2:1: name "sma": taken`,
		head + "let when = 1":                             `2:5: expected a name, found "when"`,
		head + "let a = b":                                `2:9: unknown name "b"`,
		head + "let a = 1 < 2 < 3":                        "2:15: comparisons do not chain",
		head + "let a = f(1)":                             `2:9: unknown function "f"`,
		head + "let a = sma(1)":                           "2:9: sma: 2 arguments, not 1",
		head + "let a = sma(1, 0)":                        "2:16: expected a length: an input or a whole number of 1 to 10000",
		head + "let a = sma(1, open)":                     "2:16: expected a length: an input or a whole number of 1 to 10000",
		head + "let a = 1 and 2":                          "2:9: expected a truth value, found a number",
		head + "let a = true + 1":                         "2:9: expected a number, found a truth value",
		head + "let a = \"b\"":                            "2:9: a text has no name",
		head + "input a = 1 + 1":                          "2:11: an input is a plain number",
		head + "when 1: exit":                             "2:6: expected a truth value, found a number",
		head + "when true: sell":                          `2:12: expected a statement or an action, found "sell"`,
		head + "when true exit":                           `2:11: expected ":", found "exit"`,
		head + "long 1, 2":                                "2:1: long: one size, not 2",
		head + "long true":                                "2:6: expected a number, found a truth value",
		head + "fail 1":                                   "2:1: fail: one text that is not empty",
		head + "at exit: long 1":                          "2:10: long: nothing but print and note at exit",
		head + "at exit: print close":                     `2:16: name "close": no bar at exit`,
		head + "print \"\\x\"":                            "2:8: unknown escape in a text",
		head + "print \"\x01\"":                           "2:8: control character in a text",
		head + "print \"\xff\"":                           "2:8: text that is not UTF-8",
		head + "# \xff":                                   "2:1: comment that is not UTF-8",
		head + "let a = " + strings.Repeat("(", 70):       "2:73: expression nested deeper than 64",
		head + "let a = " + strings.Repeat("-", 70) + "1": "2:72: expression nested deeper than 64",
		head + "let a = 1" + strings.Repeat("+1", 70):     "2:138: more than 64 operators in a row",
		strings.Repeat(" ", maxBytes+1):                   "1:1: strategy of 65537 bytes, limit 65536",
		head + strings.Repeat("exit\n", 1001):             "1002:1: more than 1000 statements",
		head + "let " + strings.Repeat("a", 33) + "=1":    "2:5: name of 33 bytes, limit 32",
	} {
		_, err := Transpile(source)
		var refused *Error
		if !errors.As(err, &refused) || err.Error() != want {
			t.Errorf("%.60q\ngot  %v\nwant %s", source, err, want)
		}
	}
}

// TestStateSeesEveryBar: a call with state stands before the condition it is in.
func TestStateSeesEveryBar(t *testing.T) {
	generated, err := Transpile(head + "when close > 1 and sma(close, 3) > 2: long highest(open, 2)\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range []string{"kept_1.next(now.close, 3.0)", "kept_2.next(now.open, 2.0)"} {
		if at := strings.Index(generated, call); at < 0 || at > strings.Index(generated, "if (") {
			t.Errorf("%s: at %d in\n%s", call, at, generated)
		}
	}
}

// expression generates well-formed trees; its own randomness follows the seed.
func expression(random *rand.Rand, depth int) *Expr {
	leaf := func(op, text string) *Expr { return &Expr{Op: op, Text: text} }
	if depth == 0 {
		return []*Expr{leaf("number", "12.50"), leaf("number", "0"), leaf("name", "close"), leaf("name", "true"),
			leaf("text", "a\n\"\\ü")}[random.Intn(5)]
	}
	below := func() *Expr { return expression(random, random.Intn(depth)) }
	switch random.Intn(4) {
	case 0:
		return &Expr{Op: []string{"not", "neg"}[random.Intn(2)], Args: []*Expr{below()}}
	case 1:
		return &Expr{Op: "call", Text: "sma", Args: []*Expr{below(), below()}}
	}
	level := levels[random.Intn(len(levels))]
	return &Expr{Op: level[random.Intn(len(level))], Args: []*Expr{below(), below()}}
}

func program(random *rand.Rand) Program {
	p := Program{Name: "näme\t"}
	for range 1 + random.Intn(5) {
		said := []Action{{Word: "exit"}, {Word: "print", Items: []*Expr{expression(random, 3), expression(random, 1)}}}
		p.Statements = append(p.Statements, []Statement{
			{Word: "let", Name: "a", Value: expression(random, 5)},
			{Word: "input", Name: "b", Value: &Expr{Op: "neg", Args: []*Expr{{Op: "number", Text: "7"}}}},
			{Word: "when", Value: expression(random, 4), Actions: said},
			{Word: "do", Actions: said[:1]},
			{Word: "at", Actions: said[1:]},
		}[random.Intn(5)])
	}
	return p
}

// TestParseInvertsFormat: what Format spells, Parse reads back.
func TestParseInvertsFormat(t *testing.T) {
	parameters := gopter.DefaultTestParameters()
	parameters.MinSuccessfulTests = 2000
	seed := time.Now().UnixNano()
	parameters.SetSeed(seed)
	t.Logf("seed %d", seed)
	properties := gopter.NewProperties(parameters)
	properties.Property("Parse(Format(p)) is p", prop.ForAll(func(seed int64) string {
		p := program(rand.New(rand.NewSource(seed)))
		back, err := Parse(p.Format())
		if err != nil {
			return err.Error() + "\n" + p.Format()
		}
		return cmp.Diff(p, back, cmpopts.IgnoreTypes(Position{}), cmpopts.EquateEmpty())
	}, gen.Int64()))
	properties.TestingRun(t)
}

// FuzzTranspile: any bytes are refused at a place that exists, or give C++ that
// is ASCII; what parses is what its own spelling parses to.
func FuzzTranspile(f *testing.F) {
	for _, seed := range []string{head, head + "when sma(close, 3) > -1.5 and not (open == 2): long 1; print \"a\\n\", close",
		head + "input a = -2\nlet b = highest(low, a) / 3\nat exit: note \"x\"", "strategy \"\\\"\"\n# c\n\nfail \"f\""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		generated, err := Transpile(source)
		if refused := (*Error)(nil); errors.As(err, &refused) {
			lines := strings.Split(source, "\n")
			if refused.Line < 1 || refused.Line > len(lines) || refused.Column < 1 || refused.Column > len(lines[refused.Line-1])+1 {
				t.Fatalf("%v: no such place", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if at := strings.IndexFunc(generated, func(r rune) bool { return r > '~' }); at >= 0 {
			t.Fatalf("byte %d of the C++ is not ASCII", at)
		}
		p, _ := Parse(source) // it did parse
		again, err := Transpile(p.Format())
		if err != nil || again != generated {
			t.Fatalf("its own spelling differs: %v\n%s", err, p.Format())
		}
	})
}
