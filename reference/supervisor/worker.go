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

// job is what a worker is started for, as its arguments carry it.
type job struct {
	Operation   admission.Operation
	Route       outcome.Route
	ReportBytes int64  // the whole allowance
	SinkBytes   int64  // the sink's part of it at most
	AttemptID   string // names what has a name before its time
	Spool       string
	Target      string // the caller's name for the sink, "" without
}

func (j job) arguments() []string {
	return []string{strconv.Itoa(int(j.Operation)), strconv.Itoa(int(j.Route)), strconv.FormatInt(j.ReportBytes, 10),
		strconv.FormatInt(j.SinkBytes, 10), j.AttemptID, j.Spool, j.Target}
}

func readJob(args []string) (job, error) {
	if len(args) != 7 {
		return job{}, fmt.Errorf("read job: %d arguments", len(args))
	}
	var numbers [4]int64
	for i := range numbers {
		n, err := strconv.ParseInt(args[i], 10, 64)
		if err != nil {
			return job{}, fmt.Errorf("read job: %w", err)
		}
		numbers[i] = n
	}
	return job{admission.Operation(numbers[0]), outcome.Route(numbers[1]), numbers[2], numbers[3], args[4], args[5], args[6]}, nil
}

// worker is the process behind a link. Unlike S it may block: S kills it.
type worker struct {
	job job
	storage
	scanner *jsonscan.Scanner
	shape   shape
	settled bool
}

// Work is the worker's main function: it reserves, retains, judges and gives
// back one candidate, and looks after the file of one sink, as S orders. It
// returns the exit status, which nobody trusts.
//
// Rules: R04, R09, C-74.
func Work(args []string) int {
	j, err := readJob(args)
	if err != nil {
		return 2
	}
	w := worker{job: j}
	w.shape = newShape(w.job.Operation, w.job.Route)
	w.scanner = jsonscan.New(w.shape.limits())
	passed, err := w.reserve(w.job)
	if err != nil {
		return w.fail(sayRefused)
	}
	noteReserved(w.files()...)
	go sample()
	err = say(message{Word: sayReserved}, passed...)
	for err == nil {
		var o order
		if o, err = hearOrder(); err == nil {
			err = w.obey(o)
		}
	}
	return w.fail(sayFailed)
}

// fail ends the worker: whatever has a name only here is removed, and the end
// itself is the message if nothing can be said.
func (w *worker) fail(word string) int {
	_ = say(message{Word: word})
	if w.discard(false) == nil {
		_ = say(message{Word: sayDiscarded})
	}
	return 1
}

// obey does what one order says and answers it.
func (w *worker) obey(o order) error {
	answer, err := "", error(nil)
	switch o.word {
	case orderClear:
		answer, err = sayCleared, w.clear()
	case orderRetain:
		if err := w.keep(w.job, o.bytes); err != nil {
			return err
		}
		return errors.Join(say(message{Word: sayKept}), w.retain())
	case orderSink:
		return w.give(w.sink, w.sinkSize)
	case orderDocument:
		return w.give(w.candidate, w.size)
	case orderName:
		answer, err = sayNamed, w.rename()
	case orderDiscard:
		answer, err = sayDiscarded, w.discard(true)
	default:
		return fmt.Errorf("order %q: unknown", o.word)
	}
	if err != nil {
		return err
	}
	return say(message{Word: answer})
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
		if err := writeAll(w.candidate, buffer[:n]); err != nil {
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
	noteWork(w.files()...)
	if w.settled {
		return nil
	}
	w.settled, m.Word = true, saySettled
	return say(m)
}

// say sends one message, with the descriptors that belong to it.
func say(m message, passed ...int) error {
	var rights []byte
	if len(passed) > 0 {
		rights = unix.UnixRights(passed...)
	}
	for {
		err := unix.Sendmsg(workerControl, m.encode(), rights, nil, unix.MSG_NOSIGNAL)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// hearOrder waits for the next order.
func hearOrder() (o order, err error) {
	packet := make([]byte, 4096)
	n, err := readSome(workerControl, packet)
	if err == nil && n == 0 {
		err = errors.New("no more orders")
	}
	if err != nil {
		return o, err
	}
	return decodeOrder(string(packet[:n]))
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
