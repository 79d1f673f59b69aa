package producertest

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/sys/unix"

	"touchstone/contracts"
)

var update = flag.Bool("update", false, "rewrite the recorded documents")

// variants are the strategy libraries: name and compiler definitions.
var variants = map[string][]string{
	"strategy": nil, "abi2": {"-DABI=2"}, "noabi": {"-Dpf_abi_version=other"},
	"norun": {"-Drun_backtest_full=other"}, "nocode": {"-Dstrategy_get_last_error_code=other"},
}

// toRemove is the folder that built has made.
var toRemove string

// built compiles the producer and the libraries once; it returns their folder.
var built = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "producer-test-")
	if err != nil {
		return "", err
	}
	toRemove = folder
	sources, err := filepath.Glob("../*.c")
	if err != nil {
		return folder, err
	}
	arguments := append([]string{"-o", filepath.Join(folder, "producer")}, sources...)
	if err := gcc(append(arguments, "-ldl", "-lm")...); err != nil {
		return folder, err
	}
	for name, definitions := range variants {
		arguments := append([]string{"-shared", "-fPIC", "-o", filepath.Join(folder, name+".so"), "testdata/strategy.c"}, definitions...)
		if err := gcc(arguments...); err != nil {
			return folder, err
		}
	}
	return folder, nil
})

func gcc(arguments ...string) error {
	arguments = append([]string{"-std=c11", "-O2", "-Wall", "-Wextra", "-Werror"}, arguments...)
	output, err := exec.Command("gcc", arguments...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("gcc: %w\n%s", err, output)
	}
	return nil
}

func TestMain(m *testing.M) {
	code := m.Run()
	if toRemove != "" {
		_ = os.RemoveAll(toRemove) // the system's temporary folder anyway
	}
	os.Exit(code)
}

// result is one run of the producer.
type result struct {
	document, printed, complained string // candidate descriptor, fd 1, fd 2
	status                        int
}

// run starts the producer in testdata with a candidate pipe at descriptor 3.
func run(t *testing.T, environment []string, arguments ...string) result {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("not run: needs gcc")
	}
	folder, err := built()
	if err != nil {
		t.Fatal(err)
	}
	for i, argument := range arguments {
		if name, ok := strings.CutPrefix(argument, "@"); ok {
			arguments[i] = filepath.Join(folder, name+".so")
		}
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	var printed, complained, document bytes.Buffer
	command := exec.Command(filepath.Join(folder, "producer"), arguments...)
	command.Dir = "testdata"
	command.Env = append([]string{"LANG=C", "TOUCHSTONE_CANDIDATE_FD=3"}, environment...)
	command.Stdout, command.Stderr, command.ExtraFiles = &printed, &complained, []*os.File{writer}
	err = errors.Join(command.Start(), writer.Close())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := document.ReadFrom(reader); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := command.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{document.String(), printed.String(), complained.String(), command.ProcessState.ExitCode()}
}

// valid checks that a document is strict JSON, one line, and fits a schema.
func valid(t *testing.T, document, schema string) {
	t.Helper()
	line, ok := strings.CutSuffix(document, "\n")
	if !ok || strings.Contains(line, "\n") || !jsontext.Value(line).IsValid() {
		t.Errorf("not one line of strict JSON: %.300q", document)
		return
	}
	text, err := contracts.Schema(schema)
	if err != nil {
		t.Fatal(err)
	}
	source, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("schema.json", source); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiled.Validate(value); err != nil {
		t.Errorf("schema %s: %v", schema, err)
	}
}

var elapsed = regexp.MustCompile(`"elapsed_seconds":[0-9.e-]+`)

// recorded compares with a golden document; the elapsed time is blanked on both sides.
func recorded(t *testing.T, name, document string) {
	t.Helper()
	document = elapsed.ReplaceAllString(document, `"elapsed_seconds":0.0`)
	path := filepath.Join("testdata", name+".json")
	if *update {
		if err := os.WriteFile(path, []byte(document), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if document != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, document, want)
	}
}

func TestDocumentsAreRecorded(t *testing.T) {
	tests := map[string]struct {
		schema    string
		status    int
		arguments []string
	}{
		"report": {"report-full.v1", 0, []string{"--so", "@strategy", "--ohlcv", "bars.csv", "--input-tf=15",
			"--inputs", `{"n":14,"f":1.50,"e":1e3,"s":"\u00e9\ud83d\ude00\n","n":15}`, "--chart-tz="}},
		"trades":        {"report-full.v1", 0, []string{"--so", "@strategy", "--ohlcv", "bars.csv", "--overrides", `{"do":"trade"}`}},
		"nonfinite":     {"failure.v1", 1, []string{"--so", "@strategy", "--ohlcv", "bars.csv", "--overrides", `{"do":"nonfinite"}`}},
		"failure":       {"failure.v1", 1, []string{"--so", "@strategy", "--ohlcv", "bars.csv", "--overrides", `{"do":"fail"}`}},
		"bad-code":      {"failure.v1", 1, []string{"--so", "@strategy", "--ohlcv", "bars.csv", "--overrides", `{"do":"badcode"}`}},
		"bad-args":      {"failure.v1", 1, []string{"--so", "@strategy", "--ohlcv", "bars.csv", "--overrides", `{"do":"badargs"}`}},
		"legacy":        {"failure.v1", 1, []string{"--so", "@nocode", "--ohlcv", "bars.csv", "--overrides", `{"do":"fail"}`}},
		"status-only":   {"failure.v1", 1, []string{"--so", "@strategy", "--ohlcv", "bars.csv", "--overrides", `{"do":"status"}`}},
		"abi-mismatch":  {"failure.v1", 1, []string{"--so", "@abi2", "--ohlcv", "bars.csv"}},
		"abi-missing":   {"failure.v1", 1, []string{"--so", "@noabi", "--ohlcv", "bars.csv"}},
		"symbol":        {"failure.v1", 1, []string{"--so", "@norun", "--ohlcv", "bars.csv"}},
		"no-file":       {"failure.v1", 1, []string{"--so", "@strategy", "--ohlcv", "nowhere.csv"}},
		"no-bars":       {"failure.v1", 1, []string{"--so", "@strategy", "--ohlcv", "empty.csv"}},
		"no-column":     {"failure.v1", 1, []string{"--so", "@strategy", "--ohlcv", "columns.csv"}},
		"no-value":      {"failure.v1", 1, []string{"--so", "@strategy", "--ohlcv", "value.csv"}},
		"bad-input":     {"failure.v1", 1, []string{"--so", "@strategy", "--ohlcv", "bars.csv", "--inputs", `{"a":true}`}},
		"bad-object":    {"failure.v1", 1, []string{"--so", "@strategy", "--ohlcv", "bars.csv", "--overrides", `{"a":01}`}},
		"mode":          {"failure.v1", 1, []string{"--so", "@strategy", "--ohlcv", "bars.csv", "--report-mode", "STREAMED"}},
		"jailed-sink":   {"failure.v1", 1, []string{"--so", "@strategy", "--ohlcv", "bars.csv", "--profile=jailed", "--report-sink", "x"}},
		"usage-flag":    {"failure.v1", 2, []string{"--so", "@strategy", "--oh", "bars.csv"}},
		"usage-value":   {"failure.v1", 2, []string{"--so"}},
		"usage-missing": {"failure.v1", 2, []string{"--ohlcv", "bars.csv"}},
		"capabilities":  {"capabilities.v1", 0, []string{"--so", "@strategy", "--capabilities-json"}},
		"validation":    {"validation.v1", 0, []string{"--validate-window-only", "--ohlcv", "bars.csv", "--script-tf", "15"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := run(t, nil, test.arguments...)
			if got.status != test.status || got.printed != "" {
				t.Errorf("exit %d, want %d; on fd 1 %q; on fd 2 %q", got.status, test.status, got.printed, got.complained)
			}
			if complained := got.complained != ""; complained != (test.status == 2) {
				t.Errorf("on fd 2: %q", got.complained)
			}
			valid(t, got.document, test.schema)
			recorded(t, name, got.document)
		})
	}
}

func TestFailureLimits(t *testing.T) {
	long := run(t, nil, "--so", "@strategy", "--ohlcv", "bars.csv", "--overrides", `{"do":"longtext"}`)
	valid(t, long.document, "failure.v1")
	if got := strings.Count(long.document, `\u00e9`); got != 8192 {
		t.Errorf("%d letters of two bytes kept, want 16384 bytes of them", got)
	}
	huge := run(t, nil, "--so", "@strategy", "--ohlcv", "bars.csv", "--overrides", `{"do":"hugetext"}`)
	valid(t, huge.document, "failure.v1")
	if len(huge.document) > 61440+1 || len(huge.document) < 61440-6 || !strings.HasSuffix(huge.document, `"args":{}}`+"\n") {
		t.Errorf("body of %d bytes ends with %q", len(huge.document)-1, huge.document[len(huge.document)-20:])
	}
}

func TestUncreatedStrategy(t *testing.T) {
	got := run(t, []string{"UNCREATED=1"}, "--so", "@strategy", "--ohlcv", "bars.csv")
	if got.status != 1 || !strings.Contains(got.document, `"code":"strategy_create_failed","args":{}`) {
		t.Errorf("exit %d, %s", got.status, got.document)
	}
}

func TestRemainingAllowanceBoundsTheDocument(t *testing.T) {
	arguments := []string{"--so", "@strategy", "--ohlcv", "bars.csv", "--overrides", `{"do":"curve"}`}
	whole := run(t, nil, arguments...)
	if len(whole.document) < 1<<20 {
		t.Fatalf("document of %d bytes", len(whole.document))
	}
	cut := run(t, []string{"TOUCHSTONE_REPORT_REMAINING=1000000"}, arguments...)
	if len(cut.document) != 1000001 || cut.document[:100] != whole.document[:100] {
		t.Errorf("%d bytes with an allowance of 1000000", len(cut.document))
	}
}

func TestArenaHoldsTheDocumentThatFits(t *testing.T) {
	for _, size := range []int64{1 << 20, 100} {
		fd, err := unix.MemfdCreate("arena", 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.Ftruncate(fd, size); err != nil {
			t.Fatal(err)
		}
		folder, err := built()
		if err != nil {
			t.Fatal(err)
		}
		arena := os.NewFile(uintptr(fd), "arena")
		command := exec.Command(filepath.Join(folder, "producer"), "--so", filepath.Join(folder, "strategy.so"), "--ohlcv", "bars.csv")
		command.Dir, command.ExtraFiles = "testdata", []*os.File{nil, nil, arena}
		command.Env = []string{"TOUCHSTONE_ARENA_FD=5"}
		document, err := command.Output()
		if err != nil {
			t.Fatal(err)
		}
		valid(t, string(document), "report-full.v1")
		shared := make([]byte, len(document))
		n, err := arena.ReadAt(shared, 0)
		if size > 100 && (err != nil || !bytes.Equal(shared, document)) {
			t.Errorf("the arena differs from the document: %v", err)
		}
		if size == 100 && n != 100 {
			t.Errorf("%d bytes of a small arena", n)
		}
		if err := arena.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestFailedWriteIsReported(t *testing.T) {
	folder, err := built()
	if err != nil {
		t.Fatal(err)
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("not run: needs /dev/full")
	}
	defer full.Close()
	var complained bytes.Buffer
	command := exec.Command(filepath.Join(folder, "producer"), "--so", filepath.Join(folder, "strategy.so"), "--ohlcv", "bars.csv")
	command.Dir, command.Env, command.Stdout, command.Stderr = "testdata", []string{}, full, &complained
	if err := command.Run(); err == nil || command.ProcessState.ExitCode() != 1 {
		t.Errorf("run: %v", err)
	}
	if complained.String() != "producer: write document: No space left on device\n" {
		t.Errorf("on fd 2: %q", complained.String())
	}
}

func TestUtilities(t *testing.T) {
	out := filepath.Join(t.TempDir(), "bars.bin")
	if got := run(t, nil, "--csv2bin", out, "--ohlcv", "bars.csv"); got.status != 0 || got.document+got.printed != "" {
		t.Errorf("csv2bin: %+v", got)
	}
	if content, err := os.ReadFile(out); err != nil || len(content) != 3*48 {
		t.Errorf("%d bytes, %v", len(content), err)
	}
	if got := run(t, nil, "--help"); got.status != 0 || !strings.HasPrefix(got.printed, "usage: ") || got.document != "" {
		t.Errorf("help: %+v", got)
	}
}
