package driver

import (
	"encoding/binary"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// TestSteps: what happened to one name, in order, what follows itself once; a
// rename out of the same folder is told from an arrival.
func TestSteps(t *testing.T) {
	var text []byte
	event := func(mask, cookie uint32, name string) {
		padded := append([]byte(name), make([]byte, 16-len(name))...)
		for _, n := range []uint32{1, mask, cookie, uint32(len(padded))} {
			text = binary.NativeEndian.AppendUint32(text, n)
		}
		text = append(text, padded...)
	}
	event(unix.IN_DELETE, 0, "result")
	event(unix.IN_CREATE, 0, ".partial")
	event(unix.IN_MODIFY, 0, ".partial")
	event(unix.IN_MOVED_FROM, 7, ".partial")
	event(unix.IN_MOVED_TO, 7, "result")
	event(unix.IN_MOVED_TO, 8, "result")
	event(unix.IN_MODIFY, 0, "result")
	event(unix.IN_MODIFY, 0, "result")
	event(unix.IN_MOVED_FROM, 9, "result")
	if got, want := steps(text, "result"), []string{"deleted", "moved", "arrived", "written", "left"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
