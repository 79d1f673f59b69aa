package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Reaped is what was found and removed of an attempt. Left names what could not
// be.
type Reaped struct {
	Processes     int      `json:"processes"`
	ControlGroups int      `json:"control_groups"`
	Files         int      `json:"files"`
	Left          []string `json:"left"`
}

func (r *Reaped) left(err error) {
	if err != nil {
		r.Left = append(r.Left, err.Error())
	}
}

// retryInterval is how often an end that no descriptor tells of is looked for.
const retryInterval = time.Millisecond

// endGrace is how long a descendant that S has left may take to end by itself:
// a killed process takes a moment to be one.
const endGrace = 100 * time.Millisecond

// orphans reaps every descendant that S has left: as the subreaper, this
// process is their parent now. What does not end by itself is killed.
//
// Rules: R18, R21.
func (r *Reaped) orphans() {
	begin := time.Now()
	killed := map[int]bool{}
	for time.Since(begin) < stopGrace {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		switch {
		case errors.Is(err, unix.ECHILD):
			return
		case pid > 0, errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			r.left(os.NewSyscallError("wait4", err))
			return
		}
		if time.Since(begin) >= endGrace {
			for _, child := range children() {
				if !killed[child] && unix.Kill(child, unix.SIGKILL) == nil {
					killed[child] = true
					r.Processes++
				}
			}
		}
		_ = poll(nil, retryInterval) // an early return only looks sooner
	}
	r.left(errors.New("processes: some did not end"))
}

// children lists the children of this process, whichever thread has them.
func children() (pids []int) {
	lists, _ := filepath.Glob("/proc/self/task/*/children") // a constant pattern
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil { // a thread that has just ended has none
			continue
		}
		for word := range strings.FieldsSeq(string(text)) {
			if pid, err := strconv.Atoi(word); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// groups kills what is in the attempt's control groups and removes them.
func (r *Reaped) groups(g ControlGroup) {
	folders, err := groupFolders(g.Below)
	r.left(err)
	for _, folder := range folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue // no such hierarchy any more: nothing in it
		}
		for _, entry := range entries {
			if strings.HasPrefix(entry.Name(), g.Prefix) {
				r.group(filepath.Join(folder, entry.Name()))
			}
		}
	}
}

func (r *Reaped) group(path string) {
	for begin := time.Now(); ; {
		err := unix.Rmdir(path)
		if err == nil {
			r.ControlGroups++
			return
		}
		if !errors.Is(err, unix.EBUSY) || time.Since(begin) >= stopGrace {
			r.left(fmt.Errorf("remove control group %s: %w", path, err))
			return
		}
		r.Processes += killGroup(path)
		r.zombies()
		_ = poll(nil, retryInterval)
	}
}

// zombies reaps what has ended of ours, if anything is: a group of none.
func (r *Reaped) zombies() {
	for {
		if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); pid <= 0 || err != nil {
			return
		}
	}
}

func killGroup(path string) (killed int) {
	text, err := os.ReadFile(filepath.Join(path, "cgroup.procs"))
	if err != nil {
		return 0
	}
	for word := range strings.FieldsSeq(string(text)) {
		if pid, err := strconv.Atoi(word); err == nil && pid > 0 && unix.Kill(pid, unix.SIGKILL) == nil {
			killed++
		}
	}
	return killed
}

// files removes what the attempt has made under its private names, and those of
// its results that were not accepted.
//
// Rules: R15.
func (r *Reaped) files(m *Manifest, results []string) {
	for _, path := range append(results, m.Report.Provisional, m.Sink.Provisional, m.Diagnostics.Provisional, m.Disposition.Provisional) {
		removed, err := unlink(path)
		r.left(err)
		if removed {
			r.Files++
		}
	}
	inside, err := os.ReadDir(m.Admission.Spool.Path)
	if err == nil {
		r.Files += len(inside)
		r.left(os.RemoveAll(m.Admission.Spool.Path))
	}
}

// ownGroups is where this process is, and so where S makes its groups.
func ownGroups() (string, error) {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil && !errors.Is(err, os.ErrNotExist) { // a kernel without control groups
		return "", fmt.Errorf("find control groups: %w", err)
	}
	return string(own), nil
}

// groupFolders finds the folders of those groups in which S makes any.
func groupFolders(below string) (folders []string, err error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("find control groups: %w", err)
	}
	for line := range strings.Lines(below) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(fields) < 3 || !counted(fields[1]) {
			continue
		}
		if folder := groupFolder(string(mounts), fields[1], fields[2]); folder != "" {
			folders = append(folders, folder)
		}
	}
	return folders, nil
}

// counted: S makes groups in the unified hierarchy and in those that count
// memory, tasks or processor time.
func counted(controllers string) bool {
	return controllers == "" || slices.ContainsFunc(strings.Split(controllers, ","), func(c string) bool {
		return c == "memory" || c == "pids" || c == "cpuacct"
	})
}

// groupFolder finds the folder that shows a group of a hierarchy, "" if none
// does. Controllers are "" for the unified hierarchy.
func groupFolder(mounts, controllers, group string) string {
	for line := range strings.Lines(mounts) {
		before, after, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if len(left) < 5 || len(right) < 3 {
			continue
		}
		unified := controllers == "" && right[0] == "cgroup2"
		first, _, _ := strings.Cut(controllers, ",")
		v1 := controllers != "" && right[0] == "cgroup" && strings.Contains(","+right[2]+",", ","+first+",")
		below, shown := strings.CutPrefix(group, strings.TrimSuffix(left[3], "/"))
		if (unified || v1) && shown && (below == "" || below[0] == '/') {
			return filepath.Join(left[4], below)
		}
	}
	return ""
}
