package zoo

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Diff shows the pieces of a record as changes of the sources, in their order.
func (m Mutant) Diff(root string) (string, error) {
	texts := map[string]string{}
	var out strings.Builder
	for i, p := range m.Pieces {
		text, known := texts[p.File]
		if !known {
			content, err := os.ReadFile(filepath.Join(root, p.File))
			if err != nil {
				return "", fmt.Errorf("%w %s: piece %d: %w", ErrDead, m.ID, i, err)
			}
			text = string(content)
		}
		if n := strings.Count(text, p.Old); n != 1 {
			return "", fmt.Errorf("%w %s: piece %d: stands %d times in %s, want once", ErrDead, m.ID, i, n, p.File)
		}
		changed := strings.Replace(text, p.Old, p.New, 1)
		fmt.Fprintf(&out, "--- a/%s\n+++ b/%s\n%s", p.File, p.File, hunk(text, changed))
		texts[p.File] = changed
	}
	return out.String(), nil
}

// hunk is the one stretch of lines in which two texts differ.
func hunk(before, after string) string {
	a, b := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	start, end := 0, 0
	for start < min(len(a), len(b)) && a[start] == b[start] {
		start++
	}
	for end < min(len(a), len(b))-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	a, b = a[start:len(a)-end], b[start:len(b)-end]
	var out strings.Builder
	fmt.Fprintf(&out, "@@ -%d,%d +%d,%d @@\n", start+1, len(a), start+1, len(b))
	writeLines(&out, "-", a)
	writeLines(&out, "+", b)
	return out.String()
}

func writeLines(out *strings.Builder, sign string, lines []string) {
	for _, line := range lines {
		out.WriteString(sign + strings.TrimSuffix(line, "\n") + "\n")
	}
}
