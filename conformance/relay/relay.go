package relay

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"

	"touchstone/conformance/scenario"
	"touchstone/conformance/urgent"
)

// HoldWord makes a relay that only holds what it inherits, until it is killed.
const HoldWord = "hold"

// channel is a data channel that the relay passes on itself.
type channel struct {
	from, to int // -1: closed
	passed   uint64
}

// relay is one relay at work. Its one goroutine owns everything but the
// signals, which another passes on.
type relay struct {
	plan     scenario.Relay
	log      log
	host     int // the host's terminal endpoint
	kept     int // the data endpoint to be held open in the end
	keeper   string
	own      int // our end of the supervisor's; -1 after its end
	data     *channel
	pid      int
	pidfd    int
	status   unix.WaitStatus
	exited   bool
	received [][]byte
	buffer   []byte
}

// Run is the whole of a relay: PLAN TERMINAL SINK -- COMMAND…. It returns the
// exit status, or ends by a signal as the supervisor did.
func Run(args []string) (int, error) {
	runtime.LockOSThread() // the supervisor dies with this thread
	urgent.Thread()
	if len(args) == 1 && args[0] == HoldWord {
		return 0, unix.Pause()
	}
	if len(args) < 5 || args[3] != "--" {
		return 64, errors.New("usage: touchstone-relay PLAN TERMINAL SINK -- COMMAND, as a host under test starts it")
	}
	given, err := gifts()
	if err != nil {
		return 70, err
	}
	r := &relay{buffer: make([]byte, 1<<20)}
	if err := r.open(args[0]); err != nil {
		return 70, err
	}
	err = r.start(args[1], args[2], args[4:], given)
	if err == nil {
		err = r.work()
	}
	if err != nil {
		return 70, errors.Join(err, r.log.did(Failed, 0, err.Error()))
	}
	return r.end()
}

func (r *relay) open(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read plan: %w", err)
	}
	var plan Plan
	if err := json.Unmarshal(text, &plan, json.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("read plan: %w", err)
	}
	r.keeper = plan.Keeper
	if r.plan, err = scenario.ParseRelay(plan.Words); err != nil {
		return err
	}
	r.log, err = openLog(plan.Log)
	return err
}

// start takes the host's endpoints over and starts the supervisor on its own.
func (r *relay) start(terminalText, sinkText string, command []string, given []int) error {
	number, err := spelled(terminalText)
	if err != nil {
		return fmt.Errorf("terminal %w", err)
	}
	kind, err := unix.GetsockoptInt(number, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil {
		return fmt.Errorf("terminal descriptor %d: %w", number, err)
	}
	said := fmt.Sprintf("channel=%s terminal=%t", os.Getenv("PINEFORGE_REPORT_CHANNEL"), kind == unix.SOCK_SEQPACKET)
	if err := r.log.did(Started, 0, said); err != nil {
		return err
	}
	if r.host, err = move(number); err != nil {
		return err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("make terminal pair: %w", err)
	}
	replaced := map[int]int{number: pair[1]}
	r.own = pair[0]
	if err := r.keep(sinkText); err != nil {
		return err
	}
	between, err := r.interpose(sinkText, replaced)
	if err != nil {
		return err
	}
	if r.pid, r.pidfd, err = spawn(command, given, replaced); err != nil {
		return err
	}
	go r.passSignals(listen())
	return errors.Join(releaseGifts(given), unix.Close(pair[1]), between())
}

// keep takes one more descriptor of the data endpoint that the plan has held.
func (r *relay) keep(sinkText string) (err error) {
	number := map[string]int{scenario.ChannelReport: 1, scenario.ChannelDiagnostic: 2}[r.plan.Held]
	if r.plan.Held == scenario.ChannelSink {
		if number, err = spelled(sinkText); err != nil || number < 0 {
			return fmt.Errorf("sink descriptor %q: %w", sinkText, err)
		}
	}
	if number > 0 {
		r.kept, err = move(number)
	}
	return err
}

// interpose puts a pipe into the channel of the plan's point.
func (r *relay) interpose(sinkText string, replaced map[int]int) (closeTheirs func() error, err error) {
	number := 1
	switch r.plan.Channel {
	case "":
		return func() error { return nil }, nil
	case scenario.ChannelSink:
		if number, err = spelled(sinkText); err != nil || number < 0 {
			return nil, fmt.Errorf("sink descriptor %q: %w", sinkText, err)
		}
	}
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		return nil, fmt.Errorf("make pipe: %w", err)
	}
	r.data = &channel{from: pipe[0]}
	if r.data.to, err = move(number); err != nil {
		return nil, err
	}
	replaced[number] = pipe[1]
	return func() error { return unix.Close(pipe[1]) }, nil
}

func listen() chan os.Signal {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGTERM, unix.SIGINT, unix.SIGHUP)
	return signals
}

// passSignals passes the host's requests on to the supervisor.
func (r *relay) passSignals(signals chan os.Signal) {
	for s := range signals {
		number := s.(unix.Signal)
		err := unix.PidfdSendSignal(r.pidfd, number, nil, 0)
		_ = r.log.did(Cancelled, 0, strings.TrimSpace(fmt.Sprint(number, " ", errText(err)))) // the deed counts
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// childPause is between two looks for a process of the supervisor's own.
const childPause = 500 * time.Microsecond

// work goes on until the supervisor and its channels have ended.
func (r *relay) work() error {
	for !r.exited || r.own >= 0 || (r.data != nil && r.data.from >= 0) {
		if err := r.atChild(); err != nil {
			return err
		}
		if err := r.batch(); err != nil {
			return err
		}
	}
	return r.pass() // where the channel's end came after the record
}

func (r *relay) batch() error {
	polled := []unix.PollFd{{Fd: int32(r.own), Events: unix.POLLIN}, {Fd: -1}, {Fd: -1}}
	if r.data != nil {
		polled[1] = unix.PollFd{Fd: int32(r.data.from), Events: unix.POLLIN}
	}
	if !r.exited {
		polled[2] = unix.PollFd{Fd: int32(r.pidfd), Events: unix.POLLIN}
	}
	var wait *unix.Timespec
	if r.plan.Point == scenario.PointChild {
		wait = &unix.Timespec{Nsec: childPause.Nanoseconds()}
	}
	if _, err := unix.Ppoll(polled, wait, nil); err != nil {
		if errors.Is(err, unix.EINTR) {
			return nil
		}
		return fmt.Errorf("poll: %w", err)
	}
	for i, ready := range []func() error{r.takePacket, r.takeBytes, r.reap} {
		if polled[i].Revents != 0 {
			if err := ready(); err != nil {
				return err
			}
		}
	}
	return nil
}

// takePacket receives from the supervisor. Nothing is sent before the channel
// in between has ended: a record comes last.
func (r *relay) takePacket() error {
	n, _, err := unix.Recvfrom(r.own, r.buffer, unix.MSG_DONTWAIT)
	switch {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
		return nil
	case n <= 0:
		own := r.own
		r.own = -1
		return unix.Close(own)
	}
	r.received = append(r.received, append([]byte{}, r.buffer[:n]...))
	if err := errors.Join(r.log.did(Received, int64(n), ""), r.log.recorded(r.buffer[:n])); err != nil {
		return err
	}
	return r.pass()
}

// takeBytes passes a channel on, up to the point exactly.
func (r *relay) takeBytes() error {
	left := r.plan.Bytes - r.data.passed
	if left == 0 {
		if err := r.deed(); err != nil {
			return err
		}
	}
	n, err := unix.Read(r.data.from, r.buffer[:min(uint64(len(r.buffer)), left)])
	if errors.Is(err, unix.EINTR) {
		return nil
	}
	if n <= 0 {
		err := errors.Join(unix.Close(r.data.from), unix.Close(r.data.to), r.log.did(Forwarded, int64(r.data.passed), r.plan.Channel))
		r.data.from = -1
		return errors.Join(err, r.pass())
	}
	for rest := r.buffer[:n]; len(rest) > 0; {
		written, err := unix.Write(r.data.to, rest)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("pass %s on: %w", r.plan.Channel, err)
		}
		rest = rest[max(written, 0):]
	}
	r.data.passed += uint64(n)
	return nil
}

func (r *relay) reap() error {
	_, err := unix.Wait4(r.pid, &r.status, 0, nil)
	if err != nil {
		return fmt.Errorf("wait for supervisor: %w", err)
	}
	r.exited = true
	return r.log.did(Supervised, 0, describe(r.status))
}

func describe(s unix.WaitStatus) string {
	if s.Signaled() {
		return fmt.Sprintf("signal=%d", s.Signal())
	}
	return fmt.Sprintf("exit=%d", s.ExitStatus())
}
