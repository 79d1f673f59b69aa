package jsonscan

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// CompactSize returns the length in bytes of the compact UTF-8 encoding of one
// JSON value: no whitespace, every string in its shortest spelling, numbers as
// they stand. A value that is not sound JSON gives an error and no size.
//
// Rules: R11, C-32.
func CompactSize(raw []byte) (int, error) {
	value := jsontext.Value(bytes.Clone(raw))
	if err := value.Format(); err != nil {
		return 0, fmt.Errorf("compact value: %w", err)
	}
	return len(value), nil
}
