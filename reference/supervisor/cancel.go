package supervisor

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// canceller turns the host's request to stop into a readable descriptor. Its
// goroutine, the only one in S, lives until S exits: a Go signal can reach a
// poll in no other way.
//
// Rules: C-4.
type canceller struct {
	signals chan os.Signal
	fd      int // eventfd, readable once a stop was requested
}

// listen takes over the signals, as early as possible. Taking SIGPIPE has a
// write to a closed peer return EPIPE, and leaves children their default.
func listen() *canceller {
	c := &canceller{signals: make(chan os.Signal, 1), fd: -1}
	signal.Notify(c.signals, unix.SIGTERM, unix.SIGINT)
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE)
	return c
}

// watch opens the descriptor. It is separate from listen, as no number may be
// taken before the host's endpoints have been looked at.
func (c *canceller) watch() (err error) {
	if c.fd, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return os.NewSyscallError("eventfd", err)
	}
	go func() {
		for range c.signals {
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
