package sinkwire

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"strings"
	"testing"
)

// stream returns a whole stream of these lines: a header before them and a
// trailer that fits behind them. The lines are not checked.
func stream(counts Counts, lines ...string) []byte {
	body := AppendHeader(nil, EngineColumns())
	for _, line := range lines {
		body = append(append(body, line...), '\n')
	}
	return AppendTrailer(body, counts, sha256.Sum256(body))
}

// read returns the verdict on a stream given in one chunk.
func read(bytes []byte) (Summary, error) {
	r := NewReader()
	if _, err := r.Write(bytes); err != nil {
		return Summary{}, err
	}
	return r.Finish()
}

func wantRefused(t *testing.T, name string, err error, kind Kind) *RefusedError {
	t.Helper()
	var refused *RefusedError
	if !errors.As(err, &refused) {
		t.Errorf("%s: got %v, want a refusal of kind %d", name, err, kind)
		return &RefusedError{}
	}
	if refused.Kind != kind {
		t.Errorf("%s: got kind %d (%v), want %d", name, refused.Kind, err, kind)
	}
	return refused
}

func TestReaderAcceptsValues(t *testing.T) {
	for _, value := range []string{
		`null`, `true`, `false`, `0`, `-1`, `9007199254740991`, `-9007199254740991`, `999999999999999`, `1000000000000000`,
		`0.0`, `-0.0`, `0.5`, `1e5`, `1E+5`, `1.5e-400`, `1.7976931348623157e308`, `9007199254740992.0`, `9007199254740992e0`,
		strings.Repeat("9", 308) + ".0", `""`, `"plain"`, `"é日🙂"`, `"\u00e9\u65e5\ud83d\ude42"`, `"\uD83D\uDE42"`, `"\"\\\/\b\f\n\r\t"`,
		`"` + "\x7f" + `"`, `"\u0000"`, `"1234567890\n1234567890é1234567890"`,
	} {
		s, err := read(stream(Counts{4: 1}, `["K","a",`+value+`]`))
		if err != nil || s.Counts != (Counts{4: 1}) {
			t.Errorf("%s: got %v %v, want accepted", value, s.Counts, err)
		}
	}
}

func TestReaderRefusesValues(t *testing.T) {
	for _, value := range []string{
		``, ` 1`, `1 `, `nul`, `nulll`, `True`, `NaN`, `Infinity`, `-Infinity`, `-`, `+1`, `01`, `-01`, `-0`, `1.`, `.5`, `1e`, `1e+`, `0x1`,
		`9007199254740992`, `-9007199254740992`, `9007199254740993`, `10000000000000000`, `99999999999999999999`, `18446744073709551617`,
		`1e309`, `-1e309`, `1.8e308`, strings.Repeat("9", 309) + ".0",
		`"`, `"a`, `a"`, `'a'`, `"\x41"`, `"\u12"`, `"\u12g4"`, `"\ud83d"`, `"\ude42"`, `"\ud83d\u0041"`, `"\ud83dx"`, `"\ud83d\ud83d"`, `"\`,
		"\"\t\"", "\"\x00\"", "\"\x1f\"", "\"\xff\"", "\"\xc3\"", "\"\xed\xa0\x80\"", "\"\xc0\xaf\"", "\"12345678\x1f\"", "\"1234567\xff8\"",
		`[]`, `{}`, `[1]`, `1,2`, "1\r",
	} {
		_, err := read(stream(Counts{4: 1}, `["K","a",`+value+`]`))
		wantRefused(t, value, err, Grammar)
	}
}

func TestReaderRefusesLines(t *testing.T) {
	for _, line := range []string{
		``, ` `, `[]`, `["K"]`, `["K","a"]`, `["K","a",1,2]`, `["K","a",1],`, `["K","a",1] `, ` ["K","a",1]`, `["k","a",1]`, `["Z","a",1]`,
		`["KK","a",1]`, `["K" ,"a",1]`, `["K","a",1`, `["K",,1]`, `["K","a",1]` + "\r", `{"a":1}`, `{"sink":"touchstone-sink"}`, `x`,
		`["K","a",1]["K","a",1]`, string(bytes.TrimSuffix(AppendHeader(nil, EngineColumns()), []byte("\n"))),
	} {
		_, err := read(stream(Counts{4: 1}, line))
		if refused := wantRefused(t, line, err, Grammar); refused.Line != 2 {
			t.Errorf("%q: refused in line %d, want 2", line, refused.Line)
		}
	}
}

func TestReaderRefusesHeaders(t *testing.T) {
	good := string(AppendHeader(nil, EngineColumns()))
	replace := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("the header has no %s", old)
		}
		return strings.Replace(good, old, new, 1)
	}
	many := ""
	for i := range maxColumns + 1 {
		many += `"c` + strings.Repeat("x", i) + `",`
	}
	for _, header := range []string{
		"\n", "\xef\xbb\xbf" + good, " " + good, replace("touchstone-sink", "sink-v1"), replace(`"version":1`, `"version":2`),
		replace(`"version":1`, `"version":1.0`), replace(`"E":`, `"T":`), replace(`"E":["time_ms","equity","open_profit"],`, ``),
		replace(`["time_ms",`, `["time_ms", `), replace(`["time_ms"`, `["Time_ms"`), replace(`["time_ms"`, `[""`), replace(`["time_ms"`, `["équity"`),
		replace(`["time_ms"`, `["equity"`), replace(`["name","value"]`, `[]`), replace(`["name","value"]`, `["name",]`),
		replace(`["name","value"]`, `"name"`), replace(`["name","value"]`, `["`+strings.Repeat("a", 65)+`"]`),
		replace(`["name","value"]`, `[`+strings.TrimSuffix(many, ",")+`]`),
		replace("}}", "}"), replace("}}", "}}}"), replace("}}\n", "},\"x\":1}\n"), replace("\n", "\r\n"),
		`["K","a",1]` + "\n",
	} {
		body := []byte(header)
		_, err := read(AppendTrailer(body, Counts{}, sha256.Sum256(body)))
		if refused := wantRefused(t, header, err, Grammar); refused.Line != 1 {
			t.Errorf("%q: refused in line %d, want 1", header, refused.Line)
		}
	}
	body := []byte(replace(`["name","value"]`, `["`+strings.Repeat("a", 64)+`"]`))
	if _, err := read(AppendTrailer(body, Counts{}, sha256.Sum256(body))); err != nil {
		t.Errorf("a column name of 64 bytes: %v", err)
	}
}

func TestReaderNamesTheNullColumn(t *testing.T) {
	for line, field := range map[string]string{
		`["E",null,1.0,null]`: "E.time_ms", `["E",1,null,0.0]`: "E.equity", `["E",1,1.0,null]`: "E.open_profit",
	} {
		_, err := read(stream(Counts{1}, line))
		if refused := wantRefused(t, line, err, CanonicalValue); refused.Field != field {
			t.Errorf("%s: got field %q, want %q", line, refused.Field, field)
		}
	}
	_, err := read(stream(Counts{1}, `["E",1,null]`))
	wantRefused(t, "null in a record that is none", err, Grammar)
	s, err := read(stream(Counts{2: 1, 3: 1}, `["V","Close",3,null]`, `["O",0,0,null,null,null,null,null]`))
	if err != nil {
		t.Errorf("null outside of equity points: %v %v", s, err)
	}
}

func TestReaderLineSizes(t *testing.T) {
	for _, c := range []struct {
		size int
		kind Kind // 0: accepted
	}{{MaxLineBytes - 1, 0}, {MaxLineBytes, 0}, {MaxLineBytes + 1, Grammar}, {3 * MaxLineBytes, Grammar}} {
		line := string(bytes.TrimSuffix(textLine(c.size), []byte("\n")))
		whole := stream(Counts{5: 1}, line)
		for _, chunk := range []int{1 << 30, 4096, 1<<20 - 1} {
			err := readChunks(whole, chunk)
			if c.kind == 0 && err != nil {
				t.Errorf("line of %d bytes in chunks of %d: %v", c.size, chunk, err)
			} else if c.kind != 0 {
				wantRefused(t, "long line", err, c.kind)
			}
		}
	}
	header := AppendHeader(nil, EngineColumns())
	_, err := read(append(header, bytes.Repeat([]byte("x"), MaxLineBytes-1)...))
	wantRefused(t, "a line that may still end", err, Incomplete)
	_, err = read(append(header, bytes.Repeat([]byte("x"), MaxLineBytes)...))
	wantRefused(t, "a line that cannot end any more", err, Grammar)
}

// textLine returns an X record whose line has this many bytes with its LF.
func textLine(size int) []byte {
	frame := len(AppendRecord(nil, 'X', Integer(0), Text("log"), Text("")))
	return AppendRecord(nil, 'X', Integer(0), Text("log"), Text(strings.Repeat("x", size-frame)))
}

func TestReaderMemory(t *testing.T) {
	r := NewReader()
	line := textLine(MaxLineBytes)
	_, _ = r.Write(AppendHeader(nil, EngineColumns()))
	for range 20 {
		for i := 0; i < len(line); i += 1000 {
			if _, err := r.Write(line[i:min(i+1000, len(line))]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := cap(r.pending); got > MaxLineBytes*3/2 {
		t.Errorf("the pending line holds %d bytes, want at most %d", got, MaxLineBytes*3/2)
	}
}
