package supervisor

import (
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"

	"touchstone/reference/admission"
	"touchstone/reference/jsonscan"
	"touchstone/reference/outcome"
	"touchstone/reference/record"
)

// The worker's descriptors; 2 is the null device.
const (
	workerInput   = 0
	workerOutput  = 1
	workerControl = 3
)

// worker is the process behind a link. Unlike S it may block: S kills it.
type worker struct {
	spool   int // the retained candidate: an unlinked file
	size    int64
	scanner *jsonscan.Scanner
	shape   shape
	settled bool
}

// Work is the worker's main function: it reserves, retains, judges and gives
// back one candidate. It returns the exit status, which nobody trusts.
//
// Rules: R04, R09, C-74.
func Work(args []string) int {
	if len(args) != 3 {
		return 2
	}
	operation, err1 := strconv.Atoi(args[0])
	size, err2 := strconv.ParseInt(args[1], 10, 64)
	if errors.Join(err1, err2) != nil {
		return 2
	}
	w := worker{shape: newShape(admission.Operation(operation))}
	w.scanner = jsonscan.New(w.shape.limits())
	if err := w.reserve(args[2], size); err != nil {
		return w.fail(sayRefused)
	}
	noteReserved(w.spool)
	go sample()
	if err := say(message{Word: sayReserved}); err != nil {
		return 1
	}
	if err := w.retain(); err != nil {
		return w.fail(sayFailed)
	}
	if err := w.giveBack(); err != nil {
		return w.fail(sayFailed)
	}
	return 0
}

// fail says why the worker ends; the end itself is the message if that fails.
func (w *worker) fail(word string) int {
	_ = say(message{Word: word})
	return 1
}

func say(m message) error {
	return writeAll(workerControl, m.encode())
}

// reserve makes an unlinked file in the spool and allocates all of it: storage
// that cannot be had is refused before anything of the customer's starts.
func (w *worker) reserve(spool string, size int64) (err error) {
	w.spool, err = unix.Open(spool, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return fmt.Errorf("open spool %q: %w", spool, err)
	}
	for {
		err = unix.Fallocate(w.spool, unix.FALLOC_FL_KEEP_SIZE, 0, size)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// retain takes the candidate to its end. A value that no further byte can
// repair is reported at once; what follows it is not kept.
func (w *worker) retain() error {
	buffer := make([]byte, record.RelayQueueBytes)
	for {
		n, err := readSome(workerInput, buffer)
		if err != nil {
			return err
		}
		if n == 0 {
			return w.settle(w.judge())
		}
		if w.settled {
			continue
		}
		if err := writeAll(w.spool, buffer[:n]); err != nil {
			return err
		}
		w.size += int64(n)
		if err := w.scanner.Write(buffer[:n]); err != nil {
			if err := w.settle(message{Settlement: outcome.Malformed}); err != nil {
				return err
			}
		}
	}
}

// judge decides at the end: a value that stops short may have its cause
// elsewhere, a whole one of a wrong shape may not.
func (w *worker) judge() message {
	if err := w.scanner.Finish(); err != nil {
		return message{Settlement: outcome.Fragment}
	}
	return w.shape.judge(w.scanner.Members())
}

func (w *worker) settle(m message) error {
	noteWork(w.spool)
	if w.settled {
		return nil
	}
	w.settled, m.Word = true, saySettled
	return say(m)
}

// giveBack writes the retained document once S asks; S ends without asking by
// closing control.
func (w *worker) giveBack() error {
	buffer := make([]byte, record.RelayQueueBytes)
	if n, err := readSome(workerControl, buffer); n == 0 || err != nil {
		return err
	}
	for at := int64(0); at < w.size; {
		n, err := unix.Pread(w.spool, buffer, at)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return err
		case n == 0:
			return fmt.Errorf("read spool: ends at byte %d of %d", at, w.size)
		}
		if err := writeAll(workerOutput, buffer[:n]); err != nil {
			return err
		}
		at += int64(n)
	}
	return unix.Close(workerOutput)
}

func readSome(fd int, b []byte) (int, error) {
	for {
		n, err := unix.Read(fd, b)
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

func writeAll(fd int, b []byte) error {
	for len(b) > 0 {
		n, err := unix.Write(fd, b)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return err
		case n == 0:
			return errZero
		default:
			b = b[n:]
		}
	}
	return nil
}
