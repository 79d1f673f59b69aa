package alter

import (
	"bytes"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// member is a value of a JSON text by its dotted path, with where it and its
// name stand.
type member struct {
	path       string
	kind       jsontext.Kind
	name       int // where its name begins; -1 in an array, and of the root
	start, end int
}

func (m member) value(text []byte) string { return string(text[m.start:m.end]) }

// word is the text of a string.
func (m member) word(text []byte) string {
	plain, err := jsontext.AppendUnquote(nil, text[m.start:m.end])
	if err != nil {
		return ""
	}
	return string(plain)
}

// read lists the values of a JSON text, parents first; nil when it is none.
func read(text []byte) []member {
	r := reader{text: text, decoder: jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true))}
	if r.value("", -1) != nil {
		return nil
	}
	if _, err := r.decoder.ReadToken(); err != io.EOF {
		return nil
	}
	return r.found
}

type reader struct {
	text    []byte
	decoder *jsontext.Decoder
	found   []member
}

func (r *reader) value(path string, name int) error {
	kind := r.decoder.PeekKind()
	at := len(r.found)
	r.found = append(r.found, member{path: path, kind: kind, name: name})
	var err error
	switch kind {
	case '{', '[':
		_, err = r.decoder.ReadToken()
		r.found[at].start = int(r.decoder.InputOffset()) - 1
		for i := 0; err == nil && r.decoder.PeekKind() != '}' && r.decoder.PeekKind() != ']'; i++ {
			err = r.inner(path, kind, i)
		}
		if err == nil {
			_, err = r.decoder.ReadToken()
		}
	default:
		var raw jsontext.Value
		raw, err = r.decoder.ReadValue()
		r.found[at].start = int(r.decoder.InputOffset()) - len(raw)
	}
	r.found[at].end = int(r.decoder.InputOffset())
	return err
}

func (r *reader) inner(path string, kind jsontext.Kind, i int) error {
	if kind == '[' {
		return r.value(join(path, strconv.Itoa(i)), -1)
	}
	raw, err := r.decoder.ReadValue()
	if err != nil {
		return err
	}
	start := int(r.decoder.InputOffset()) - len(raw)
	name, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return err
	}
	return r.value(join(path, string(name)), start)
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// under says whether a pattern, in which * is one name and ** all that is
// below, matches a path.
func under(pattern, dotted string) bool {
	if dotted == "" { // the whole text
		return false
	}
	wanted, got := strings.Split(pattern, "."), strings.Split(dotted, ".")
	for i, w := range wanted {
		switch {
		case i >= len(got):
			return false
		case w == "**":
			return true
		}
		if ok, err := path.Match(w, got[i]); !ok || err != nil {
			return false
		}
	}
	return len(wanted) == len(got)
}

// splice is a text with the bytes of a range replaced.
func splice(text []byte, start, end int, by string) []byte {
	return slices.Concat(text[:start], []byte(by), text[end:])
}

// without is a text that lacks a member.
func (m member) without(text []byte) []byte {
	switch {
	case text[m.end] == ',':
		return splice(text, m.name, m.end+1, "")
	case text[m.name-1] == ',':
		return splice(text, m.name-1, m.end, "")
	}
	return splice(text, m.name, m.end, "")
}

// twice is a text that has a member two times.
func (m member) twice(text []byte) []byte {
	return splice(text, m.end, m.end, ","+string(text[m.name:m.end]))
}

// recount makes a record's count of itself right again after its length has
// changed: the rest of it is as it was.
func recount(text []byte) []byte {
	var cells []member
	for _, m := range read(text) {
		if under("channels.status.*", m.path) && strings.HasSuffix(m.path, "_bytes") && !strings.HasSuffix(m.path, "limit_bytes") {
			cells = append(cells, m)
		}
	}
	size := len(text)
	for _, m := range cells {
		size -= m.end - m.start
	}
	total := size
	for n := 0; n != total; {
		n = total
		total = size + len(cells)*len(strconv.Itoa(n))
	}
	for _, m := range slices.Backward(cells) {
		text = splice(text, m.start, m.end, strconv.Itoa(total))
	}
	return text
}
