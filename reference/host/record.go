package host

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
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
	members map[string]*value
	raw     []byte // as spelled
}

// Decode reads a terminal packet: one compact UTF-8 JSON object and one LF, of
// at most 65,536 bytes, with every member of the contract once and no other,
// each of its type. A packet that is not that gives no record and says why.
//
// It shares no code with the side that writes records.
//
// Rules: R10, R12, R14.
func Decode(packet []byte) (*Record, []string) {
	if len(packet) > terminalBytes {
		return nil, []string{fmt.Sprintf("packet: %d bytes, limit %d", len(packet), terminalBytes)}
	}
	body, framed := bytes.CutSuffix(packet, []byte("\n"))
	if !framed {
		return nil, []string{"packet: no LF at its end"}
	}
	root, err := parse(body)
	if err != nil {
		return nil, []string{"packet: " + err.Error()}
	}
	compact := jsontext.Value(bytes.Clone(body))
	if err := compact.Compact(); err != nil || !bytes.Equal(compact, body) {
		return nil, []string{"packet: not compact"}
	}
	var found []string
	recordShape("", root, func(path, wanted string) {
		if len(found) < maxFindings {
			found = append(found, fmt.Sprintf("%s: got %s, want %s", strings.TrimPrefix(path, "."), root.at(path), wanted))
		}
	})
	if len(found) > 0 {
		return nil, found
	}
	return &Record{root}, nil
}

// parse reads exactly one JSON value: UTF-8, no name twice, bounded nesting.
func parse(content []byte) (*value, error) {
	decoder := jsontext.NewDecoder(bytes.NewReader(content))
	root, err := parseValue(decoder, content, 0)
	if err != nil {
		return nil, err
	}
	if _, err := decoder.ReadToken(); err != io.EOF {
		return nil, errors.New("bytes after the object")
	}
	return root, nil
}

// maxDepth is above the five levels of a record.
const maxDepth = 8

func parseValue(decoder *jsontext.Decoder, content []byte, depth int) (*value, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	kind := byte(decoder.PeekKind())
	begin := decoder.InputOffset()
	v := &value{kind: kind}
	switch kind {
	case '{':
		if err := parseMembers(v, decoder, content, depth); err != nil {
			return nil, err
		}
	case '[': // only where the type is free
		if err := decoder.SkipValue(); err != nil {
			return nil, err
		}
	default:
		token, err := decoder.ReadToken()
		if err != nil {
			return nil, err
		}
		v.text = token.String()
	}
	v.raw = bytes.TrimLeft(content[begin:decoder.InputOffset()], ":, \t\r\n")
	return v, nil
}

func parseMembers(v *value, decoder *jsontext.Decoder, content []byte, depth int) error {
	if _, err := decoder.ReadToken(); err != nil {
		return err
	}
	for v.members = map[string]*value{}; decoder.PeekKind() != '}'; {
		name, err := decoder.ReadToken()
		if err != nil {
			return err
		}
		key := name.String()
		if v.members[key], err = parseValue(decoder, content, depth+1); err != nil {
			return err
		}
	}
	_, err := decoder.ReadToken()
	return err
}

// at follows a path of names with dots between; nil where one is missing.
func (v *value) at(path string) *value {
	for name := range strings.SplitSeq(strings.TrimPrefix(path, "."), ".") {
		if v == nil || name == "" {
			return v
		}
		v = v.members[name]
	}
	return v
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
	text := string(v.raw)
	if len(text) > 80 {
		text = text[:80] + "…"
	}
	return text
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
	for name, arg := range failure.at("args").members {
		args[name] = jsontext.Value(slices.Clone(arg.raw))
	}
	return &Cause{failure.at("code").text, args, failure.at("authority").text}
}
