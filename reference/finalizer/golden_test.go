package finalizer

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"touchstone/reference/sinkwire"
)

var update = flag.Bool("update", false, "write the golden streams and receipts anew")

const goldenFolder = "../../contracts/sink"

// golden is one entry of the index of contracts/sink.
type golden struct {
	Stream   string `json:"stream"`    // file of the bytes
	MaxBytes *int64 `json:"max_bytes"` // --max-bytes, or none
	Exit     int    `json:"exit"`
	Receipt  string `json:"receipt"` // file of the receipt, in file mode
}

func goldens(t *testing.T) []golden {
	t.Helper()
	var index struct {
		Version int      `json:"version"`
		Runs    []golden `json:"runs"`
	}
	decoder := json.NewDecoder(bytes.NewReader(goldenFile(t, "index.json")))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&index); err != nil || index.Version != 1 || len(index.Runs) == 0 {
		t.Fatalf("read index: %v, version %d, %d runs", err, index.Version, len(index.Runs))
	}
	return index.Runs
}

func goldenFile(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(goldenFolder, name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// goldenStreams are the streams as the Go writer writes them, by name.
func goldenStreams(t *testing.T) map[string][]byte {
	t.Helper()
	header := sinkwire.AppendHeader(nil, sinkwire.EngineColumns())
	full, counts := populated(t)
	body := full[:bytes.LastIndex(full, []byte(`{"end"`)):bytes.LastIndex(full, []byte(`{"end"`))]
	digest := sha256.Sum256(body)
	more := counts
	more[0]++
	null := sinkwire.AppendRecord(header[:len(header):len(header)], 'E',
		sinkwire.Integer(1_700_000_000_000), sinkwire.Null(), sinkwire.Real(0))
	streams := map[string][]byte{
		"zero-trade":     sealed(header, sinkwire.Counts{}),
		"populated":      full,
		"equity-null":    sealed(null, sinkwire.Counts{1}),
		"altered-digest": sinkwire.AppendTrailer(body, counts, [sha256.Size]byte{}),
		"altered-counts": sinkwire.AppendTrailer(body, more, digest),
		"after-trailer":  append(bytes.Clone(full), '\n'),
		"no-trailer":     body,
	}
	for name, size := range map[string]int{"under": -1, "exact": 0, "over": 1} {
		frame := len(sinkwire.AppendRecord(nil, 'X', sinkwire.Integer(0), sinkwire.Text("log"), sinkwire.Text("")))
		text := strings.Repeat("x", sinkwire.MaxLineBytes+size-frame)
		line := sinkwire.AppendRecord(nil, 'X', sinkwire.Integer(0), sinkwire.Text("log"), sinkwire.Text(text))
		streams["long-line-"+name] = sealed(append(bytes.Clone(header), line...), sinkwire.Counts{5: 1})
	}
	return streams
}

// sealed returns a body and the trailer that fits it.
func sealed(body []byte, counts sinkwire.Counts) []byte {
	return sinkwire.AppendTrailer(bytes.Clone(body), counts, sha256.Sum256(body))
}

// populated has every tag, the largest integers, signed zero, exponents and
// every kind of escape. testdata/golden_stream.c says the same in C.
func populated(t *testing.T) ([]byte, sinkwire.Counts) {
	t.Helper()
	var to bytes.Buffer
	w, err := sinkwire.NewWriter(&to, sinkwire.EngineColumns())
	record := func(tag byte, values ...sinkwire.Value) {
		if err == nil {
			err = w.Record(tag, values...)
		}
	}
	integer, real, text := sinkwire.Integer, sinkwire.Real, sinkwire.Text
	const start = 1_700_000_000_000
	record('K', text("length"), integer(14))
	record('K', text("limit"), integer(sinkwire.MaxInteger))
	record('K', text("floor"), integer(-sinkwire.MaxInteger))
	record('H', text("overbought"), real(70))
	for bar := range int64(3) {
		x, time := float64(bar), start+bar*900_000
		record('O', integer(bar), integer(time), real(100.5+x), real(101.25+x), real(99.75+x), real(101+x), real(1e15*(x+1)))
		series := sinkwire.Null()
		if bar > 0 {
			series = real(0.1 * x)
		}
		record('V', text("RSI"), integer(bar), series)
		tiny := math.Copysign(1e-7*x, -1)
		record('E', integer(time), real(100_000+x*0.1), real(tiny))
	}
	record('T', integer(1), text("long"), integer(start), integer(start+900_000), real(100.5), real(102), real(1), real(1.5),
		real(1.4925373134328357), real(2.25), real(0), real(0), integer(0), integer(1), sinkwire.Bool(false))
	record('X', integer(start), text("log"), text("quote \" backslash \\ slash / bell \a tab \t line\nend"))
	record('X', integer(start), text("alert"), text("\u00fcber \u00a3 \u65e5\u672c \u2028 \ufffd \U0001f642 \U0010ffff \x7f"))
	if err == nil {
		err = w.Finish()
	}
	if err != nil {
		t.Fatal(err)
	}
	return to.Bytes(), sinkwire.Counts{3, 1, 3, 3, 3, 2, 1}
}

// TestGoldenStreams: both writers write the same bytes; the small ones are
// those of contracts/sink.
func TestGoldenStreams(t *testing.T) {
	program := filepath.Join(t.TempDir(), "golden_stream")
	compile := exec.Command("gcc", "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-I../../fixtures/native", "-o", program,
		"testdata/golden_stream.c", "../../fixtures/native/sink_writer.c")
	if said, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("compile: %v: %s", err, said)
	}
	for name, fromGo := range goldenStreams(t) {
		fromC, err := exec.Command(program, name).Output()
		if err != nil || !bytes.Equal(fromC, fromGo) {
			t.Errorf("%s: C writer: %v, %d bytes, want the %d of the Go writer", name, err, len(fromC), len(fromGo))
		}
		if strings.HasPrefix(name, "long-line-") {
			continue // a MiB each: not kept
		}
		if *update {
			if err := os.WriteFile(filepath.Join(goldenFolder, name+".ndjson"), fromGo, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if kept := goldenFile(t, name+".ndjson"); !bytes.Equal(kept, fromGo) {
			t.Errorf("%s: kept stream of %d bytes differs from the %d written", name, len(kept), len(fromGo))
		}
	}
}

// TestGoldenReceipts runs the finalizer over each kept stream.
func TestGoldenReceipts(t *testing.T) {
	named := map[string]bool{}
	for _, g := range goldens(t) {
		target := filepath.Join(t.TempDir(), "target")
		args := []string{"--out", target}
		if g.MaxBytes != nil {
			args = append(args, "--max-bytes", number(*g.MaxBytes))
		}
		stream := goldenFile(t, g.Stream)
		got := finalize(t, command{args: args, stdin: stream})
		if *update {
			if err := os.WriteFile(filepath.Join(goldenFolder, g.Receipt), got.stdout, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want := goldenFile(t, g.Receipt); got.exit != g.Exit || !bytes.Equal(got.stdout, want) {
			t.Errorf("%s: got exit %d, receipt %s, want %d, %s", g.Receipt, got.exit, got.stdout, g.Exit, want)
		}
		retained, err := os.ReadFile(target)
		if g.Exit == 0 && !bytes.Equal(retained, stream) || g.Exit != 0 && !os.IsNotExist(err) {
			t.Errorf("%s: exit %d beside a target of %d bytes, %v", g.Receipt, g.Exit, len(retained), err)
		}
		named[g.Stream], named[g.Receipt] = true, true
	}
	kept, err := filepath.Glob(filepath.Join(goldenFolder, "*.*json"))
	if err != nil || len(kept) != len(named)+1 {
		t.Errorf("the index names %d files, the folder has %d beside it: %v", len(named), len(kept)-1, err)
	}
}
