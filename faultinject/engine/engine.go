// Package engine decides, call by call, what a plan of faults does. It is
// pure: it never touches a process. A tracer tells it of calls as they enter
// and leave the kernel, and carries out what it answers.
//
// The tracer is one thread, so the order of its questions is the order of
// calls. Every rule has counters: one for the whole tree or, with a scope,
// one for each process, thread or object.
package engine

import (
	"time"

	"touchstone/faultinject"
)

// Call is one syscall on its way into the kernel.
type Call struct {
	TID, TGID int
	Thread    int // nth thread of its process, 1 the leader
	Role      faultinject.Role
	Nr        int
	Args      [6]uint64
	IP, SP    uint64
}

// again tells whether c is other, made once more by the kernel.
func (c *Call) again(other *Call) bool {
	return c.Nr == other.Nr && c.IP == other.IP && c.SP == other.SP && c.Args == other.Args
}

// Object identifies what a descriptor refers to, and how it was opened.
type Object struct {
	Dev, Ino    uint64
	Type        uint32 // file type bits of st_mode
	Read, Write bool
}

// Facts answers what a call's registers do not say. Each answer costs the
// tracer kernel calls, so the engine asks only where a rule needs it.
type Facts interface {
	// Object returns what descriptor fd of the caller refers to.
	Object(c *Call, fd int) (Object, bool)
	// Named tells whether name is bound to the object.
	Named(name string, o Object) bool
	// Requested returns the bytes, or messages of a batch, that c asks for.
	Requested(c *Call, s *faultinject.Shape) uint64
	// Stream tells whether a transfer on fd may be short: everything but a
	// socket that keeps message boundaries.
	Stream(c *Call, fd int) bool
	// Paths returns the path arguments of c.
	Paths(c *Call, s *faultinject.Shape) []string
	// Now returns the time since the target started.
	Now() time.Duration
}

// maxCalls bounds x86-64 syscall numbers.
const maxCalls = 512

// Engine holds the counters of one run. It is not safe for concurrent use.
type Engine struct {
	facts     Facts
	rules     []*rule
	byNr      [maxCalls][]*rule
	shapes    [maxCalls]faultinject.Shape
	restarts  map[int][]Call
	restarted uint64
}

// New makes the engine of one run.
func New(plan faultinject.Plan, facts Facts) *Engine {
	e := &Engine{facts: facts, restarts: map[int][]Call{}}
	byID := map[string]*rule{}
	for i := range plan.Rules {
		r := newRule(&plan.Rules[i])
		e.rules = append(e.rules, r)
		byID[r.ID] = r
		for _, name := range r.Syscalls() {
			nr, _ := faultinject.SyscallNumber(name)
			e.byNr[nr] = append(e.byNr[nr], r)
			e.shapes[nr] = faultinject.ShapeOf(name)
		}
	}
	for _, r := range e.rules {
		r.after = byID[r.At.After]
	}
	return e
}

// Numbers returns the syscall numbers that rules watch, ascending.
func (e *Engine) Numbers() []int {
	var out []int
	for nr, rules := range e.byNr {
		if len(rules) > 0 {
			out = append(out, nr)
		}
	}
	return out
}

// Watches tells whether any rule watches the number.
func (e *Engine) Watches(nr int) bool {
	return nr >= 0 && nr < maxCalls && len(e.byNr[nr]) > 0
}

// Shape returns the shape of a watched call.
func (e *Engine) Shape(nr int) *faultinject.Shape { return &e.shapes[nr] }

// NeedsObjects tells whether any rule asks for an object's identity.
func (e *Engine) NeedsObjects() bool {
	for _, r := range e.rules {
		if r.FD != "" || r.Scope == faultinject.PerObject {
			return true
		}
	}
	return false
}

// fd returns the descriptor that c's rules speak of.
func (e *Engine) fd(c *Call) (int, bool) {
	arg := e.shapes[c.Nr].FD
	if arg == faultinject.None {
		return 0, false
	}
	return int(int32(c.Args[arg])), true
}

// selects tells whether rule r counts call c, and whether only c's role
// speaks against it.
func (e *Engine) selects(r *rule, c *Call) (selected, otherRole bool) {
	for _, test := range r.Args {
		if !test.Holds(c.Args[test.Arg]) {
			return false, false
		}
	}
	if r.Thread != 0 && r.Thread != c.Thread {
		return false, false
	}
	if r.FD != "" && !e.onObject(r, c) {
		return false, false
	}
	if r.Path != "" && !e.onPath(r, c) {
		return false, false
	}
	if r.Roles&c.Role == 0 {
		return false, true
	}
	return r.after == nil || r.after.realised > 0, false
}

func (e *Engine) onObject(r *rule, c *Call) bool {
	fd, has := e.fd(c)
	if !has {
		return false
	}
	o, ok := e.facts.Object(c, fd)
	return ok && e.facts.Named(r.FD, o)
}

func (e *Engine) onPath(r *rule, c *Call) bool {
	for _, p := range e.facts.Paths(c, &e.shapes[c.Nr]) {
		if faultinject.MatchPath(r.Path, p) {
			return true
		}
	}
	return false
}
