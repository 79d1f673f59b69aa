package tracer

import (
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"

	"touchstone/faultinject"
	"touchstone/faultinject/engine"
)

// Binding gives a name to one object, as rules' fd uses it.
type Binding struct {
	Name        string
	Dev, Ino    uint64
	Read, Write bool // the descriptor must be open for it; both false: any
}

func (b Binding) matches(o engine.Object) bool {
	return b.Dev == o.Dev && b.Ino == o.Ino && (!b.Read || o.Read) && (!b.Write || o.Write)
}

// object is what a descriptor refers to, with its flags.
type object struct {
	engine.Object
	found bool
}

// lookup returns what descriptor fd of the thread refers to. The answer is
// kept until a call that can change it; where such calls are not watched, or
// descriptor tables are shared between processes, it is asked anew.
func (k *task) lookup(fd int) object {
	keep := k.tracer.keepObjects && !k.proc.private
	if keep {
		if o, ok := k.proc.objects[fd]; ok {
			return o
		}
	}
	o := k.stat(fd)
	if keep && o.found {
		k.proc.objects[fd] = o
	}
	return o
}

func (k *task) stat(fd int) object {
	name := k.tracer.fdPath(k.tid, fd)
	var st, link unix.Stat_t
	if unix.Fstatat(unix.AT_FDCWD, name, &st, 0) != nil ||
		unix.Fstatat(unix.AT_FDCWD, name, &link, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return object{}
	}
	return object{engine.Object{Dev: st.Dev, Ino: st.Ino, Type: st.Mode & unix.S_IFMT,
		Read: link.Mode&0o400 != 0, Write: link.Mode&0o200 != 0}, true}
}

// target returns what /proc says a descriptor refers to, for people.
func (k *task) target(fd int) string {
	name := make([]byte, unix.PathMax)
	n, err := unix.Readlink(k.tracer.fdPath(k.tid, fd), name)
	if err != nil {
		return ""
	}
	return string(name[:n])
}

func (t *Tracer) fdPath(tid, fd int) string {
	b := append(t.scratch[:0], "/proc/"...)
	b = strconv.AppendInt(b, int64(tid), 10)
	b = append(b, "/fd/"...)
	b = strconv.AppendInt(b, int64(fd), 10)
	return string(b)
}

// changers are the calls after which a descriptor may refer to something
// else. Opening is none of them: a new descriptor was closed before.
var changers = []int{unix.SYS_CLOSE, unix.SYS_CLOSE_RANGE, unix.SYS_DUP2, unix.SYS_DUP3, unix.SYS_UNSHARE}

// openers are the calls that make objects that a bind can name.
var openers = []int{unix.SYS_OPEN, unix.SYS_OPENAT, unix.SYS_OPENAT2, unix.SYS_CREAT, unix.SYS_MEMFD_CREATE}

// tableChange drops what is known of a descriptor before the change and once
// more after it: another thread may have asked in between.
func (k *task) tableChange(c *engine.Call) {
	drop := func(int64) {
		switch c.Nr {
		case unix.SYS_CLOSE:
			delete(k.proc.objects, int(int32(c.Args[0])))
		case unix.SYS_DUP2, unix.SYS_DUP3:
			delete(k.proc.objects, int(int32(c.Args[1])))
		case unix.SYS_UNSHARE:
			k.proc.private = k.proc.private || c.Args[0]&unix.CLONE_FILES != 0
		default:
			k.proc.private = k.proc.private || c.Args[2]&unix.CLOSE_RANGE_UNSHARE != 0
			clear(k.proc.objects)
		}
	}
	drop(0)
	k.onExit(drop)
}

// opened binds the names of objects that the call makes.
func (k *task) opened(c *engine.Call) {
	arg := map[int]int{unix.SYS_OPENAT: 1, unix.SYS_OPENAT2: 1}[c.Nr]
	given := k.readString(c.Args[arg], unix.PathMax)
	kind := faultinject.BindPath
	if c.Nr == unix.SYS_MEMFD_CREATE {
		kind = faultinject.BindMemfd
	}
	k.onExit(func(ret int64) {
		if ret >= 0 {
			k.bindOpened(kind, given, int(ret))
		}
	})
}

func (k *task) bindOpened(kind faultinject.BindKind, given string, fd int) {
	delete(k.proc.objects, fd)
	t := k.tracer
	for _, b := range t.plan.Binds {
		if b.Kind != kind {
			continue
		}
		fits := b.Pattern == given
		if kind == faultinject.BindPath && !fits {
			fits = faultinject.MatchPath(b.Pattern, given) || faultinject.MatchPath(b.Pattern, k.target(fd))
		}
		o := k.stat(fd)
		if fits && o.found {
			t.bindings = append(t.bindings, Binding{Name: b.Name, Dev: o.Dev, Ino: o.Ino})
			t.log.note("bind", fmt.Sprintf("%s is %d:%d, descriptor %d of %d", b.Name, o.Dev, o.Ino, fd, k.proc.tgid))
		}
	}
}
