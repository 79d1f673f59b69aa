package host

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// stopSignals ask for a stop. S starts with them blocked, so that one which comes
// before S takes them waits for it (C-4).
var stopSignals = [...]unix.Signal{unix.SIGTERM, unix.SIGINT}

// canceller turns SIGTERM and SIGINT into a readable descriptor. Its goroutine,
// the only one, lives until the host exits.
type canceller struct {
	signals chan os.Signal
	fd      int
}

func listen() *canceller {
	c := &canceller{signals: make(chan os.Signal, 1), fd: -1}
	signal.Notify(c.signals, unix.SIGTERM, unix.SIGINT)
	return c
}

func (c *canceller) watch() (err error) {
	if c.fd, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return os.NewSyscallError("eventfd", err)
	}
	go func() {
		for range c.signals {
			// A full counter is readable anyway.
			_, _ = unix.Write(c.fd, []byte{1, 0, 0, 0, 0, 0, 0, 0})
		}
	}()
	return nil
}

// consume makes the descriptor unreadable until the next signal.
func (c *canceller) consume() {
	var counter [8]byte
	_, _ = unix.Read(c.fd, counter[:]) // only a race with nobody could fail
}
