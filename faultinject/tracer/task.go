package tracer

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"touchstone/faultinject"
	"touchstone/faultinject/engine"
)

// phase says what a thread waits for.
type phase int

const (
	running  phase = iota // the kernel has it
	gated                 // stopped at entry until another call is over
	held                  // stopped by a hold or delay
	stepping              // on its way to the first instruction of a handler
)

// task is one traced thread.
type task struct {
	tracer *Tracer
	tid    int
	proc   *process
	thread int // nth of its process, the leader is 1
	phase  phase

	wantExit bool // stop at the exit of this call
	inCall   bool // all-stops mode: the next syscall stop is the exit
	skipped  bool // the call was skipped; value is what it gets
	value    int64
	arriving bool // before the target's first own instruction
	grafted  bool // the filter is in place, or none is needed

	call    engine.Call
	flight  engine.Flight
	line    record      // evidence of the flight
	atExit  func(int64) // what the tracer itself wants of this call's result
	edits   []edit
	last    engine.Call // watched call whose end was not seen
	hasLast bool
	timer   *timer
	heldAt  int64
}

// edit is one change of a thread's memory or registers, to be taken back at
// the exit of the call.
type edit struct {
	register bool
	place    uint64 // address, or offset of the register
	old      uint64
}

// process is a thread group.
type process struct {
	tgid    int
	role    faultinject.Role
	letter  string // of the role
	exe     fileID
	start   uint64 // clock ticks since boot
	threads int    // created so far
	alive   int
	objects map[int]object
	private bool // a thread has its own descriptor table
	stopped bool // in a group stop, as was noted
	hidden  []string
}

// fileID identifies a file.
type fileID struct{ dev, ino uint64 }

func (f fileID) String() string { return fmt.Sprintf("%d:%d", f.dev, f.ino) }

func fileAt(path string) (fileID, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return fileID{}, fmt.Errorf("stat %s: %w", path, err)
	}
	return fileID{st.Dev, st.Ino}, nil
}

// adopt makes the task of a thread that ptrace has attached.
func (t *Tracer) adopt(tid int) *task {
	tgid := threadGroup(tid)
	p := t.procs[tgid]
	if p == nil {
		p = &process{tgid: tgid, objects: map[int]object{}, start: startTime(tgid)}
		t.procs[tgid] = p
		t.identify(p)
	}
	p.threads++
	p.alive++
	k := &task{tracer: t, tid: tid, proc: p, thread: p.threads, grafted: true}
	t.tasks[tid] = k
	return k
}

// identify finds the role of a process from its executable.
func (t *Tracer) identify(p *process) {
	exe, err := fileAt(fmt.Sprintf("/proc/%d/exe", p.tgid))
	if err != nil {
		exe = fileID{} // it is dying
	}
	p.exe = exe
	switch {
	case exe == t.rootExe:
		p.role = faultinject.Supervisor
	case t.verifiers[exe]:
		p.role = faultinject.Verifier
	default:
		p.role = faultinject.Untrusted
	}
	p.letter = p.role.Letters()[0]
}

// forget drops a thread that is gone or detached.
func (t *Tracer) forget(k *task) {
	if t.engine.Abandon(&k.flight) {
		t.openGates()
	}
	t.engine.Forget(k.tid)
	k.timer.stop()
	delete(t.tasks, k.tid)
	if t.latest == k {
		t.latest = nil
	}
	t.gated = without(t.gated, k)
	for name := range t.holds {
		t.holds[name] = without(t.holds[name], k)
	}
	if k.proc.alive--; k.proc.alive == 0 {
		t.processGone(k.proc)
	}
}

// processGone tells whether a process that rules cover was out of sight: its
// own filter answered calls before the tracer could.
func (t *Tracer) processGone(p *process) {
	if len(p.hidden) > 0 && p.role&t.roles != 0 {
		t.blind("own-filter", fmt.Sprintf("process %d has a filter of its own over %s", p.tgid, strings.Join(p.hidden, ",")))
	}
	delete(t.procs, p.tgid)
}

func without(list []*task, k *task) []*task {
	out := list[:0]
	for _, other := range list {
		if other != k {
			out = append(out, other)
		}
	}
	return out
}

// threadGroup returns the process of a thread; the thread itself where it is
// gone already.
func threadGroup(tid int) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", tid))
	if err != nil {
		return tid
	}
	if n, ok := statusField(status, "Tgid:", 10); ok {
		return int(n)
	}
	return tid
}

func statusField(status []byte, name string, base int) (uint64, bool) {
	_, rest, found := bytes.Cut(status, []byte("\n"+name))
	if !found {
		return 0, false
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	n, err := strconv.ParseUint(string(bytes.TrimSpace(line)), base, 64)
	return n, err == nil
}

// startTime returns field 22 of /proc/PID/stat, or 0.
func startTime(pid int) uint64 {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 {
		return 0
	}
	n, _ := strconv.ParseUint(fields[19], 10, 64)
	return n
}
