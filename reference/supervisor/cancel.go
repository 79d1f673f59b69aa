package supervisor

import (
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

// marker is a signal that S sends to nobody but itself.
const marker = unix.Signal(45)

// markerPatience bounds the wait for a marker.
const markerPatience = 100 * time.Millisecond

// canceller turns the host's request to stop into a readable descriptor. Its
// goroutine, the only one in S, lives until S exits: a Go signal can reach a
// poll in no other way.
//
// Rules: C-4.
type canceller struct {
	signals chan os.Signal
	passed  chan struct{} // a marker came out
	fd      int           // eventfd, readable once a stop was requested
}

// listen takes over the signals, as early as possible.
func listen() *canceller {
	c := &canceller{signals: make(chan os.Signal, 8), passed: make(chan struct{}, 1), fd: -1}
	signal.Notify(c.signals, unix.SIGTERM, unix.SIGINT, marker)
	return c
}

// watch opens the descriptor. It is separate from listen, as no number may be
// taken before the host's endpoints have been looked at.
func (c *canceller) watch() (err error) {
	if c.fd, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return os.NewSyscallError("eventfd", err)
	}
	go func() {
		for s := range c.signals {
			if s == marker {
				select {
				case c.passed <- struct{}{}:
				default: // nobody waits for two
				}
				continue
			}
			// The counter cannot overflow by signals; a full one is readable anyway.
			_, _ = unix.Write(c.fd, []byte{1, 0, 0, 0, 0, 0, 0, 0})
		}
	}()
	return nil
}

// requested reports whether a stop was requested, without consuming that.
func (c *canceller) requested() bool {
	fds := []unix.PollFd{{Fd: int32(c.fd), Events: unix.POLLIN}}
	return poll(fds, 0) == nil && fds[0].Revents&unix.POLLIN != 0
}

// overtaken reports whether a stop had reached the process, though not its loop
// yet: a signal takes a moment to become readable, and a marker follows it on
// the same way, as the runtime hands out the lower number first.
//
// Rules: R19.
func (c *canceller) overtaken() bool {
	if c.fd < 0 || unix.Tgkill(unix.Getpid(), unix.Gettid(), marker) != nil {
		return false
	}
	select {
	case <-c.passed:
	case <-time.After(markerPatience):
	}
	return c.requested()
}
