package jail

import (
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Usage is what was measured of a domain; nil is not measurable here, never
// zero. Sizes are bytes, the rest counts. CPU time is the wait's business.
//
// Rules: R12.
type Usage struct {
	MemoryPeak    *int64 // charge of the control group, page cache and /tmp included
	ProcessesPeak *int64 // at one time
	OOMKills      *int64

	// Of /tmp, as it was left. Logical are the lengths of regular files, each
	// counted once; Allocated is their backing; Files counts every entry.
	ScratchLogical, ScratchAllocated, ScratchFiles *int64
}

// Usage reads the measurements. It reads files of the kernel's, so it belongs
// before Close and outside S's loop; it works after everything has been reaped.
func (d *Domain) Usage() Usage {
	var u Usage
	if d.leaf != nil {
		for i := range d.leaf.groups {
			d.leaf.groups[i].measure(&u)
		}
	}
	d.measureScratch(&u)
	return u
}

// measure fills the cells that this hierarchy knows and that are still empty.
// Whichever layout there is, a quantity comes from the one that has its
// controller.
func (g *group) measure(u *Usage) {
	if g.unified {
		set(&u.MemoryPeak, g.number("memory.peak"))
		set(&u.ProcessesPeak, g.number("pids.peak"))
		set(&u.OOMKills, g.keyed("memory.events", "oom_kill"))
		return
	}
	if g.has("memory") {
		set(&u.MemoryPeak, g.number("memory.max_usage_in_bytes"))
		set(&u.OOMKills, g.keyed("memory.oom_control", "oom_kill"))
	}
	if g.has("pids") {
		set(&u.ProcessesPeak, g.number("pids.peak"))
	}
}

func set(cell **int64, value *int64) {
	if *cell == nil {
		*cell = value
	}
}

// number reads a file of one integer; "max" and absence are nil.
func (g *group) number(name string) *int64 {
	text, err := readFile(filepath.Join(g.folder, name))
	if err != nil {
		return nil
	}
	return integer(text)
}

// keyed reads one "key value" line of a file.
func (g *group) keyed(name, key string) *int64 {
	text, err := readFile(filepath.Join(g.folder, name))
	if err != nil {
		return nil
	}
	return keyed(text, key)
}

// keyed finds the value of the line "key value", nil without one.
func keyed(text, key string) *int64 {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, key+" "); ok {
			return integer(value)
		}
	}
	return nil
}

// integer reads digits and an optional newline; anything else is nil.
func integer(text string) *int64 {
	text = strings.TrimSuffix(text, "\n")
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil || value < 0 || text[0] == '+' || text[0] == '-' {
		return nil
	}
	return &value
}

// Samples are the descriptors through which a process outside S's loop can
// sample the producer. They stay valid, and of this producer, whatever becomes
// of it.
type Samples struct {
	Process int // the producer's folder in /proc
	Memory  int // its control group's memory.stat; -1 without one
}

// Samples opens them. The caller owns them.
func (d *Domain) Samples() (s Samples, err error) {
	s = Samples{Process: -1, Memory: -1}
	if s.Process, err = unix.Open(d.proc(""), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
		return s, err
	}
	for _, g := range d.leaf.groups {
		if s.Memory < 0 && (g.unified || g.has("memory")) {
			s.Memory, _ = unix.Open(filepath.Join(g.folder, "memory.stat"), unix.O_RDONLY|unix.O_CLOEXEC, 0) // -1 without one
		}
	}
	return s, nil
}

// Take counts the producer's open descriptors and its private memory, in
// bytes: what its control group, in which it is alone, is charged for
// anonymous pages. nil is not known, as of a producer that has ended.
func (s Samples) Take() (descriptors, private *int64) {
	if fd, err := unix.Openat(s.Process, "fd", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err == nil {
		if open, err := names(fd); err == nil && len(open) > 0 {
			descriptors = new(int64(len(open)))
		}
		_ = unix.Close(fd) // only read
	}
	stat := make([]byte, 8192)
	if n, err := unix.Pread(s.Memory, stat, 0); err == nil && descriptors != nil {
		private = privateMemory(string(stat[:n]))
	}
	return descriptors, private
}

// privateMemory reads memory.stat of either version: "anon", or "rss" in v1,
// where that means anonymous pages.
func privateMemory(stat string) *int64 {
	if anonymous := keyed(stat, "anon"); anonymous != nil {
		return anonymous
	}
	return keyed(stat, "rss")
}
