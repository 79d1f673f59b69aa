package driver

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

func quietHandler() uintptr

// catchUncatchable makes the signals 32 to 34 harmless, for which Go has no
// handler. PID 1 is spared what it has no handler for, but not while its first
// thread handles another signal. A handler, other than ignoring, is not
// inherited by what is started.
func catchUncatchable() error {
	action := [4]uint64{} // struct sigaction, as the kernel has it: handler, flags, restorer, mask
	call := func(signal unix.Signal, set, get *[4]uint64) error {
		_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(signal), uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(get)), 8, 0, 0)
		if errno != 0 {
			return fmt.Errorf("catch signal %d: %w", signal, errno)
		}
		return nil
	}
	if err := call(unix.SIGUSR1, nil, &action); err != nil { // flags and restorer are Go's
		return err
	}
	action[0] = uint64(quietHandler())
	for signal := unix.Signal(32); signal <= 34; signal++ {
		if err := call(signal, &action, nil); err != nil {
			return err
		}
	}
	return nil
}
