package reports

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// WriteAnnotations writes a workflow command of GitHub Actions for each thing
// that is wrong, and one for what was not run: lines that the job's page shows
// beside the script that found it. Any bytes give one line each.
func WriteAnnotations(w io.Writer, r Report) error {
	out := bufio.NewWriter(w)
	for _, a := range r.Assertions {
		if IsBad(a.Verdict) {
			annotate(out, "error", annotationPlace(a), fmt.Sprintf("%s %s %s %s", a.Verdict, a.ID, a.Rule, a.Cell), headline(a)+"\n"+a.Replay)
		}
	}
	for _, l := range r.Leaks {
		annotate(out, "error", scriptPath(l.Script), "leak "+l.Cell, l.What+"\n"+l.Replay)
	}
	for _, s := range r.Stale {
		annotate(out, "error", "", "stale gap "+s.ID, s.Reason)
	}
	if r.Totals.NotRun > 0 {
		annotate(out, "warning", "", "not run", fmt.Sprintf("%d of %d assertions were not run; see report.html", r.Totals.NotRun, r.Totals.Planned))
	}
	annotate(out, "notice", "", "touchstone", fmt.Sprintf("%s: %s (exit %d)", r.Launcher.Name, r.Conclusion, r.ExitStatus))
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write annotations: %w", err)
	}
	return nil
}

func annotationPlace(a Assertion) string {
	for _, f := range a.Findings {
		if f.Verdict == Fail {
			place := scriptPath(f.Script)
			if f.Line > 0 {
				place += fmt.Sprintf(",line=%d", f.Line)
			}
			return place
		}
	}
	return ""
}

func scriptPath(script string) string {
	return "file=testdata/" + annotationProperty(script) + ".txtar"
}

func annotate(out io.Writer, level, place, title, message string) {
	if place != "" {
		place += ","
	}
	lines := strings.Split(message, "\n")
	for i := range lines {
		lines[i] = annotationEscape(oneLine(lines[i]))
	}
	fmt.Fprintf(out, "::%s %stitle=%s::%s\n", level, place, annotationProperty(title), strings.Join(lines, "%0A"))
}

func annotationEscape(text string) string { return strings.ReplaceAll(text, "%", "%25") }

func annotationProperty(text string) string {
	return strings.NewReplacer("%", "%25", ":", "%3A", ",", "%2C").Replace(oneLine(text))
}
