package sinkwire

import (
	"encoding/binary"
	"strconv"
	"unicode/utf8"
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
	case b == '"':
		c.text()
	case b == '-' || b >= '0' && b <= '9':
		c.number()
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
	start := c.at
	if c.line[start] == '-' {
		c.at++
	}
	first := c.at
	digits := c.digits()
	if digits == 0 || digits > 1 && c.line[first] == '0' {
		c.fail(badNumber)
		return
	}
	point, exponent := c.peek() == '.', false
	if point {
		c.at++
		if c.digits() == 0 {
			c.fail(badNumber)
			return
		}
	}
	if exponent = c.peek()|0x20 == 'e'; exponent {
		c.at++
		if sign := c.peek(); sign == '+' || sign == '-' {
			c.at++
		}
		if c.digits() == 0 {
			c.fail(badNumber)
			return
		}
	}
	switch number := c.line[start:c.at]; {
	case !point && !exponent:
		c.checkInteger(number, digits)
	case exponent || digits > 308:
		if _, err := strconv.ParseFloat(string(number), 64); err != nil {
			c.fail(badReal)
		}
	}
}

// digits steps over decimal digits and returns their number.
func (c *cursor) digits() int {
	line, at := c.line, c.at
	for at < len(line) && line[at]-'0' <= 9 {
		at++
	}
	n := at - c.at
	c.at = at
	return n
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

// plainWord says whether eight bytes all stand for themselves in a string. The
// high bit of a byte of each term is set where that byte is not: below 0x20, a
// quote, a backslash, or not ASCII. A borrow can only come from such a byte.
func plainWord(word uint64) bool {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	quote, backslash := word^ones*'"', word^ones*'\\'
	return ((word-ones*0x20)|(quote-ones)|(backslash-ones)|word)&high == 0
}

// text steps over a string in strict UTF-8.
func (c *cursor) text() {
	line, at := c.line, c.at+1
	for at < len(line) {
		for at+8 <= len(line) && plainWord(binary.LittleEndian.Uint64(line[at:])) {
			at += 8
		}
		for at < len(line) && plain[line[at]] {
			at++
		}
		if at == len(line) {
			break
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
	c.fail(badText)
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
