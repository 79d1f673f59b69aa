package jsonscan

import (
	"hash/maphash"
	"unicode/utf16"
	"unicode/utf8"
)

type textStep uint8

const (
	plain     textStep = iota // between characters
	escaped                   // after a backslash
	hex                       // within the four digits of \u
	lowSlash                  // after a high surrogate: its partner's backslash
	lowLetter                 // then its partner's u
	partial                   // within a UTF-8 sequence that a chunk cut
)

// textState is the position within one string, which may be a name.
type textState struct {
	step  textStep
	digit int  // how many hex digits were read
	unit  rune // their value
	high  rune // the high surrogate that waits for its partner, or 0
	cut   [utf8.UTFMax]byte
	size  int // of cut

	// For a name only: its decoded bytes are p[from:i] of this chunk, after
	// what hash (and buffer, for a top-level name) took over already.
	from   int
	split  bool
	hash   maphash.Hash
	buffer []byte
	length int // decoded bytes of a top-level name, also beyond buffer
}

// openName starts a name; i is the position after its first quote.
func (s *Scanner) openName(p []byte, i int) int {
	if next := s.follow(p, i); next > i {
		return s.afterName(p, next)
	}
	if end := skipPlain(p, i); end < len(p) && p[end] == '"' {
		return s.closeName(p, i, end)
	}
	s.state = inName
	t := &s.text
	t.step, t.from, t.split = plain, i, false
	t.buffer, t.length = t.buffer[:0], 0
	return s.scanText(p, i)
}

// openText starts a string value; i is the position after its first quote.
func (s *Scanner) openText(p []byte, i int) int {
	i = skipPlain(p, i)
	if i < len(p) && p[i] == '"' {
		s.endValue(p, i+1)
		return i + 1
	}
	s.state = inText
	s.text.step = plain
	return s.scanText(p, i)
}

// scanText takes bytes of a string up to its closing quote.
func (s *Scanner) scanText(p []byte, i int) int {
	for i < len(p) && s.state != refused {
		if s.text.step != plain {
			i = s.scanSpecial(p, i)
			continue
		}
		i = skipPlain(p, i)
		if i == len(p) {
			break
		}
		switch b := p[i]; {
		case b == '"':
			return s.closeText(p, i)
		case b == '\\':
			i = s.openEscape(p, i)
		case b < ' ':
			return s.fail(i, RuleControl)
		default:
			i = s.scanRune(p, i)
		}
	}
	return i
}

// openEscape takes a backslash, and in a value the whole escape if it can.
func (s *Scanner) openEscape(p []byte, i int) int {
	if s.state == inText {
		if next := skipEscape(p, i); next > i {
			return next
		}
	}
	s.leavePlain(p, i)
	s.text.step = escaped
	return i + 1
}

// leavePlain takes over the plain bytes of a name before p[i].
func (s *Scanner) leavePlain(p []byte, i int) {
	if s.state == inName {
		s.keepName(p[s.text.from:i])
	}
}

// enterPlain goes on with plain bytes at p[i].
func (s *Scanner) enterPlain(i int) int {
	s.text.step = plain
	s.text.from = i
	return i
}

// keepName takes over decoded bytes of a name whose end is not in sight.
func (s *Scanner) keepName(decoded []byte) {
	t := &s.text
	if !t.split {
		t.split = true
		t.hash.Reset()
	}
	t.hash.Write(decoded)
	if len(s.frames) == 1 {
		t.length += len(decoded)
		room := max(0, s.limits.NameBytes-len(t.buffer))
		t.buffer = append(t.buffer, decoded[:min(room, len(decoded))]...)
	}
}

// closeText ends a string; p[i] is its closing quote.
func (s *Scanner) closeText(p []byte, i int) int {
	if s.state == inText {
		s.endValue(p, i+1)
		return i + 1
	}
	t := &s.text
	if !t.split {
		return s.closeName(p, t.from, i)
	}
	s.keepName(p[t.from:i])
	if here := s.here(); here != nil {
		here.whole = false
	}
	return s.endName(p, i+1, t.buffer, t.length, t.hash.Sum64())
}

// closeName ends a name that stands whole and without escapes in p[from:i].
func (s *Scanner) closeName(p []byte, from, i int) int {
	name := p[from:i]
	if here := s.here(); here != nil {
		here.record(name)
	}
	return s.endName(p, i+1, name, len(name), s.names.sum(name))
}

// endName enters a name; decoded may be only a prefix of its length bytes, and i
// is the position after its closing quote.
func (s *Scanner) endName(p []byte, i int, decoded []byte, length int, sum uint64) int {
	if s.liveNames() == s.limits.LiveKeys {
		return s.fail(i, RuleLiveKeys)
	}
	if !s.names.add(sum, len(s.frames)) {
		return s.fail(i, RuleDuplicate)
	}
	if len(s.frames) == 1 {
		s.members.name(decoded, length)
	}
	return s.afterName(p, i)
}

// afterName goes on at the position after a name's closing quote.
func (s *Scanner) afterName(p []byte, i int) int {
	if i+1 < len(p) && p[i] == ':' {
		s.state = atValue
		return s.openValue(p, i+1)
	}
	s.state = atColon
	return i
}

// scanRune takes one character beyond ASCII, whose first byte is p[i].
func (s *Scanner) scanRune(p []byte, i int) int {
	if next := skipRunes(p, i); next > i {
		return next
	}
	r, size := utf8.DecodeRune(p[i:])
	if r != utf8.RuneError || size > 1 {
		return i + size
	}
	if utf8.FullRune(p[i:]) {
		return s.fail(i, RuleUTF8)
	}
	s.leavePlain(p, i)
	s.text.step = partial
	s.text.size = copy(s.text.cut[:], p[i:])
	return len(p)
}

// scanSpecial takes one byte of an escape or of a cut character.
func (s *Scanner) scanSpecial(p []byte, i int) int {
	t := &s.text
	switch t.step {
	case partial:
		return s.scanCut(p, i)
	case escaped:
		return s.scanEscape(p, i)
	case hex:
		return s.scanHex(p, i)
	case lowSlash:
		if p[i] != '\\' {
			return s.fail(i, RuleSurrogate)
		}
		t.step = lowLetter
	default:
		if p[i] != 'u' {
			return s.fail(i, RuleSurrogate)
		}
		t.step, t.digit, t.unit = hex, 0, 0
	}
	return i + 1
}

// scanCut takes one byte of a character that a chunk cut.
func (s *Scanner) scanCut(p []byte, i int) int {
	t := &s.text
	t.cut[t.size] = p[i]
	t.size++
	if !utf8.FullRune(t.cut[:t.size]) {
		return i + 1
	}
	if r, size := utf8.DecodeRune(t.cut[:t.size]); r == utf8.RuneError && size == 1 {
		return s.fail(i+1-t.size, RuleUTF8)
	}
	if s.state == inName {
		s.keepName(t.cut[:t.size])
	}
	return s.enterPlain(i + 1)
}

// scanEscape takes the byte after a backslash.
func (s *Scanner) scanEscape(p []byte, i int) int {
	if p[i] == 'u' {
		s.text.step, s.text.digit, s.text.unit, s.text.high = hex, 0, 0, 0
		return i + 1
	}
	decoded := unescaped[p[i]]
	if decoded == 0 {
		return s.fail(i, RuleEscape)
	}
	if s.state == inName {
		s.keepName([]byte{decoded})
	}
	return s.enterPlain(i + 1)
}

// unescaped maps the letter of a short escape to its character.
var unescaped = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// scanHex takes one digit of \u.
func (s *Scanner) scanHex(p []byte, i int) int {
	t := &s.text
	b := p[i]
	switch {
	case '0' <= b && b <= '9':
		b -= '0'
	case 'a' <= b|0x20 && b|0x20 <= 'f':
		b = b | 0x20 - 'a' + 10
	default:
		return s.fail(i, RuleEscape)
	}
	t.unit = t.unit<<4 | rune(b)
	t.digit++
	if t.digit < 4 {
		return i + 1
	}
	return s.closeUnit(i + 1)
}

// closeUnit ends a \u escape; i is the position after it.
func (s *Scanner) closeUnit(i int) int {
	t := &s.text
	r := t.unit
	switch {
	case t.high != 0:
		r = utf16.DecodeRune(t.high, t.unit)
		if r == utf8.RuneError {
			return s.fail(i, RuleSurrogate)
		}
	case 0xd800 <= r && r < 0xdc00:
		t.high, t.step = r, lowSlash
		return i
	case 0xdc00 <= r && r < 0xe000:
		return s.fail(i, RuleSurrogate)
	}
	if s.state == inName {
		s.keepName(utf8.AppendRune(nil, r))
	}
	return s.enterPlain(i)
}
