// Package entrypoint_test builds strategies with the tools of this folder and a
// real compiler, and runs what was built.
package entrypoint_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"touchstone/reference/entrypoint/binder"
	"touchstone/reference/entrypoint/transpiler"
)

// build makes a library of C++ text in a new folder.
func build(t *testing.T, source string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	if err := os.WriteFile(folder+"/strategy.cpp", []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, "g++", "-std=c++17", "-O1", "-ffp-contract=off", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror",
		"-Iinclude", "-I../../fixtures/native", folder+"/strategy.cpp", "-o", folder+"/strategy.so")
	return folder
}

func run(t *testing.T, command ...string) (stdout, stderr string) {
	t.Helper()
	if _, err := exec.LookPath(command[0]); err != nil {
		t.Skipf("not run: needs %s", command[0])
	}
	c := exec.Command(command[0], command[1:]...)
	var out, diagnostics bytes.Buffer
	c.Stdout, c.Stderr = &out, &diagnostics
	if err := c.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", command[0], err, diagnostics.String())
	}
	return out.String(), diagnostics.String()
}

// TestStrategiesDoWhatTheySay: translated, compiled and run.
func TestStrategiesDoWhatTheySay(t *testing.T) {
	driver := t.TempDir() + "/drive"
	run(t, "gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-o", driver, "testdata/drive.c", "-ldl")
	const averages = "strategy \"a\"\ninput fast = 2\ninput size = 2\nlet q = sma(close, fast)\nlet z = sma(close, 3)\n" +
		"when crossover(q, z): long size; print \"long at \", close\nwhen crossunder(q, z): short size; note true\nat exit: print \"over\"\n"
	const every = "strategy \"e\"\nwhen index == 1: long 1\n" +
		"when previous(close) < close and highest(close, 3) == close and not (ema(close, 2) > 12.1): print \"high \", index\n" +
		"when lowest(low, 2) <= 8.5 or abs(-close) == 10: exit\nwhen known(previous(open)) and close != close: fail \"no\"\n" +
		"when floor(max(close, 2.5) / 10) - min(1, 2) == 1: fail \"twenty\"\n"
	closes := []string{"10", "11", "12", "13", "12", "11", "10", "11", "12", "13"}
	crossing, mixed := build(t, transpiled(t, averages)), build(t, transpiled(t, every))
	for _, c := range []struct {
		name, library string
		args          []string
		stdout        string
		stderr        string
	}{
		{"averages", crossing, closes, "long at 12\nover\n", "short 11 12 x2 pnl -2 bars 5-8 up 4 down 4\nlong 12 13 x2 pnl 2 bars 8-9 up 4 down 0 open\nnet 0 points 10\n"},
		{"input", crossing, append([]string{"size=0.5"}, closes...), "long at 12\nover\n", "short 11 12 x0.5 pnl -0.5 bars 5-8 up 1 down 1\nlong 12 13 x0.5 pnl 0.5 bars 8-9 up 1 down 0 open\nnet 0 points 10\n"},
		{"unknown input", crossing, []string{"sise=1", "1"}, "over\n", "failed setting_rejected {\"entrypoint\":\"strategy_set_input\",\"reason\":\"unknown_key\"} the input sise does not exist\n"},
		{"no number", crossing, []string{"size=1x", "1"}, "over\n", "failed setting_rejected {\"entrypoint\":\"strategy_set_input\",\"reason\":\"invalid_number_or_trailing_bytes\"} the input size is no number\n"},
		{"no bars", crossing, nil, "over\n", "net 0 points 0\n"},
		{"functions", mixed, []string{"10", "11", "12", "11", "10"}, "high 2\n", "long 11 10 x1 pnl -1 bars 1-4 up 2 down 2\nnet -1 points 5\n"},
		{"failure", mixed, []string{"10", "11", "20"}, "", "failed strategy_runtime_error {} twenty\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			stdout, stderr := run(t, append([]string{driver, c.library + "/strategy.so"}, c.args...)...)
			sorted := func(text string) []string { return slices.Sorted(strings.Lines(text)) }
			// The two streams of the process are flushed in an order of their own.
			stdout = strings.ReplaceAll(stdout, "true\n", "")
			if !slices.Equal(sorted(stdout), sorted(c.stdout)) || stderr != c.stderr {
				t.Errorf("got\n%s%s\nwant\n%s%s", stdout, stderr, c.stdout, c.stderr)
			}
		})
	}
}

func transpiled(t *testing.T, source string) string {
	t.Helper()
	generated, err := transpiler.Transpile(source)
	if err != nil {
		t.Fatal(err)
	}
	return generated
}

const none = "extern \"C\" {\nint pf_abi_version() { return 4; }\nvoid *strategy_create(const char *) { return nullptr; }\n" +
	"void strategy_set_input() {}\nvoid strategy_set_override() {}\nvoid run_backtest_full() {}\nvoid strategy_free() {}\n"

// TestBinding: what a library must define, and what its manifest says.
func TestBinding(t *testing.T) {
	for _, c := range []struct{ name, source, refusal string }{
		{"whole", none + "void report_free() {}\n}", ""},
		{"sink", none + "void report_free() {}\nint strategy_set_report_sink_fd() { return 0; }\nint strategy_finish_report_sink() { return 0; }\n}", ""},
		{"half a sink", none + "void report_free() {}\nint strategy_finish_report_sink() { return 0; }\n}",
			"of strategy_finish_report_sink and strategy_set_report_sink_fd it defines one"},
		{"missing", none + "}", "it does not define report_free"},
		{"hidden", none + "__attribute__((visibility(\"hidden\"))) void report_free() {}\n}", "it does not define report_free"},
		{"only used", none + "void report_free();\nvoid *use() { return (void *)report_free; }\n}", "it does not define report_free"},
		{"data", none + "int report_free = 1;\n}", "it does not define report_free"},
	} {
		t.Run(c.name, func(t *testing.T) {
			content, err := os.ReadFile(build(t, c.source) + "/strategy.so")
			if err != nil {
				t.Fatal(err)
			}
			m, err := binder.Bind("/a/strategy.so", content)
			if refused := (*binder.RefusedError)(nil); errors.As(err, &refused) != (c.refusal != "") ||
				refused != nil && refused.Reason != c.refusal {
				t.Fatalf("refused with %v, want %q", err, c.refusal)
			}
			if c.refusal == "" && (m.Sink != (c.name == "sink") || m.Library.Name != "strategy.so" ||
				m.Library.Bytes != len(content) || !slices.Contains(m.Exports, "report_free")) {
				t.Errorf("manifest %+v", m)
			}
		})
	}
}

// FuzzBind: any bytes are bound or refused, never more.
func FuzzBind(f *testing.F) {
	if content, err := os.ReadFile("/proc/self/exe"); err == nil {
		f.Add(content[:4096])
	}
	f.Add([]byte("\x7fELF\x02\x01\x01"))
	f.Fuzz(func(t *testing.T, content []byte) {
		_, err := binder.Bind("strategy.so", content)
		if refused := (*binder.RefusedError)(nil); err != nil && !errors.As(err, &refused) {
			t.Fatal(err)
		}
	})
}
