// Command events is two_events in Go: one thread polls two pipes; another
// writes to the first and then to the second.
//
// It prints to stderr how many pipes the first poll that reports anything
// reports. Without help it is one: the second write waits until that poll is
// over, or for a second. Exit: 0.
package main

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

func must(what string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "target: %s: %v\n", what, err)
		os.Exit(70)
	}
}

func pipe() [2]int {
	var ends [2]int
	must("pipe", unix.Pipe2(ends[:], 0))
	return ends
}

func write(fd int, text string) {
	_, err := unix.Write(fd, []byte(text))
	must("write", err)
}

// poll waits through the signals of Go's own scheduler.
func poll(fds []unix.PollFd, limit *unix.Timespec) int {
	for {
		n, err := unix.Ppoll(fds, limit, nil)
		if err != unix.EINTR {
			must("ppoll", err)
			return n
		}
	}
}

func main() {
	runtime.LockOSThread()
	first, second, polled := pipe(), pipe(), pipe()
	written := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		write(first[1], "1")
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(polled[0]), Events: unix.POLLIN}}, 1000)
		must("poll", err)
		write(second[1], "22")
		close(written)
	}()
	n := poll([]unix.PollFd{{Fd: int32(first[0]), Events: unix.POLLIN}, {Fd: int32(second[0]), Events: unix.POLLIN}}, nil)
	write(polled[1], "333")
	<-written
	fmt.Fprintf(os.Stderr, "batch=%d\n", n)
}
