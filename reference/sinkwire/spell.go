package sinkwire

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf16"
)

// Value is one value of a record, spelled as the project's writers spell it.
type Value struct{ spelling string }

// Null is the absent value; no equity point may have it.
func Null() Value { return Value{"null"} }

// Bool is a truth value.
func Bool(b bool) Value { return Value{strconv.FormatBool(b)} }

// Integer is an exact integer. One beyond MaxInteger is refused when written.
func Integer(n int64) Value { return Value{strconv.FormatInt(n, 10)} }

// Real is a double in the fewest digits that give it back, always with a
// fraction or an exponent, so that it is never taken for an integer. One that
// is not finite has a spelling that no reader takes.
func Real(x float64) Value {
	magnitude := math.Abs(x)
	if magnitude != 0 && (magnitude < 1e-5 || magnitude >= 1e15) {
		return Value{strconv.FormatFloat(x, 'e', -1, 64)}
	}
	if x == math.Trunc(x) {
		return Value{strconv.FormatFloat(x, 'f', 1, 64)}
	}
	return Value{strconv.FormatFloat(x, 'f', -1, 64)}
}

// Text is a string, spelled in ASCII: every other character is a \u escape.
// Text that is not UTF-8 has U+FFFD for each wrong byte.
func Text(text string) Value {
	to := []byte{'"'}
	for _, r := range text {
		to = appendCharacter(to, r)
	}
	return Value{string(append(to, '"'))}
}

func appendCharacter(to []byte, r rune) []byte {
	const short = "\b\f\n\r\t"
	switch {
	case r == '"' || r == '\\':
		return append(to, '\\', byte(r))
	case r < 0x20:
		for i := range len(short) {
			if short[i] == byte(r) {
				return append(to, '\\', "bfnrt"[i])
			}
		}
		return fmt.Appendf(to, `\u%04x`, r)
	case r < 0x80:
		return append(to, byte(r))
	}
	for _, unit := range utf16.AppendRune(nil, r) {
		to = fmt.Appendf(to, `\u%04x`, unit)
	}
	return to
}
