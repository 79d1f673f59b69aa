package script

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// A double-quoted chunk reaches the verbs between these marks, still escaped,
// so that testscript neither splits nor expands it and no byte is lost.
const (
	openMark  = '\x01'
	closeMark = '\x02'
)

// word is one word of a line: chunks that stand side by side.
type word []chunk

type chunk struct {
	quote byte   // 0 bare, ' verbatim, " Go escapes
	text  string // between the quotes, as written
}

// splitLine splits a line as the language defines it. A # outside quotes
// starts a comment.
func splitLine(line string) ([]word, error) {
	var words []word
	var current word
	for i := 0; i < len(line); {
		switch c := line[i]; c {
		case ' ', '\t', '\r':
			if current != nil {
				words, current = append(words, current), nil
			}
			i++
		case '#':
			i = len(line)
		case '\'', '"':
			text, next, err := quoted(line, i)
			if err != nil {
				return nil, err
			}
			current = append(current, chunk{c, text})
			i = next
		case openMark, closeMark:
			return nil, fmt.Errorf("control byte %#x", c)
		default:
			next := strings.IndexAny(line[i:], " \t\r#'\"\x01\x02")
			if next < 0 {
				next = len(line) - i
			}
			current = append(current, chunk{0, line[i : i+next]})
			i += next
		}
	}
	if current != nil {
		words = append(words, current)
	}
	return words, nil
}

// quoted reads the quoted text that starts at i and gives where it ends.
func quoted(line string, i int) (text string, next int, err error) {
	quote := line[i]
	for j := i + 1; j < len(line); j++ {
		switch {
		case quote == '"' && line[j] == '\\':
			j++
		case line[j] != quote:
		case quote == '\'' && j+1 < len(line) && line[j+1] == '\'':
			j++
		default:
			text = line[i+1 : j]
			if _, err := (chunk{quote, text}).plain(); err != nil {
				return "", 0, err
			}
			return text, j + 1, nil
		}
	}
	return "", 0, fmt.Errorf("unterminated %c", quote)
}

// plain is what a quoted chunk stands for.
func (c chunk) plain() (string, error) {
	switch c.quote {
	case '\'':
		return strings.ReplaceAll(c.text, "''", "'"), nil
	case '"':
		text, err := strconv.Unquote(`"` + c.text + `"`)
		if err != nil {
			return "", fmt.Errorf("text \"%s\": not a Go string", c.text)
		}
		return text, nil
	}
	return c.text, nil
}

// encode spells a word for testscript: quoted text within single quotes, and
// marked where it was double-quoted.
func (w word) encode() string {
	var out strings.Builder
	for _, c := range w {
		switch c.quote {
		case '"':
			inner := strings.ReplaceAll(c.text, "'", "''")
			out.WriteString("'" + string(openMark) + inner + string(closeMark) + "'")
		case '\'':
			out.WriteString("'" + c.text + "'")
		default:
			out.WriteString(c.text)
		}
	}
	return out.String()
}

// expand gives the word as a verb would get it, with lookup in place of
// testscript's own variables.
func (w word) expand(lookup func(string) string) string {
	var out strings.Builder
	for _, c := range w {
		switch c.quote {
		case '"':
			out.WriteString(string(openMark) + c.text + string(closeMark))
		case '\'':
			text, _ := c.plain() // single quotes have no escapes that can be wrong
			out.WriteString(text)
		default:
			out.WriteString(os.Expand(c.text, lookup))
		}
	}
	return out.String()
}

// variables are the names that the word's bare chunks expand.
func (w word) variables() []string {
	var names []string
	w.expand(func(name string) string {
		names = append(names, name)
		return ""
	})
	return names
}

// decode turns an argument into the text that it stands for.
func decode(argument string) (string, error) {
	var out strings.Builder
	for argument != "" {
		bare, rest, marked := strings.Cut(argument, string(openMark))
		out.WriteString(bare)
		if !marked {
			break
		}
		inner, after, closed := strings.Cut(rest, string(closeMark))
		if !closed {
			return "", fmt.Errorf("unterminated quoted text")
		}
		text, err := chunk{'"', inner}.plain()
		if err != nil {
			return "", err
		}
		out.WriteString(text)
		argument = after
	}
	return out.String(), nil
}

func decodeAll(arguments []string) ([]string, error) {
	texts := make([]string, 0, len(arguments))
	for _, a := range arguments {
		text, err := decode(a)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// splitList splits an argument at the commas outside quoted text.
func splitList(argument string) ([]string, error) {
	var parts []string
	inside, from := false, 0
	for i := 0; i <= len(argument); i++ {
		switch {
		case i == len(argument) || (argument[i] == ',' && !inside):
			text, err := decode(argument[from:i])
			if err != nil {
				return nil, err
			}
			parts = append(parts, text)
			from = i + 1
		case argument[i] == openMark:
			inside = true
		case argument[i] == closeMark:
			inside = false
		}
	}
	return parts, nil
}

// cutOutside is strings.Cut with the separator outside quoted text.
func cutOutside(argument, separator string) (before, after string, found bool) {
	inside := false
	for i := range len(argument) {
		switch {
		case argument[i] == openMark:
			inside = true
		case argument[i] == closeMark:
			inside = false
		case !inside && strings.HasPrefix(argument[i:], separator):
			return argument[:i], argument[i+len(separator):], true
		}
	}
	return argument, "", false
}

// assignment splits key=value. The key is never quoted.
func assignment(argument string) (key, value string, err error) {
	key, value, found := strings.Cut(argument, "=")
	if !found || key == "" || strings.ContainsRune(key, openMark) {
		return "", "", fmt.Errorf("%q: want key=value", argument)
	}
	return key, value, nil
}
