package driver

import (
	"errors"

	"golang.org/x/sys/unix"

	"touchstone/conformance/scenario"
)

const (
	readBytes   = 64 << 10  // taken from a data endpoint at a time
	packetBytes = 128 << 10 // room for a terminal packet: twice the contract's H
)

// channel is the reader of one data endpoint. It owns fd until close.
type channel struct {
	name  string
	file  string // "" drains without keeping
	fd    int    // -1 once closed
	total int64  // bytes read

	ended  bool // the end was read, or an error in its place
	hungUp bool // every writer is gone; bytes may still be there
	paused bool

	pace   scenario.Pace // zero: as fast as they come
	window int64         // when the current interval began: at its first read
	taken  int           // bytes read in it
}

// open says whether bytes can still be read.
func (c *channel) open() bool { return c.fd >= 0 && !c.ended }

// allowance is how many bytes may be read at now, given that the reader must
// stop exactly at stop (0: nowhere). wake is when to ask again, 0 for never.
func (c *channel) allowance(now, stop int64) (bytes int, wake int64) {
	if !c.open() || c.paused {
		return 0, 0
	}
	bytes = readBytes
	if c.pace.Bytes > 0 {
		every := int64(c.pace.EveryMS) * 1e6
		if now >= c.window+every {
			c.taken = 0
		}
		if bytes = min(bytes, c.pace.Bytes-c.taken); bytes <= 0 {
			return 0, c.window + every
		}
	}
	if stop > c.total {
		bytes = int(min(int64(bytes), stop-c.total))
	}
	return bytes, 0
}

// interest is the channel's entry in a poll. A hang-up that is known already
// would only wake the poll again and again.
func (c *channel) interest(allowed int) unix.PollFd {
	switch {
	case !c.open() || (allowed == 0 && c.hungUp):
		return unix.PollFd{Fd: -1}
	case allowed == 0:
		return unix.PollFd{Fd: int32(c.fd), Events: unix.POLLRDHUP}
	}
	return unix.PollFd{Fd: int32(c.fd), Events: unix.POLLIN | unix.POLLRDHUP}
}

func gone(revents int16) bool {
	return revents&(unix.POLLHUP|unix.POLLRDHUP|unix.POLLERR) != 0
}

// read takes at most n bytes at the stamp now. end is true at the end of the stream; errno is
// the name of the error that stands in its place.
func (c *channel) read(now int64, buffer []byte, n int) (got []byte, end bool, errno string) {
	for {
		size, err := unix.Read(c.fd, buffer[:n])
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return nil, false, ""
		case err != nil:
			return nil, true, errnoName(err)
		case size == 0:
			return nil, true, ""
		}
		if c.taken == 0 {
			c.window = now
		}
		c.total += int64(size)
		c.taken += size
		return buffer[:size], false, ""
	}
}

func (c *channel) close() error {
	if c.fd < 0 {
		return nil
	}
	fd := c.fd
	c.fd = -1
	return unix.Close(fd)
}

func errnoName(err error) string {
	var errno unix.Errno
	if errors.As(err, &errno) {
		return unix.ErrnoName(errno)
	}
	return err.Error()
}
