package main

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"touchstone/conformance/certify"
	"touchstone/contracts"
	"touchstone/reports"
)

// printTable prints what a person wants to know of a run: tests, what did not
// pass and why, where the evidence lies, and the conclusion last.
func printTable(w io.Writer, t terminal, r reports.Report, run string) error {
	out := bufio.NewWriter(w)
	rows := [][]string{{"test", "verdict", "planned", "pass", "fail", "not-run", "broken", "gaps"}}
	for _, test := range r.Tests {
		rows = append(rows, tableRow(test.Test, test.Verdict, test.Totals))
	}
	t.grid(out, append(rows, tableRow("all", r.Conclusion, r.Totals)))
	printProblems(out, t, r, run)
	printReasons(out, r)
	fmt.Fprintf(out, "\n%s of %s, %.1f s, launcher %s\nevidence %s\npage     %s\n", counted(r.Totals.Attempts, "attempt"), counted(len(r.Scripts), "script"), r.Seconds, r.Launcher.Name,
		run, filepath.Join(run, reports.PageFile))
	fmt.Fprintln(out, summary(r))
	return out.Flush()
}

// printQuiet prints a line for each violation, leak and stale declaration, why
// a run is undecided, and the conclusion: what must not go unsaid.
func printQuiet(w io.Writer, t terminal, r reports.Report) error {
	out := bufio.NewWriter(w)
	for _, a := range r.Assertions {
		if reports.IsBad(a.Verdict) {
			said := what(a)
			if a.Verdict == reports.WrongFail { // what is wrong is the declaration
				said = a.Reason
			}
			fmt.Fprintf(out, "%s %s %s %s: %s\n", t.paint(a.Verdict), a.ID, a.Rule, a.Cell, oneLine(said))
		}
	}
	if r.ExitStatus == certify.Undecided {
		for _, w := range why(r, reports.NotRun) {
			fmt.Fprintf(out, "%s %s: %s\n", t.paint(reports.NotRun), shorten(w.names), oneLine(w.reason))
		}
	}
	for _, l := range r.Leaks {
		fmt.Fprintf(out, "%s %s %s: %s\n", t.paint("leak"), l.Script, l.Cell, oneLine(l.What))
	}
	for _, s := range r.Stale {
		fmt.Fprintf(out, "stale gap %s: %s\n", s.ID, s.Reason)
	}
	fmt.Fprintln(out, summary(r))
	return out.Flush()
}

func tableRow(name, verdict string, t reports.Totals) []string {
	row := []string{name, verdict}
	for _, n := range []int{t.Planned, t.Pass, t.Fail, t.NotRun, t.Broken, t.ExpectedFail + t.UnexpectedPass + t.WrongFail} {
		row = append(row, strconv.Itoa(n))
	}
	return row
}

// printProblems prints one line for each violation, leak and gap, each with the
// command that runs it again. Violations of one script that look the same are
// one.
func printProblems(out io.Writer, t terminal, r reports.Report, run string) {
	same, recordless := alike(r), withoutRecord(r)
	for _, a := range r.Assertions {
		switch a.Verdict {
		case reports.Fail:
			ids := same[seenAs(a)]
			if ids[0] != a.ID || follows(a, recordless) {
				continue
			}
			fmt.Fprintf(out, "\n%s %s %s %s: %s\n", t.paint(a.Verdict), a.ID, a.Rule, a.Cell, oneLine(what(a)))
			if len(ids) > 1 {
				fmt.Fprintf(out, "  also     %s\n", shorten(ids[1:]))
			}
			if more := following(r, a, recordless); len(more) > 0 {
				fmt.Fprintf(out, "  follows  %d more from %s, which left no record: %s\n", len(more), a.ID, shorten(more))
			}
			printFinding(out, a, run)
		case reports.UnexpectedPass, reports.WrongFail, reports.ExpectedFail:
			fmt.Fprintf(out, "\n%s %s %s %s: %s\n", t.paint(a.Verdict), a.ID, a.Rule, a.Cell, oneLine(a.Reason))
			printFinding(out, a, run)
		}
	}
	printLeaks(out, t, r, run)
	for _, s := range r.Stale {
		fmt.Fprintf(out, "\nstale gap %s: %s\n", s.ID, s.Reason)
	}
}

// printLeaks prints each attempt once, with what it left.
func printLeaks(out io.Writer, t terminal, r reports.Report, run string) {
	for i, l := range r.Leaks {
		if i == 0 || r.Leaks[i-1].Attempt != l.Attempt {
			fmt.Fprintf(out, "\n%s %s %s\n  attempt  %s\n  capsule  %s\n  replay   %s\n", t.paint("leak"), l.Script, l.Cell, filepath.Join(run, l.Attempt),
				filepath.Join(run, l.Capsule), l.Replay)
		}
		fmt.Fprintf(out, "  left     %s\n", oneLine(l.What))
	}
}

// recordRoot is the assertion that says that a record came at all.
const recordRoot = "T1.19"

// withoutRecord are the attempts that left no record, with the cell.
func withoutRecord(r reports.Report) map[string]bool {
	attempts := map[string]bool{}
	for _, a := range r.Assertions {
		for _, f := range a.Findings {
			if a.ID == recordRoot && f.Verdict == reports.Fail && strings.HasPrefix(f.Seen, "0 terminal packets") {
				for _, attempt := range append([]string{f.Attempt}, f.Also...) {
					attempts[attempt] = true
				}
			}
		}
	}
	return attempts
}

// follows: all that an assertion misses is what an absent record would say.
func follows(a reports.Assertion, recordless map[string]bool) bool {
	failed := 0
	for _, f := range a.Findings {
		if f.Verdict != reports.Fail {
			continue
		}
		if failed++; !recordless[f.Attempt] || !(strings.Contains(f.Seen, "absent") || strings.Contains(f.Seen, "no packet")) {
			return false
		}
	}
	return failed > 0 && a.ID != recordRoot
}

// following are the assertions of a cell that fail for want of a record.
func following(r reports.Report, root reports.Assertion, recordless map[string]bool) []string {
	var ids []string
	for _, a := range r.Assertions {
		if root.ID == recordRoot && a.Cell == root.Cell && a.Verdict == reports.Fail && follows(a, recordless) {
			ids = append(ids, a.ID)
		}
	}
	return ids
}

func printFinding(out io.Writer, a reports.Assertion, run string) {
	for _, f := range a.Findings {
		if f.Verdict != reports.Fail {
			continue
		}
		where := f.Script
		if row, found := contracts.AssertionByID(a.ID); f.Line == 0 && found {
			where = fmt.Sprintf("%s: in every attempt: %s", f.Script, row.Expect)
		}
		if f.Line > 0 {
			where = fmt.Sprintf("%s.txtar:%d: %s", f.Script, f.Line, f.Phase)
		}
		fmt.Fprintf(out, "  script   %s\n  attempt  %s\n", oneLine(where), filepath.Join(run, f.Attempt))
		break
	}
	if a.Replay != "" {
		fmt.Fprintf(out, "  capsule  %s\n  replay   %s\n", filepath.Join(run, a.Capsule), a.Replay)
	}
}

// alike are the failed assertions by how they look.
func alike(r reports.Report) map[string][]string {
	ids := map[string][]string{}
	for _, a := range r.Assertions {
		if a.Verdict == reports.Fail {
			ids[seenAs(a)] = append(ids[seenAs(a)], a.ID)
		}
	}
	return ids
}

func seenAs(a reports.Assertion) string {
	for _, f := range a.Findings {
		if f.Verdict == reports.Fail {
			return a.Cell + " " + f.Script + " " + what(a)
		}
	}
	return a.Cell + " " + a.ID
}

// what is the first failed finding in words.
func what(a reports.Assertion) string {
	for _, f := range a.Findings {
		if f.Verdict != reports.Fail {
			continue
		}
		times := ""
		if f.Count > 1 {
			times = fmt.Sprintf(" (%d times)", f.Count)
		}
		return fmt.Sprintf("saw %s, wanted %s%s", f.Seen, f.Wanted, times)
	}
	return a.Reason
}

// printReasons prints why assertions were not run or broken, and what those
// that passed could not show, each reason once with its assertions.
func printReasons(out io.Writer, r reports.Report) {
	for _, verdict := range []string{reports.Broken, reports.NotRun, reports.Pass} {
		for _, w := range why(r, verdict) {
			fmt.Fprintf(out, "\n%s: %s\n  %s\n", verdict, oneLine(w.reason), shorten(w.names))
		}
	}
}

// because is a reason with the assertions that give it, each ID CELL.
type because struct {
	reason string
	names  []string
}

// why are the reasons of a verdict, in order.
func why(r reports.Report, verdict string) []because {
	var all []because
	for _, a := range r.Assertions {
		if a.Verdict != verdict || (verdict == reports.Pass && a.Reason == "") {
			continue
		}
		i := slices.IndexFunc(all, func(b because) bool { return b.reason == a.Reason })
		if i < 0 {
			i, all = len(all), append(all, because{reason: a.Reason})
		}
		all[i].names = append(all[i].names, a.ID+" "+a.Cell)
	}
	return all
}

// counted is a number of things: 1 attempt, 2 attempts.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func shorten(names []string) string {
	const most = 8
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

func summary(r reports.Report) string {
	scope := r.Scope()
	if r.Totals.ExpectedFail > 0 {
		scope = fmt.Sprintf("but for %d assertions that its launcher file declares as gaps, partial", r.Totals.ExpectedFail)
	}
	if r.ExitStatus != 0 && r.Conclusion == "conforming" {
		return fmt.Sprintf("%s: %s, %s; --full wants every planned assertion (exit %d)", r.Launcher.Name, r.Conclusion, scope, r.ExitStatus)
	}
	if r.ExitStatus != 0 {
		return fmt.Sprintf("%s: %s (exit %d)", r.Launcher.Name, r.Conclusion, r.ExitStatus)
	}
	return fmt.Sprintf("%s: %s, %s (exit 0)", r.Launcher.Name, r.Conclusion, scope)
}

// oneLine keeps a text from the evidence from breaking the layout or the terminal.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}

// firstFinding is the line of the first thing that is wrong, for the envelope.
func firstFinding(r reports.Report) string {
	for _, a := range r.Assertions {
		if a.Verdict == reports.Fail {
			return fmt.Sprintf("fail %s %s %s: %s", a.ID, a.Rule, a.Cell, what(a))
		}
	}
	for _, l := range r.Leaks {
		return fmt.Sprintf("leak %s %s: %s", l.Script, l.Cell, l.What)
	}
	for _, a := range r.Assertions {
		if a.Verdict != reports.Pass {
			return fmt.Sprintf("%s %s %s %s: %s", a.Verdict, a.ID, a.Rule, a.Cell, a.Reason)
		}
	}
	return ""
}

// suggestions are the commands that replay what failed, each once.
func suggestions(r reports.Report) []string {
	var commands []string
	seen := map[string]bool{}
	for _, a := range r.Assertions {
		if a.Verdict == reports.Fail && a.Replay != "" && !seen[a.Replay] {
			seen[a.Replay] = true
			commands = append(commands, a.Replay)
		}
	}
	if r.Blocked != "" {
		commands = append(commands, "touchstone doctor")
	}
	return commands
}
