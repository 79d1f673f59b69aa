package jail

import (
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Usage is what was measured of a domain; nil is not measurable here, never
// zero. Times are microseconds, sizes bytes, the rest counts.
//
// Rules: R12.
type Usage struct {
	CPUUser, CPUSystem         *int64 // of the domain's control group
	MemoryPeak, MemoryLimit    *int64 // charge of the control group, page cache and /tmp included
	ProcessesPeak              *int64
	OOMKills                   *int64
	ScratchBytes, ScratchFiles *int64 // allocated in /tmp now, and entries made there
}

// Usage reads the measurements. It reads control group files, so it belongs
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
func (g *group) measure(u *Usage) {
	if g.unified {
		set(&u.MemoryPeak, g.number("memory.peak"))
		set(&u.MemoryLimit, g.number("memory.max"))
		set(&u.ProcessesPeak, g.number("pids.peak"))
		set(&u.OOMKills, g.keyed("memory.events", "oom_kill"))
		set(&u.CPUUser, g.keyed("cpu.stat", "user_usec"))
		set(&u.CPUSystem, g.keyed("cpu.stat", "system_usec"))
		return
	}
	if g.has("memory") {
		set(&u.MemoryPeak, g.number("memory.max_usage_in_bytes"))
		set(&u.MemoryLimit, g.limitV1())
		set(&u.OOMKills, g.keyed("memory.oom_control", "oom_kill"))
	}
	if g.has("pids") {
		set(&u.ProcessesPeak, g.number("pids.peak"))
	}
	if g.has("cpuacct") {
		set(&u.CPUUser, thousandth(g.number("cpuacct.usage_user")))
		set(&u.CPUSystem, thousandth(g.number("cpuacct.usage_sys")))
	}
}

func set(cell **int64, value *int64) {
	if *cell == nil {
		*cell = value
	}
}

func thousandth(value *int64) *int64 {
	if value != nil {
		*value /= 1000
	}
	return value
}

// limitV1 maps the page-rounded "no limit" of v1 to nil.
func (g *group) limitV1() *int64 {
	limit := g.number("memory.limit_in_bytes")
	if limit != nil && *limit >= 1<<62 {
		return nil
	}
	return limit
}

// number reads a file of one integer; "max" and absence are nil.
func (g *group) number(name string) *int64 {
	text, err := readFile(filepath.Join(g.folder, name))
	if err != nil {
		return nil
	}
	return integer(text)
}

// keyed reads one "key value" line.
func (g *group) keyed(name, key string) *int64 {
	text, err := readFile(filepath.Join(g.folder, name))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, key+" "); ok {
			return integer(value)
		}
	}
	return nil
}

func integer(text string) *int64 {
	value, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || value < 0 {
		return nil
	}
	return &value
}

// measureScratch asks the file system of /tmp, which Attest took hold of.
func (d *Domain) measureScratch(u *Usage) {
	var fs unix.Statfs_t
	if d.scratch < 0 || unix.Fstatfs(d.scratch, &fs) != nil {
		return
	}
	bytes := int64(fs.Blocks-fs.Bfree) * fs.Bsize
	files := int64(fs.Files-fs.Ffree) - d.scratchFiles
	u.ScratchBytes, u.ScratchFiles = &bytes, &files
}
