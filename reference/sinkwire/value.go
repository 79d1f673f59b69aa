package sinkwire

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// A byte of one, and the high bit, in each of eight bytes.
const (
	ones = 0x0101010101010101
	high = 0x8080808080808080
)

// Problems of a line and of a value.
const (
	tooLong    = "line of more than 1048576 bytes"
	badValue   = "not a value"
	badNumber  = "not a number"
	badInteger = "integer beyond 2^53-1"
	badReal    = "number that is not finite"
	badEscape  = "string: not an escape"
	badText    = "string: byte that is not text"
)

// value steps over one value: null, true, false, a number or a string.
func (c *cursor) value() {
	switch b := c.peek(); {
	case b == '-' || b-'0' <= 9:
		c.number()
	case b == '"':
		c.text()
	case b == 'n':
		c.literal("null", badValue)
	case b == 't':
		c.literal("true", badValue)
	default:
		c.literal("false", badValue)
	}
}

// number steps over a JSON number. One without fraction and exponent is an
// integer and must be exact; any other must be finite as a double.
func (c *cursor) number() {
	line, start := c.line, c.at
	first := start
	if line[first] == '-' {
		first++
	}
	at := skipDigits(line, first)
	digits := at - first
	if digits == 0 || digits > 1 && line[first] == '0' {
		c.fail(badNumber)
		return
	}
	whole := at
	if at < len(line) && line[at] == '.' {
		whole = 0
		if at = skipDigits(line, at+1); line[at-1] == '.' {
			c.fail(badNumber)
			return
		}
	}
	if at < len(line) && line[at]|0x20 == 'e' {
		c.exponent(start, at+1)
		return
	}
	c.at = at
	if whole != 0 {
		c.checkInteger(line[start:at], digits)
	} else if digits > 308 {
		c.checkFinite(line[start:at])
	}
}

// exponent steps over what follows the e of the number that begins at start.
func (c *cursor) exponent(start, at int) {
	if at < len(c.line) && (c.line[at] == '+' || c.line[at] == '-') {
		at++
	}
	if c.at = skipDigits(c.line, at); c.at == at {
		c.fail(badNumber)
		return
	}
	c.checkFinite(c.line[start:c.at])
}

// skipDigits returns the place behind the decimal digits at this place. It
// looks at eight bytes at a time: the high bit of a byte is set where that is
// no digit; a carry changes only bytes behind the first such.
func skipDigits(line []byte, at int) int {
	for at+8 <= len(line) {
		digits := binary.LittleEndian.Uint64(line[at:]) ^ ones*'0'
		others := ((digits + ones*(0x80-10)) | digits) & high
		if others != 0 {
			return at + bits.TrailingZeros64(others)/8
		}
		at += 8
	}
	for at < len(line) && line[at]-'0' <= 9 {
		at++
	}
	return at
}

// checkFinite fails for a number that overflows a double.
func (c *cursor) checkFinite(number []byte) {
	if _, err := strconv.ParseFloat(string(number), 64); err != nil {
		c.fail(badReal)
	}
}

// checkInteger fails beyond MaxInteger, which has 16 digits, and for -0.
func (c *cursor) checkInteger(number []byte, digits int) {
	switch {
	case digits < 16 && (number[0] != '-' || number[1] != '0'):
	case digits == 16 && string(number[len(number)-16:]) <= "9007199254740991":
	default:
		c.fail(badInteger)
	}
}

// plain says for each byte whether it stands for itself in a string.
var plain = func() (table [256]bool) {
	for b := 0x20; b < utf8.RuneSelf; b++ {
		table[b] = b != '"' && b != '\\'
	}
	return table
}()

// skipPlain returns the place behind the bytes at this place that stand for
// themselves. Of eight bytes the high bit is set where one does not: it is
// below 0x20, a quote, a backslash, or not ASCII; a borrow changes only bytes
// behind the first such.
func skipPlain(line []byte, at int) int {
	for at+8 <= len(line) {
		word := binary.LittleEndian.Uint64(line[at:])
		quote, backslash := word^ones*'"', word^ones*'\\'
		others := ((word - ones*0x20) | (quote - ones) | (backslash - ones) | word) & high
		if others != 0 {
			return at + bits.TrailingZeros64(others)/8
		}
		at += 8
	}
	for at < len(line) && plain[line[at]] {
		at++
	}
	return at
}

// text steps over a string in strict UTF-8.
func (c *cursor) text() {
	line, at := c.line, c.at+1
	for {
		if at = skipPlain(line, at); at == len(line) {
			c.fail(badText)
			return
		}
		b := line[at]
		switch {
		case b == '"':
			c.at = at + 1
			return
		case b == '\\':
			size := escape(line[at:])
			if size == 0 {
				c.fail(badEscape)
				return
			}
			at += size
		default:
			r, size := utf8.DecodeRune(line[at:])
			if b < utf8.RuneSelf || r == utf8.RuneError && size == 1 {
				c.fail(badText)
				return
			}
			at += size
		}
	}
}

// escape returns the size of the escape that the text begins with, or 0. A
// surrogate must be one half of a pair: alone it is no text.
func escape(text []byte) int {
	if len(text) < 2 {
		return 0
	}
	switch text[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		unit := hexUnit(text[2:])
		if unit < 0xd800 || unit > 0xdfff {
			return sizeUnless(unit < 0, 6)
		}
		if unit > 0xdbff || len(text) < 12 || text[6] != '\\' || text[7] != 'u' {
			return 0
		}
		low := hexUnit(text[8:])
		return sizeUnless(low < 0xdc00 || low > 0xdfff, 12)
	}
	return 0
}

func sizeUnless(bad bool, size int) int {
	if bad {
		return 0
	}
	return size
}

// hexUnit returns the value of four hexadecimal digits, or -1.
func hexUnit(text []byte) int {
	if len(text) < 4 {
		return -1
	}
	unit := 0
	for _, b := range text[:4] {
		switch lower := b | 0x20; {
		case b >= '0' && b <= '9':
			unit = unit<<4 | int(b-'0')
		case lower >= 'a' && lower <= 'f':
			unit = unit<<4 | int(lower-'a'+10)
		default:
			return -1
		}
	}
	return unit
}
