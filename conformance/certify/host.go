package certify

import (
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// describeHost is what a reader of a report may want to know of the machine.
func describeHost() map[string]string {
	host := map[string]string{"os": runtime.GOOS, "architecture": runtime.GOARCH, "processors": strconv.Itoa(runtime.NumCPU())}
	var name unix.Utsname
	if err := unix.Uname(&name); err == nil {
		host["kernel"] = unix.ByteSliceToString(name.Release[:])
	}
	return host
}
