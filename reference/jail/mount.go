package jail

import (
	"strings"
)

// mount is one line of a mountinfo file.
type mount struct {
	root, point string // what of the file system is shown, and where
	options     []string
	kind, super string
}

// parseMount reads one line; false for a line of another form.
func parseMount(line string) (mount, bool) {
	left, right, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " - ")
	fields, tail := strings.Fields(left), strings.Fields(right)
	if !ok || len(fields) < 6 || len(tail) < 2 {
		return mount{}, false
	}
	m := mount{root: unescape(fields[3]), point: unescape(fields[4]), options: strings.Split(fields[5], ","), kind: tail[0]}
	if len(tail) > 2 {
		m.super = tail[2]
	}
	return m, true
}

// unescape undoes the octal escapes \040 \011 \012 \134 of mountinfo.
func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(text)
}
