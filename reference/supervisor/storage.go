package supervisor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"touchstone/reference/outcome"
	"touchstone/reference/record"
)

// sinkDescriptors is how many descriptors of the retained sink S gets at most.
const sinkDescriptors = 2

// storage is what the worker keeps of one attempt: the candidate, which it
// writes itself, and the one file of the sink, which the finalizer writes. That
// file has a name only if it is to get its caller's.
type storage struct {
	candidate int
	size      int64

	sink     int // readable and writable
	sinkSize int64

	folder    int // of the caller's name
	temporary string
	name      string // "" without one
	target    string // the caller's path
	renamed   bool
}

// files are what is kept now.
func (s *storage) files() []int {
	if s.sink > 0 { // 0 is the worker's input
		return []int{s.candidate, s.sink}
	}
	return []int{s.candidate}
}

// partialName is the name of a sink beside its target, before it gets its own.
// A name that leaves no room for the rest is cut in it.
func partialName(name, attemptID string) string {
	rest := "." + attemptID + ".partial"
	return "." + name[:min(len(name), unix.NAME_MAX-1-len(rest))] + rest
}

// reserve makes the files and allocates all of them: storage that cannot be had
// is refused before anything of the customer's starts. It returns the sink's
// descriptors for S: one to write, and for a snapshot one that only reads and
// is a description of its own.
//
// What the sink leaves of the allowance is the candidate's, so both together
// are reserved once, with a block more for where the two meet.
//
// Rules: R09.
func (s *storage) reserve(j job) (passed []int, err error) {
	if s.candidate, err = unnamed(j.Spool, 0o600); err != nil {
		return nil, err
	}
	own := j.ReportBytes
	switch j.Route {
	case outcome.NoSink:
		return nil, allocate(s.candidate, own)
	case outcome.Named:
		err = s.openNamed(j)
	default: // readable only: the producer could open the snapshot no other way
		s.sink, err = unnamed(j.Spool, 0o400)
		own += int64(os.Getpagesize()) - j.SinkBytes
	}
	if err != nil {
		return nil, err
	}
	passed = []int{s.sink}
	if j.Route == outcome.Internal {
		own, err := unix.Open("/proc/self/fd/"+strconv.Itoa(s.sink), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, fmt.Errorf("open snapshot: %w", err)
		}
		passed = append(passed, own)
	}
	return passed, errors.Join(allocate(s.sink, j.SinkBytes), allocate(s.candidate, own))
}

// openNamed makes the sink's file beside its target, on the same filesystem.
//
// Rules: R15, C-35.
func (s *storage) openNamed(j job) (err error) {
	s.folder, err = unix.Open(filepath.Dir(j.Target), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open folder of target: %w", err)
	}
	name := filepath.Base(j.Target)
	temporary := partialName(name, j.AttemptID)
	const flags = unix.O_RDWR | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC
	if s.sink, err = unix.Openat(s.folder, temporary, flags, 0o600); err != nil {
		return fmt.Errorf("create %q: %w", temporary, err)
	}
	s.name, s.temporary, s.target = name, temporary, j.Target
	return nil
}

// unnamed makes a file without a name.
func unnamed(folder string, mode uint32) (int, error) {
	fd, err := unix.Open(folder, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, mode)
	if err != nil {
		return -1, fmt.Errorf("open spool %q: %w", folder, err)
	}
	return fd, nil
}

// allocate reserves the first size bytes of a file, without lengthening it.
func allocate(fd int, size int64) error {
	for size > 0 {
		err := unix.Fallocate(fd, unix.FALLOC_FL_KEEP_SIZE, 0, size)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
	return nil
}

// clear removes what has the caller's name: it must not be taken for the result
// of this attempt.
//
// Rules: R15.
func (s *storage) clear() error {
	if err := unix.Unlinkat(s.folder, s.name, 0); err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("remove old target %q: %w", s.name, err)
	}
	return nil
}

// keep takes the sink as it stands, which is all that is ever changed of it: its
// size must be n bytes, unless it is given up. What it does not use is the
// candidate's.
func (s *storage) keep(j job, n int64) error {
	if j.Route == outcome.NoSink {
		return nil
	}
	var found unix.Stat_t
	if err := unix.Fstat(s.sink, &found); err != nil {
		return fmt.Errorf("stat sink: %w", err)
	}
	if n > 0 && found.Size != n {
		return fmt.Errorf("stat sink: %d bytes, want %d", found.Size, n)
	}
	if err := unix.Ftruncate(s.sink, n); err != nil {
		return fmt.Errorf("cut sink: %w", err)
	}
	s.sinkSize = n
	return allocate(s.candidate, j.ReportBytes-n)
}

// give writes the first size bytes of a file on the output.
func (s *storage) give(fd int, size int64) error {
	buffer := make([]byte, record.RelayQueueBytes)
	for at := int64(0); at < size; {
		n, err := unix.Pread(fd, buffer[:min(int64(len(buffer)), size-at)], at)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return err
		case n == 0:
			return fmt.Errorf("read spool: ends at byte %d of %d", at, size)
		}
		if err := writeAll(workerOutput, buffer[:n]); err != nil {
			return err
		}
		at += int64(n)
	}
	return nil
}

// rename gives the sink its caller's name, readable as any new file is.
func (s *storage) rename() error {
	mask := unix.Umask(0)
	unix.Umask(mask)
	if err := unix.Fchmod(s.sink, uint32(0o666&^mask)); err != nil {
		return fmt.Errorf("set mode of sink: %w", err)
	}
	if err := unix.Renameat(s.folder, s.temporary, s.folder, s.name); err != nil {
		return fmt.Errorf("rename to target: %w", err)
	}
	s.renamed = true
	if err := s.isNamed(); err != nil {
		return errors.Join(err, s.clear()) // it got the name from us
	}
	return nil
}

// isNamed holds what the caller's name stands for against the file that was
// verified: another may have taken the private name, or the folder's place.
//
// Rules: R10, C-45.
func (s *storage) isNamed() error {
	var own, named unix.Stat_t
	if err := errors.Join(unix.Fstat(s.sink, &own), unix.Lstat(s.target, &named)); err != nil {
		return fmt.Errorf("stat target: %w", err)
	}
	if own.Dev != named.Dev || own.Ino != named.Ino {
		return fmt.Errorf("target %q: is not the file that was verified", s.target)
	}
	return nil
}

// discard removes what has a name: the temporary, and of a refused attempt the
// result, too.
func (s *storage) discard(refused bool) error {
	name := s.temporary
	if s.renamed {
		name = s.name
	}
	if s.name == "" || s.renamed && !refused {
		return nil
	}
	if err := unix.Unlinkat(s.folder, name, 0); err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("remove %q: %w", name, err)
	}
	return nil
}
