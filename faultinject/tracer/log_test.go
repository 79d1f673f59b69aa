package tracer

import (
	"testing"

	"github.com/go-json-experiment/json"
)

// TestTextIsJSON: what the log writes by hand reads back as it was, and bytes
// that are no UTF-8 as U+FFFD.
func TestTextIsJSON(t *testing.T) {
	for text, want := range map[string]string{
		"plain": "plain", "": "", "a\"b\\c\n\x01": "a\"b\\c\n\x01", "é∀": "é∀", "bad\xff": "bad\ufffd", "\x7f": "\x7f",
	} {
		var got string
		if err := json.Unmarshal(appendJSON(nil, text), &got); err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", text, got, err, want)
		}
	}
}

func FuzzTextIsJSON(f *testing.F) {
	f.Add("a\"b\xff")
	f.Fuzz(func(t *testing.T, text string) {
		var got string
		if err := json.Unmarshal(appendJSON(nil, text), &got); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	})
}

// TestWatchLines reads the lines that /proc gives of epoll entries.
func TestWatchLines(t *testing.T) {
	w, ok := parseWatch("tfd:        1 events: 80000004 data: 1122334455667788  pos:0 ino:1a sdev:e\n")
	if !ok || w.target != 1 || w.event.Events != 0x80000004 || w.event.Fd != 0x55667788 || w.event.Pad != 0x11223344 {
		t.Errorf("got %+v, %v", w, ok)
	}
	for _, line := range []string{"", "pos:\t0\n", "tfd: x events: 1 data: 1", "tfd: 1 events: z data: 1"} {
		if _, ok := parseWatch(line); ok {
			t.Errorf("%q was taken for an entry", line)
		}
	}
}
