package tracer

import (
	"container/heap"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The tracer waits in wait4, which only a signal can leave early. A POSIX
// timer aimed at the tracer's thread sends one when the next alarm is due,
// and then every millisecond until it is served: a signal that comes just
// before the wait is not lost.

// alarmSignal is a real-time signal that Go leaves to programs.
const alarmSignal = unix.Signal(41)

const alarmRepeat = time.Millisecond

// timer is one alarm. A nil timer can be stopped.
type timer struct {
	at      time.Time
	ring    func()
	stopped bool
}

func (a *timer) stop() {
	if a != nil {
		a.stopped = true
	}
}

// alarms owns the POSIX timer; close deletes it.
type alarms struct {
	queue alarmQueue
	id    int32
	made  bool
	armed time.Time
}

type alarmQueue []*timer

func (q alarmQueue) Len() int           { return len(q) }
func (q alarmQueue) Less(i, j int) bool { return q[i].at.Before(q[j].at) }
func (q alarmQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *alarmQueue) Push(x any)        { *q = append(*q, x.(*timer)) }
func (q *alarmQueue) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}

// after rings once d has passed, on the tracer's thread.
func (a *alarms) after(d time.Duration, ring func()) (*timer, error) {
	t := &timer{at: time.Now().Add(d), ring: ring}
	heap.Push(&a.queue, t)
	return t, a.arm()
}

// serve rings what is due.
func (a *alarms) serve() error {
	for len(a.queue) > 0 && !a.queue[0].at.After(time.Now()) {
		if t := heap.Pop(&a.queue).(*timer); !t.stopped {
			t.ring()
		}
	}
	return a.arm()
}

// sigevent is struct sigevent with SIGEV_THREAD_ID.
type sigevent struct {
	value  uint64
	signo  int32
	notify int32
	tid    int32
	_      [11]int32
}

const sigevThreadID = 4

// catchAlarms has Go catch the signal, once and for good: a late one must not
// find its default action.
var catchAlarms = sync.OnceValue(func() error {
	signal.Notify(make(chan os.Signal, 1), alarmSignal)
	return interrupting(alarmSignal)
})

func (a *alarms) make() error {
	if err := catchAlarms(); err != nil {
		return err
	}
	event := sigevent{signo: int32(alarmSignal), notify: sigevThreadID, tid: int32(unix.Gettid())}
	_, _, errno := unix.Syscall(unix.SYS_TIMER_CREATE, unix.CLOCK_MONOTONIC,
		uintptr(unsafe.Pointer(&event)), uintptr(unsafe.Pointer(&a.id)))
	if errno != 0 {
		return fmt.Errorf("make timer: %w", errno)
	}
	a.made = true
	return nil
}

// arm aims the POSIX timer at the first alarm, or rests it.
func (a *alarms) arm() error {
	var next time.Time
	if len(a.queue) > 0 {
		next = a.queue[0].at
	}
	if next.Equal(a.armed) || next.IsZero() && !a.made {
		return nil
	}
	if !a.made {
		if err := a.make(); err != nil {
			return err
		}
	}
	var setting unix.ItimerSpec
	if !next.IsZero() {
		setting.Interval = unix.NsecToTimespec(int64(alarmRepeat))
		setting.Value = unix.NsecToTimespec(int64(max(time.Until(next), time.Microsecond)))
	}
	_, _, errno := unix.Syscall6(unix.SYS_TIMER_SETTIME, uintptr(a.id), 0, uintptr(unsafe.Pointer(&setting)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("set timer: %w", errno)
	}
	a.armed = next
	return nil
}

func (a *alarms) close() error {
	if !a.made {
		return nil
	}
	a.made = false
	if _, _, errno := unix.Syscall(unix.SYS_TIMER_DELETE, uintptr(a.id), 0, 0); errno != 0 {
		return fmt.Errorf("delete timer: %w", errno)
	}
	return nil
}

// interrupting makes a signal that Go handles end system calls with EINTR,
// rather than restart them.
func interrupting(sig unix.Signal) error {
	var action struct {
		handler, flags, restorer, mask uintptr
	}
	const restart = 0x10000000
	sigaction := func(set, get unsafe.Pointer) unix.Errno {
		_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(set), uintptr(get), 8, 0, 0)
		return errno
	}
	errno := sigaction(nil, unsafe.Pointer(&action))
	if errno == 0 {
		action.flags &^= restart
		errno = sigaction(unsafe.Pointer(&action), nil)
	}
	if errno != 0 {
		return fmt.Errorf("set signal %d: %w", sig, errno)
	}
	return nil
}
