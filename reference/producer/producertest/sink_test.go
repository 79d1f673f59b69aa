package producertest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestSinkAndArraysGiveTheSameDocument: trades and curve that come from the
// sink are spelled as those from the arrays, supervised or not (T1.05).
func TestSinkAndArraysGiveTheSameDocument(t *testing.T) {
	for _, size := range []int{0, 1, 49, 2000} {
		arguments := []string{fmt.Sprintf("trades=%d", size), fmt.Sprintf("points=%d", 3*size)}
		arrays := run(t, nil, "--so", with(t, "plain", "", arguments...), "--ohlcv", "bars.csv")
		valid(t, arrays.document, "report-full.v1")
		library := with(t, "trade_to_sink", "", arguments...)
		got := supervised{}.run(t, library)
		if got.status != 0 || timeless(got.document) != timeless(arrays.document) || !got.sinkEnded {
			t.Errorf("%d trades, supervised: exit %d, %.300q", size, got.status, got.document)
		}
		if alone := legacy(t, nil, "--so", library, "--ohlcv", "bars.csv"); timeless(alone.printed) != timeless(arrays.document) {
			t.Errorf("%d trades, unsupervised: %.300q", size, alone.printed)
		}
		if none := (supervised{noSink: true}).run(t, library); timeless(none.document) != timeless(arrays.document) {
			t.Errorf("%d trades, without a sink: %.300q", size, none.document)
		}
	}
}

// TestSinklessModules: neither a module without the sink calls nor one that
// writes nothing has a snapshot to wait for (T1.07, T1.09).
func TestSinklessModules(t *testing.T) {
	want := run(t, nil, "--so", with(t, "plain", "", "trades=2"), "--ohlcv", "bars.csv")
	for _, library := range []string{with(t, "plain", "", "trades=2"), with(t, "trade_to_sink", "", "trades=2", "silent=1")} {
		got := supervised{}.run(t, library)
		if got.status != 0 || timeless(got.document) != timeless(want.document) || len(got.sink) != 0 {
			t.Errorf("exit %d, sink of %d bytes, %.300q", got.status, len(got.sink), got.document)
		}
		if alone := legacy(t, nil, "--so", library, "--ohlcv", "bars.csv"); timeless(alone.printed) != timeless(want.document) {
			t.Errorf("unsupervised: %.300q", alone.printed)
		}
	}
}

// TestSummaries: an explicit sink stands in the document in place of trades and
// curve, with the caller's path only where there is one (T1.10, T1.11).
func TestSummaries(t *testing.T) {
	library := with(t, "trade_to_sink", "", "trades=2", "points=3")
	full := timeless(supervised{}.run(t, library).document)
	for name, test := range map[string]struct {
		arguments []string
		path      string
	}{"named": {[]string{"--report-sink", "a/b \"c\".sink"}, `"path":"a/b \"c\".sink",`}, "inherited": {[]string{"--report-sink-fd", "9"}, ""}} {
		got := supervised{explicit: true, arguments: test.arguments}.run(t, library)
		lines := bytes.SplitAfter(got.sink, []byte("\n"))
		logical := sha256.Sum256(bytes.Join(lines[:len(lines)-2], nil))
		reference := fmt.Sprintf(`"report_sink":{"format":"touchstone-sink/1",%s"bytes":%d,"sha256":"%s"}`,
			test.path, len(got.sink), hex.EncodeToString(logical[:]))
		if want := summary(full, reference); got.status != 0 || timeless(got.document) != want {
			t.Errorf("%s: exit %d\n%s\nwant\n%s", name, got.status, got.document, want)
		}
	}
}

// summary is a full document with something else in place of its trades.
func summary(full, inPlace string) string {
	before, rest, _ := strings.Cut(full, `"trades":[`)
	_, metrics, _ := strings.Cut(rest, `],"metrics"`)
	metrics, rest, _ = strings.Cut(metrics, `,"equity_curve":[`)
	_, after, _ := strings.Cut(rest, `]`)
	return before + inPlace + `,"metrics"` + metrics + after
}

// TestRefusedSink: the end of the handoff without a packet ends the producer
// with nothing on the candidate.
func TestRefusedSink(t *testing.T) {
	for _, fixture := range []string{"trade_to_sink", "omit_trailer", "interrupted"} {
		got := supervised{answer: func(a *answer) { a.text = "" }}.run(t, with(t, fixture, ""))
		if got.status != 1 || got.document != "" || len(got.sink) == 0 {
			t.Errorf("%s: exit %d, %q", fixture, got.status, got.document)
		}
	}
}

// TestSnapshotIsValidated: what is not the packet, with the one read-only file
// it describes, is never taken for the sink (T13.22).
func TestSnapshotIsValidated(t *testing.T) {
	swap := func(old, new string) func(*answer) {
		return func(a *answer) {
			if !strings.Contains(a.text, old) {
				t.Errorf("no %q in %q", old, a.text)
			}
			a.text = strings.Replace(a.text, old, new, 1)
		}
	}
	other := func(a *answer, open func() (int, error)) {
		fd, err := open()
		if err != nil {
			t.Error(err)
		}
		t.Cleanup(func() { unix.Close(fd) })
		a.files = []int{fd}
	}
	library := with(t, "trade_to_sink", "", "trades=1")
	for name, change := range map[string]func(*answer){
		"record":     swap("snapshot", "snapshut"),
		"version":    swap(`"version":1`, `"version":2`),
		"size":       swap(`"sink_bytes":`, `"sink_bytes":1`),
		"zero":       swap(`"sink_bytes":`, `"sink_bytes":0`),
		"allowance":  swap(`"remaining_report_bytes":`, `"remaining_report_bytes":9`),
		"digest":     func(a *answer) { a.text = a.text[:len(a.text)-4] + `zz"}` },
		"other hash": func(a *answer) { a.text = a.text[:len(a.text)-66] + strings.Repeat("0", 64) + `"}` },
		"blank":      swap(",", ", "),
		"more":       func(a *answer) { a.text += "\n" },
		"truncated":  func(a *answer) { a.text = a.text[:40] },
		"empty":      func(a *answer) { a.text = "{}" },
		"nul":        func(a *answer) { a.text += "\x00" },
		"long":       func(a *answer) { a.text += strings.Repeat(" ", 70000) },
		"no file":    func(a *answer) { a.files = nil },
		"two files":  func(a *answer) { a.files = append(a.files, a.files[0]) },
		"many files": func(a *answer) { a.files = slices9(a.files[0]) },
		"a pipe": func(a *answer) {
			other(a, func() (int, error) { var p [2]int; err := unix.Pipe(p[:]); return p[0], err })
		},
		"another": func(a *answer) { other(a, func() (int, error) { return snapshotOf([]byte("{}\n")) }) },
		"writable": func(a *answer) {
			other(a, func() (int, error) { return unix.Open(fmt.Sprintf("/proc/self/fd/%d", a.files[0]), unix.O_RDWR, 0) })
		},
	} {
		got := supervised{answer: change}.run(t, library)
		if got.status != 1 || !strings.HasSuffix(got.document, `"code":"report_sink_failed","args":{"reason":"sink_io"}}`+"\n") {
			t.Errorf("%s: exit %d, %.300q", name, got.status, got.document)
		}
	}
}

func slices9(fd int) (many []int) {
	for range 9 {
		many = append(many, fd)
	}
	return many
}

// TestDamagedStreams: a snapshot that is what its packet says, and no sound
// stream, makes no document.
func TestDamagedStreams(t *testing.T) {
	for fixture, arguments := range map[string][]string{"omit_trailer": nil, "miscount_trailer": nil, "misdigest_trailer": nil, "pass_trailer": nil,
		"cut_sink": {"bytes=700"}, "write_every_tag": {"line=1048577"}, "close_sink": {"pretend=1"}} {
		got := supervised{}.run(t, with(t, fixture, "", arguments...))
		if got.status != 1 || !strings.HasSuffix(got.document, `"args":{"reason":"sink_io"}}`+"\n") {
			t.Errorf("%s: exit %d, %.300q", fixture, got.status, got.document)
		}
	}
	for _, column := range []string{"equity", "open_profit"} {
		got := supervised{}.run(t, with(t, "null_equity", "", "column="+column))
		want := `"code":"report_result_invalid","args":{"field":"E.` + column + `","reason":"nonfinite"}}` + "\n"
		if got.status != 1 || !strings.HasSuffix(got.document, want) {
			t.Errorf("exit %d, %.300q", got.status, got.document)
		}
	}
	for _, line := range []string{"line=1048575", "line=1048576"} {
		if got := (supervised{}).run(t, with(t, "write_every_tag", "", line)); got.status != 0 {
			t.Errorf("%s: exit %d, %.300q", line, got.status, got.document)
		}
	}
}

// TestModuleFailures: what the module says of its sink is kept where it is a
// code, and the sink's end comes first (T17.16).
func TestModuleFailures(t *testing.T) {
	for name, test := range map[string]struct {
		library, suffix string
		s               supervised
	}{
		"setter":   {with(t, "trade_to_sink", "", "refuse_sink=out_of_memory"), `"code":"out_of_memory","args":{}}`, supervised{}},
		"no code":  {with(t, "trade_to_sink", "", "refuse_sink=Nonsense"), `"the sink is refused","code":"report_sink_failed","args":{"reason":"sink_io"}}`, supervised{}},
		"closed":   {with(t, "close_sink", ""), `"Bad file descriptor","code":"report_sink_failed","args":{"reason":"sink_io"}}`, supervised{}},
		"gone":     {with(t, "trade_to_sink", ""), `"Broken pipe","code":"report_sink_failed","args":{"reason":"sink_peer_closed"}}`, supervised{readerGone: true}},
		"too few":  {with(t, "fill_sink", "", "size=3"), `"code":"report_sink_failed","args":{"reason":"sink_io"}}`, supervised{}},
		"no calls": {with(t, "plain", ""), `"code":"strategy_library_incompatible","args":{"reason":"symbol_missing"}}`, supervised{explicit: true, arguments: []string{"--report-sink-fd=9"}}},
		"usage":    {with(t, "trade_to_sink", ""), `"code":"run_request_invalid","args":{"option":"arguments"}}`, supervised{arguments: []string{"--nothing"}}},
		"bars":     {with(t, "trade_to_sink", ""), `"code":"chart_bars_unreadable","args":{"reason":"empty"}}`, supervised{arguments: []string{"--ohlcv", "empty.csv"}}},
	} {
		got := test.s.run(t, test.library)
		if got.status == 0 || !got.sinkEnded || !strings.HasSuffix(got.document, test.suffix+"\n") {
			t.Errorf("%s: exit %d, %.300q", name, got.status, got.document)
		}
	}
}

// TestRemainingAllowanceAfterTheSink: the packet's number replaces the first
// one (R08).
func TestRemainingAllowanceAfterTheSink(t *testing.T) {
	for _, left := range []int{0, 100} {
		got := supervised{answer: func(a *answer) {
			before, after, _ := strings.Cut(a.text, `"remaining_report_bytes":`)
			_, after, _ = strings.Cut(after, ",")
			a.text = fmt.Sprintf(`%s"remaining_report_bytes":%d,%s`, before, left, after)
		}}.run(t, with(t, "trade_to_sink", "", "trades=3"))
		if len(got.document) != left+1 || got.status != 0 {
			t.Errorf("%d bytes left: %d written, exit %d", left, len(got.document), got.status)
		}
	}
}

// TestFullSinkBlocks: a writer that meets a full pipe waits and goes on.
func TestFullSinkBlocks(t *testing.T) {
	const size = 1 << 20
	process := make(chan int, 1)
	got := supervised{started: func(p *os.Process) { process <- p.Pid }, hold: func() {
		path := fmt.Sprintf("/proc/%d/wchan", <-process)
		for end := time.Now().Add(hangLimit); time.Now().Before(end); {
			if where, err := os.ReadFile(path); err != nil || strings.Contains(string(where), "pipe_write") {
				return
			}
		}
		t.Error("the writer never waited")
	}}.run(t, with(t, "fill_sink", "", fmt.Sprintf("size=%d", size)))
	if got.status != 0 || len(got.sink) != size {
		t.Errorf("exit %d, sink of %d bytes, %.300q", got.status, len(got.sink), got.document)
	}
}

// TestSignalsChangeNothing: interrupted writes, waits and reads are taken up
// again.
func TestSignalsChangeNothing(t *testing.T) {
	arguments := []string{"trades=3000", "points=3000"}
	want := supervised{}.run(t, with(t, "trade_to_sink", "", arguments...))
	got := supervised{}.run(t, with(t, "interrupted", "", arguments...))
	if got.status != 0 || timeless(got.document) != timeless(want.document) || !bytes.Equal(got.sink, want.sink) {
		t.Errorf("exit %d, %.300q", got.status, got.document)
	}
}

// TestLongSinkFitsSmallMemory: the sink is read by the line. The limit is one
// of addresses, in KiB.
func TestLongSinkFitsSmallMemory(t *testing.T) {
	const size = 48 << 20
	folder, err := built()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command("sh", "-c", `ulimit -v 16384 && exec "$0" "$@"`, filepath.Join(folder, "producer"), "--so",
		with(t, "fill_sink", "", fmt.Sprintf("size=%d", size)), "--ohlcv", "bars.csv")
	command.Dir = "testdata"
	document, err := command.Output()
	if err != nil || timeless(string(document)) != timeless(run(t, nil, "--so", with(t, "plain", ""), "--ohlcv", "bars.csv").document) {
		t.Errorf("%v, %.300q", err, document)
	}
}

// TestLateWritesGoNowhere: after the run the sink's number takes nothing (T13.23).
func TestLateWritesGoNowhere(t *testing.T) {
	want := supervised{}.run(t, with(t, "trade_to_sink", ""))
	got := supervised{}.run(t, with(t, "write_sink_late", ""))
	if got.status != 0 || got.complained != "probe free EBADF\nprobe exit EBADF\n" || !bytes.Equal(got.sink, want.sink) {
		t.Errorf("exit %d, %q", got.status, got.complained)
	}
}
