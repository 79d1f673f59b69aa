package producertest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// legacy starts the producer without a supervisor: the document is on fd 1.
// Further files are at 3 and up.
func legacy(t *testing.T, files []*os.File, arguments ...string) (r seen) {
	t.Helper()
	folder, err := built()
	if err != nil {
		t.Fatal(err)
	}
	var printed, complained bytes.Buffer
	command := exec.Command(filepath.Join(folder, "producer"), arguments...)
	command.Dir, command.Env, command.ExtraFiles = "testdata", []string{"TMPDIR=" + t.TempDir()}, files
	command.Stdout, command.Stderr = &printed, &complained
	var exit *exec.ExitError
	if err := command.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	r.printed, r.complained, r.status = printed.String(), complained.String(), command.ProcessState.ExitCode()
	if left := names(t, strings.TrimPrefix(command.Env[0], "TMPDIR=")); len(left) > 0 {
		t.Errorf("left in the temporary folder: %q", left)
	}
	return r
}

// TestLegacyRoutes: without a supervisor the three routes give the same
// documents and the same stream.
func TestLegacyRoutes(t *testing.T) {
	library := with(t, "trade_to_sink", "", "trades=49", "points=12")
	folder := t.TempDir()
	target := filepath.Join(folder, "out.sink")
	if err := os.WriteFile(target, []byte("stale"), 0o600); err != nil {
		t.Fatal(err)
	}
	named := legacy(t, nil, "--so", library, "--ohlcv", "bars.csv", "--report-sink", target)
	want := supervised{explicit: true, arguments: []string{"--report-sink", target}}.run(t, library)
	stream, err := os.ReadFile(target)
	if err != nil || !bytes.Equal(stream, want.sink) || timeless(named.printed) != timeless(want.document) {
		t.Errorf("named: %v, exit %d, %.300q", err, named.status, named.printed)
	}
	if left := names(t, folder); !slices.Equal(left, []string{"out.sink"}) {
		t.Errorf("beside the target: %q", left)
	}
	reader, writer := pipe(t)
	inherited := make(chan seen, 1)
	go func() {
		defer writer.Close()
		inherited <- legacy(t, []*os.File{writer}, "--so", library, "--ohlcv", "bars.csv", "--report-sink-fd=3")
	}()
	var given bytes.Buffer
	if _, err := given.ReadFrom(reader); err != nil {
		t.Fatal(err)
	}
	got, summary := <-inherited, supervised{explicit: true, arguments: []string{"--report-sink-fd=3"}}.run(t, library)
	if !bytes.Equal(given.Bytes(), want.sink) || timeless(got.printed) != timeless(summary.document) {
		t.Errorf("inherited: exit %d, %.300q", got.status, got.printed)
	}
}

// TestLegacyFailuresLeaveNothing: a failed run leaves no named target, not even
// the one of an earlier run, and no other file (R15).
func TestLegacyFailuresLeaveNothing(t *testing.T) {
	sinkIO := `"code":"report_sink_failed","args":{"reason":"sink_io"}}`
	for fixture, suffix := range map[string]string{
		"omit_trailer": sinkIO, "miscount_trailer": sinkIO, "misdigest_trailer": sinkIO, "pass_trailer": sinkIO, "cut_sink": sinkIO,
		"null_equity": `"code":"report_result_invalid","args":{"field":"E.equity","reason":"nonfinite"}}`,
		"plain":       `"code":"strategy_library_incompatible","args":{"reason":"symbol_missing"}}`,
	} {
		for _, named := range []bool{true, false} {
			folder := t.TempDir()
			target := filepath.Join(folder, "out.sink")
			if err := os.WriteFile(target, []byte("stale"), 0o600); err != nil {
				t.Fatal(err)
			}
			arguments := []string{"--so", with(t, fixture, ""), "--ohlcv", "bars.csv", "--report-sink", target}
			if !named {
				arguments = arguments[:4]
			}
			if fixture == "plain" && !named {
				continue // an array module
			}
			got := legacy(t, nil, arguments...)
			if got.status != 1 || !strings.HasSuffix(got.printed, suffix+"\n") {
				t.Errorf("%s: exit %d, %.300q", fixture, got.status, got.printed)
			}
			if left := names(t, folder); named && fixture != "plain" && len(left) > 0 {
				t.Errorf("%s left %q", fixture, left)
			}
		}
	}
}

// TestLegacySinkArguments: what cannot be a sink is refused before the library
// is loaded, and nothing but a file is ever removed.
func TestLegacySinkArguments(t *testing.T) {
	library := with(t, "mark_phases", "", "load=loaded")
	folder := t.TempDir()
	device := filepath.Join(folder, "device")
	if err := os.Symlink("/dev/null", device); err != nil {
		t.Fatal(err)
	}
	reader, _ := pipe(t)
	for _, arguments := range [][]string{
		{"--report-sink", ""}, {"--report-sink", "x", "--report-sink-fd", "1"}, {"--report-sink-fd", "2"}, {"--report-sink-fd", "5"},
		{"--report-sink-fd", "77"}, {"--report-sink-fd", "-1"}, {"--report-sink-fd", "3x"}, {"--report-sink-fd", ""}, {"--report-sink-fd", "3"},
		{"--report-sink", "x", "--profile", "jailed"},
	} {
		got := legacy(t, []*os.File{reader}, append([]string{"--so", library, "--ohlcv", "bars.csv"}, arguments...)...)
		if got.status == 0 || !strings.Contains(got.printed, `"code":"run_request_invalid"`) || strings.Contains(got.complained, "loaded") {
			t.Errorf("%q: exit %d, %q, %q", arguments, got.status, got.printed, got.complained)
		}
	}
	for _, target := range []string{device, folder} {
		got := legacy(t, nil, "--so", with(t, "trade_to_sink", ""), "--ohlcv", "bars.csv", "--report-sink", target)
		if got.status == 0 || !slices.Equal(names(t, folder), []string{"device"}) {
			t.Errorf("%s: exit %d, left %q", target, got.status, names(t, folder))
		}
	}
}

// TestLegacyJailHasNoSink: the jailed profile keeps its array route (C-70).
func TestLegacyJailHasNoSink(t *testing.T) {
	library := with(t, "trade_to_sink", "", "trades=2")
	want := legacy(t, nil, "--so", library, "--ohlcv", "bars.csv")
	got := legacy(t, nil, "--so", library, "--ohlcv", "bars.csv", "--profile=jailed")
	if got.status != 0 || timeless(got.printed) != timeless(want.printed) {
		t.Errorf("exit %d, %.300q", got.status, got.printed)
	}
}
