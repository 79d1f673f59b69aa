package supervisor

import (
	"bytes"
	"crypto/sha256"
	"testing"
)

// TestFold: however a stream is cut, both digests are those of the whole.
func TestFold(t *testing.T) {
	for _, stream := range []string{"", "a", "a\n", "\n", "\n\n", "ab\ncd\nef\n", "ab\ncd\nef", "ab\n\n\nf\n"} {
		whole := []byte(stream)
		before := whole[:bytes.LastIndexByte(bytes.TrimSuffix(whole, []byte("\n")), '\n')+1]
		for cut := 1; cut <= len(whole)+1; cut++ {
			f := newFold()
			for rest := whole; len(rest) > 0; {
				n := min(cut, len(rest))
				f.Write(rest[:n])
				rest = rest[n:]
			}
			if got := f.logical(); got != sha256.Sum256(before) || [sha256.Size]byte(f.Sum(nil)) != sha256.Sum256(whole) {
				t.Errorf("%q by %d: the digests are not those of %q and the whole", stream, cut, before)
			}
		}
	}
}
