package sinkwire

import (
	"bytes"
	"crypto/sha256"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkReaderRecords: 32 MiB of ordinary records, most of them bars,
// series values and equity points.
func BenchmarkReaderRecords(b *testing.B) {
	benchmark(b, func(w *Writer, i int) error {
		ms := int64(1_700_000_000_000 + i*60_000)
		price := 100 + float64(i%5000)/100
		switch i % 8 {
		case 0:
			return w.Record('T', tradeValues(i)...)
		case 1, 2, 3:
			return w.Record('E', Integer(ms), Real(1e5+price), Real(price))
		case 4, 5:
			return w.Record('V', Text("Close"), Integer(int64(i)), Real(price))
		default:
			return w.Record('O', Integer(int64(i)), Integer(ms), Real(price), Real(price+1), Real(price-1), Real(price), Real(1e6))
		}
	})
}

// BenchmarkReaderText: 32 MiB of event texts of 4 KiB each.
func BenchmarkReaderText(b *testing.B) {
	text := strings.Repeat("plain text ", 4096/11)
	benchmark(b, func(w *Writer, i int) error {
		return w.Record('X', Integer(int64(i)), Text("log"), Text(text))
	})
}

// benchmark reads the stream in the finalizer's chunks and in the same
// iteration hashes it alone. "cpu-of-sha256" is the least processor time of the
// second over that of the first: what a busy machine does to neither.
func benchmark(b *testing.B, record func(*Writer, int) error) {
	var stream bytes.Buffer
	w, err := NewWriter(&stream, EngineColumns())
	for i := 0; err == nil && stream.Len() < 32<<20; i++ {
		err = record(w, i)
	}
	if err == nil {
		err = w.Finish()
	}
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(stream.Len()))
	b.ReportAllocs()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	own, alone := time.Hour, time.Hour
	for b.Loop() {
		start := threadTime(b)
		if err := readChunks(stream.Bytes(), 256<<10); err != nil {
			b.Fatal(err)
		}
		own = min(own, threadTime(b)-start)
		b.StopTimer()
		start = threadTime(b)
		sha256.Sum256(stream.Bytes())
		alone = min(alone, threadTime(b)-start)
		b.StartTimer()
	}
	b.ReportMetric(float64(alone)/float64(own), "cpu-of-sha256")
	b.ReportMetric(float64(stream.Len())/1e6/own.Seconds(), "cpu-MB/s")
}

// threadTime is the processor time of this thread.
func threadTime(b *testing.B) time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
		b.Fatal(err)
	}
	return time.Duration(now.Nano())
}

func tradeValues(i int) []Value {
	ms := int64(1_700_000_000_000 + i*60_000)
	return []Value{
		Integer(int64(i)), Text("long"), Integer(ms), Integer(ms + 60_000), Real(100.25), Real(101.5), Real(1), Real(-1.125),
		Real(0.0312), Real(1.5e-3), Real(0), Real(0), Integer(int64(i)), Integer(int64(i) + 1), Bool(false),
	}
}

// readChunks gives a stream to a new reader in chunks of this size.
func readChunks(stream []byte, size int) error {
	r := NewReader()
	for len(stream) > 0 {
		n := min(size, len(stream))
		if _, err := r.Write(stream[:n]); err != nil {
			return err
		}
		stream = stream[n:]
	}
	_, err := r.Finish()
	return err
}
