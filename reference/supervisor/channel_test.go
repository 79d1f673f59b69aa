package supervisor

import (
	"bytes"
	"crypto/sha256"
	"testing"
	"time"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"golang.org/x/sys/unix"
)

// TestDiagnosticSources: however the bytes come from several sources, the first
// D of them in the order read are kept, one more is seen, and one digest covers
// them (T15.06, T16.01).
func TestDiagnosticSources(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("gopter seed %d", seed)
	properties := gopter.NewProperties(gopter.DefaultTestParametersWithSeed(seed))
	properties.Property("one budget over all sources", prop.ForAll(
		func(limit int, chunks []int) bool { return oneBudget(t, limit, chunks) },
		gen.IntRange(0, 400), gen.SliceOf(gen.IntRange(1, 90))))
	properties.TestingRun(t)
}

// oneBudget writes the chunks to three sources in turn and reads after each.
func oneBudget(t *testing.T, limit int, chunks []int) bool {
	d := newDiagnostics(int64(limit))
	var writers [3]int
	for i := range writers {
		read, write, err := pipe(true, false)
		if err != nil {
			t.Fatal(err)
		}
		d.add(read)
		writers[i] = write
	}
	var sent, kept []byte
	for i, size := range chunks {
		if d.meter.Overflowed() {
			break
		}
		chunk := bytes.Repeat([]byte{'a' + byte(i%26)}, size)
		if _, err := unix.Write(writers[i%3], chunk); err != nil {
			t.Fatal(err)
		}
		sent = append(sent, chunk...)
		got, err := d.sources[i%3].read()
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, got...)
	}
	for _, writer := range writers {
		if err := unix.Close(writer); err != nil {
			t.Fatal(err)
		}
	}
	want := sha256.Sum256(kept)
	return bytes.Equal(kept, sent[:min(limit, len(sent))]) && d.meter.Observed() == int64(min(limit+1, len(sent))) &&
		bytes.Equal(d.digest.Sum(nil), want[:]) && d.close() == nil && !d.open()
}

// A setup that ran out of descriptors between the two streams refuses the run;
// it must not end by a nil stream.
func TestAStreamThatWasNeverMadeCloses(t *testing.T) {
	a := &attempt{diagnostics: newDiagnostics(1)}
	if seen := a.stopReading(); len(seen) > 0 {
		t.Errorf("saw %v", seen)
	}
}
