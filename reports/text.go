package reports

import (
	"fmt"
	"strings"
	"unicode"
)

// oneLine is a text of any bytes as one line without control characters: what
// cannot be shown is escaped visibly.
func oneLine(text string) string {
	var out strings.Builder
	for _, r := range scrub(text) {
		switch {
		case r == '\n' || r == '\t' || r == '\r' || unicode.Is(unicode.Zs, r):
			out.WriteByte(' ')
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r):
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// clip keeps at most the given number of characters and says when some are cut.
func clip(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most]) + "…"
}
