package producertest

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"touchstone/contracts"
)

// The bars of slots.csv begin at slot0, 15 minutes apart; the fifth is missing.
const (
	slot0 = 1700100000000
	slot  = 900000
)

// selected are the arguments of a window from a slot to another, and more.
func selected(from, to int, more ...string) []string {
	return append([]string{"--ohlcv", "slots.csv", "--input-tf", "15", "--script-tf", "30", "--report-policy", "selected-window/v1",
		"--window-start-ms", fmt.Sprint(slot0 + slot*from), "--window-end-ms", fmt.Sprint(slot0 + slot*to)}, more...)
}

// without leaves a flag and its value out.
func without(arguments []string, flag string) []string {
	i := slices.Index(arguments, flag)
	return slices.Delete(slices.Clone(arguments), i, i+2)
}

// catalogued checks a failure document's code and args against the catalog.
func catalogued(t *testing.T, document string) (code, args string) {
	t.Helper()
	valid(t, document, "failure.v1")
	var f struct {
		Code string
		Args map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(document), &f); err != nil {
		t.Fatal(err)
	}
	entry, known := contracts.LoadCatalog().Codes[f.Code]
	if !known {
		t.Errorf("no code %q", f.Code)
	}
	for name, value := range f.Args {
		arg, declared := entry.Args[name]
		var text string
		if len(arg.Values) > 0 && (json.Unmarshal(value, &text) != nil || !slices.Contains(arg.Values, text)) || !declared {
			t.Errorf("%s: arg %s is %s", f.Code, name, value)
		}
	}
	for name, arg := range entry.Args {
		if _, given := f.Args[name]; !given && !arg.Optional {
			t.Errorf("%s: no arg %s", f.Code, name)
		}
	}
	_, args, _ = strings.Cut(strings.TrimSuffix(document, "}\n"), `"args":`)
	return f.Code, args
}

// TestBadWindows: each has its own code, before the library is loaded.
func TestBadWindows(t *testing.T) {
	base := selected(2, 6)
	for name, test := range map[string]struct {
		arguments  []string
		code, args string
	}{
		"policy":        {append(without(base, "--report-policy"), "--report-policy", "all"), "window_request_invalid", `{"option":"report_policy"}`},
		"no policy":     {without(base, "--report-policy"), "window_request_invalid", `{"option":"report_policy"}`},
		"no start":      {without(base, "--window-start-ms"), "window_request_invalid", `{"option":"window_start_ms"}`},
		"no end":        {without(base, "--window-end-ms"), "window_request_invalid", `{"option":"window_end_ms"}`},
		"word":          {append(without(base, "--window-end-ms"), "--window-end-ms", "1e3"), "window_request_invalid", `{"option":"window_end_ms"}`},
		"blank":         {append(without(base, "--window-start-ms"), "--window-start-ms", " 1"), "window_request_invalid", `{"option":"window_start_ms"}`},
		"large":         {append(base, "--fed-start-ms", "9007199254740992"), "window_request_invalid", `{"option":"fed_start_ms"}`},
		"empty":         {append(base, "--preroll-bars="), "window_request_invalid", `{"option":"preroll_bars"}`},
		"no input tf":   {without(base, "--input-tf"), "window_request_invalid", `{"option":"input_tf"}`},
		"no script tf":  {without(base, "--script-tf"), "window_request_invalid", `{"option":"script_tf"}`},
		"old flag":      {append(base, "--trade-start-ms", "1"), "window_legacy_flag_conflict", `{"option":"trade_start_ms"}`},
		"preroll":       {append(base, "--preroll-bars", "5001"), "window_preroll_out_of_range", `{"requested":5001}`},
		"negative":      {append(base, "--preroll-bars=-1"), "window_preroll_out_of_range", `{"requested":-1}`},
		"reversed":      {selected(4, 2), "window_range_invalid", `{"end_ms":1700101800000,"fed_start_ms":1700103600000,"start_ms":1700103600000}`},
		"equal":         {selected(4, 4), "window_range_invalid", `{"end_ms":1700103600000,"fed_start_ms":1700103600000,"start_ms":1700103600000}`},
		"fed late":      {append(base, "--fed-start-ms=1700103600000"), "window_range_invalid", `{"end_ms":1700105400000,"fed_start_ms":1700103600000,"start_ms":1700101800000}`},
		"start":         {selected(1, 6), "window_boundary_unaligned", `{"bound":"start","next_boundary_ms":1700101800000,"previous_boundary_ms":1700100000000,"value_ms":1700100900000}`},
		"end":           {selected(2, 5), "window_boundary_unaligned", `{"bound":"end","next_boundary_ms":1700105400000,"previous_boundary_ms":1700103600000,"value_ms":1700104500000}`},
		"fed start":     {append(base, "--fed-start-ms=1700100900000"), "window_boundary_unaligned", `{"bound":"fed_start","next_boundary_ms":1700101800000,"previous_boundary_ms":1700100000000,"value_ms":1700100900000}`},
		"feed too late": {append(base, "--fed-start-ms=1700098200000"), "window_feed_range_invalid", `{"end_ms":1700105400000,"fed_start_ms":1700098200000,"time_ms":1700100000000}`},
		"no bars":       {selected(20, 22), "window_no_observations", `{"end_ms":1700119800000,"start_ms":1700118000000}`},
		"month":         {append(without(base, "--script-tf"), "--script-tf", "M"), "window_mode_unsupported", `{"capability":"timeframe","timeframe":"M"}`},
		"ratio":         {append(without(base, "--script-tf"), "--script-tf", "40"), "window_mode_unsupported", `{"capability":"timeframe_ratio"}`},
		"time zone":     {append(base, "--chart-tz", "Europe/Paris"), "window_calendar_unsupported", `{"session":null,"timezone":"Europe/Paris"}`},
		"unaligned":     {append(base, "--ohlcv", "bars.csv"), "chart_bars_rejected", `{"field":"timestamp","index":0,"reason":"not_aligned"}`},
		"unordered":     {append(base, "--ohlcv", "unordered.csv"), "chart_bars_rejected", `{"field":"timestamp","index":3,"reason":"not_increasing"}`},
	} {
		got := run(t, nil, append(test.arguments, "--so", with(t, "mark_phases", "", "load=loaded"))...)
		if code, args := catalogued(t, got.document); got.status != 1 || code != test.code || args != test.args {
			t.Errorf("%s: exit %d, %s", name, got.status, got.document)
		}
		if got.complained != "" {
			t.Errorf("%s: the library was loaded", name)
		}
	}
}

// TestWindowDocuments: plan and report of a window, for every route of the sink (T1.12).
func TestWindowDocuments(t *testing.T) {
	arguments := selected(2, 8, "--preroll-bars", "1")
	plan := run(t, nil, append([]string{"--validate-window-only"}, arguments...)...)
	valid(t, plan.document, "validation.v1")
	recorded(t, "window-plan", plan.document)

	inside := append(selected(2, 8), "--fed-start-ms=1700101800000")
	arrays := run(t, nil, append(inside, "--so", with(t, "select_window", "", "trades=4", "points=5"))...)
	valid(t, arrays.document, "report-full.v1")
	recorded(t, "window-report", arrays.document)
	library := with(t, "select_window_to_sink", "", "trades=4", "points=5")
	for name, got := range map[string]string{
		"supervised":   supervised{arguments: inside}.run(t, library).document,
		"unsupervised": legacy(t, nil, append(inside, "--so", library)...).printed,
	} {
		if timeless(got) != timeless(arrays.document) {
			t.Errorf("%s: %.3000s", name, got)
		}
	}
	named := supervised{explicit: true, arguments: append(inside, "--report-sink", "x")}.run(t, library)
	if !strings.Contains(named.document, `"report_sink":{`) || strings.Contains(named.document, `"trades":[`) ||
		!strings.Contains(named.document, `,"report_window":{`) || named.status != 0 {
		t.Errorf("named: exit %d, %s", named.status, named.document)
	}
	capabilities := run(t, nil, "--so", library, "--capabilities-json")
	valid(t, capabilities.document, "capabilities.v1")
	recorded(t, "window-capabilities", capabilities.document)
}

// TestWindowFailures: what a module does with its window can fail the run.
func TestWindowFailures(t *testing.T) {
	whole, preroll := selected(2, 8), selected(2, 8, "--preroll-bars=1")
	for name, test := range map[string]struct {
		library    string
		arguments  []string
		code, args string
	}{
		"counts":      {with(t, "select_window", "", "skew=1"), whole, "window_report_mismatch", `{"actual":6,"expected":5,"field":"counts.window_input_bars"}`},
		"early trade": {with(t, "select_window", "", "trades=1"), preroll, "window_prestart_fill", `{"fill_ms":1700100000000,"start_ms":1700101800000}`},
		"no window":   {with(t, "plain", ""), whole, "window_mode_unsupported", `{"capability":"selected_window"}`},
		"unobserved":  {with(t, "select_window", "", "boundaries=0"), whole, "report_post_execution_failed", `{"phase":"result_assembly","reason":"exception"}`},
		"twice":       {with(t, "select_window", "", "boundaries=2"), whole, "report_post_execution_failed", `{"phase":"result_assembly","reason":"exception"}`},
		"late error":  {with(t, "late_error", ""), whole, "report_post_execution_failed", `{"phase":"result_assembly","reason":"exception"}`},
	} {
		got := run(t, nil, append(test.arguments, "--so", test.library)...)
		if code, args := catalogued(t, got.document); got.status != 1 || code != test.code || args != test.args {
			t.Errorf("%s: exit %d, %s", name, got.status, got.document)
		}
	}
	if accepted := run(t, nil, append(preroll, "--so", with(t, "select_window", ""))...); accepted.status != 0 {
		t.Errorf("the accepted twin: %s", accepted.document)
	}
}

// TestNoMemoryForTheDocument: after the execution that is its own failure in a
// tracked run. The limit is one of addresses, in KiB.
func TestNoMemoryForTheDocument(t *testing.T) {
	library := with(t, "select_window", "", "points=400000")
	for code, arguments := range map[string][]string{
		`"code":"report_post_execution_failed","args":{"phase":"serialization","reason":"resource"}}`: selected(2, 8, "--so", library),
		`"code":"out_of_memory","args":{}}`: {"--ohlcv", "slots.csv", "--so", library},
	} {
		folder, err := built()
		if err != nil {
			t.Fatal(err)
		}
		command := exec.Command("sh", append([]string{"-c", `ulimit -v 40960 && exec "$0" "$@"`, filepath.Join(folder, "producer")}, arguments...)...)
		command.Dir = "testdata"
		document, err := command.Output()
		if err == nil || command.ProcessState.ExitCode() != 1 || !strings.HasSuffix(string(document), code+"\n") {
			t.Errorf("%v, %.300s", err, document)
		}
	}
}

// phases runs with a phase socket and gives the records' phases, and the run.
func phases(t *testing.T, arguments ...string) ([]string, seen) {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "phases"), os.NewFile(uintptr(pair[1]), "phases")
	defer ours.Close()
	got := legacy(t, []*os.File{theirs}, append(arguments, "--run-phase-fd", "3")...)
	theirs.Close()
	var names []string
	for decoder := json.NewDecoder(ours); decoder.More(); {
		var record map[string]any
		if err := decoder.Decode(&record); err != nil {
			t.Fatal(err)
		}
		keys := slices.Sorted(maps.Keys(record))
		want := []string{"elapsed_ms", "phase", "record", "scope", "sequence", "trial_id", "version"}
		if record["phase"] == "completed" {
			want = slices.Sorted(slices.Values(append(want, "execution_ms", "result_assembly_ms", "results_digest_ms", "serialization_ms")))
		}
		if !slices.Equal(keys, want) || record["sequence"] != float64(len(names)) || record["record"] != "run_phase" {
			t.Errorf("record %v", record)
		}
		names = append(names, record["phase"].(string))
	}
	return names, got
}

// TestPhaseRecords: one line a phase, in order, for ordinary and selected runs
// without negotiation (T36).
func TestPhaseRecords(t *testing.T) {
	all := []string{"preflight", "execution", "result_assembly", "serialization", "completed"}
	library := with(t, "select_window", "")
	for _, arguments := range [][]string{{"--ohlcv", "bars.csv", "--so", library}, selected(2, 8, "--so", library)} {
		want := legacy(t, nil, arguments...)
		names, got := phases(t, arguments...)
		if !slices.Equal(names, all) || got.status != 0 || timeless(got.printed) != timeless(want.printed) {
			t.Errorf("%q, exit %d, %.300s", names, got.status, got.printed)
		}
	}
	names, got := phases(t, "--ohlcv", "bars.csv", "--so", with(t, "plain", ""))
	if !slices.Equal(names, all[:2]) || !strings.Contains(got.printed, `"args":{"reason":"symbol_missing"}`) {
		t.Errorf("a library without observer: %q, %.300s", names, got.printed)
	}
}

// TestPhaseSocketFails: what is no stream socket is refused; a reader that is
// gone, or takes nothing more, fails the run.
func TestPhaseSocketFails(t *testing.T) {
	library := with(t, "select_window", "")
	reader, writer := pipe(t)
	got := legacy(t, []*os.File{writer}, "--ohlcv", "bars.csv", "--so", library, "--run-phase-fd", "3")
	if got.status != 2 || !strings.Contains(got.printed, `"option":"arguments"`) {
		t.Errorf("a pipe: exit %d, %s", got.status, got.printed)
	}
	reader.Close()
	for _, full := range []bool{false, true} {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		if full {
			for fill := make([]byte, 4096); err == nil; {
				_, err = unix.Write(pair[1], fill)
			}
		} else {
			unix.Close(pair[0])
		}
		theirs := os.NewFile(uintptr(pair[1]), "phases")
		got := legacy(t, []*os.File{theirs}, "--ohlcv", "bars.csv", "--so", library, "--run-phase-fd", "3")
		theirs.Close()
		if full {
			unix.Close(pair[0])
		}
		if got.status != 1 || !strings.HasSuffix(got.printed, `"code":"harness_internal_error","args":{}}`+"\n") {
			t.Errorf("full %t: exit %d, %s", full, got.status, got.printed)
		}
	}
}
