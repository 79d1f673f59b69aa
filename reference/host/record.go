package host

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxFindings bounds what is said about one attempt.
const maxFindings = 16

// Record is a terminal packet that has the shape of a record. What it says is
// another question.
type Record struct{ root *value }

// value is one JSON value. A nil value is an absent one.
type value struct {
	kind    byte // n t f " 0 { [ as jsontext.Kind spells them
	text    string
	raw     string // as spelled
	members []member
}

type member struct {
	name string
	*value
}

// Decode reads a terminal packet: one compact UTF-8 JSON object and one LF, of
// at most 65,536 bytes, with every member of the contract once and no other,
// each of its type. A packet that is not that gives no record and a reason.
//
// It shares no code with the side that writes records.
//
// Rules: R10, R12, R14.
func Decode(packet []byte) (*Record, error) {
	if len(packet) > terminalBytes {
		return nil, fmt.Errorf("packet: %d bytes, limit %d", len(packet), terminalBytes)
	}
	body, framed := bytes.CutSuffix(packet, []byte("\n"))
	if !framed {
		return nil, errors.New("packet: no LF at its end")
	}
	root, err := parse(body)
	if err != nil {
		return nil, fmt.Errorf("packet: %w", err)
	}
	if !compact(body) {
		return nil, errors.New("packet: not compact")
	}
	if where, wanted := recordShape()(root); wanted != "" {
		return nil, fmt.Errorf("%s: got %s, want %s", where, root.at(where), wanted)
	}
	return &Record{root}, nil
}

// compact: no blank outside strings, in what is known to be JSON.
func compact(content []byte) bool {
	inside := false
	for i := 0; i < len(content); i++ {
		switch c := content[i]; {
		case c == '"':
			inside = !inside
		case inside && c == '\\':
			i++
		case !inside && (c == ' ' || c == '\t' || c == '\r' || c == '\n'):
			return false
		}
	}
	return true
}

// parser turns tokens into values, whose texts are parts of the source.
type parser struct {
	source  string
	decoder *jsontext.Decoder
}

// parse reads exactly one JSON value: UTF-8, no name twice, bounded nesting.
func parse(content []byte) (*value, error) {
	p := parser{string(content), jsontext.NewDecoder(bytes.NewReader(content))}
	root, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if _, err := p.decoder.ReadToken(); err != io.EOF {
		return nil, errors.New("bytes after the object")
	}
	return root, nil
}

// maxDepth is above the six levels of a record.
const maxDepth = 8

func (p *parser) value(depth int) (*value, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	v := &value{kind: byte(p.decoder.PeekKind())}
	begin := p.decoder.InputOffset()
	var err error
	switch v.kind {
	case '{':
		err = p.members(v, depth)
	case '[': // only where the type is free
		err = p.decoder.SkipValue()
	default:
		v.text, err = p.token()
	}
	if err != nil {
		return nil, err
	}
	v.raw = p.since(begin)
	return v, nil
}

func (p *parser) members(v *value, depth int) error {
	if _, err := p.decoder.ReadToken(); err != nil {
		return err
	}
	for p.decoder.PeekKind() != '}' {
		name, err := p.token()
		if err != nil {
			return err
		}
		inner, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		v.members = append(v.members, member{name, inner})
	}
	_, err := p.decoder.ReadToken()
	return err
}

// token reads a scalar or a name: its text, without quotes and escapes.
func (p *parser) token() (string, error) {
	begin := p.decoder.InputOffset()
	token, err := p.decoder.ReadToken()
	if err != nil {
		return "", err
	}
	raw := p.since(begin)
	if raw[0] == '"' && strings.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1], nil
	}
	return token.String(), nil
}

// since is the source from an offset to where the decoder is, without what
// separates values.
func (p *parser) since(begin int64) string {
	return strings.TrimLeft(p.source[begin:p.decoder.InputOffset()], ":, \t\r\n")
}

// at follows a path of names with dots between; nil where one is missing, and
// the value itself for no path.
func (v *value) at(path string) *value {
	if path == "" {
		return v
	}
	for name := range strings.SplitSeq(path, ".") {
		v = v.member(name)
	}
	return v
}

func (v *value) member(name string) *value {
	if v == nil {
		return nil
	}
	for _, m := range v.members {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

func (v *value) is(kind byte) bool { return v != nil && v.kind == kind }

// number reads a whole number as the contract spells it: digits, no zero in
// front, at most 2^53−1.
func (v *value) number() (int64, bool) {
	if !v.is('0') {
		return 0, false
	}
	n, err := strconv.ParseUint(v.text, 10, 64)
	return int64(n), err == nil && n <= largest && (v.text == "0" || v.text[0] != '0')
}

// String is the value for a finding, cut short.
func (v *value) String() string {
	if v == nil {
		return "nothing"
	}
	if len(v.raw) > 80 {
		return v.raw[:80] + "…"
	}
	return v.raw
}

// same compares with a wanted value: text, number, truth or nil for null.
func (v *value) same(want any) bool {
	switch want := want.(type) {
	case nil:
		return v.is('n')
	case bool:
		return v.is('t') && want || v.is('f') && !want
	case string:
		return v.is('"') && v.text == want
	case int64:
		n, ok := v.number()
		return ok && n == want
	}
	panic(fmt.Sprintf("bug: compare with %T", want))
}

func isHex(text string, digits int) bool {
	return len(text) == digits && strings.Trim(text, "0123456789abcdef") == ""
}

func (r *Record) complete() bool { return r.root.at("complete").is('t') }

// cause is S's own failure. Its args are scalars.
func (r *Record) cause() *Cause {
	failure := r.root.at("failure")
	args := map[string]any{}
	for _, arg := range failure.at("args").members {
		args[arg.name] = jsontext.Value(arg.raw)
	}
	return &Cause{failure.at("code").text, args, failure.at("authority").text}
}
