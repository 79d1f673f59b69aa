package jail

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// hierarchy is one mounted control group tree and S's own place in it.
type hierarchy struct {
	unified     bool
	controllers []string // v1 only
	path        string   // S's own group as /proc/self/cgroup spells it
	folder      string   // the same in the file system
}

// counted are the controllers that a leaf is made for. CPU time is known from
// the wait.
var counted = []string{"memory", "pids"}

// group is the producer's leaf in one hierarchy.
type group struct {
	hierarchy
	folder string
	entry  int // v1: the open tasks file; unified: the folder; closed once the producer is in
}

// leaf is the producer's control group below S's own, in every usable
// hierarchy. Its owner calls remove exactly once.
type leaf struct{ groups []group }

// hierarchies finds the usable trees from the texts of /proc/self/mountinfo
// and /proc/self/cgroup: unified, v1, hybrid or none. The unified one is left
// out where v1 has every counted controller: it has none of them then.
func hierarchies(mountinfo, own string) []hierarchy {
	var found []hierarchy
	var covered []string // by v1
	for line := range strings.Lines(own) {
		_, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		controllers, path, ok := strings.Cut(rest, ":")
		if !ok {
			continue
		}
		h := hierarchy{unified: controllers == "", path: path}
		if !h.unified {
			h.controllers = strings.Split(controllers, ",")
			if !slices.ContainsFunc(counted, h.has) {
				continue
			}
		}
		if h.folder = h.locate(mountinfo); h.folder != "" {
			found = append(found, h)
			covered = append(covered, h.controllers...)
		}
	}
	if !slices.ContainsFunc(counted, func(c string) bool { return !slices.Contains(covered, c) }) {
		found = slices.DeleteFunc(found, func(h hierarchy) bool { return h.unified })
	}
	return found
}

func (h *hierarchy) has(controller string) bool {
	return slices.Contains(h.controllers, controller)
}

// locate returns the folder of S's own group, or "" when no mount shows it.
func (h *hierarchy) locate(mountinfo string) string {
	for line := range strings.Lines(mountinfo) {
		m, ok := parseMount(line)
		if !ok || !h.matches(m) {
			continue
		}
		below, ok := strings.CutPrefix(h.path, strings.TrimSuffix(m.root, "/"))
		if !ok || (below != "" && below[0] != '/') || strings.Contains(h.path, "/..") {
			continue
		}
		return filepath.Join(m.point, below)
	}
	return ""
}

func (h *hierarchy) matches(m mount) bool {
	if h.unified {
		return m.kind == "cgroup2"
	}
	return m.kind == "cgroup" && slices.Contains(strings.Split(m.super, ","), h.controllers[0])
}

// ownHierarchies are those of S.
func ownHierarchies() ([]hierarchy, error) {
	mountinfo, err := readFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("read mounts: %w", err)
	}
	own, err := readFile("/proc/self/cgroup")
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return nil, fmt.Errorf("read own control groups: %w", err)
	}
	return hierarchies(mountinfo, own), nil
}

// newLeaf makes the leaf. A hierarchy that cannot be written is left out; a
// memory limit that no hierarchy can hold is refused.
func newLeaf(name string, usable []hierarchy, memoryBytes int64, processes int) (*leaf, error) {
	l := &leaf{}
	limited := memoryBytes == 0
	for _, h := range usable {
		g := group{hierarchy: h, folder: filepath.Join(h.folder, name), entry: -1}
		if !g.make(processes) {
			continue
		}
		l.groups = append(l.groups, g)
		if memoryBytes > 0 && g.limitMemory(memoryBytes) {
			limited = true
		}
	}
	if !limited {
		return nil, errors.Join(refuse(ReasonPolicy, errors.New("memory limit: no control group can hold it")), l.remove())
	}
	return l, nil
}

// make creates the folder and opens the way in; false leaves nothing. The way
// in is one that moves no running process between groups: that waits for a
// grace period of the kernel, some 10 ms. The tasks file moves the writing
// thread alone, and the unified folder has a process cloned into it.
func (g *group) make(processes int) bool {
	if err := unix.Mkdir(g.folder, 0o755); err != nil {
		return false
	}
	path, flags := filepath.Join(g.folder, "tasks"), unix.O_WRONLY|unix.O_CLOEXEC
	if g.unified {
		path, flags = g.folder, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC
	}
	fd, err := unix.Open(path, flags, 0)
	if err != nil || !g.joinable() {
		if err == nil {
			_ = unix.Close(fd) // never written
		}
		_ = unix.Rmdir(g.folder) // a fresh empty group
		return false
	}
	g.entry = fd
	_ = g.write("pids.max", strconv.Itoa(processes)) // a backstop where the controller exists
	return true
}

// joinable says whether a process can be put in: a group below a threaded one cannot hold it.
func (g *group) joinable() bool {
	if !g.unified {
		return true
	}
	kind, err := readFile(filepath.Join(g.folder, "cgroup.type"))
	return err == nil && strings.TrimSpace(kind) == "domain"
}

// limitMemory sets the limit, swap included where that is accounted.
func (g *group) limitMemory(bytes int64) bool {
	value := strconv.FormatInt(bytes, 10)
	if g.unified {
		if g.write("memory.max", value) != nil {
			return false
		}
		_ = g.write("memory.swap.max", "0") // absent without swap accounting
		return true
	}
	if g.write("memory.limit_in_bytes", value) != nil {
		return false
	}
	_ = g.write("memory.memsw.limit_in_bytes", value) // absent without swap accounting
	return true
}

func (g *group) write(name, value string) error {
	fd, err := unix.Open(filepath.Join(g.folder, name), unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	_, err = unix.Write(fd, []byte(value))
	return errors.Join(err, unix.Close(fd))
}

// entries lists the launcher's words for the ways in, in the groups' order.
func (l *leaf) entries() []string {
	var words []string
	for _, g := range l.groups {
		if g.unified {
			words = append(words, "group")
		} else {
			words = append(words, "tasks")
		}
	}
	return words
}

func (l *leaf) closeEntries() error {
	var errs []error
	for i := range l.groups {
		errs = append(errs, closeOnce(&l.groups[i].entry))
	}
	return errors.Join(errs...)
}

// remove closes what is open and removes the groups, which must be empty.
func (l *leaf) remove() error {
	errs := []error{l.closeEntries()}
	for _, g := range l.groups {
		if err := unix.Rmdir(g.folder); err != nil && err != unix.ENOENT {
			errs = append(errs, fmt.Errorf("remove control group %s: %w", g.folder, err))
		}
	}
	l.groups = nil
	return errors.Join(errs...)
}
