package runlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
)

func written(t *testing.T, text string, events int) []byte {
	t.Helper()
	var file, stream bytes.Buffer
	w := NewWriter(&file, &stream, map[string]any{"run_id": text})
	for i := range events {
		w.Event(Finding, map[string]any{"seen": text, "line": i})
	}
	w.Event("later", nil)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(file.Bytes(), stream.Bytes()) {
		t.Error("file and stream differ")
	}
	return file.Bytes()
}

func readAll(content []byte) (kinds []string, err error) {
	r := NewReader(bytes.NewReader(content))
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return kinds, nil
		}
		if err != nil {
			return kinds, err
		}
		kinds = append(kinds, e.Kind)
	}
}

func TestAnyTextIsReadBackProperty(t *testing.T) {
	seed := time.Now().UnixNano()
	if fixed := os.Getenv("GOPTER_SEED"); fixed != "" {
		fmt.Sscan(fixed, &seed)
	}
	t.Logf("GOPTER_SEED=%d", seed)
	properties := gopter.NewProperties(gopter.DefaultTestParametersWithSeed(seed))
	properties.Property("whole streams are read, with kinds that are not known", prop.ForAll(func(text []byte, events int) bool {
		kinds, err := readAll(written(t, string(text), events))
		return err == nil && len(kinds) == events+3 && kinds[events+1] == "later"
	}, gen.SliceOf(gen.UInt8()), gen.IntRange(0, 5)))
	properties.Property("a stream with one line left out is refused", prop.ForAll(func(events, out int) bool {
		lines := bytes.SplitAfter(written(t, "x", events), []byte("\n"))
		lines = lines[:len(lines)-1]
		out %= len(lines)
		_, err := readAll(bytes.Join(append(append([][]byte{}, lines[:out]...), lines[out+1:]...), nil))
		return err != nil
	}, gen.IntRange(0, 5), gen.IntRange(0, 1000)))
	properties.TestingRun(t)
}

func TestEveryFlippedBitIsNoticed(t *testing.T) {
	content := written(t, "x", 2)
	for i := range content {
		altered := bytes.Clone(content)
		altered[i] ^= 1
		if _, err := readAll(altered); err == nil {
			t.Errorf("byte %d flipped unnoticed: %q", i, altered[max(0, i-20):min(len(altered), i+20)])
		}
	}
}

func TestReaderRefuses(t *testing.T) {
	good := string(written(t, "x", 1))
	lines := strings.SplitAfter(good, "\n")
	for name, c := range map[string]struct{ text, want string }{
		"nothing":           {"", "unexpected EOF"},
		"no end":            {lines[0] + lines[1], "unexpected EOF"},
		"a cut line":        {good[:len(good)-1], "unexpected EOF"},
		"a gap":             {lines[0] + lines[2], "seq: got 2, want 1"},
		"another beginning": {strings.Replace(good, RunBegin, RunEnd, 1), "the first event"},
		"past the end":      {good + strings.Replace(lines[1], `"seq":1`, `"seq":4`, 1), "follows the end"},
		"no kind":           {strings.Replace(good, `"kind":"run_begin",`, "", 1), "is missing"},
		"a member twice":    {strings.Replace(good, `"seq":0`, `"seq":0,"seq":0`, 1), "duplicate"},
	} {
		if _, err := readAll([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func TestErrorsStick(t *testing.T) {
	w := NewWriter(io.Discard, full{}, map[string]any{})
	w.Event(Leak, nil)
	if err := w.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestManyWritersGiveOneStream(t *testing.T) {
	var file bytes.Buffer
	w := NewWriter(&file, nil, map[string]any{})
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				w.Event(AttemptBegin, map[string]any{"attempt": "a"})
			}
		})
	}
	group.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if kinds, err := readAll(file.Bytes()); err != nil || len(kinds) != 402 {
		t.Errorf("%d events, %v", len(kinds), err)
	}
}

func FuzzReader(f *testing.F) {
	var file bytes.Buffer
	w := NewWriter(&file, nil, map[string]any{"run_id": "x"})
	w.Event(Leak, map[string]any{"what": "y"})
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	f.Add([]byte(`{"seq":0,"ts_mono":1,"kind":"run_begin"}` + "\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		kinds, err := readAll(content)
		if err == nil && (kinds[0] != RunBegin || kinds[len(kinds)-1] != End) {
			t.Errorf("accepted: %v", kinds)
		}
	})
}
