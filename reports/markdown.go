package reports

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// The most that a summary names one by one; the rest is counted.
const (
	summaryFailures = 50
	summaryText     = 400 // characters of what was seen
)

// WriteMarkdown writes a summary for a pull request or a job page: the
// conclusion, a row for each test with a column for each cell, then what failed.
// Text of any bytes stands in code spans, where it can neither break the
// layout nor name a person.
func WriteMarkdown(w io.Writer, r Report) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "# %s: %s (exit %d)\n\n", codeSpan(r.Launcher.Name), r.Conclusion, r.ExitStatus)
	t := r.Totals
	fmt.Fprintf(out, "%d planned = %d pass + %d fail + %d not run + %d broken + %d declared gaps; %d leaks; %d attempts; %s.\n",
		t.Planned, t.Pass, t.Fail, t.NotRun, t.Broken, t.ExpectedFail+t.UnexpectedPass+t.WrongFail, t.Leaks, t.Attempts, scope(r))
	fmt.Fprintf(out, "Run %s, suite %s, started %s, %.1f s.\n", codeSpan(r.RunID), codeSpan(r.Suite.Version+" "+r.Suite.Commit), codeSpan(r.Started), r.Seconds)
	if r.Blocked != "" {
		fmt.Fprintf(out, "\n**Nothing could run:** %s\n", codeSpan(r.Blocked))
	}
	markdownMatrix(out, r)
	markdownFailures(out, r)
	for _, s := range r.Stale {
		fmt.Fprintf(out, "\n- **stale gap** %s: %s\n", codeSpan(s.ID), codeSpan(s.Reason))
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write summary: %w", err)
	}
	return nil
}

func scope(r Report) string {
	if r.ExitStatus != 0 {
		return "no certificate of conformance"
	}
	return r.Scope()
}

func markdownMatrix(out io.Writer, r Report) {
	m := matrixOf(r)
	fmt.Fprintf(out, "\n| test |")
	for _, cell := range m.Cells {
		fmt.Fprintf(out, " %s |", tableSpan(cell))
	}
	fmt.Fprintf(out, "\n|---|%s\n", strings.Repeat("---|", len(m.Cells)))
	for _, row := range m.Rows {
		fmt.Fprintf(out, "| %s |", tableSpan(row.Test))
		for _, c := range row.Cells {
			fmt.Fprintf(out, " %s |", c.words())
		}
		fmt.Fprintln(out)
	}
}

func markdownFailures(out io.Writer, r Report) {
	bad := slices.DeleteFunc(slices.Clone(r.Assertions), func(a Assertion) bool { return !IsBad(a.Verdict) })
	if len(bad)+len(r.Leaks) > 0 {
		fmt.Fprint(out, "\n## What is wrong\n")
	}
	for _, a := range bad[:min(len(bad), summaryFailures)] {
		fmt.Fprintf(out, "\n- **%s** %s %s %s: %s\n", a.Verdict, codeSpan(a.ID), codeSpan(a.Rule), codeSpan(a.Cell), codeSpan(clip(headline(a), summaryText)))
		if a.Capsule != "" {
			fmt.Fprintf(out, "  capsule %s\n", codeSpan(a.Capsule))
		}
		if a.Replay != "" {
			fmt.Fprintf(out, "  replay %s\n", codeSpan(a.Replay))
		}
	}
	for _, l := range r.Leaks[:min(len(r.Leaks), summaryFailures)] {
		fmt.Fprintf(out, "\n- **leak** %s %s: %s\n", codeSpan(l.Script), codeSpan(l.Cell), codeSpan(clip(l.What, summaryText)))
	}
	if more := max(0, len(bad)-summaryFailures) + max(0, len(r.Leaks)-summaryFailures); more > 0 {
		fmt.Fprintf(out, "\n- and %d more: see report.html\n", more)
	}
}

// codeSpan is a text as one Markdown code span: fenced by more backticks than
// it holds in a row.
func codeSpan(text string) string {
	text = oneLine(text)
	longest, run := 0, 0
	for _, r := range text {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	return fence + " " + text + " " + fence
}

// tableSpan is a code span within a table, where a bar ends a cell even there.
func tableSpan(text string) string { return strings.ReplaceAll(codeSpan(text), "|", `\|`) }
