package driver

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// becomeUrgent has the calling goroutine's thread, for good, run before all
// else, where that is allowed: a driver that is late on a busy machine misses
// what it must act on. What it starts is ordinary. It sleeps most of the time.
func becomeUrgent() {
	runtime.LockOSThread()
	for _, wanted := range []unix.SchedAttr{
		{Policy: unix.SCHED_RR, Priority: 1, Flags: unix.SCHED_FLAG_RESET_ON_FORK},
		{Policy: unix.SCHED_NORMAL, Nice: -10, Flags: unix.SCHED_FLAG_RESET_ON_FORK},
	} {
		wanted.Size = unix.SizeofSchedAttr
		if unix.SchedSetAttr(0, &wanted, 0) == nil {
			return
		}
	}
}
