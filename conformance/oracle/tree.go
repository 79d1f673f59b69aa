package oracle

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth bounds the nesting of a document that the oracle reads.
const maxDepth = 64

// node is one JSON value. Members keep their order and their duplicates, so
// that a check can speak of both. A nil node is an absent value; every method
// may be called on it.
type node struct {
	kind    byte // n t f " 0 { [ as jsontext.Kind spells them
	text    string
	path    string // within the terminal record, "" elsewhere
	members []member
	items   []*node
}

type member struct {
	name  string
	value *node
}

// parseDocument reads exactly one JSON value: valid UTF-8, JSON numbers,
// nothing after it but blanks. Duplicate members are kept.
func parseDocument(content []byte) (*node, error) {
	decoder := jsontext.NewDecoder(bytes.NewReader(content), jsontext.AllowDuplicateNames(true))
	root, err := parseValue(decoder, 0)
	if err != nil {
		return nil, err
	}
	if _, err := decoder.ReadToken(); err != io.EOF {
		return nil, fmt.Errorf("bytes after the first value")
	}
	return root, nil
}

func parseValue(decoder *jsontext.Decoder, depth int) (*node, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	token, err := decoder.ReadToken()
	if err != nil {
		return nil, err
	}
	value := &node{kind: byte(token.Kind())}
	switch value.kind {
	case '{':
		return value, parseMembers(decoder, value, depth)
	case '[':
		return value, parseItems(decoder, value, depth)
	default:
		value.text = token.String()
		return value, nil
	}
}

func parseMembers(decoder *jsontext.Decoder, object *node, depth int) error {
	for decoder.PeekKind() != '}' {
		name, err := decoder.ReadToken()
		if err != nil {
			return err
		}
		key := name.String()
		value, err := parseValue(decoder, depth+1)
		if err != nil {
			return err
		}
		object.members = append(object.members, member{key, value})
	}
	_, err := decoder.ReadToken()
	return err
}

func parseItems(decoder *jsontext.Decoder, array *node, depth int) error {
	for decoder.PeekKind() != ']' {
		value, err := parseValue(decoder, depth+1)
		if err != nil {
			return err
		}
		array.items = append(array.items, value)
	}
	_, err := decoder.ReadToken()
	return err
}

// at follows members by name and gives nil where one is missing.
func (n *node) at(path ...string) *node {
	for _, name := range path {
		n = n.member(name)
	}
	return n
}

func (n *node) member(name string) *node {
	if n == nil {
		return nil
	}
	for _, m := range n.members {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

func (n *node) isNull() bool   { return n != nil && n.kind == 'n' }
func (n *node) isTrue() bool   { return n != nil && n.kind == 't' }
func (n *node) isFalse() bool  { return n != nil && n.kind == 'f' }
func (n *node) isString() bool { return n != nil && n.kind == '"' }
func (n *node) isObject() bool { return n != nil && n.kind == '{' }
func (n *node) is(text string) bool {
	return n.isString() && n.text == text
}

// maxSafe is the largest integer that every JSON reader keeps exact.
const maxSafe = 1<<53 - 1

// uint is the value of a plainly spelled integer in 0..2^53-1.
func (n *node) uint() (uint64, bool) {
	if n == nil || n.kind != '0' || !plainInteger(n.text) {
		return 0, false
	}
	value, err := strconv.ParseUint(n.text, 10, 64)
	return value, err == nil && value <= maxSafe
}

// plainInteger accepts 0 and decimals without sign, leading zero, fraction or exponent.
func plainInteger(text string) bool {
	if text == "" || (text[0] == '0' && text != "0") {
		return false
	}
	return strings.Trim(text, "0123456789") == ""
}

// String spells the value for a report line, cut to a readable length.
func (n *node) String() string {
	text := n.spell()
	if len(text) > 200 {
		return text[:200] + "…"
	}
	return text
}

func (n *node) spell() string {
	if n == nil {
		return "absent"
	}
	switch n.kind {
	case '"':
		return strconv.Quote(n.text)
	case '{':
		parts := make([]string, 0, len(n.members))
		for _, m := range n.members {
			parts = append(parts, m.name+":"+m.value.spell())
		}
		return "{" + strings.Join(parts, ",") + "}"
	case '[':
		return fmt.Sprintf("[%d items]", len(n.items))
	}
	return n.text
}

// walk visits n and everything below it, parents first. The path joins member
// names with dots.
func (n *node) walk(path string, visit func(path string, value *node)) {
	if n == nil {
		return
	}
	visit(path, n)
	for _, m := range n.members {
		m.value.walk(join(path, m.name), visit)
	}
	for i, item := range n.items {
		item.walk(join(path, strconv.Itoa(i)), visit)
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
