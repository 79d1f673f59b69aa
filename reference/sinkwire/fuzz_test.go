package sinkwire

import (
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// FuzzReader: the verdict does not depend on the cut, and what is accepted is
// UTF-8 in which every line is one JSON value, by another reader's word.
func FuzzReader(f *testing.F) {
	f.Add(stream(Counts{}), uint8(1))
	f.Add(stream(Counts{0: 1, 1: 1, 5: 1}, `["E",1,2.0,3.0]`, string(trimLF(AppendRecord(nil, 'T', tradeValues(1)...))),
		`["X",0,"log","\u00e9\ud83d\ude42"]`), uint8(7))
	f.Add(stream(Counts{0: 1}, `["E",1,null,3.0]`), uint8(3))
	f.Add(stream(Counts{4: 1}, `["K","a",9007199254740991]`), uint8(200))
	f.Fuzz(func(t *testing.T, stream []byte, cut uint8) {
		summary, err := read(stream)
		cutSummary, cutErr := readCuts(stream, []int{1 + int(cut), 1})
		if !sameVerdict(err, cutErr) || summary != cutSummary {
			t.Fatalf("whole: %v %v, cut: %v %v", summary, err, cutSummary, cutErr)
		}
		if err != nil {
			return
		}
		if !utf8.Valid(stream) {
			t.Fatal("accepted what is not UTF-8")
		}
		for line := range lines(stream) {
			if !jsontext.Value(line).IsValid() {
				t.Fatalf("accepted %q, which is not JSON", line)
			}
		}
	})
}

// FuzzRecord: a record line is taken if and only if its values are one by one
// of the dialect; whatever is taken is JSON by another reader's word. The
// digest of whole streams keeps a fuzzer from getting here otherwise.
func FuzzRecord(f *testing.F) {
	for _, seed := range []string{`["K","a",1]`, `["E",1,2.0,-3e-5]`, `["X",0,"log","\u00e9é"]`, `["V","s",1,null]`} {
		f.Add([]byte(seed + "\n"))
	}
	columns := EngineColumns()
	f.Fuzz(func(t *testing.T, line []byte) {
		c := cursor{line: line}
		tag, null := c.record(&columns)
		if c.problem != "" {
			return
		}
		if !jsontext.Value(trimLF(line)).IsValid() || !utf8.Valid(line) {
			t.Fatalf("took %q, which is not JSON", line)
		}
		if null >= len(columns[tag]) {
			t.Fatalf("null in column %d of %d", null, len(columns[tag]))
		}
	})
}

func trimLF(line []byte) []byte { return line[:len(line)-1] }

// lines yields the lines of an accepted stream without their LF.
func lines(stream []byte) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		start := 0
		for i, b := range stream {
			if b != '\n' {
				continue
			}
			if !yield(stream[start:i]) {
				return
			}
			start = i + 1
		}
	}
}
