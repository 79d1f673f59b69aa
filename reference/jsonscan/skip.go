package jsonscan

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// The functions of this file take what is usual and whole within the chunk, for
// speed. They return the position they were given where anything else stands,
// which the state machine then judges.

// skipPlain returns the first position from i on whose byte is not a plain
// ASCII character of a string, or len(p).
func skipPlain(p []byte, i int) int {
	for ; i+8 <= len(p); i += 8 {
		if found := notPlain(binary.LittleEndian.Uint64(p[i:])); found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(p) && ' ' <= p[i] && p[i] < utf8.RuneSelf && p[i] != '"' && p[i] != '\\' {
		i++
	}
	return i
}

// notPlain has the top bit set in each byte of w that is a control character,
// a quote, a backslash or not ASCII. Above the first such byte there may be
// others set, by borrow; the first is exact.
func notPlain(w uint64) uint64 {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote, slash := w^ones*'"', w^ones*'\\'
	return ((w-ones*' ')&^w | (quote-ones)&^quote | (slash-ones)&^slash | w) & tops
}

// skipRunes takes a run of two- and three-byte characters.
func skipRunes(p []byte, i int) int {
	for i+2 < len(p) {
		switch b := p[i]; {
		case 0xc2 <= b && b <= 0xdf && follows(p[i+1]):
			i += 2
		// Not E0 and ED, whose second byte has bounds of its own.
		case 0xe1 <= b && b <= 0xef && b != 0xed && follows(p[i+1]) && follows(p[i+2]):
			i += 3
		default:
			return i
		}
	}
	return i
}

// follows tells whether b can be a later byte of a character.
func follows(b byte) bool { return b&0xc0 == 0x80 }

// skipEscape takes one escape that names one whole character.
func skipEscape(p []byte, i int) int {
	switch {
	case i+1 < len(p) && unescaped[p[i+1]] != 0:
		return i + 2
	case i+6 > len(p) || p[i+1] != 'u':
		return i
	}
	unit := hexUnit(p[i+2:])
	switch {
	case unit < 0xd800 || 0xe000 <= unit && unit <= 0xffff:
		return i + 6
	case unit >= 0xdc00 || i+12 > len(p) || p[i+6] != '\\' || p[i+7] != 'u':
		return i
	}
	if low := hexUnit(p[i+8:]); low < 0xdc00 || low >= 0xe000 {
		return i
	}
	return i + 12
}

// hexUnit returns the value of four hex digits, or a larger value.
func hexUnit(p []byte) uint32 {
	return hexValue[p[0]]<<12 | hexValue[p[1]]<<8 | hexValue[p[2]]<<4 | hexValue[p[3]]
}

// hexValue maps a hex digit to its value, and every other byte to one so large
// that no shift of it looks like a unit.
var hexValue = func() (values [256]uint32) {
	for b := range values {
		values[b] = 1 << 16
	}
	for value, digit := range "0123456789abcdef" {
		values[digit] = uint32(value)
	}
	for value, digit := range "ABCDEF" {
		values[digit] = uint32(10 + value)
	}
	return values
}()
