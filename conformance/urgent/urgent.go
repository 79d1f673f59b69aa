// Package urgent has a thread of the suite run soon after it is woken: one that
// is late on a busy machine misses what it must act on.
package urgent

import (
	"os"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// ahead is how much less nice it is than what it starts.
const ahead = 10

// Thread makes the calling goroutine's thread urgent for good, where that is
// allowed. It is no real-time thread, as it reads whatever a launcher writes.
// What it starts is ordinary.
func Thread() {
	runtime.LockOSThread()
	wanted := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL, Flags: unix.SCHED_FLAG_RESET_ON_FORK,
		Nice: -ahead, Runtime: uint64(100 * time.Microsecond)} // at a time, where the kernel takes that
	_ = unix.SchedSetAttr(0, &wanted, 0)
}

// Session makes the calling process's session urgent, where sessions are
// scheduled; what it starts must have others.
func Session() {
	_ = os.WriteFile("/proc/self/autogroup", []byte(strconv.Itoa(-ahead)), 0) // best effort, as above
}
