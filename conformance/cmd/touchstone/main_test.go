package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"touchstone/conformance/certify"
	"touchstone/reports"
)

func call(arguments ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = run(arguments, &out, &err)
	return status, out.String(), err.String()
}

// TestWrongRequests: one clear line, the documented status, never 0.
func TestWrongRequests(t *testing.T) {
	for name, arguments := range map[string][]string{
		"no command":        {},
		"unknown command":   {"certificate"},
		"unknown flag":      {"certify", "--hurry"},
		"unknown test":      {"certify", "--tests", "T99"},
		"test of no script": {"certify", "--tests", "T34"},
		"unknown launcher":  {"certify", "--launcher", "nobody"},
		"unknown facade":    {"certify", "--facade", "back"},
		"unwritable folder": {"certify", "--tests", "T6", "--out", "/proc/touchstone"},
		"no run":            {"recheck", t.TempDir()},
		"missing argument":  {"recheck"},
		"no baseline":       {"gate"},
		"no certificate":    {"verify", "/nowhere", t.TempDir()},
		"nothing to diff":   {"diff", t.TempDir(), t.TempDir()},
		"no capsule":        {"repro", "/nowhere"},
		"no runs":           {"repro", "/nowhere", "--until-fail", "0"},
		"nothing failed":    {"rerun"},
		"no report":         {"rerun", "--failed", t.TempDir()},
		"no attempt":        {"show", t.TempDir()},
		"unknown channel":   {"show", t.TempDir(), "--channel", "Q"},
		"decode a report":   {"show", t.TempDir(), "--channel", "R", "--decode"},
		"explain nothing":   {"explain", "T99.01"},
		"unknown shell":     {"completion", "tcsh"},
	} {
		status, stdout, stderr := call(arguments...)
		if status != certify.Usage || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "touchstone: usage: ") {
			t.Errorf("%s: status %d, stdout %q, stderr %q", name, status, stdout, stderr)
		}
	}
}

// TestRefusalsNameTheFix: what was wrong, and what to write in its place.
func TestRefusalsNameTheFix(t *testing.T) {
	folder := t.TempDir()
	attempt := filepath.Join(folder, "attempts", "direct-unjailed", "T06-partial-line", "000")
	damaged := filepath.Join(folder, "damaged.json")
	if err := errors.Join(os.MkdirAll(attempt, 0o755), os.WriteFile(damaged, []byte("{"), 0o644)); err != nil {
		t.Fatal(err)
	}
	for want, arguments := range map[string][]string{
		"name one, as in " + attempt:                                  {"show", folder},
		"a folder of attempts; name one, as in " + attempt:            {"show", filepath.Dir(attempt)},
		"name attempts/FACADE-PROFILE/SCRIPT/NNN of a run folder":     {"show", "/nowhere"},
		"capsule: stat /nowhere: no such file or directory; name ca":  {"repro", "/nowhere"},
		"is a folder; name capsules/FACADE-PROFILE/SCRIPT.txtar of ":  {"repro", folder},
		"it has no file capsule.json; name capsules/":                 {"repro", damaged},
		"--until-fail 0: write 1 or more":                             {"repro", damaged, "--until-fail", "0"},
		"--out says where --keep keeps: add --keep":                   {"repro", damaged, "--out", "x"},
		"--strace writes beside kept evidence: add --keep":            {"repro", damaged, "--strace"},
		"is a directory; name the certificate.json of a run":          {"gate", folder, "--baseline", folder},
		damaged + ": decode certificate":                              {"gate", folder, "--baseline", damaged},
		"no run folder: no such file or directory; name a folder th":  {"recheck", folder},
		"name a run folder, or its certificate.json or report.json":   {"diff", folder, folder},
		`test "t6": no such test or script; write T6`:                 {"certify", "--tests", "t6"},
		`test "T06": no such test or script; write T6`:                {"certify", "--tests", "T06"},
		`test "T6.01": no such test or script; write T6`:              {"certify", "--tests", "T6.01"},
		"no such test or script; write T06-partial-line\n":            {"certify", "--tests", "testdata/T06-partial-line.txtar"},
		"no such test or script; tests are T1 to T36, touchstone lis": {"certify", "--tests", "T99"},
		"--tests: a name is empty; remove the comma too many":         {"certify", "--tests", "T6,"},
		`test "T[6": syntax error in pattern; close its [`:            {"certify", "--tests", "T[6"},
		"no cell nosuch/*; it has direct/unjailed, direct/jailed, en": {"certify", "--facade", "nosuch"},
		"runs in the chosen cells; choose from direct/unjailed, dire": {"certify", "--tests", "T02-host-starts-first", "--facade", "entrypoint"},
		`nothing is known of "T06": write T6`:                         {"explain", "T06"},
		`nothing is known of "t4.1": write T4.01`:                     {"explain", "t4.1"},
		`nothing is known of "r6": write R06`:                         {"explain", "r6"},
		`nothing is known of "mut058": ask touchstone zoo explain M`:  {"explain", "mut058"},
		`mutant "mut058": no such record; write MUT058`:               {"zoo", "explain", "mut058"},
		`mutant "MUT05*": 10 records; name one`:                       {"zoo", "explain", "MUT05*"},
		"missing flags: --baseline=CERT; see touchstone gate --help":  {"gate"},
		"unknown flag --hurry; see touchstone zoo run --help":         {"zoo", "run", "--hurry"},
		`--jobs takes a value, and "-1" is none; see touchstone cer`:  {"certify", "-j", "-1"},
		`--gdb must be one of "S","U","V" but got "X"`:                {"repro", damaged, "--gdb", "X"},
		"file exists; name a new file in a folder where you may wri":  {"certify", "--tests", "T6", "--events", damaged, "--out", filepath.Join(folder, "run")},
	} {
		status, stdout, stderr := call(arguments...)
		if status != certify.Usage || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, want) {
			t.Errorf("%v: status %d, stdout %q, no %q in %q", arguments, status, stdout, want, stderr)
		}
	}
}

// TestEnvelope: one object, every key, on success and on every error.
func TestEnvelope(t *testing.T) {
	keys := []string{"apiVersion", "code", "data", "error", "exitCode", "finding", "status", "suggestions", "type"}
	for status, arguments := range map[int][]string{
		0:             {"list", "--json"},
		certify.Usage: {"certify", "--json", "--tests", "T99"},
	} {
		got, stdout, _ := call(arguments...)
		var object map[string]any
		decoder := json.NewDecoder(strings.NewReader(stdout))
		if err := decoder.Decode(&object); err != nil || decoder.More() || got != status {
			t.Fatalf("%v: status %d, %v, %q", arguments, got, err, stdout)
		}
		var names []string
		for name := range object {
			names = append(names, name)
		}
		slices.Sort(names)
		if !slices.Equal(names, keys) {
			t.Errorf("%v: keys %v", arguments, names)
		}
		if object["exitCode"] != float64(status) || (object["status"] == "ok") != (status == 0) || (object["error"] == nil) != (status == 0) {
			t.Errorf("%v: %v", arguments, object)
		}
	}
	if status, stdout, _ := call("certify", "--json", "--hurry"); status != certify.Usage || !strings.Contains(stdout, `"exitCode":64`) {
		t.Errorf("status %d, %q", status, stdout)
	}
}

// brokenWriter is a full disk.
type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("no space") }

func TestAnswerThatCannotBePrintedIsInternal(t *testing.T) {
	var stderr bytes.Buffer
	for _, arguments := range [][]string{{"list", "--json"}, {"list"}, {"version"}} {
		if status := run(arguments, brokenWriter{}, &stderr); status != certify.Internal {
			t.Errorf("%v: status %d, want %d", arguments, status, certify.Internal)
		}
	}
}

func TestListNamesEveryTest(t *testing.T) {
	rows, err := listings()
	if err != nil || len(rows) != 36 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, r := range rows {
		if r.Written+len(r.Unsettled)+len(r.Missing) != r.Assertions {
			t.Errorf("%s: %d written, %d missing of %d", r.Test, r.Written, len(r.Missing), r.Assertions)
		}
	}
}

func TestDoctorAnswersEverything(t *testing.T) {
	status, stdout, _ := call("doctor")
	if (status != 0 && status != 1) || strings.Count(stdout, "\n") < 10 {
		t.Errorf("status %d, %q", status, stdout)
	}
	if strings.Contains(stdout, "missing") != (status == 1) {
		t.Errorf("status %d says otherwise than %q", status, stdout)
	}
}

func TestTableNamesWhatFailed(t *testing.T) {
	r := reports.Report{Launcher: reports.Launcher{Name: "x"}, Conclusion: "not conforming", ExitStatus: 1,
		Assertions: []reports.Assertion{
			{ID: "T14.02", Rule: "R06", Cell: "direct/jailed", Verdict: reports.Fail, Replay: "scripts/certify --tests T14",
				Findings: []reports.Finding{{Verdict: reports.Fail, Script: "T14-s", Line: 4, Phase: "P", Seen: "4\x1b[31m", Wanted: "5", Attempt: "attempts/a", Count: 2}}},
			{ID: "T14.07", Rule: "R06", Cell: "direct/jailed", Verdict: reports.Fail,
				Findings: []reports.Finding{{Verdict: reports.Fail, Script: "T14-s", Line: 9, Seen: "4\x1b[31m", Wanted: "5", Attempt: "attempts/b", Count: 2}}},
			{ID: "T14.03", Rule: "R06", Cell: "direct/jailed", Verdict: reports.NotRun, Reason: "no kernel"},
			{ID: "T14.04", Rule: "R06", Cell: "direct/jailed", Verdict: reports.Broken, Reason: "ours"},
			{ID: "T14.05", Rule: "R06", Cell: "direct/jailed", Verdict: reports.UnexpectedPass, Reason: "gap"},
			{ID: "T14.06", Rule: "R06", Cell: "direct/jailed", Verdict: reports.Pass, Reason: "this kernel lacks it"}},
		Leaks:  []reports.Leak{{Script: "T14-s", Cell: "direct/jailed", Attempt: "attempts/a", What: "process: 7", Replay: "again"}},
		Totals: reports.Totals{Attempts: 1}, Scripts: make([]reports.Script, 2)}
	var out bytes.Buffer
	if err := printTable(&out, terminal{}, r, "/run"); err != nil {
		t.Fatal(err)
	}
	for _, wanted := range []string{
		"fail T14.02 R06 direct/jailed: saw 4 [31m, wanted 5 (2 times)", "  also     T14.07\n", "T14-s.txtar:4: P", filepath.Join("/run", "attempts/a"),
		"scripts/certify --tests T14", "not-run: no kernel", "broken: ours", "pass: this kernel lacks it", "unexpected-pass T14.05", "1 attempt of 2 scripts", "leak T14-s direct/jailed", "process: 7", "(exit 1)",
	} {
		if !strings.Contains(out.String(), wanted) {
			t.Errorf("no %q in\n%s", wanted, out.String())
		}
	}
	if err := printTable(brokenWriter{}, terminal{}, r, "/run"); err == nil {
		t.Error("a table that cannot be printed is no error")
	}
}

func TestPlainProgressIsOneLineAScript(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out)
	p.Begin(2)
	p.End("T14-s", "direct/jailed", "pass", 1500*time.Millisecond)
	p.End("T15-s", "direct/jailed", "fail", time.Second)
	p.Finish()
	if want := "1/2 pass direct/jailed T14-s 1.5s\n2/2 fail direct/jailed T15-s 1.0s\n"; out.String() != want {
		t.Errorf("got %q", out.String())
	}
}
