package jsonscan

// numberState says which part of a number was read last.
type numberState uint8

const (
	numberStart    numberState = iota // nothing
	numberMinus                       // the minus sign
	numberZero                        // a leading zero
	numberDigits                      // digits of the integer
	numberPoint                       // the point
	numberFraction                    // digits of the fraction
	numberE                           // the letter e
	numberSign                        // the exponent's sign
	numberExponent                    // digits of the exponent
)

// openNumber starts a number, and takes a usual one at once.
func (s *Scanner) openNumber(p []byte, i int) int {
	number, end := skipNumber(p, i)
	if number > numberMinus && end < len(p) && (p[end] == ',' || p[end] == '}' || p[end] == ']') {
		s.endValue(p, end)
		return end
	}
	s.state, s.number = inNumber, number
	return s.scanNumber(p, end)
}

// scanNumber takes bytes of a number up to the first that is none of its.
func (s *Scanner) scanNumber(p []byte, i int) int {
	for i < len(p) {
		next, ok := s.number.after(p[i])
		if !ok {
			return s.closeNumber(p, i)
		}
		s.number = next
		i++
	}
	return i
}

// skipNumber takes the usual start of a number, a whole part and a fraction
// with a digit, as far as the chunk goes; the state that it returns is one in
// which a number may end, or the start, of which it takes nothing. It leaves
// whatever is unusual to the state machine.
func skipNumber(p []byte, i int) (numberState, int) {
	digits := i
	if p[i] == '-' {
		digits++
	}
	if digits == len(p) || p[digits]-'0' >= 10 {
		return numberStart, i
	}
	whole := numberZero
	if i = digits + 1; p[digits] != '0' {
		whole, i = numberDigits, skipDigits(p, i)
	}
	if i+1 >= len(p) || p[i] != '.' || p[i+1]-'0' >= 10 {
		return whole, i
	}
	return numberFraction, skipDigits(p, i+2)
}

func skipDigits(p []byte, i int) int {
	for i < len(p) && p[i]-'0' < 10 {
		i++
	}
	return i
}

// closeNumber ends a number; p[i] is the first byte after it.
func (s *Scanner) closeNumber(p []byte, i int) int {
	switch s.number {
	case numberZero, numberDigits, numberFraction, numberExponent:
	default:
		return s.fail(i, RuleNumber)
	}
	// A byte that could only go on with a number makes it a bad number rather
	// than a good one with junk behind: 01, 1.2.3, 1+.
	if b := p[i]; b-'0' < 10 || b == '.' || b == '+' || b == '-' || b|0x20 == 'e' {
		return s.fail(i, RuleNumber)
	}
	s.endValue(p, i)
	return i
}

// after returns what comes after n when b is read, if b may follow.
func (n numberState) after(b byte) (numberState, bool) {
	switch {
	case b-'0' < 10:
		return n.afterDigit(b)
	case b == '-' && n == numberStart:
		return numberMinus, true
	case b == '.' && (n == numberZero || n == numberDigits):
		return numberPoint, true
	case b|0x20 == 'e' && (n == numberZero || n == numberDigits || n == numberFraction):
		return numberE, true
	case (b == '+' || b == '-') && n == numberE:
		return numberSign, true
	}
	return n, false
}

func (n numberState) afterDigit(b byte) (numberState, bool) {
	switch n {
	case numberStart, numberMinus:
		if b == '0' {
			return numberZero, true
		}
		return numberDigits, true
	case numberDigits:
		return numberDigits, true
	case numberPoint, numberFraction:
		return numberFraction, true
	case numberE, numberSign, numberExponent:
		return numberExponent, true
	}
	return n, false // after a leading zero
}

// literalOf returns the literal that starts with b, or "".
func literalOf(b byte) string {
	switch b {
	case 't':
		return "true"
	case 'f':
		return "false"
	case 'n':
		return "null"
	}
	return ""
}

// scanLiteral takes bytes of true, false or null.
func (s *Scanner) scanLiteral(p []byte, i int) int {
	for ; i < len(p) && s.literal != ""; i++ {
		if p[i] != s.literal[0] {
			return s.fail(i, RuleLiteral)
		}
		s.literal = s.literal[1:]
	}
	if s.literal == "" {
		s.endValue(p, i)
	}
	return i
}
