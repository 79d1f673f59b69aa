package faultinject

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// word is one piece of a line. A quoted word is never taken for a keyword or
// a separator.
type word struct {
	text   string
	quoted bool
	col    int
}

func (w word) is(text string) bool { return !w.quoted && w.text == text }

// lexLine cuts a line into words. A semicolon is a word of its own, a # at
// the start of a word begins a comment.
func lexLine(line string) ([]word, *Error) {
	var out []word
	for i := 0; i < len(line); {
		switch c := line[i]; {
		case c == ' ' || c == '\t' || c == '\r':
			i++
		case c == '#':
			return out, nil
		case c == ';':
			out = append(out, word{";", false, i + 1})
			i++
		case c == '"':
			quoted, err := strconv.QuotedPrefix(line[i:])
			if err != nil {
				return nil, &Error{Pos: Pos{Col: i + 1}, Text: "string without an end"}
			}
			text, _ := strconv.Unquote(quoted)
			out = append(out, word{text, true, i + 1})
			i += len(quoted)
		default:
			end := i + strings.IndexAny(line[i:]+" ", " \t\r;\"")
			out = append(out, word{line[i:end], false, i + 1})
			i = end
		}
	}
	return out, nil
}

// quoteWord returns text as one word of a line, quoted only where it must be.
func quoteWord(text string) string {
	plain := text != "" && utf8.ValidString(text) && !strings.HasPrefix(text, "#") &&
		strings.IndexFunc(text, func(r rune) bool {
			return r == ';' || r == '"' || unicode.IsSpace(r) || !unicode.IsPrint(r)
		}) < 0
	if plain {
		return text
	}
	return strconv.Quote(text)
}
