package jsonscan

// A report is long because an array has many objects with the same names in the
// same order. The names of the last object of each depth are kept, and an
// object whose names so far are the first of those, byte for byte, has no two
// equal names, because that one had none: nothing is hashed or entered. The
// first name that differs ends that; the names before it are entered then.

// Bounds of what is kept (inclusive): objects beyond them are always entered.
const (
	shapeDepths = 8 // below the outer object
	shapeNames  = 64
	shapeBytes  = 1024
)

// shape is a row of plain names that are all different.
type shape struct {
	text []byte // each name with its closing quote
	ends []int  // of each name in text
}

// name returns the k-th name with its closing quote.
func (s *shape) name(k int) []byte {
	if k == 0 {
		return s.text[:s.ends[0]]
	}
	return s.text[s.ends[k-1]:s.ends[k]]
}

// shapes is what is kept of one depth.
type shapes struct {
	known shape // of the last object that ended
	fresh shape // of the open object, while that differs from known
	whole bool  // fresh has all names of the open object
}

// unlike marks a frame whose object is like no known one.
const unlike = -1

// begin opens an object, and returns how many names of the known shape it has:
// none so far, or unlike.
func (s *shapes) begin() int32 {
	if len(s.known.ends) > 0 {
		return 0
	}
	s.leave(0)
	return unlike
}

// leave goes on recording behind the first k names of the known shape.
func (s *shapes) leave(k int) {
	s.fresh.text, s.fresh.ends, s.whole = s.fresh.text[:0], s.fresh.ends[:0], true
	if k > 0 {
		s.fresh.ends = append(s.fresh.ends, s.known.ends[:k]...)
		s.fresh.text = append(s.fresh.text, s.known.text[:s.known.ends[k-1]]...)
	}
}

// record takes one more plain name.
func (s *shapes) record(name []byte) {
	if !s.whole || len(s.fresh.ends) == shapeNames || len(s.fresh.text)+len(name) >= shapeBytes {
		s.whole = false
		return
	}
	s.fresh.text = append(append(s.fresh.text, name...), '"')
	s.fresh.ends = append(s.fresh.ends, len(s.fresh.text))
}

// end closes an object that was recorded.
func (s *shapes) end() {
	if s.whole && len(s.fresh.ends) > 0 {
		s.known, s.fresh = s.fresh, s.known
	}
}

// here returns what is kept of the current depth, nil if nothing is.
func (s *Scanner) here() *shapes {
	if depth := len(s.frames) - 2; 0 <= depth && depth < shapeDepths {
		return &s.shapes[depth]
	}
	return nil
}

// follow takes a name that begins at p[i] and is the next of the known shape,
// and returns the position after its closing quote; or i, and the object is
// like no known one from here on.
func (s *Scanner) follow(p []byte, i int) int {
	f := &s.frames[len(s.frames)-1]
	if f.followed == unlike {
		return i
	}
	here := &s.shapes[len(s.frames)-2]
	if int(f.followed) < len(here.known.ends) && s.liveNames() < s.limits.LiveKeys {
		name := here.known.name(int(f.followed))
		if end := i + len(name); end <= len(p) && string(p[i:end]) == string(name) {
			f.followed++
			s.followed++
			return end
		}
	}
	s.enterFollowed(f, here)
	return i
}

// enterFollowed enters the names that were only followed.
func (s *Scanner) enterFollowed(f *frame, here *shapes) {
	followed := int(f.followed)
	for k := range followed {
		name := here.known.name(k)
		s.names.add(s.names.sum(name[:len(name)-1]), len(s.frames))
	}
	here.leave(followed)
	s.followed -= followed
	f.followed = unlike
}

// liveNames is how many names all open objects have together.
func (s *Scanner) liveNames() int { return s.names.live() + s.followed }
