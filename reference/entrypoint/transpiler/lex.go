package transpiler

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Limits of a strategy, all inclusive.
const (
	maxBytes      = 65536
	maxStatements = 1000
	maxDepth      = 64 // of an expression
	maxNameBytes  = 32
	maxDigits     = 18 // of a number, on either side of its point
)

// Position is a place in a strategy: line and column (in bytes), from 1.
type Position struct{ Line, Column int }

// Error refuses a strategy at a place.
type Error struct {
	Position
	Reason string
}

func (e *Error) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Reason) }

func refuse(at Position, format string, args ...any) error {
	return &Error{at, fmt.Sprintf(format, args...)}
}

type kind uint8

const (
	end kind = iota // of the text
	newline
	word   // name or keyword
	number // digits, with digits behind a point or without
	text   // the decoded string
	symbol
)

// token is one word of the language; its text is decoded.
type token struct {
	Position
	kind kind
	text string
}

func (t token) String() string {
	switch t.kind {
	case end:
		return "the end"
	case newline:
		return "the end of the line"
	case text:
		return "a text"
	}
	return fmt.Sprintf("%q", t.text)
}

// symbols in an order in which the longest is found first.
var symbols = []string{"<=", ">=", "==", "!=", "<", ">", "=", "+", "-", "*", "/", "(", ")", ",", ";", ":"}

// lexer reads tokens from a text.
type lexer struct {
	rest string
	at   Position
}

// tokens reads the whole text. A comment runs from # to the end of its line.
func tokens(source string) ([]token, error) {
	if len(source) > maxBytes {
		return nil, refuse(Position{1, 1}, "strategy of %d bytes, limit %d", len(source), maxBytes)
	}
	l := lexer{rest: source, at: Position{1, 1}}
	for all := []token{}; ; {
		t, err := l.next()
		if err != nil {
			return nil, err
		}
		all = append(all, t)
		if t.kind == end {
			return all, nil
		}
	}
}

func (l *lexer) take(n int) string {
	taken := l.rest[:n]
	l.rest = l.rest[n:]
	l.at.Column += n
	return taken
}

func (l *lexer) span(set string) int {
	return len(l.rest) - len(strings.TrimLeft(l.rest, set))
}

const (
	letters = "abcdefghijklmnopqrstuvwxyz"
	digits  = "0123456789"
)

func (l *lexer) next() (token, error) {
	l.take(l.span(" \t"))
	if strings.HasPrefix(l.rest, "#") {
		line, _, _ := strings.Cut(l.rest, "\n")
		if !utf8.ValidString(line) {
			return token{}, refuse(l.at, "comment that is not UTF-8")
		}
		l.take(len(line))
	}
	t := token{Position: l.at}
	if l.rest == "" {
		return t, nil
	}
	switch c := l.rest[0]; {
	case c == '\n':
		l.rest, l.at = l.rest[1:], Position{l.at.Line + 1, 1}
		t.kind = newline
		return t, nil
	case c == '"':
		return l.text()
	case strings.IndexByte(letters, c) >= 0:
		t.kind, t.text = word, l.take(l.span(letters+digits+"_"))
		if len(t.text) > maxNameBytes {
			return t, refuse(t.Position, "name of %d bytes, limit %d", len(t.text), maxNameBytes)
		}
		return t, nil
	case strings.IndexByte(digits, c) >= 0:
		return l.number()
	}
	for _, s := range symbols {
		if strings.HasPrefix(l.rest, s) {
			t.kind, t.text = symbol, l.take(len(s))
			return t, nil
		}
	}
	r, _ := utf8.DecodeRuneInString(l.rest)
	return t, refuse(t.Position, "unexpected character %q", r)
}

func (l *lexer) number() (token, error) {
	t := token{Position: l.at, kind: number}
	t.text = l.take(l.span(digits))
	whole, fraction := len(t.text), 0
	if strings.HasPrefix(l.rest, ".") {
		t.text += l.take(1)
		fraction = l.span(digits)
		t.text += l.take(fraction)
		if fraction == 0 {
			return t, refuse(t.Position, "number %q: no digit behind the point", t.text)
		}
	}
	if whole > maxDigits || fraction > maxDigits {
		return t, refuse(t.Position, "number with more than %d digits on one side of its point", maxDigits)
	}
	if whole > 1 && t.text[0] == '0' {
		return t, refuse(t.Position, "number %q: begins with a zero", t.text)
	}
	return t, nil
}

// escapes are the characters that a text spells with a backslash.
var escapes = map[byte]string{'n': "\n", 't': "\t", '"': `"`, '\\': `\`}

func (l *lexer) text() (token, error) {
	t := token{Position: l.at, kind: text}
	l.take(1)
	for {
		r, n := utf8.DecodeRuneInString(l.rest)
		switch {
		case l.rest == "" || r == '\n':
			return t, refuse(t.Position, "text without an end")
		case r == utf8.RuneError && n == 1:
			return t, refuse(l.at, "text that is not UTF-8")
		case r < ' ' || r == 0x7f:
			return t, refuse(l.at, "control character in a text")
		case r == '"':
			l.take(1)
			return t, nil
		case r == '\\':
			if len(l.rest) < 2 || escapes[l.rest[1]] == "" {
				return t, refuse(l.at, "unknown escape in a text")
			}
			t.text += escapes[l.take(2)[1]]
		default:
			t.text += l.take(n)
		}
	}
}
