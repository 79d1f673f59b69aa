package reports

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// WriteTAP writes the report as TAP 14: a point for each assertion and each
// leak, and one for the conclusion, so that what reads only TAP is green if and
// only if the exit status is 0. A declared gap that fails as declared is a TODO,
// what was not run a SKIP. Any bytes give a valid document.
func WriteTAP(w io.Writer, r Report) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "TAP version 14\n1..%d\n", len(r.Assertions)+len(r.Leaks)+1)
	number := 0
	point := func(ok bool, description, directive string, diagnostics ...[2]string) {
		number++
		word := "ok"
		if !ok {
			word = "not ok"
		}
		fmt.Fprintf(out, "%s %d - %s%s\n", word, number, tapText(description), directive)
		writeYAML(out, diagnostics)
	}
	for _, a := range r.Assertions {
		name := a.ID + " (" + a.Rule + ") " + a.Cell
		switch a.Verdict {
		case Pass:
			point(true, name, "")
		case NotRun:
			point(true, name, " # SKIP "+tapText(a.Reason))
		case ExpectedFail:
			point(false, name, " # TODO "+tapText(a.Reason))
		default:
			point(false, name, "", tapDiagnostics(a)...)
		}
	}
	for _, l := range r.Leaks {
		point(false, "leak "+l.Script+" "+l.Cell, "", [2]string{"message", l.What}, [2]string{"attempt", l.Attempt}, [2]string{"replay", l.Replay})
	}
	point(r.ExitStatus == 0, fmt.Sprintf("conclusion: %s (exit %d)", r.Conclusion, r.ExitStatus), "")
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write tap: %w", err)
	}
	return nil
}

func tapDiagnostics(a Assertion) [][2]string {
	lines := [][2]string{{"severity", a.Verdict}, {"message", headline(a)}}
	for _, f := range a.Findings {
		if f.Verdict == a.Verdict {
			lines = append(lines, [2]string{"script", fmt.Sprintf("%s:%d: %s", f.Script, f.Line, f.Phase)}, [2]string{"seen", f.Seen},
				[2]string{"wanted", f.Wanted}, [2]string{"attempt", f.Attempt})
			break
		}
	}
	return append(lines, [2]string{"replay", a.Replay})
}

// tapText escapes what TAP reads as a directive, on one line.
func tapText(text string) string {
	return strings.NewReplacer(`\`, `\\`, "#", `\#`).Replace(oneLine(text))
}

// writeYAML writes a diagnostic block of double-quoted scalars.
func writeYAML(out io.Writer, members [][2]string) {
	if len(members) == 0 {
		return
	}
	fmt.Fprintln(out, "  ---")
	for _, m := range members {
		fmt.Fprintf(out, "  %s: %s\n", m[0], yamlString(m[1]))
	}
	fmt.Fprintln(out, "  ...")
}

// yamlString is a double-quoted YAML scalar in ASCII; bytes that are no UTF-8
// are escaped visibly first.
func yamlString(text string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range scrub(text) {
		switch {
		case r == '"' || r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case r >= ' ' && r < 0x7f:
			out.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			fmt.Fprintf(&out, `\U%08x`, r)
		}
	}
	out.WriteByte('"')
	return out.String()
}
