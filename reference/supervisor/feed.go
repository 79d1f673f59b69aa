package supervisor

import "golang.org/x/sys/unix"

// feed is one bounded queue into the pipe of a process that S started. It owns
// the write end.
type feed struct {
	fd       int
	pending  []byte // what the process has not taken yet
	finished bool   // nothing follows: close behind the last byte
}

// pass hands bytes over; none may be pending.
func (f *feed) pass(b []byte) { f.pending = b }

// push makes one write, and closes the pipe behind the last byte.
func (f *feed) push() error {
	if len(f.pending) > 0 {
		n, err := transfer(unix.Write, f.fd, f.pending)
		switch {
		case err != nil:
			return err
		case n == 0:
			return errZero
		}
		f.pending = f.pending[n:]
	}
	if f.finished && len(f.pending) == 0 {
		return shut(&f.fd)
	}
	return nil
}

// busy reports whether the pipe still has something to do.
func (f *feed) busy() bool { return f.fd >= 0 && (f.finished || len(f.pending) > 0) }

// idle reports whether the next bytes can be handed over.
func (f *feed) idle() bool { return f.fd >= 0 && len(f.pending) == 0 && !f.finished }

// close gives up what is pending.
func (f *feed) close() error {
	f.pending = nil
	return shut(&f.fd)
}
