package faultinject

import "slices"

// maxErrno is the largest error number a syscall can return.
const maxErrno = 4095

func (l *linter) action(r Rule) {
	shapes := r.shapes()
	transfers := slices.ContainsFunc(shapes, func(s Shape) bool { return s.Transfers() || s.Batch != None })
	switch r.Do.Kind {
	case DoShort:
		if r.Do.N == 0 {
			l.refuse(r, "do", "short 0 is no transfer: use ret 0")
		}
		if !transfers {
			l.refuse(r, "do", "none of the calls can be short")
		}
		if low, high := r.lengthBounds(); low <= high && high <= r.Do.N {
			l.refuse(r, "do", "calls of at most %d bytes cannot be cut to %d", high, r.Do.N)
		}
	case DoClamp:
		if r.At.Kind != AtBytes {
			l.refuse(r, "at", "clamp needs at bytes N")
		}
	case DoRet:
		if r.Do.N >= ^uint64(maxErrno-1) {
			l.refuse(r, "do", "ret of an error number: use errno")
		}
	case DoHold:
		l.released(r)
	}
	if r.Do.Late && r.At.Kind == AtBytes && r.Do.Kind == DoHold {
		l.refuse(r, "do", "a hold at a byte count always comes after the call")
	}
	if r.Effect == After && !r.Do.Kind.Replaces() {
		l.refuse(r, "effect", "%s leaves the result alone: effect says nothing", r.Do.Kind)
	}
	if r.Effect == After && r.Do.Kind == DoAgain {
		l.refuse(r, "effect", "again with the effect would repeat the transfer")
	}
}

// lengthBounds returns the inclusive range of the byte counts of the
// selected calls, or an empty one where their shapes differ.
func (r Rule) lengthBounds() (low, high uint64) {
	shapes := r.shapes()
	for _, s := range shapes {
		if s.Length == None || s.Length != shapes[0].Length {
			return 1, 0
		}
	}
	return argBounds(r.Args, shapes[0].Length)
}

func (l *linter) released(r Rule) {
	for _, other := range l.plan.Rules {
		if other.Do.Kind == DoRelease && other.Do.Name == r.Do.Name {
			return
		}
	}
	l.warn(r, "do", "no rule releases %s: the hold ends by its longest time", r.Do.Name)
}

// realism warns of results that the kernel would not give.
func (l *linter) realism(r Rule) {
	calls := r.Syscalls()
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(calls, n) })
	}
	if has("close") && r.Do.Kind.Replaces() && r.Effect == Skip {
		l.warn(r, "effect", "a close that fails still closes on Linux: use effect after")
	}
	if r.Do.Kind == DoErrno && r.Do.Errno == "EINTR" && r.Effect == After && !has("close", "fsync") {
		l.warn(r, "effect", "EINTR after the effect: the kernel reports the transfer instead")
	}
	if r.Do.Kind == DoErrno && r.Do.Errno == "EAGAIN" {
		l.warn(r, "do", "EAGAIN without an edge can hang an edge-triggered poller, "+
			"and a blocking descriptor never returns it: use again")
	}
	if r.Do.Kind == DoShort && slices.ContainsFunc(r.Calls, func(c string) bool {
		return slices.Contains([]string{"sendto", "sendmsg", "sendmmsg", "%send"}, c)
	}) {
		l.warn(r, "do", "a short send does not exist on SOCK_SEQPACKET and datagram sockets; "+
			"there the rule is refused while running")
	}
	if r.Do.Kind == DoRet && r.Do.N > 0 && slices.ContainsFunc(r.shapes(), Shape.Transfers) {
		l.warn(r, "do", "ret %d claims bytes that were not moved", r.Do.N)
	}
	if r.Do.Kind == DoErrno && r.Do.Errno == "EPIPE" && r.Do.NoSigpipe && !has("sendto", "sendmsg", "sendmmsg") {
		l.warn(r, "do", "EPIPE without SIGPIPE exists only for sends with MSG_NOSIGNAL")
	}
	if r.Do.NoSigpipe && r.Do.Errno != "EPIPE" {
		l.refuse(r, "do", "nosigpipe belongs to EPIPE")
	}
	if r.Do.Kind == DoErrno && r.Do.Errno == "EINTR" && has("fsync", "fdatasync") {
		l.warn(r, "do", "Linux file systems do not interrupt these calls")
	}
	if r.Roles&Untrusted != 0 && r.Do.Kind == DoMark {
		return
	}
	if r.Roles == Untrusted {
		l.warn(r, "on", "role U traces the untrusted program: it can see that, and needs mode filter")
	}
}

// neighbours warns of a rule that an earlier one always hides.
func (l *linter) neighbours(i int, r Rule) {
	for _, earlier := range l.plan.Rules[:i] {
		if earlier.Times == Unlimited && earlier.At.Kind != AtBytes && earlier.Do.Kind != DoClamp &&
			earlier.At == (Position{Kind: AtCall, N: 1}) && earlier.covers(r) {
			l.warn(r, "on", "rule %s at %s takes every call first", earlier.ID, earlier.Pos)
		}
	}
}

func (r Rule) covers(other Rule) bool {
	calls := r.Syscalls()
	for _, name := range other.Syscalls() {
		if !slices.Contains(calls, name) {
			return false
		}
	}
	return r.FD == "" && r.Path == "" && r.Thread == 0 && len(r.Args) == 0 && r.Roles&other.Roles == other.Roles
}
