package supervisor

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sys/unix"

	"touchstone/reference/outcome"
	"touchstone/reference/record"
)

// workerWord is the argument that turns S's own binary into the worker.
const workerWord = "worker"

// Words of the worker's messages.
const (
	sayReserved  = "reserved"  // the storage is reserved; with the sink's descriptors
	sayRefused   = "refused"   // it is not
	sayCleared   = "cleared"   // the old target is gone
	sayKept      = "kept"      // the sink is what S says it is, and cut to that
	saySettled   = "settled"   // the candidate is judged
	sayNamed     = "named"     // the sink has its caller's name
	sayDiscarded = "discarded" // nothing is left beside the target
	sayFailed    = "failed"    // the storage failed later
)

// Words of S's orders. Each of them at most once, in this order.
const (
	orderClear    = "clear"    // remove the old target
	orderRetain   = "retain"   // keep so many bytes of the sink, then the candidate
	orderSink     = "sink"     // write the sink on the output
	orderDocument = "document" // write the candidate on the output
	orderName     = "name"     // give the sink its caller's name
	orderDiscard  = "discard"  // remove what has a name
)

// order is one packet to the worker: the word and a number, with a blank
// between.
type order struct {
	word  string
	bytes int64
}

func (o order) encode() []byte { return fmt.Appendf(nil, "%s %d", o.word, o.bytes) }

func decodeOrder(packet string) (order, error) {
	word, number, _ := strings.Cut(packet, " ")
	bytes, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return order{}, fmt.Errorf("decode order %q: %w", packet, err)
	}
	return order{word, bytes}, nil
}

// message is one packet from the worker. It is S's own program, but what it
// says about a claim is still bounded. The packet is the five in a row, with
// blanks between.
type message struct {
	Word       string
	Settlement outcome.Settlement
	Omitted    bool
	Code       string
	Args       jsontext.Value // compact
}

func (m message) encode() []byte {
	return fmt.Appendf(nil, "%s %d %t %s %s", m.Word, m.Settlement, m.Omitted, m.Code, string(m.Args))
}

func decodeMessage(packet string) (message, error) {
	parts := strings.SplitN(packet, " ", 5)
	if len(parts) != 5 {
		return message{}, errors.New("decode message of worker: not five parts")
	}
	settlement, err1 := strconv.ParseUint(parts[1], 10, 8)
	omitted, err2 := strconv.ParseBool(parts[2])
	if err := errors.Join(err1, err2); err != nil {
		return message{}, fmt.Errorf("decode message of worker: %w", err)
	}
	return message{parts[0], outcome.Settlement(settlement), omitted, parts[3], jsontext.Value(parts[4])}, nil
}

// link is S's end of the worker: a killable process of S's own binary that
// keeps the candidate in the host's spool, judges it, and returns it for
// publication. It owns the process and three descriptors.
//
//	input    S -> worker   candidate bytes, then EOF
//	control  S -> worker   orders; S <- worker: what it did and found (packets)
//	output   S <- worker   the retained sink, the retained document
//
// Rules: R09, C-74.
type link struct {
	pid, pidfd      int
	input           feed // of accepted candidate bytes
	control, output int
	buffer          []byte
	passed          []int // descriptors that came with the last message
	discarded       bool  // it has said that nothing with a name is left
	sampler         sampler
}

// startWorker starts the worker on a job.
func startWorker(j job) (l *link, err error) {
	l = &link{pidfd: -1, input: feed{fd: -1}, control: -1, output: -1, buffer: make([]byte, record.RelayQueueBytes), sampler: noSampler}
	ends := [4]int{-1, -1, -1, -1} // the worker's
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return l, fmt.Errorf("open null device: %w", err)
	}
	defer func() {
		for _, fd := range append(ends[:], null) {
			err = errors.Join(err, shut(&fd))
		}
	}()
	if err := l.connect(&ends); err != nil {
		return l, err
	}
	if l.sampler, ends[3], err = newSampler(); err != nil {
		return l, err
	}
	l.pid, err = syscall.ForkExec("/proc/self/exe", append([]string{"refsup", workerWord}, j.arguments()...), &syscall.ProcAttr{
		Env: []string{"GOMAXPROCS=1"}, // it does one thing at a time; more threads only cost its start
		Files: []uintptr{uintptr(ends[0]), uintptr(ends[1]), uintptr(null), uintptr(ends[2]),
			uintptr(ends[3]), uintptr(l.sampler.memory)},
		Sys: &syscall.SysProcAttr{PidFD: &l.pidfd, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return l, fmt.Errorf("start worker: %w", err)
	}
	return l, nil
}

// connect makes the worker's descriptors: its input, output and control.
func (l *link) connect(ends *[4]int) (err error) {
	if ends[0], l.input.fd, err = pipe(false, true); err != nil {
		return err
	}
	if l.output, ends[1], err = pipe(true, false); err != nil {
		return err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("make control socket: %w", err)
	}
	l.control, ends[2] = pair[0], pair[1]
	return unix.SetNonblock(l.control, true)
}

// hear takes one message; the descriptors that came with it are l.passed.
func (l *link) hear() (message, error) {
	packet, rights := make([]byte, record.TerminalBytes), make([]byte, unix.CmsgSpace(4*sinkDescriptors))
	rightsBytes := 0
	n, err := transfer(func(fd int, b []byte) (n int, err error) {
		n, rightsBytes, _, _, err = unix.Recvmsg(fd, b, rights, unix.MSG_CMSG_CLOEXEC)
		return n, err
	}, l.control, packet)
	switch {
	case err != nil:
		return message{}, err
	case n == 0:
		return message{}, errors.New("worker ended")
	}
	if rightsBytes > 0 {
		headers, err := unix.ParseSocketControlMessage(rights[:rightsBytes])
		if err == nil {
			l.passed, err = unix.ParseUnixRights(&headers[0])
		}
		if err != nil {
			return message{}, fmt.Errorf("receive from worker: %w", err)
		}
	}
	m, err := decodeMessage(string(packet[:n]))
	l.discarded = l.discarded || m.Word == sayDiscarded
	return m, err
}

// order sends one order.
func (l *link) order(o order) error {
	_, err := transfer(unix.Write, l.control, o.encode())
	return err
}

// retain has the worker keep so many bytes of the sink and take the candidate.
func (l *link) retain(bytes int64) error { return l.order(order{orderRetain, bytes}) }

// retained takes over the descriptors of the retained sink: one for the
// finalizer, and a read-only one of its own for a snapshot.
func (l *link) retained(snapshot bool) (target, own int, err error) {
	passed := l.passed
	l.passed = nil
	switch {
	case snapshot && len(passed) == 2:
		return passed[0], passed[1], nil
	case !snapshot && len(passed) == 1:
		return passed[0], -1, nil
	}
	for _, fd := range passed {
		err = errors.Join(err, unix.Close(fd))
	}
	return -1, -1, errors.Join(fmt.Errorf("worker passed %d descriptors", len(passed)), err)
}

// pull reads at most most retained bytes; none and no error is the end.
func (l *link) pull(most int64) ([]byte, error) {
	n, err := transfer(unix.Read, l.output, l.buffer[:min(most, int64(len(l.buffer)))])
	return l.buffer[:n], err
}

// kill ends the worker, which may have ended by itself.
func (l *link) kill() error {
	if l.pidfd < 0 {
		return nil
	}
	err := unix.PidfdSendSignal(l.pidfd, unix.SIGKILL, nil, 0)
	if err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("kill worker: %w", err)
	}
	return nil
}

// discard has the worker remove what has a name, within grace. It reports
// whether the worker says that nothing is left.
func (l *link) discard(grace time.Duration) bool {
	// Whatever the worker is doing, it comes to an end: its streams end.
	_ = errors.Join(l.input.close(), shut(&l.output), l.order(order{word: orderDiscard}))
	for end := time.Now().Add(grace); l.control >= 0 && !l.discarded; {
		left := time.Until(end)
		if _, err := l.hear(); err != nil && !errors.Is(err, errAgain) || left <= 0 {
			break
		}
		if !l.discarded && poll([]unix.PollFd{{Fd: int32(l.control), Events: unix.POLLIN}}, left) != nil {
			break
		}
	}
	return l.discarded
}

// close kills and reaps the worker, within grace, and closes everything. It
// reports whether the worker is gone, and its unlinked storage with it.
func (l *link) close(grace time.Duration) (gone bool, err error) {
	if err = l.kill(); l.pidfd >= 0 {
		gone = l.reap(grace)
	}
	for i := range l.passed { // of a refusal that came between
		err = errors.Join(err, shut(&l.passed[i]))
	}
	for _, fd := range []*int{&l.input.fd, &l.control, &l.output, &l.pidfd} {
		err = errors.Join(err, shut(fd))
	}
	return gone, errors.Join(err, l.sampler.close())
}

func (l *link) reap(grace time.Duration) bool {
	for end := time.Now().Add(grace); ; {
		pid, err := unix.Wait4(l.pid, nil, unix.WNOHANG, nil)
		left := time.Until(end)
		if pid == l.pid || err != nil && !errors.Is(err, unix.EINTR) || left <= 0 {
			return pid == l.pid
		}
		if err := poll([]unix.PollFd{{Fd: int32(l.pidfd), Events: unix.POLLIN}}, left); err != nil {
			return false
		}
	}
}
