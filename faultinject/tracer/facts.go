package tracer

import (
	"encoding/binary"
	"time"

	"golang.org/x/sys/unix"

	"touchstone/faultinject"
	"touchstone/faultinject/engine"
)

// facts answers the engine's questions about stopped threads.
type facts struct{ t *Tracer }

func (f facts) task(c *engine.Call) *task { return f.t.tasks[c.TID] }

func (f facts) Object(c *engine.Call, fd int) (engine.Object, bool) {
	o := f.task(c).lookup(fd)
	return o.Object, o.found
}

func (f facts) Named(name string, o engine.Object) bool {
	for i := range f.t.bindings {
		if b := &f.t.bindings[i]; b.Name == name && b.matches(o) {
			return true
		}
	}
	return false
}

func (f facts) Now() time.Duration { return time.Since(f.t.began) }

func (f facts) Requested(c *engine.Call, s *faultinject.Shape) uint64 {
	return f.task(c).requested(c, s)
}

func (f facts) Stream(c *engine.Call, fd int) bool { return f.task(c).stream(fd) }

func (f facts) Paths(c *engine.Call, s *faultinject.Shape) []string {
	var out []string
	for _, arg := range s.Paths {
		if arg != faultinject.None {
			out = append(out, f.task(c).readString(c.Args[arg], unix.PathMax))
		}
	}
	return out
}

// requested returns the bytes, or messages of a batch, that a call asks for.
func (k *task) requested(c *engine.Call, s *faultinject.Shape) uint64 {
	switch {
	case s.Length != faultinject.None:
		return c.Args[s.Length]
	case s.Batch != faultinject.None:
		return c.Args[s.Batch+1]
	}
	var sum uint64
	for _, part := range k.vector(c, s).lengths {
		sum += part
	}
	return sum
}

// vector is an iovec array in the target's memory.
type vector struct {
	base    uint64   // address of the array
	lengths []uint64 // bytes of each part
	count   edit     // where the array's length is kept
}

// maxParts is the kernel's limit of parts, UIO_MAXIOV.
const maxParts = 1024

// Layout of struct iovec and struct msghdr.
const (
	partSize      = 16
	partLength    = 8
	messageVector = 16
	messageCount  = 24
)

func (k *task) vector(c *engine.Call, s *faultinject.Shape) vector {
	var v vector
	switch {
	case s.Vector != faultinject.None:
		v.base = c.Args[s.Vector]
		v.count = edit{register: true, place: uint64(regArgs[s.Vector+1]), old: c.Args[s.Vector+1]}
	case s.Message != faultinject.None:
		header := c.Args[s.Message]
		v.base, _ = k.readWord(header + messageVector)
		v.count.place = header + messageCount
		v.count.old, _ = k.readWord(v.count.place)
	default:
		return v
	}
	raw := make([]byte, partSize*min(v.count.old, maxParts))
	if len(raw) == 0 {
		return v
	}
	raw = raw[:k.read(v.base, raw)]
	for ; len(raw) >= partSize; raw = raw[partSize:] {
		v.lengths = append(v.lengths, binary.LittleEndian.Uint64(raw[partLength:]))
	}
	return v
}

// stream tells whether a transfer on the descriptor may be cut: anything but
// a socket that keeps messages whole.
func (k *task) stream(fd int) bool {
	if o := k.lookup(fd); !o.found || o.Type != unix.S_IFSOCK {
		return true
	}
	socket, err := k.borrow(fd)
	if err != nil {
		return true
	}
	defer unix.Close(socket) // our copy; nothing depends on its result
	kind, err := unix.GetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_TYPE)
	return err != nil || kind == unix.SOCK_STREAM
}

// borrow returns our own descriptor for what the target's fd refers to.
func (k *task) borrow(fd int) (int, error) {
	pidfd, err := unix.PidfdOpen(k.proc.tgid, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(pidfd) // nothing depends on its result
	return unix.PidfdGetfd(pidfd, fd, 0)
}

// cut makes the call move at most limit bytes, or messages of a batch, and
// remembers what it changed.
func (k *task) cut(c *engine.Call, s *faultinject.Shape, limit uint64) {
	switch {
	case s.Length != faultinject.None:
		k.change(edit{register: true, place: uint64(regArgs[s.Length]), old: c.Args[s.Length]}, limit)
		return
	case s.Batch != faultinject.None:
		k.change(edit{register: true, place: uint64(regArgs[s.Batch+1]), old: c.Args[s.Batch+1]}, limit)
		return
	}
	v := k.vector(c, s)
	for i, length := range v.lengths {
		if length < limit {
			limit -= length
			continue
		}
		// The array ends with this part, which may be cut itself: one word
		// of the caller's memory changes, not its whole vector.
		if length != limit {
			k.change(edit{place: v.base + uint64(i)*partSize + partLength, old: length}, limit)
		}
		k.change(v.count, uint64(i)+1)
		return
	}
}

func (k *task) change(e edit, value uint64) {
	if e.register {
		k.pokeReg(uintptr(e.place), value)
	} else {
		k.note(k.pokeWord(e.place, value))
	}
	k.edits = append(k.edits, e)
}

// restore takes every change back.
func (k *task) restore() {
	for _, e := range k.edits {
		if e.register {
			k.pokeReg(uintptr(e.place), e.old)
		} else {
			k.note(k.pokeWord(e.place, e.old))
		}
	}
	k.edits = k.edits[:0]
}
