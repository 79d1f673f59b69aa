package driver

import (
	"os"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// ahead is how much less nice the driver is than what it starts.
const ahead = 10

// becomeUrgent has the calling goroutine's thread, for good, run soon after it
// is woken, where that is allowed: a driver that is late on a busy machine misses
// what it must act on. It is no real-time thread, as it reads whatever a launcher
// writes. What it starts is ordinary, and has sessions of its own.
func becomeUrgent() {
	runtime.LockOSThread()
	wanted := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL, Flags: unix.SCHED_FLAG_RESET_ON_FORK,
		Nice: -ahead, Runtime: uint64(100 * time.Microsecond)} // at a time, where the kernel takes that
	_ = unix.SchedSetAttr(0, &wanted, 0)
	_ = os.WriteFile("/proc/self/autogroup", []byte(strconv.Itoa(-ahead)), 0) // where sessions are scheduled
}
