package oracle

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// blank replaces the scalar tokens at the given dot-separated paths by null,
// and leaves every other byte as it is. Content that is not JSON comes back
// unchanged up to its first fault.
func blank(content []byte, paths []string) []byte {
	if len(paths) == 0 {
		return content
	}
	b := blanker{decoder: jsontext.NewDecoder(bytes.NewReader(content), jsontext.AllowDuplicateNames(true)), paths: paths}
	_ = b.value("") // a fault leaves the rest as it is: the comparison then fails on its own
	var out []byte
	from := int64(0)
	for _, cut := range b.cuts {
		out = append(append(out, content[from:cut[0]]...), "null"...)
		from = cut[1]
	}
	return append(out, content[from:]...)
}

type blanker struct {
	decoder *jsontext.Decoder
	paths   []string
	cuts    [][2]int64
}

func (b *blanker) value(path string) error {
	switch b.decoder.PeekKind() {
	case '{':
		return b.object(path)
	case '[':
		return b.decoder.SkipValue()
	}
	value, err := b.decoder.ReadValue()
	if err != nil {
		return err
	}
	if end := b.decoder.InputOffset(); slices.Contains(b.paths, path) {
		b.cuts = append(b.cuts, [2]int64{end - int64(len(value)), end})
	}
	return nil
}

func (b *blanker) object(path string) error {
	if _, err := b.decoder.ReadToken(); err != nil {
		return err
	}
	for b.decoder.PeekKind() != '}' {
		name, err := b.decoder.ReadToken()
		if err != nil {
			return err
		}
		if err := b.value(join(path, name.String())); err != nil {
			return err
		}
	}
	_, err := b.decoder.ReadToken()
	return err
}

// firstDifference is the offset of the first byte in which two texts differ,
// -1 when they are equal.
func firstDifference(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	if len(a) == len(b) {
		return -1
	}
	return n
}

// excerpt quotes what surrounds an offset.
func excerpt(content []byte, offset int) string {
	from, to := max(0, offset-20), min(len(content), offset+20)
	return string(content[from:to])
}
