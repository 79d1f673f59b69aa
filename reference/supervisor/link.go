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

	"touchstone/reference/admission"
	"touchstone/reference/outcome"
	"touchstone/reference/record"
)

// workerWord is the argument that turns S's own binary into the worker.
const workerWord = "worker"

// Words of the worker's messages.
const (
	sayReserved = "reserved" // the storage is reserved
	sayRefused  = "refused"  // it is not
	saySettled  = "settled"  // the candidate is judged
	sayFailed   = "failed"   // the storage failed later
)

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
//	control  S <- worker   what it found (packets); S -> worker: "publish"
//	output   S <- worker   the retained document, once, then EOF
//
// Rules: R09, C-74.
type link struct {
	pid, pidfd             int
	input, control, output int
	pending                []byte // accepted bytes that the worker has not taken yet
	finished               bool   // the candidate is complete: close input when all is taken
	buffer                 []byte
	sampler                sampler
}

// startWorker starts the worker for one operation, with size bytes of storage.
func startWorker(operation admission.Operation, spool string, size int64) (l *link, err error) {
	l = &link{pidfd: -1, input: -1, control: -1, output: -1, buffer: make([]byte, record.RelayQueueBytes), sampler: noSampler}
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
	arguments := []string{"refsup", workerWord, strconv.Itoa(int(operation)), strconv.FormatInt(size, 10), spool}
	l.pid, err = syscall.ForkExec("/proc/self/exe", arguments, &syscall.ProcAttr{
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
	if ends[0], l.input, err = pipe(false, true); err != nil {
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

// pass hands accepted candidate bytes over; none may be pending.
func (l *link) pass(b []byte) { l.pending = b }

// push writes pending bytes, and closes the input behind the last.
func (l *link) push() error {
	if len(l.pending) > 0 {
		n, err := transfer(unix.Write, l.input, l.pending)
		if err != nil {
			return err
		}
		l.pending = l.pending[n:]
	}
	if l.finished && len(l.pending) == 0 {
		return shut(&l.input)
	}
	return nil
}

// busy reports whether the input still has something to do.
func (l *link) busy() bool { return l.input >= 0 && (l.finished || len(l.pending) > 0) }

// hear takes one message.
func (l *link) hear() (message, error) {
	packet := make([]byte, record.TerminalBytes)
	n, err := transfer(unix.Read, l.control, packet)
	switch {
	case err != nil:
		return message{}, err
	case n == 0:
		return message{}, errors.New("worker ended")
	}
	return decodeMessage(string(packet[:n]))
}

// publish asks for the retained document.
func (l *link) publish() error {
	_, err := transfer(unix.Write, l.control, []byte("publish"))
	return err
}

// pull reads retained bytes; none and no error is the end.
func (l *link) pull() ([]byte, error) {
	n, err := transfer(unix.Read, l.output, l.buffer)
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

// close kills and reaps the worker, within grace, and closes everything. It
// reports whether the worker is gone, and its unlinked storage with it.
func (l *link) close(grace time.Duration) (gone bool, err error) {
	if err = l.kill(); l.pidfd >= 0 {
		gone = l.reap(grace)
	}
	for _, fd := range []*int{&l.input, &l.control, &l.output, &l.pidfd} {
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
