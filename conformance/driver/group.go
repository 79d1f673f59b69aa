package driver

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// hierarchies are the control group trees in which a launcher may make groups
// of its own; "" is the unified one. Others need settings before they can hold
// a process.
var hierarchies = []string{"memory", "pids", "cpuacct", ""}

// groups are the leaves of one attempt, one a hierarchy: where the launcher
// starts, so that what it leaves is found below. parents are the driver's own.
type groups struct{ leaves, parents []string }

// ownGroups are the leaves of a name below the calling process's own groups,
// in every hierarchy that is mounted here.
func ownGroups(name string) groups {
	var g groups
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return g
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return g
	}
	for line := range strings.Lines(string(own)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 || !slices.ContainsFunc(strings.Split(fields[1], ","), func(c string) bool { return slices.Contains(hierarchies, c) }) {
			continue
		}
		if parent := groupFolder(string(mounts), fields[1], fields[2]); parent != "" {
			g.parents = append(g.parents, parent)
			g.leaves = append(g.leaves, filepath.Join(parent, name))
		}
	}
	return g
}

// groupFolder is where a mount shows a group; "" when none does.
func groupFolder(mounts, controllers, path string) string {
	for line := range strings.Lines(mounts) {
		left, right, ok := strings.Cut(strings.TrimSpace(line), " - ")
		fields, kind := strings.Fields(left), strings.Fields(right)
		if !ok || len(fields) < 5 || len(kind) < 3 {
			continue
		}
		unified := controllers == "" && kind[0] == "cgroup2"
		legacy := controllers != "" && kind[0] == "cgroup" &&
			slices.Contains(strings.Split(kind[2], ","), strings.Split(controllers, ",")[0])
		below, inside := strings.CutPrefix(path, strings.TrimSuffix(fields[3], "/"))
		if (unified || legacy) && inside && (below == "" || below[0] == '/') {
			return filepath.Join(fields[4], below)
		}
	}
	return ""
}

// make creates the leaves; a hierarchy that cannot be written is left out.
func (g groups) make() groups {
	var made groups
	for i, leaf := range g.leaves {
		if unix.Mkdir(leaf, 0o755) == nil {
			made.leaves = append(made.leaves, leaf)
			made.parents = append(made.parents, g.parents[i])
		}
	}
	return made
}

// join moves the calling process into folders' groups.
func join(folders []string) error {
	for _, folder := range folders {
		if err := os.WriteFile(filepath.Join(folder, "cgroup.procs"), []byte("0"), 0); err != nil {
			return fmt.Errorf("join control group: %w", err)
		}
	}
	return nil
}

// below are the groups that stand in the leaves, children first.
func (g groups) below() []string {
	var found []string
	for _, leaf := range g.leaves {
		// An unreadable folder holds nothing that could be named.
		_ = filepath.WalkDir(leaf, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && path != leaf {
				found = append(found, path)
			}
			return nil
		})
	}
	slices.Reverse(found)
	return found
}

const (
	groupPrefix = "touchstone-"
	staleAfter  = 10 * time.Minute // no attempt lasts as long
)

// sweepGroups removes what killed runners have left in our own groups: leaves
// of old whose runner is gone. It is a courtesy: what it cannot remove stays.
func sweepGroups(g groups) {
	for _, parent := range g.parents {
		entries, err := os.ReadDir(parent)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if !stale(e) {
				continue
			}
			left := groups{leaves: []string{filepath.Join(parent, e.Name())}}
			for _, folder := range append(left.below(), left.leaves...) {
				_ = unix.Rmdir(folder) // busy ones are somebody's still
			}
		}
	}
}

// stale says whether a group is an attempt's whose runner is gone for long.
// The age also spares runners that this pid namespace does not show.
func stale(e fs.DirEntry) bool {
	name, prefixed := strings.CutPrefix(e.Name(), groupPrefix)
	pid, _, dashed := strings.Cut(name, "-")
	runner, err := strconv.Atoi(pid)
	if !prefixed || !dashed || err != nil || runner <= 0 {
		return false
	}
	made, err := e.Info()
	return err == nil && time.Since(made.ModTime()) > staleAfter && errors.Is(unix.Kill(runner, 0), unix.ESRCH)
}

// removeGroups removes the leaves and all below them. A group whose last
// process has only just been reaped may stay busy for a moment.
func removeGroups(g groups) error {
	var errs []error
	for _, folder := range append(g.below(), g.leaves...) {
		errs = append(errs, removeGroup(folder))
	}
	return errors.Join(errs...)
}

func removeGroup(folder string) error {
	const patience, pause = time.Second, 2 * time.Millisecond
	for waited := time.Duration(0); ; waited += pause {
		err := unix.Rmdir(folder)
		switch {
		case err == nil, errors.Is(err, unix.ENOENT):
			return nil
		case !errors.Is(err, unix.EBUSY) || waited >= patience:
			return fmt.Errorf("remove control group %s: %w", folder, err)
		}
		time.Sleep(pause)
	}
}
