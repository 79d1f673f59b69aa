package jsonscan

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/prop"
)

// sound is the oracle: the framing rules, and jsontext for what is inside. Its
// own depth limit is the scanner's default.
func sound(document []byte) bool {
	body, found := bytes.CutSuffix(document, []byte("}\n"))
	return found && bytes.HasPrefix(document, []byte("{")) &&
		jsontext.Value(document[:len(body)+1]).IsValid()
}

// sample is a document and a way to cut it.
type sample struct {
	document []byte
	cuts     []int // sizes of chunks, used in turn
}

func (s sample) String() string { return fmt.Sprintf("%q cut %v", s.document, s.cuts) }

// samples generates documents that are sound, nearly sound or hardly so.
func samples(parameters *gopter.GenParameters) *gopter.GenResult {
	w := writer{rng: parameters.Rng}
	w.object(4)
	document := append(w.Bytes(), '\n')
	for range parameters.Rng.Intn(3) {
		document = mutate(parameters.Rng, document)
	}
	cuts := []int{1 + parameters.Rng.Intn(9), 1 + parameters.Rng.Intn(9), 1 + parameters.Rng.Intn(40)}
	return gopter.NewGenResult(sample{document, cuts}, gopter.NoShrinker)
}

func TestScannerAgreesWithJSONText(t *testing.T) {
	parameters := gopter.DefaultTestParameters()
	parameters.MinSuccessfulTests = 20_000
	t.Logf("seed %d", parameters.Seed())
	accepted := 0
	properties := gopter.NewProperties(parameters)
	properties.Property("same verdict as jsontext, same error however cut", prop.ForAll(func(s sample) (bool, error) {
		if sound(s.document) {
			accepted++
		}
		err := compare(s)
		return err == nil, err
	}, samples))
	properties.TestingRun(t)
	if all := parameters.MinSuccessfulTests; accepted < all/20 || accepted > all*19/20 {
		t.Errorf("%d of %d documents are sound: the generator tests one side only", accepted, all)
	}
}

// compare says how the scanner differs from the oracle, or from itself on the
// uncut document.
func compare(s sample) error {
	whole := scan(s.document, 1<<20)
	if want := sound(s.document); (whole == nil) != want {
		return fmt.Errorf("scanner says %v, oracle says sound=%t", whole, want)
	}
	cut := New(Limits{})
	if err := feedCuts(cut, s); !sameError(err, whole) {
		return fmt.Errorf("cut: %v, whole: %v", err, whole)
	}
	return nil
}

func feedCuts(scanner *Scanner, s sample) error {
	rest := s.document
	for turn := 0; len(rest) > 0; turn++ {
		n := min(s.cuts[turn%len(s.cuts)], len(rest))
		if err := scanner.Write(rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return scanner.Finish()
}

func sameError(a, b error) bool {
	var first, second *Error
	if !errors.As(a, &first) || !errors.As(b, &second) {
		return a == nil && b == nil
	}
	return *first == *second
}

// writer writes random JSON with every freedom of spelling.
type writer struct {
	bytes.Buffer
	rng *rand.Rand
}

func (w *writer) pick(choices ...string) { w.WriteString(choices[w.rng.Intn(len(choices))]) }

func (w *writer) blank() { w.pick("", "", "", "", " ", "\n", "\t\r ") }

func (w *writer) object(depth int) {
	w.WriteByte('{')
	n := w.rng.Intn(5)
	if w.rng.Intn(40) == 0 {
		n = 100 // past the first table
	}
	for i := range n {
		if i > 0 {
			w.blank()
			w.WriteByte(',')
		}
		w.blank()
		w.name(i, n)
		w.blank()
		w.WriteByte(':')
		w.value(depth - 1)
	}
	w.blank()
	w.WriteByte('}')
}

// name writes the i-th of n names. They differ mostly; two spellings of one
// name meet now and then.
func (w *writer) name(i, n int) {
	if w.rng.Intn(8*n) == 0 {
		w.pick(`"a"`, `"\u0061"`, `"é"`, `"\u00e9"`, `"\u00E9"`, `"🙂"`, `"\uD83d\uDe42"`, `""`)
		return
	}
	fmt.Fprintf(w, `"%d`, i)
	w.pick("", "a", "name of some length", `\u0061\n`, "é日", "🙂", `\"`)
	w.WriteByte('"')
}

func (w *writer) value(depth int) {
	w.blank()
	switch choice := w.rng.Intn(9); {
	case choice == 0 && depth > 0:
		w.object(depth)
	case choice == 8 && depth > 0:
		w.rows(depth)
	case choice == 1 && depth > 0:
		w.array(depth)
	case choice < 4:
		w.pick("0", "-0", "1", "-12", "1.5", "0.25", "-0.5e-3", "1E5", "10e+2", "12345678901234567890", "3.141592653589793")
	case choice < 6:
		w.text()
	default:
		w.pick("true", "false", "null")
	}
	w.blank()
}

func (w *writer) array(depth int) {
	w.WriteByte('[')
	for i := range w.rng.Intn(4) {
		if i > 0 {
			w.WriteByte(',')
		}
		w.value(depth - 1)
	}
	w.WriteByte(']')
}

// rows writes an array of objects with the same names in the same order, but for
// one here and there that is missing, is repeated, is spelled otherwise or has
// others after it.
func (w *writer) rows(depth int) {
	names := []string{`"a"`, `"b"`, `"name of some length"`, `"c"`, `"é"`, `"d"`}[:1+w.rng.Intn(6)]
	w.WriteByte('[')
	for i := range 2 + w.rng.Intn(5) {
		if i > 0 {
			w.WriteByte(',')
		}
		row := slices.Clone(names)
		at := w.rng.Intn(len(row))
		switch w.rng.Intn(16) {
		case 0:
			row = slices.Delete(row, at, at+1)
		case 1:
			row[at] = names[w.rng.Intn(len(names))]
		case 2:
			row[at] = `"\u0061"`
		case 3:
			row = append(row, `"z"`, `"y"`)
		}
		w.row(row, depth)
	}
	w.WriteByte(']')
}

func (w *writer) row(names []string, depth int) {
	w.WriteByte('{')
	for i, name := range names {
		if i > 0 {
			w.WriteByte(',')
		}
		w.WriteString(name + ":")
		w.value(depth - 1)
	}
	w.WriteByte('}')
}

func (w *writer) text() {
	w.WriteByte('"')
	for range w.rng.Intn(6) {
		w.pick("a", "plain words", "é", "日本語", "🙂", `\n`, `\"`, `\\`, `\/`, `\u0041`, `\u00e9`, `\ud83d\ude42`, "\u007f", "\u0800", "\ufffd")
	}
	w.WriteByte('"')
}

// mutate damages the document in one place.
func mutate(rng *rand.Rand, document []byte) []byte {
	at := rng.Intn(len(document) + 1)
	to := at + rng.Intn(len(document)+1-at)
	short := min(at+rng.Intn(3), len(document))
	scraps := []string{
		"", "\"", "\\", "{", "}", "[", "]", ",", ":", "0", ".", "e", "-", "+", "\n", " ", "\x00", "\x1f", "u", "t", "null",
		"\xff", "\x80", "\xc2", "\xe0\xa0", "\xed\xa0\x80", "\xf0\x9f\x99", `\ud800`, `\udc00`, `\u`, `"a":1,`, `,"a":1`, "{}", "NaN",
	}
	scrap := scraps[rng.Intn(len(scraps))]
	switch rng.Intn(4) {
	case 0: // replace a byte or two, or none
		return slice(document[:at], []byte(scrap), document[short:])
	case 1: // repeat a part
		return slice(document[:to], document[at:])
	case 2: // cut a part
		return slice(document[:at], document[short:])
	default: // cut the end off
		if rng.Intn(4) > 0 {
			return document
		}
		return slice(document[:at])
	}
}

func slice(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func FuzzScanner(f *testing.F) {
	for _, seed := range []string{
		"{}\n", "{\"a\":[1,-0.5e3,\"\\u00e9\\ud83d\\ude42\",true,null,{}]}\n", "{\"a\":1,\"\\u0061\":2}\n", "{\"é\":\"日本\"} \n",
	} {
		f.Add([]byte(seed), uint8(1), uint8(2))
	}
	f.Fuzz(func(t *testing.T, document []byte, first, second uint8) {
		s := sample{document, []int{1 + int(first), 1 + int(second)}}
		if err := compare(s); err != nil {
			t.Errorf("%v: %v", s, err)
		}
	})
}
