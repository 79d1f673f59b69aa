package faultinject

import (
	"fmt"
	"time"
)

// Plan is a set of rules in file order, with the names they use for objects
// that the target itself creates.
type Plan struct {
	Binds []Bind
	Rules []Rule
}

// Pos is a place in a plan's text. Line and Col count from 1, Col in bytes.
type Pos struct {
	Line, Col int
}

// String returns "line:col".
func (p Pos) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Col) }

// Bind gives a name to every object that the target opens by a path, or
// makes as a memfd with a name.
type Bind struct {
	Name    string
	Kind    BindKind
	Pattern string // path: as MatchPath takes it; memfd: the exact name
	Pos     Pos
}

// BindKind says how an object is recognised at its creation.
type BindKind int

// The kinds of Bind.
const (
	BindPath BindKind = iota + 1
	BindMemfd
)

// Rule is one fault: selection, position, action.
type Rule struct {
	ID      string
	Calls   []string // syscall names and %classes, as written
	FD      string   // name of an object, "" any
	Path    string   // MatchPath pattern over path arguments, "" any
	Roles   Role     // whose calls count
	Thread  int      // nth thread of its process by creation, 1 the leader, 0 any
	Args    []ArgTest
	At      Position
	Do      Action
	Times   int // firings asked for; Unlimited for no bound
	Scope   Scope
	Effect  Effect
	Pos     Pos
	clauses map[string]Pos
}

// Unlimited is the Times value of a rule that fires at every chance.
const Unlimited = -1

// Role is a set of parts that a process can play, told by its executable.
type Role uint8

// The roles. Supervisor is the root image, Verifier an executable named by
// the caller, Untrusted every other one.
const (
	Supervisor Role = 1 << iota
	Verifier
	Untrusted
)

// ArgTest compares one syscall argument, unsigned.
type ArgTest struct {
	Arg   int    // 0 to 5
	Op    string // == != >= <= > < &
	Value uint64
}

// Holds tells whether v passes the test. Operator & asks for any common bit.
func (a ArgTest) Holds(v uint64) bool {
	switch a.Op {
	case "==":
		return v == a.Value
	case "!=":
		return v != a.Value
	case ">=":
		return v >= a.Value
	case "<=":
		return v <= a.Value
	case ">":
		return v > a.Value
	case "<":
		return v < a.Value
	case "&":
		return v&a.Value != 0
	}
	panic("bug: argument operator " + a.Op)
}

// Position says when a rule fires. Calls are counted from 1, and a call that
// the kernel restarts keeps its number. After names a rule that must have
// fired before counting starts.
type Position struct {
	Kind  PositionKind
	N     uint64 // call, every, bytes
	Delay time.Duration
	After string
}

// PositionKind tells which part of a Position is in use.
type PositionKind int

// The kinds of Position.
const (
	AtCall  PositionKind = iota + 1 // Nth call and, with times, those that follow
	AtEvery                         // every Nth call
	AtBytes                         // once exactly N bytes have passed
	AtTime                          // first call at or after Delay from the start
)

// Scope says what shares one counter.
type Scope int

// The scopes. PerRule is the whole process tree.
const (
	PerRule Scope = iota
	PerProcess
	PerThread
	PerObject
)

// Effect says whether the call still does its work when its result is
// replaced.
type Effect int

// The effects. Skip: the call never runs. After: it runs, and only its
// result is replaced.
const (
	Skip Effect = iota
	After
)

// Action is what a rule does. Only the members that its Kind names matter.
type Action struct {
	Kind      ActionKind
	N         uint64        // short: bytes given, at least 1; ret: value
	Errno     string        // errno, again
	Storm     uint64        // errno: calls in a row that fail, 0 means 1
	StormFor  time.Duration // errno: fail for this long from the first
	NoSigpipe bool          // errno EPIPE without the signal
	Nudge     time.Duration // again: time until pollers get their edge
	Delay     time.Duration
	Late      bool // delay, hold: after the call instead of before
	Signal    string
	Every     time.Duration // signal storm: interval
	For       time.Duration // signal storm: length
	Role      Role          // kill: whom, 0 the caller
	Name      string        // hold, release
	Max       time.Duration // hold: longest, 0 the tracer's default
}

// ActionKind is the verb of an Action.
type ActionKind int

// The kinds of Action.
const (
	DoShort ActionKind = iota + 1
	DoErrno
	DoRet
	DoAgain
	DoDelay
	DoSignal
	DoKill
	DoStop
	DoHold
	DoRelease
	DoClamp
	DoMark
)

// Boundary tells whether the action is taken at the moment when a byte
// count is reached, rather than on the next call.
func (k ActionKind) Boundary() bool {
	switch k {
	case DoKill, DoStop, DoSignal, DoMark, DoHold, DoRelease, DoClamp:
		return true
	}
	return false
}

// Replaces tells whether the action puts its own result in place of the
// kernel's.
func (k ActionKind) Replaces() bool {
	return k == DoErrno || k == DoRet || k == DoAgain
}
