package driver

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ticks is USER_HZ, in which /proc/PID/stat counts on x86-64.
const ticks = 100

// processorTime is what a process has used, in microseconds; zeros when it is
// gone.
func processorTime(pid int) (user, system int64) {
	text, err := os.ReadFile(procPath(pid, "stat"))
	if err != nil {
		return 0, 0
	}
	// The second field is a name in brackets, with anything in it.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 13 {
		return 0, 0
	}
	microseconds := func(field string) int64 {
		n, _ := strconv.ParseInt(field, 10, 64) // the kernel's
		return n * (1e6 / ticks)
	}
	return microseconds(fields[11]), microseconds(fields[12])
}

// openDescriptors counts those of a process; 0 when it is gone.
func openDescriptors(pid int) int {
	entries, err := os.ReadDir(procPath(pid, "fd"))
	if err != nil {
		return 0
	}
	return len(entries)
}

// storageUsed is what a folder's file system has given out, in bytes; -1 is
// unknown.
func storageUsed(folder string) int64 {
	var fs unix.Statfs_t
	if unix.Statfs(folder, &fs) != nil {
		return -1
	}
	return int64(fs.Blocks-fs.Bfree) * fs.Bsize
}
