package jsonscan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sys/unix"
)

const chunkBytes = 64 << 10

// BenchmarkScannerReport: a report of about 70 MB with 330,000 trades.
func BenchmarkScannerReport(b *testing.B) { benchmark(b, reportDocument(330_000)) }

// BenchmarkScannerString: one string of 64 MiB.
func BenchmarkScannerString(b *testing.B) {
	benchmark(b, []byte(`{"s":"`+strings.Repeat("plain text ", 64<<20/11)+"\"}\n"))
}

// BenchmarkScannerUnicode: text beyond ASCII, 16 MiB.
func BenchmarkScannerUnicode(b *testing.B) {
	benchmark(b, []byte(`{"s":"`+strings.Repeat("für 日本語 🙂 ", 16<<20/24)+"\"}\n"))
}

// BenchmarkScannerEscapes: text full of escapes, 16 MiB.
func BenchmarkScannerEscapes(b *testing.B) {
	benchmark(b, []byte(`{"s":"`+strings.Repeat(`a\nbc\u00e9d\ud83d\ude42`, 16<<20/24)+"\"}\n"))
}

// BenchmarkScannerNames: one object with as many names as may live at once.
func BenchmarkScannerNames(b *testing.B) {
	var document bytes.Buffer
	document.WriteByte('{')
	for i := range DefaultLiveKeys {
		fmt.Fprintf(&document, `"k%d":%d,`, i, i)
	}
	document.Truncate(document.Len() - 1)
	document.WriteString("}\n")
	benchmark(b, document.Bytes())
}

// BenchmarkScannerDepth: as many open arrays as may be, time and again, 16 MiB.
func BenchmarkScannerDepth(b *testing.B) {
	column := strings.Repeat("[", DefaultDepth-2) + strings.Repeat("]", DefaultDepth-2)
	benchmark(b, []byte(`{"s":[`+strings.Repeat(column+",", 16<<20/len(column))+"0]}\n"))
}

func reportDocument(trades int) []byte {
	var document bytes.Buffer
	document.WriteString(`{"engine":"pineforge","input":{"ohlcv":"/in/ohlcv.csv","bars":672},"trades":[`)
	for n := range trades {
		if n > 0 {
			document.WriteByte(',')
		}
		fmt.Fprintf(&document, `{"n":%d,"side":"long","entry_time":%d,"exit_time":%d,"entry_price":%d.25,"exit_price":%d.5,`+
			`"qty":1.0,"pnl":-%d.125,"pnl_pct":0.0312,"max_runup":1.5e-3,"open_at_end":false,"note":null}`,
			n, 1700000000000+n*60000, 1700000060000+n*60000, 100+n%50, 101+n%50, n%17)
	}
	document.WriteString("],\"fingerprint\":null}\n")
	return document.Bytes()
}

// benchmark scans the document and in the same iteration lets jsontext read it
// with the same checks by its two streaming ways. "x-skip" and "x-tokens" are
// that one's best time over the scanner's best, in processor time of the thread,
// so that a busy machine does not decide; ns/op and MB/s are the scanner's alone.
func benchmark(b *testing.B, document []byte) {
	b.SetBytes(int64(len(document)))
	b.ReportAllocs()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	best := map[string]time.Duration{}
	keep := func(name string, start time.Duration, err error) {
		if err != nil {
			b.Fatal(err)
		}
		if took := threadTime(b) - start; best[name] == 0 || took < best[name] {
			best[name] = took
		}
	}
	for b.Loop() {
		start := threadTime(b)
		keep("own", start, scan(document, chunkBytes))
		b.StopTimer()
		start = threadTime(b)
		keep("x-skip", start, skipValue(jsontext.NewDecoder(chunked{bytes.NewReader(document)})))
		start = threadTime(b)
		keep("x-tokens", start, readTokens(jsontext.NewDecoder(chunked{bytes.NewReader(document)})))
		b.StartTimer()
	}
	for _, name := range []string{"x-skip", "x-tokens"} {
		b.ReportMetric(float64(best[name])/float64(best["own"]), name)
	}
}

func threadTime(b *testing.B) time.Duration {
	var used unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Nano())
}

// chunked hides all methods of a reader but Read, so that it is read in chunks.
type chunked struct{ io.Reader }

func (c chunked) Read(p []byte) (int, error) { return c.Reader.Read(p[:min(len(p), chunkBytes)]) }

func readTokens(decoder *jsontext.Decoder) error {
	for {
		if _, err := decoder.ReadToken(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func skipValue(decoder *jsontext.Decoder) error {
	if err := decoder.SkipValue(); err != nil {
		return err
	}
	if _, err := decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("more after the value: %w", err)
	}
	return nil
}
