package sinkwire

import (
	"bytes"
	"errors"
	"math"
	"testing"
)

func TestSpelling(t *testing.T) {
	for _, c := range []struct {
		value Value
		want  string
	}{
		{Real(0), "0.0"}, {Real(math.Copysign(0, -1)), "-0.0"}, {Real(100), "100.0"}, {Real(-1.125), "-1.125"}, {Real(0.1), "0.1"},
		{Real(1e-5), "0.00001"}, {Real(9.5e-6), "9.5e-06"}, {Real(999999999999999), "999999999999999.0"}, {Real(1e15), "1e+15"},
		{Real(math.MaxFloat64), "1.7976931348623157e+308"}, {Integer(-MaxInteger), "-9007199254740991"},
		{Text("a\"\\/\b\f\n\r\t\x00\x1f\x7f"), `"a\"\\/\b\f\n\r\t\u0000\u001f` + "\x7f\""}, {Text("é日🙂"), `"\u00e9\u65e5\ud83d\ude42"`},
		{Text("\xff"), `"\ufffd"`}, {Bool(true), "true"}, {Null(), "null"},
	} {
		if c.value.spelling != c.want {
			t.Errorf("got %s, want %s", c.value.spelling, c.want)
		}
	}
}

func TestWriterRefuses(t *testing.T) {
	for name, record := range map[string]func(w *Writer) error{
		"null in E":   func(w *Writer) error { return w.Record('E', Integer(1), Null(), Real(1)) },
		"NaN":         func(w *Writer) error { return w.Record('K', Text("a"), Real(math.NaN())) },
		"infinity":    func(w *Writer) error { return w.Record('K', Text("a"), Real(math.Inf(1))) },
		"big integer": func(w *Writer) error { return w.Record('K', Text("a"), Integer(MaxInteger+1)) },
		"unknown tag": func(w *Writer) error { return w.Record('Z', Text("a")) },
		"few values":  func(w *Writer) error { return w.Record('K', Text("a")) },
		"many values": func(w *Writer) error { return w.Record('K', Text("a"), Null(), Null()) },
		"long line": func(w *Writer) error {
			return w.Record('X', Integer(1), Text("log"), Text(string(make([]byte, MaxLineBytes))))
		},
		"after finish": func(w *Writer) error { return errors.Join(w.Finish(), w.Record('K', Text("a"), Null())) },
	} {
		var to bytes.Buffer
		w, err := NewWriter(&to, EngineColumns())
		if err != nil {
			t.Fatal(err)
		}
		if err := record(w); err == nil {
			t.Errorf("%s: no error", name)
		}
		size := to.Len()
		if w.Finish() == nil || to.Len() != size {
			t.Errorf("%s: the writer goes on", name)
		}
	}
	if _, err := NewWriter(&bytes.Buffer{}, Columns{}); err == nil {
		t.Error("a header without columns: no error")
	}
}

// fullAfter is a destination that takes so many lines.
type fullAfter struct{ lines int }

var errFull = errors.New("full")

func (f *fullAfter) Write(p []byte) (int, error) {
	if f.lines--; f.lines < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestWriterReportsIO(t *testing.T) {
	for lines := range 3 {
		w, err := NewWriter(&fullAfter{lines}, EngineColumns())
		if err == nil {
			err = w.Record('K', Text("a"), Null())
		}
		if err == nil {
			err = w.Finish()
		}
		if !errors.Is(err, errFull) {
			t.Errorf("full after %d lines: got %v", lines, err)
		}
	}
}
