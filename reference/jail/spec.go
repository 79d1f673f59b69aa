package jail

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Spec says what a contained producer, or tool, gets; everything not named is
// absent.
//
// A tool's domain is the producer's but for one rule: a tool may create tasks,
// which end with its domain (C-75). Nothing listens to it.
type Spec struct {
	Attempt      string            // identity of the attempt, for the control group's name; "" = none
	Helper       string            // absolute path of the static C launcher
	UID          int               // uid and gid of the producer: never 0, one per attempt (C-79)
	System       []string          // read-only paths of the private root; a missing one is left out, a symlink is recreated
	Files        []string          // regular files bound read-only at the same absolute path
	Copies       map[string]string // files that the root holds a copy of: path there -> regular file of S's, no symlink
	Exe          string            // producer binary, bound read-only at the same absolute path
	Argv, Env    []string          // exactly what exec gets; Argv[0] included
	FDs          map[int]int       // producer's number -> S's descriptor; exactly these exist in the producer
	ScratchBytes int64             // size of the tmpfs at /tmp, > 0
	ScratchFiles int64             // inodes that can be created in /tmp, > 0
	MemoryBytes  int64             // memory limit of the domain; 0 = none asked
	Tool         bool              // it is a tool
	Work         string            // folder of S's that a tool has at WorkFolder, writable; "" = none
	FileBytes    int64             // a file that a tool writes is at most so large (inclusive), > 0 with Work
	Deadline     time.Time         // setup, attestation and release give up here (absolute, required)

	// Meanwhile is what S does while the domain is built, nil for nothing; its
	// error ends that.
	Meanwhile func() error
}

// WorkFolder is where a tool has its work folder.
const WorkFolder = "/touchstone-work"

// toolProcesses bounds the tasks of a tool's domain (inclusive), where a control
// group can.
const toolProcesses = 128

// check refuses what cannot be a domain, before anything is started.
func (s *Spec) check() error {
	switch {
	case runtime.GOARCH != "amd64":
		return refuse(ReasonPlatform, fmt.Errorf("architecture %s: no filter for it", runtime.GOARCH))
	case unix.Geteuid() != 0:
		return refuse(ReasonPolicy, fmt.Errorf("effective uid %d: root is needed", unix.Geteuid()))
	case s.UID <= 0 || s.UID == unix.Getuid():
		return refuse(ReasonPolicy, fmt.Errorf("uid %d: not an identity of its own", s.UID))
	case s.ScratchBytes <= 0 || s.ScratchFiles <= 0 || s.MemoryBytes < 0:
		return refuse(ReasonPolicy, errors.New("scratch and memory limits: not positive"))
	case s.Deadline.IsZero():
		return refuse(ReasonPolicy, errors.New("deadline: none given"))
	case len(s.Argv) == 0:
		return refuse(ReasonPolicy, errors.New("argv: empty"))
	case s.Work != "" && (!s.Tool || s.FileBytes <= 0):
		return refuse(ReasonPolicy, errors.New("work folder: not of a tool, or without a bound"))
	}
	for number := range s.FDs {
		if number < 0 || number > maxProducerFD {
			return refuse(ReasonDescriptor, fmt.Errorf("descriptor %d: outside 0..%d", number, maxProducerFD))
		}
	}
	return s.checkStrings()
}

// maxProducerFD is the largest descriptor number a producer can be given (inclusive).
const maxProducerFD = 4095

func (s *Spec) checkStrings() error {
	paths := slices.Concat([]string{s.Helper, s.Exe}, s.System, s.Files)
	for path, from := range s.Copies {
		paths = append(paths, path, from)
	}
	if s.Work != "" {
		paths = append(paths, s.Work)
	}
	for _, path := range paths {
		if !filepath.IsAbs(path) || filepath.Clean(path) != path || path == "/" {
			return refuse(ReasonPolicy, fmt.Errorf("path %q: not clean and absolute", path))
		}
	}
	for _, text := range slices.Concat(paths, s.Argv, s.Env) {
		if strings.ContainsRune(text, 0) {
			return refuse(ReasonPolicy, fmt.Errorf("string %q: holds a NUL", text))
		}
	}
	return nil
}

// control is the number at which the parked producer holds its control
// socket: the lowest from 3 up that the producer is not given. It is gone
// after exec.
func (s *Spec) control() int {
	number := 3
	for {
		if _, taken := s.FDs[number]; !taken {
			return number
		}
		number++
	}
}

// producerNumbers lists the producer's descriptor numbers in order.
func (s *Spec) producerNumbers() []int {
	numbers := make([]int, 0, len(s.FDs))
	for number := range s.FDs {
		numbers = append(numbers, number)
	}
	slices.Sort(numbers)
	return numbers
}

// encode writes the launcher's instructions: NUL-terminated key=value words.
// first is the launcher's number of the first way into a control group; these,
// each with its word, are followed by the producer's descriptors in ascending
// order of their final number.
func (s *Spec) encode(first int, entries []string) []byte {
	var b strings.Builder
	word := func(key string, value any) { fmt.Fprintf(&b, "%s=%v\x00", key, value) }
	word("uid", s.UID)
	word("scratch_bytes", s.ScratchBytes)
	word("scratch_files", s.ScratchFiles)
	word("control", s.control())
	for i, entry := range entries {
		word(entry, first+i)
	}
	for i, number := range s.producerNumbers() {
		word("fd", fmt.Sprintf("%d:%d", number, first+len(entries)+i))
	}
	for _, path := range s.System {
		word("system", path)
	}
	word("exe", s.Exe)
	for _, path := range s.Files {
		word("file", path)
	}
	for _, path := range slices.Sorted(maps.Keys(s.Copies)) {
		word("from", s.Copies[path])
		word("copy", path)
	}
	if s.Tool {
		word("tool", 1)
	}
	if s.Work != "" {
		word("file_bytes", s.FileBytes)
		word("work", s.Work)
	}
	for _, arg := range s.Argv {
		word("arg", arg)
	}
	for _, variable := range s.Env {
		word("env", variable)
	}
	return []byte(b.String())
}

// filter is the program that the launcher loads.
func (s *Spec) filter() []unix.SockFilter {
	if s.Tool {
		return toolFilterProgram[:]
	}
	return filterProgram[:]
}

// processes is how many tasks the domain may hold beside its init: a producer
// is one, and the filter refuses more before a control group does.
func (s *Spec) processes() int {
	if s.Tool {
		return toolProcesses
	}
	return 1
}
