package driver

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// This file reads /proc. A process may end between two reads: what is not
// there any more is left out, never an error of the attempt.

// processes are the pids that the attempt can see, without its own.
func processes() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

func procPath(pid int, name string) string { return fmt.Sprintf("/proc/%d/%s", pid, name) }

// state is the process's state letter and parent; ok is false when it is gone.
func state(pid int) (letter byte, parent int, ok bool) {
	return stateIn(procPath(pid, "stat"))
}

// stopped says whether every thread of a process is stopped.
func stopped(pid int) bool {
	tasks, err := os.ReadDir(procPath(pid, "task"))
	for _, t := range tasks {
		letter, _, there := stateIn(procPath(pid, "task/"+t.Name()+"/stat"))
		if there && letter != 'T' && letter != 't' && letter != 'Z' {
			return false
		}
	}
	return err == nil && len(tasks) > 0
}

func stateIn(path string) (letter byte, parent int, ok bool) {
	fields := statFields(path)
	if len(fields) < 2 {
		return 0, 0, false
	}
	parent, _ = strconv.Atoi(fields[1]) // the kernel's own number
	return fields[0][0], parent, true
}

// statFields are those behind the name, from the state on; none of what is gone.
func statFields(path string) []string {
	text, _ := os.ReadFile(path)
	// The name in parentheses may itself hold spaces and parentheses.
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
}

// alive says whether a process still runs: neither gone nor a zombie.
func alive(pid int) bool {
	letter, _, ok := state(pid)
	return ok && letter != 'Z' && letter != 'X'
}

// exiting is the kernel's mark of a process that runs no code of its own any
// more, though it is no zombie yet.
const exiting = 0x4 // PF_EXITING

// ends says whether a process is about to be a zombie.
func ends(pid int) bool {
	fields := statFields(procPath(pid, "stat"))
	if len(fields) < 7 {
		return true
	}
	flags, err := strconv.ParseUint(fields[6], 10, 64)
	return err == nil && flags&exiting != 0
}

// library is the attempt's copy of the fixture, known by its inode, and where
// the launcher copies it once more, by its head.
type library struct {
	path      string
	device    uint64
	inode     uint64
	head      []byte // nil where it is not copied
	state     uint64 // where fixture_state lies from the start of the mapping
	hasStates bool
}

// mapped is where a process has the library mapped; false when it has not.
func (l library) mapped(pid int) (base uint64, found bool) {
	text, err := os.ReadFile(procPath(pid, "maps"))
	if err != nil {
		return 0, false
	}
	inode := " " + strconv.FormatUint(l.inode, 10) + " "
	for line := range strings.Lines(string(text)) {
		if len(l.head) == 0 && !strings.Contains(line, inode) {
			continue // spares most of the work of a look
		}
		fields := strings.Fields(line)
		if len(fields) < 6 || strings.Trim(fields[2], "0") != "" {
			continue
		}
		start, _, _ := strings.Cut(fields[0], "-")
		base, err := strconv.ParseUint(start, 16, 64)
		if err == nil && (l.is(fields[3], fields[4], fields[5]) || l.copied(pid, base, fields[5])) {
			return base, true
		}
	}
	return 0, false
}

// is compares a mapping's file. Some file systems show another device in maps
// than in stat; there the file's own name decides.
func (l library) is(device, inode, path string) bool {
	major, minor, _ := strings.Cut(device, ":")
	a, _ := strconv.ParseUint(major, 16, 32)
	b, _ := strconv.ParseUint(minor, 16, 32)
	same := unix.Mkdev(uint32(a), uint32(b)) == l.device || filepath.Base(path) == filepath.Base(l.path)
	return same && inode == strconv.FormatUint(l.inode, 10)
}

// producers are the live processes that have the library mapped.
func (l library) producers() []int {
	var found []int
	for _, pid := range processes() {
		if _, mapped := l.mapped(pid); mapped && alive(pid) {
			found = append(found, pid)
		}
	}
	return found
}

// fixtureState is what a fixture publishes.
type fixtureState struct {
	candidate, sink, diagnostic uint64
	point, parked               uint32
	words                       []uint64
}

const (
	resumeOffset = 4*8 + 2*4
	wordsOffset  = 4*8 + 4*4
)

// errNoState: the library is not mapped far enough yet, or the process is gone.
var errNoState = errors.New("no fixture state there")

func (l library) readState(pid int, base uint64) (fixtureState, error) {
	fd, err := unix.Open(procPath(pid, "mem"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fixtureState{}, errNoState
	}
	var raw [stateBytes]byte
	n, err := unix.Pread(fd, raw[:], int64(base+l.state))
	if closed := unix.Close(fd); err != nil || closed != nil || n != len(raw) ||
		binary.LittleEndian.Uint64(raw[:]) != stateMagic {
		return fixtureState{}, errNoState
	}
	s := fixtureState{
		candidate:  binary.LittleEndian.Uint64(raw[8:]),
		sink:       binary.LittleEndian.Uint64(raw[16:]),
		diagnostic: binary.LittleEndian.Uint64(raw[24:]),
		point:      binary.LittleEndian.Uint32(raw[32:]),
		parked:     binary.LittleEndian.Uint32(raw[36:]),
	}
	for at := wordsOffset; at < stateBytes; at += 8 {
		s.words = append(s.words, binary.LittleEndian.Uint64(raw[at:]))
	}
	return s, nil
}

// writeState overwrites a part of the state of a process.
func (l library) writeState(pid int, base uint64, offset int, value []byte) error {
	fd, err := unix.Open(procPath(pid, "mem"), unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open memory of %d: %w", pid, err)
	}
	n, err := unix.Pwrite(fd, value, int64(base+l.state)+int64(offset))
	switch {
	case err == nil && n == 0: // its memory is gone
		err = unix.ESRCH
	case err == nil && n != len(value):
		err = unix.EIO
	}
	if err := errors.Join(err, unix.Close(fd)); err != nil {
		return fmt.Errorf("write memory of %d: %w", pid, err)
	}
	return nil
}

// counted is one of the kernel's counts of a process's input and output, -1
// where it is not told: wchar, bytes written, or rchar, bytes read. A process
// that has ended keeps its counts until it is reaped.
func counted(pid int, name string) int64 {
	for _, line := range lines(pid, "io", "\n") {
		if value, found := strings.CutPrefix(line, name+": "); found {
			if n, err := strconv.ParseInt(value, 10, 64); err == nil {
				return n
			}
		}
	}
	return -1
}

// peakResident is the largest resident size of a process so far, in bytes; 0
// when it is gone.
func peakResident(pid int) int64 {
	text, err := os.ReadFile(procPath(pid, "status"))
	_, rest, found := strings.Cut(string(text), "\nVmHWM:")
	fields := strings.Fields(rest[:min(len(rest), 40)]) // far more than one number
	if err != nil || !found || len(fields) == 0 {
		return 0
	}
	return int64(number(fields[0])) << 10
}

// signalProcess signals a process after check has confirmed, with the pidfd
// open, that the pid is still the one that is meant; one that is not, or that has
// ended, is ESRCH.
func signalProcess(pid int, signal unix.Signal, check func() bool) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return fmt.Errorf("signal %d: %w", pid, err)
	}
	if !check() {
		return errors.Join(fmt.Errorf("signal %d: it has changed meanwhile: %w", pid, unix.ESRCH), unix.Close(fd))
	}
	err = unix.PidfdSendSignal(fd, signal, nil, 0)
	if err = errors.Join(err, unix.Close(fd)); err != nil {
		return fmt.Errorf("signal %d: %w", pid, err)
	}
	return nil
}
