package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"touchstone/conformance/certify"
	"touchstone/reports"
)

const exitsFile = "testdata/exits.txt"

// TestExitTableOnlyGrows: programs depend on every line of the table.
func TestExitTableOnlyGrows(t *testing.T) {
	entries, err := manifest()
	if err != nil {
		t.Fatal(err)
	}
	var today []string
	for _, e := range entries {
		for _, s := range e.Exits {
			today = append(today, fmt.Sprintf("%s %d %s", e.Name, s.Status, s.Meaning))
		}
	}
	content, err := os.ReadFile(exitsFile)
	if err != nil {
		t.Fatal(err)
	}
	kept := strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
	for _, line := range kept {
		if !slices.Contains(today, line) {
			t.Errorf("%q is gone from the table", line)
		}
	}
	var added string
	for _, line := range today {
		if !slices.Contains(kept, line) {
			added += line + "\n"
		}
	}
	if added == "" {
		return
	}
	if !*update {
		t.Fatalf("not in %s, which -update adds:\n%s", exitsFile, added)
	}
	if err := os.WriteFile(exitsFile, append(content, added...), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestEveryCommandStatesItsExits(t *testing.T) {
	entries, err := manifest()
	if err != nil || len(entries) != len(exits) {
		t.Fatalf("%d commands, %d in the exit table, %v", len(entries), len(exits), err)
	}
	for _, e := range entries {
		for _, s := range e.Exits {
			if s.Status != certify.Usage && s.Status != certify.Internal && !strings.Contains(e.Help, fmt.Sprint(s.Status)) {
				t.Errorf("%s: its help says nothing of exit %d", e.Name, s.Status)
			}
		}
		if n := len(e.Exits); n < 3 || e.Exits[n-2] != wrongUsage || e.Exits[n-1] != internal {
			t.Errorf("%s: exits %v", e.Name, e.Exits)
		}
		if !slices.ContainsFunc(e.Flags, func(f flagEntry) bool { return f.Name == "json" }) {
			t.Errorf("%s has no --json", e.Name)
		}
	}
}

func TestEnvelopeOfCommandsWithoutRun(t *testing.T) {
	for _, arguments := range [][]string{{"manifest", "--json"}, {"version", "--json"}, {"completion", "bash", "--json"}, {"doctor", "--json"}} {
		status, stdout, _ := call(arguments...)
		if strings.Count(stdout, "\n") != 1 || !strings.Contains(stdout, `"type":"`+arguments[0]+`"`) || !strings.Contains(stdout, fmt.Sprintf(`"exitCode":%d`, status)) {
			t.Errorf("%v: status %d, %q", arguments, status, stdout)
		}
	}
}

func TestTwoThingsCannotBothHaveStdout(t *testing.T) {
	status, stdout, _ := call("certify", "--json", "--events", "-")
	if status != certify.Usage || strings.Count(stdout, "\n") != 1 || !strings.Contains(stdout, `"exitCode":64`) {
		t.Errorf("status %d, %q", status, stdout)
	}
}

func TestNoAnswerIsLostSilently(t *testing.T) {
	var stderr bytes.Buffer
	for _, arguments := range [][]string{{"manifest"}, {"manifest", "--json"}, {"completion", "fish"}, {"doctor"}, {"doctor", "--json"}, {"version", "--json"}} {
		if status := run(arguments, brokenWriter{}, &stderr); status != certify.Internal {
			t.Errorf("%v: status %d, want %d", arguments, status, certify.Internal)
		}
	}
}

func TestBashCompletes(t *testing.T) {
	_, script, _ := call("completion", "bash")
	for words, wanted := range map[string]string{
		"touchstone ver":                       "verify version",
		"touchstone certify --fa":              "--facade --fail-fast",
		"touchstone certify --facade ":         "direct entrypoint",
		"touchstone gate --base":               "--baseline",
		"touchstone certify --launcher x --qu": "--quiet",
	} {
		program := script + `
IFS=' ' read -ra COMP_WORDS <<<"$1"
case $1 in *' ') COMP_WORDS+=('') ;; esac
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_touchstone
printf '%s\n' "${COMPREPLY[@]}" | sort | tr '\n' ' '`
		c := exec.Command("bash", "-euc", program, "bash", words)
		c.Dir = t.TempDir() // without files to complete
		said, err := c.CombinedOutput()
		if got := strings.TrimSpace(string(said)); err != nil || got != wanted {
			t.Errorf("%q: got %q, want %q (%v)", words, got, wanted, err)
		}
	}
}

func TestOtherShellsNameEveryFlag(t *testing.T) {
	entries, err := manifest()
	if err != nil {
		t.Fatal(err)
	}
	for _, shell := range []string{"zsh", "fish"} {
		_, script, _ := call("completion", shell)
		for _, e := range entries {
			for _, f := range e.Flags {
				if !strings.Contains(script, f.Name) {
					t.Errorf("%s: no %s of %s", shell, f.Name, e.Name)
				}
			}
		}
	}
}

// openTerminal is the program's end of a new terminal of 60 columns.
func openTerminal(t *testing.T) *os.File {
	t.Helper()
	master, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(master) })
	number, err := unix.IoctlGetInt(master, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(master, unix.TIOCSWINSZ, &unix.Winsize{Col: 60, Row: 20})
	}
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestColourAndWidth(t *testing.T) {
	tty := openTerminal(t)
	for name, c := range map[string]struct {
		out  *os.File
		env  map[string]string
		want terminal
	}{
		"a terminal":      {tty, nil, terminal{true, 60}},
		"NO_COLOR":        {tty, map[string]string{"NO_COLOR": "1"}, terminal{false, 60}},
		"an empty one":    {tty, map[string]string{"NO_COLOR": ""}, terminal{true, 60}},
		"a dumb terminal": {tty, map[string]string{"TERM": "dumb"}, terminal{false, 60}},
		"COLUMNS":         {tty, map[string]string{"COLUMNS": "44"}, terminal{true, 44}},
		"no terminal":     {os.NewFile(^uintptr(0), "none"), nil, terminal{}},
	} {
		if got := terminalOf(c.out, func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

func TestGridFitsTheTerminal(t *testing.T) {
	rows := [][]string{{"test", "scripts", "n"}, {"T1", strings.Repeat("long ", 20), "3"}, {"T22", "é漢", "44"}}
	for _, width := range []int{0, 200, 40, 30} {
		var out bytes.Buffer
		terminal{width: width}.grid(&out, rows)
		for line := range strings.Lines(out.String()) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); width > 0 && n > width {
				t.Errorf("width %d: %d columns: %q", width, n, line)
			}
		}
		if width == 0 && !strings.Contains(out.String(), strings.TrimSpace(rows[1][1])) {
			t.Errorf("cut without need: %q", out.String())
		}
	}
	var out bytes.Buffer
	terminal{colour: true}.grid(&out, [][]string{{"T1", "fail", "x"}, {"T2", "pass", "y"}})
	if want := "T1  \x1b[1;31mfail  \x1b[0mx\nT2  \x1b[1;32mpass  \x1b[0my\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// TestQuietStillNamesWhatIsWrong: failures and leaks are never silent.
func TestQuietStillNamesWhatIsWrong(t *testing.T) {
	r := reports.Report{Launcher: reports.Launcher{Name: "x"}, Conclusion: "not conforming", ExitStatus: 1,
		Assertions: []reports.Assertion{{ID: "T1.01", Rule: "R01", Cell: "c", Verdict: reports.Pass}, {ID: "T1.02", Rule: "R01", Cell: "c", Verdict: reports.Fail,
			Findings: []reports.Finding{{Verdict: reports.Fail, Seen: "4", Wanted: "5"}}}},
		Leaks: []reports.Leak{{Script: "s", Cell: "c", What: "process: 7"}}, Stale: []reports.StaleGap{{ID: "T9.01", Reason: "none"}}}
	var out bytes.Buffer
	if err := printQuiet(&out, terminal{}, r); err != nil {
		t.Fatal(err)
	}
	want := "fail T1.02 R01 c: saw 4, wanted 5\nleak s c: process: 7\nstale gap T9.01: none\nx: not conforming (exit 1)\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// TestQuietSaysWhyUndecided: each reason once.
func TestQuietSaysWhyUndecided(t *testing.T) {
	r := reports.Report{Launcher: reports.Launcher{Name: "x"}, Conclusion: "undecided", ExitStatus: certify.Undecided, Assertions: []reports.Assertion{
		{ID: "T1.01", Cell: "c", Verdict: reports.NotRun, Reason: "needs root"}, {ID: "T1.02", Cell: "c", Verdict: reports.NotRun, Reason: "needs root"}}}
	var out bytes.Buffer
	if err := printQuiet(&out, terminal{}, r); err != nil {
		t.Fatal(err)
	}
	if want := "not-run T1.01 c, T1.02 c: needs root\nx: undecided (exit 2)\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestEscapedBytesDoNothingToATerminal(t *testing.T) {
	in := "a\x1b[31m\\\r\n\xffé\x00\u200e�"
	if got, want := escaped([]byte(in)), "a\\x1b[31m\\\\\\x0d\\n\n\\xffé\\x00\\xe2\\x80\\x8e�"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
