package jsonscan

import "hash/maphash"

type state uint8

const (
	atStart     state = iota // the first byte of the document
	atFirstName              // after {
	atName                   // after , in an object
	atColon                  // after a name
	atFirstItem              // after [
	atValue                  // after : or, in an array, after ,
	atNext                   // after a value in a container
	inName                   // within a name
	inText                   // within a string value
	inNumber                 // within a number
	inLiteral                // within true, false or null
	atEnd                    // after the outer object
	atEOF                    // after the last LF
	refused                  // after an error
)

type frame struct {
	names    int   // how many names were entered when it was opened
	followed int32 // of an object: how many names of the known shape it has, or unlike
	object   bool
}

// Scanner checks one document, fed in chunks. It is not safe for concurrent use.
//
// Rules: R04, R09, C-29, C-62.
type Scanner struct {
	limits   Limits
	state    state
	finished bool
	err      error
	offset   int64 // of the current chunk's first byte
	frames   []frame
	names    nameSet
	shapes   [shapeDepths]shapes
	followed int // names of open objects that were followed and not entered
	text     textState
	number   numberState
	literal  string // what is still to come of a literal
	members  memberList
}

// New returns a scanner for one document.
func New(limits Limits) *Scanner {
	limits = limits.withDefaults()
	s := &Scanner{limits: limits}
	s.names.init(maphash.MakeSeed())
	s.text.hash.SetSeed(s.names.seed)
	s.members.limits = limits
	return s
}

// Write feeds the next bytes, which it does not keep. It returns an *Error when
// the document can no longer be sound; every later call returns that same
// error.
func (s *Scanner) Write(p []byte) error {
	if s.err == nil && s.finished && len(p) > 0 {
		s.fail(0, RuleFinished)
	}
	if s.err != nil {
		return s.err
	}
	s.begin()
	for i := 0; i < len(p) && s.state != refused; {
		i = s.scan(p, i)
	}
	s.suspend(p)
	return s.err
}

// Finish says that the document has ended. It returns nil if and only if the
// document is sound. Calling it again returns the same.
func (s *Scanner) Finish() error {
	if s.err == nil && s.state != atEOF {
		s.fail(0, RuleIncomplete)
	}
	s.finished = true
	return s.err
}

// Failed tells whether the document has been refused.
func (s *Scanner) Failed() bool { return s.err != nil }

// begin prepares what refers to positions in the chunk.
func (s *Scanner) begin() {
	s.text.from = 0
	s.members.from = 0
}

// suspend takes over what the current chunk holds of unfinished things.
func (s *Scanner) suspend(p []byte) {
	if s.err != nil {
		return
	}
	if s.state == inName && s.text.step == plain {
		s.keepName(p[s.text.from:])
	}
	s.members.keep(p, len(p))
	s.offset += int64(len(p))
}

func (s *Scanner) fail(i int, rule Rule) int {
	s.offset += int64(i)
	s.err = &Error{Offset: s.offset, Rule: rule}
	s.state = refused
	return i
}

// scan takes at least one byte, or fails, and returns the position after what it
// took. Where the next thing follows directly, it is taken in the same call: the
// usual member costs one call.
func (s *Scanner) scan(p []byte, i int) int {
	switch s.state {
	case atNext:
		return s.scanNext(p, i)
	case atName, atFirstName:
		return s.scanName(p, i)
	case atValue, atFirstItem:
		return s.openValue(p, i)
	case inName, inText:
		return s.scanText(p, i)
	case inNumber:
		return s.scanNumber(p, i)
	case inLiteral:
		return s.scanLiteral(p, i)
	case atColon:
		if p[i] == ':' {
			s.state = atValue
			return i + 1
		}
		return s.scanBlank(p, i)
	}
	return s.scanEdge(p, i)
}

// scanEdge takes the bytes outside the object: the first, and what follows it.
func (s *Scanner) scanEdge(p []byte, i int) int {
	switch {
	case s.state == atStart && p[i] == '{':
		return s.open(i, true)
	case s.state == atStart:
		return s.fail(i, RuleStart)
	case s.state == atEnd && p[i] == '\n':
		s.state = atEOF
		return i + 1
	}
	return s.fail(i, RuleEnd)
}

// scanBlank takes one byte of whitespace, the only thing that may stand here
// besides what the caller looked for.
func (s *Scanner) scanBlank(p []byte, i int) int {
	switch p[i] {
	case ' ', '\n', '\r', '\t':
		return i + 1
	}
	return s.fail(i, RuleStructure)
}

// scanNext takes what follows a value.
func (s *Scanner) scanNext(p []byte, i int) int {
	switch p[i] {
	case ',':
		i++
		s.state = atValue
		if s.frames[len(s.frames)-1].object {
			s.state = atName
			if i < len(p) && p[i] == '"' {
				return s.openName(p, i+1)
			}
		}
		return i
	case '}', ']':
		return s.close(p, i)
	}
	return s.scanBlank(p, i)
}

// scanName takes what stands where a name begins.
func (s *Scanner) scanName(p []byte, i int) int {
	switch {
	case p[i] == '"':
		return s.openName(p, i+1)
	case p[i] == '}' && s.state == atFirstName:
		return s.close(p, i)
	}
	return s.scanBlank(p, i)
}

// openValue takes what stands where a value begins.
func (s *Scanner) openValue(p []byte, i int) int {
	b := p[i]
	if b <= ' ' {
		return s.scanBlank(p, i)
	}
	if b == ']' && s.state == atFirstItem {
		return s.close(p, i)
	}
	if len(s.frames) == 1 {
		s.members.open(b, s.offset, i)
	}
	switch {
	case b == '"':
		return s.openText(p, i+1)
	case b == '-' || b-'0' < 10:
		return s.openNumber(p, i)
	case b == '{' || b == '[':
		return s.open(i, b == '{')
	}
	if s.literal = literalOf(b); s.literal == "" {
		return s.fail(i, RuleStructure)
	}
	s.state = inLiteral
	return s.scanLiteral(p, i)
}

// open enters a container.
func (s *Scanner) open(i int, object bool) int {
	if len(s.frames) == s.limits.Depth {
		return s.fail(i, RuleDepth)
	}
	s.frames = append(s.frames, frame{object: object, names: s.names.live(), followed: unlike})
	s.state = atFirstItem
	if object {
		s.state = atFirstName
		if here := s.here(); here != nil {
			s.frames[len(s.frames)-1].followed = here.begin()
		}
	}
	return i + 1
}

// close leaves the innermost container, if p[i] is its closing bracket.
func (s *Scanner) close(p []byte, i int) int {
	last := s.frames[len(s.frames)-1]
	bracket := byte(']')
	if last.object {
		bracket = '}'
	}
	if p[i] != bracket {
		return s.fail(i, RuleStructure)
	}
	if last.followed != unlike {
		s.followed -= int(last.followed)
	} else if last.object {
		s.names.drop(last.names)
		if here := s.here(); here != nil {
			here.end()
		}
	}
	s.frames = s.frames[:len(s.frames)-1]
	if len(s.frames) == 0 {
		s.state = atEnd
		return i + 1
	}
	s.endValue(p, i+1)
	return i + 1
}

// endValue ends a value; i is the first position after it.
func (s *Scanner) endValue(p []byte, i int) {
	s.state = atNext
	if len(s.frames) == 1 {
		s.members.close(p, i, s.offset)
	}
}
