package supervisor

import (
	"bytes"
	"crypto/sha256"
	"hash"
)

// fold is the digest of a stream that knows that of everything before its last
// line, too: S's own account of what a sound stream's trailer speaks of.
//
// Rules: R05, R10, C-23.
type fold struct {
	hash.Hash
	before hash.Hash // at the start of the last line that has begun
	ended  bool      // the last byte was a line's end
}

func newFold() *fold { return &fold{Hash: sha256.New(), before: sha256.New()} }

// Write never fails.
func (f *fold) Write(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	line := bytes.LastIndexByte(b[:len(b)-1], '\n') + 1
	if line > 0 || f.ended {
		f.Hash.Write(b[:line])
		// A SHA-256 state can always be cloned.
		f.before, _ = f.Hash.(hash.Cloner).Clone()
	}
	f.Hash.Write(b[line:])
	f.ended = b[len(b)-1] == '\n'
	return len(b), nil
}

// logical is the digest of everything before the last line.
func (f *fold) logical() (sum [sha256.Size]byte) {
	f.before.Sum(sum[:0])
	return sum
}
