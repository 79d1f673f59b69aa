package engine

// A signal that arrives in a blocking call makes the kernel return one of its
// internal restart results. The call is then made once more, at the same
// place with the same arguments, or the caller gets EINTR. The tracer finds
// out which; a repetition keeps its ordinal.

// deepest bounds how many interrupted calls of one thread are remembered:
// signal handlers that are interrupted themselves.
const deepest = 16

// Interrupted tells that the kernel will make c again. Telling it twice is
// the same as once.
func (e *Engine) Interrupted(c *Call) {
	stack := e.restarts[c.TID]
	if n := len(stack); n > 0 && stack[n-1].again(c) {
		return
	}
	if len(stack) == deepest {
		stack = stack[1:]
	}
	e.restarts[c.TID] = append(stack, *c)
}

// Returned takes Interrupted back: the caller got EINTR.
func (e *Engine) Returned(c *Call) {
	stack := e.restarts[c.TID]
	if n := len(stack); n > 0 && stack[n-1].again(c) {
		e.keep(c.TID, stack[:n-1])
	}
}

// Restarted returns how many calls the kernel has made again.
func (e *Engine) Restarted() uint64 { return e.restarted }

// Forget drops what is remembered of a thread that is gone.
func (e *Engine) Forget(tid int) { delete(e.restarts, tid) }

// takeRestart tells whether c is a call that was interrupted. Calls that a
// handler makes in between leave the memory alone.
func (e *Engine) takeRestart(c *Call) bool {
	stack := e.restarts[c.TID]
	for i := len(stack) - 1; i >= 0; i-- {
		if c.again(&stack[i]) {
			e.keep(c.TID, stack[:i])
			e.restarted++
			return true
		}
	}
	return false
}

func (e *Engine) keep(tid int, stack []Call) {
	if len(stack) == 0 {
		delete(e.restarts, tid)
		return
	}
	e.restarts[tid] = stack
}
