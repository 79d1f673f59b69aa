package sinkwire

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand"
	"strconv"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/prop"
)

// sample is a stream as the writer wrote it, with what was asked of the writer,
// and a way to alter or cut the stream.
type sample struct {
	stream []byte
	want   [][]any // a record: tag, then values
	counts Counts
	at     int   // a byte of the stream
	flip   byte  // not 0
	cuts   []int // sizes of chunks, used in turn
}

func (s sample) String() string {
	return fmt.Sprintf("%q at %d flip %#x cut %v", s.stream, s.at, s.flip, s.cuts)
}

func samples(parameters *gopter.GenParameters) *gopter.GenResult {
	rng := parameters.Rng
	var s sample
	var to bytes.Buffer
	columns := randomColumns(rng)
	w, err := NewWriter(&to, columns)
	for range rng.Intn(12) {
		tag := rng.Intn(len(Tags))
		record := []any{Tags[tag : tag+1]}
		var values []Value
		for range columns[tag] {
			value, want := randomValue(rng, Tags[tag] != 'E')
			values, record = append(values, value), append(record, want)
		}
		err = errors.Join(err, w.Record(Tags[tag], values...))
		s.want = append(s.want, record)
		s.counts[tag]++
	}
	if err = errors.Join(err, w.Finish()); err != nil {
		panic("bug: the writer refuses a sound record: " + err.Error())
	}
	s.stream = to.Bytes()
	s.at, s.flip = rng.Intn(len(s.stream)), byte(1+rng.Intn(255))
	s.cuts = []int{1 + rng.Intn(9), 1 + rng.Intn(200), 1 + rng.Intn(40)}
	return gopter.NewGenResult(s, gopter.NoShrinker)
}

func randomColumns(rng *rand.Rand) Columns {
	if rng.Intn(4) > 0 {
		return EngineColumns()
	}
	var columns Columns
	for tag := range columns {
		for i := range 1 + rng.Intn(5) {
			columns[tag] = append(columns[tag], fmt.Sprintf("c%d_%d", i, rng.Intn(100)))
		}
	}
	return columns
}

// randomValue returns a value, and what a decoder of its spelling must give.
func randomValue(rng *rand.Rand, null bool) (Value, any) {
	switch kind := rng.Intn(5); {
	case kind == 0 && null:
		return Null(), nil
	case kind <= 1:
		b := rng.Intn(2) == 0
		return Bool(b), b
	case kind == 2:
		n := rng.Int63n(2*MaxInteger+1) - MaxInteger
		if rng.Intn(3) == 0 {
			n = []int64{0, 1, -1, MaxInteger, -MaxInteger}[rng.Intn(5)]
		}
		return Integer(n), json.Number(strconv.FormatInt(n, 10))
	case kind == 3:
		x := randomReal(rng)
		return Real(x), x
	}
	const characters = "a\"\\/\b\f\n\r\t\x00\x1f\x7féß日本🙂\u2028\ufffd\U0010ffff plain text"
	runes := []rune(characters)
	var text strings.Builder
	for range rng.Intn(30) {
		text.WriteRune(runes[rng.Intn(len(runes))])
	}
	return Text(text.String()), text.String()
}

func randomReal(rng *rand.Rand) float64 {
	switch rng.Intn(4) {
	case 0:
		return []float64{0, math.Copysign(0, -1), 1, 1e15, 1e-5, 1e22, math.MaxFloat64, math.SmallestNonzeroFloat64}[rng.Intn(8)]
	case 1:
		return float64(rng.Intn(1_000_000)) / 100
	}
	for {
		if x := math.Float64frombits(rng.Uint64()); !math.IsNaN(x) && !math.IsInf(x, 0) {
			return x
		}
	}
}

func check(t *testing.T, name string, condition func(s sample) (bool, error)) {
	parameters := gopter.DefaultTestParameters()
	parameters.MinSuccessfulTests = 3000
	t.Logf("seed %d", parameters.Seed())
	properties := gopter.NewProperties(parameters)
	properties.Property(name, prop.ForAll(condition, samples))
	properties.TestingRun(t)
}

func TestWrittenIsRead(t *testing.T) {
	check(t, "what was written is accepted, counted, hashed and decodes to the same", func(s sample) (bool, error) {
		summary, err := read(s.stream)
		if err != nil {
			return false, err
		}
		body := s.stream[:bytes.LastIndex(s.stream, []byte(`{"end"`))]
		if summary.Counts != s.counts || summary.SHA256 != sha256.Sum256(body) {
			return false, fmt.Errorf("got %v %x", summary.Counts, summary.SHA256)
		}
		lines := bytes.Split(bytes.TrimSuffix(body, []byte("\n")), []byte("\n"))[1:]
		if len(lines) != len(s.want) {
			return false, fmt.Errorf("got %d records, want %d", len(lines), len(s.want))
		}
		for i, line := range lines {
			if err := sameRecord(line, s.want[i]); err != nil {
				return false, err
			}
		}
		return true, nil
	})
}

// sameRecord decodes a line with another JSON reader and compares.
func sameRecord(line []byte, want []any) error {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	var got []any
	if err := decoder.Decode(&got); err != nil || len(got) != len(want) {
		return fmt.Errorf("%s: got %v %v, want %v", line, got, err, want)
	}
	for i := range got {
		value := got[i]
		if real, ok := want[i].(float64); ok {
			number, _ := value.(json.Number)
			x, err := number.Float64()
			if err != nil || math.Float64bits(x) != math.Float64bits(real) {
				return fmt.Errorf("%s: value %d is %v %v, want %v", line, i, x, err, real)
			}
		} else if value != want[i] {
			return fmt.Errorf("%s: value %d is %v, want %v", line, i, value, want[i])
		}
	}
	return nil
}

func TestOneByteFlipped(t *testing.T) {
	kinds := map[Kind]int{}
	check(t, "a stream with one byte flipped is refused", func(s sample) (bool, error) {
		altered := bytes.Clone(s.stream)
		altered[s.at] ^= s.flip
		_, err := read(altered)
		var refused *RefusedError
		if !errors.As(err, &refused) {
			return false, fmt.Errorf("got %v", err)
		}
		kinds[refused.Kind]++
		return true, nil
	})
	if kinds[Grammar] == 0 || kinds[Mismatch] == 0 {
		t.Errorf("got refusals %v, want grammar and mismatch among them", kinds)
	}
}

// TestEveryBitFlipped: one small stream, every bit of it.
func TestEveryBitFlipped(t *testing.T) {
	whole := stream(Counts{0: 1, 5: 1}, `["E",1,2.0,3.0]`, `["X",0,"log","\u00e9 日"]`)
	for at := range whole {
		for bit := range 8 {
			altered := bytes.Clone(whole)
			altered[at] ^= 1 << bit
			if _, err := read(altered); err == nil {
				t.Errorf("accepted with bit %d of byte %d flipped", bit, at)
			}
		}
	}
}

func TestAnyCutSameVerdict(t *testing.T) {
	refused := 0
	check(t, "the same verdict however cut", func(s sample) (bool, error) {
		altered := bytes.Clone(s.stream)
		switch s.flip % 4 {
		case 0: // sound
		case 1:
			altered[s.at] ^= s.flip
		case 2:
			altered = altered[:s.at]
		case 3:
			altered = append(altered, s.stream[:s.at+1]...)
		}
		wantSummary, want := read(altered)
		gotSummary, got := readCuts(altered, s.cuts)
		if want != nil {
			refused++
		}
		if !sameVerdict(got, want) || gotSummary != wantSummary {
			return false, fmt.Errorf("cut: %v %v, whole: %v %v", gotSummary, got, wantSummary, want)
		}
		return true, nil
	})
	if refused == 0 || refused == 3000 {
		t.Errorf("%d of 3000 streams refused: the generator tests one side only", refused)
	}
}

func readCuts(stream []byte, cuts []int) (Summary, error) {
	r := NewReader()
	for turn := 0; len(stream) > 0; turn++ {
		n := min(cuts[turn%len(cuts)], len(stream))
		if _, err := r.Write(stream[:n]); err != nil {
			return Summary{}, err
		}
		stream = stream[n:]
	}
	return r.Finish()
}

func sameVerdict(a, b error) bool {
	var first, second *RefusedError
	if !errors.As(a, &first) || !errors.As(b, &second) {
		return a == nil && b == nil
	}
	return *first == *second
}
