package jsonscan

import "slices"

// Member is a top-level member of the document.
type Member struct {
	// Name is decoded.
	Name string
	// Kind is the kind of its value: '{', '[', '"', '0', 't', 'f' or 'n'.
	Kind byte
	// Raw is the encoded value of a captured member, nil for others and for an
	// oversized one.
	Raw []byte
	// Size is the length in bytes of the encoded value, as it stands.
	Size int
	// Oversized tells that a captured member is larger than CaptureBytes.
	Oversized bool
}

// memberList collects the top-level members.
type memberList struct {
	limits  Limits
	list    []Member
	count   int
	current Member
	listed  bool  // current goes to the list
	capture bool  // current's bytes are taken
	start   int64 // offset of its value
	from    int   // position in this chunk from which bytes are not yet taken
}

// Members returns the top-level members seen so far whose value is complete, in
// document order: the first Limits.Members of them, and every captured one.
// Whether the document is sound is for Finish to say.
func (s *Scanner) Members() []Member { return slices.Clone(s.members.list) }

// MemberCount returns how many top-level members were complete, listed or not.
func (s *Scanner) MemberCount() int { return s.members.count }

// name starts a member; length is its decoded length, of which decoded may be
// only a prefix.
func (m *memberList) name(decoded []byte, length int) {
	m.current = Member{}
	m.capture = length == len(decoded) && slices.Contains(m.limits.Capture, string(decoded))
	m.listed = m.capture || length <= m.limits.NameBytes && len(m.list) < m.limits.Members
	if m.listed {
		m.current.Name = string(decoded)
	}
}

// open starts its value at position i, whose first byte is b.
func (m *memberList) open(b byte, offset int64, i int) {
	if b == '-' || '0' <= b && b <= '9' {
		b = '0'
	}
	m.current.Kind = b
	m.start, m.from = offset+int64(i), i
	if m.capture {
		m.current.Raw = []byte{}
	}
}

// keep takes over the bytes of a captured value before position i.
func (m *memberList) keep(p []byte, i int) {
	if !m.capture || m.current.Raw == nil {
		return
	}
	if len(m.current.Raw)+i-m.from > m.limits.CaptureBytes {
		m.current.Raw, m.current.Oversized = nil, true
		return
	}
	m.current.Raw = append(m.current.Raw, p[m.from:i]...)
}

// close ends its value at position i.
func (m *memberList) close(p []byte, i int, offset int64) {
	m.keep(p, i)
	m.current.Size = int(offset + int64(i) - m.start)
	m.count++
	if m.listed {
		m.list = append(m.list, m.current)
	}
	m.capture = false
}
