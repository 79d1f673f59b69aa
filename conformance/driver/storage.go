package driver

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"touchstone/conformance/evidence"
)

// controlState is the size, in bytes, up to which an anonymous file counts as
// the supervisor's own state and not as storage: every report that a script asks
// about is larger.
const controlState = 1024

// observeStorage records what the supervisor's side has in the spool, by name
// or only open, and in anonymous files. The producer's own are not its.
func (a *attempt) observeStorage() error {
	var spool unix.Stat_t
	if err := unix.Stat(a.given(spoolFolder), &spool); err != nil {
		return fmt.Errorf("observe storage: %w", err)
	}
	found := map[[2]uint64]evidence.StoredFile{}
	look := func(path, link string) {
		var st unix.Stat_t
		if unix.Stat(path, &st) == nil && stored(&st, spool.Dev, link) {
			found[[2]uint64{st.Dev, st.Ino}] = evidence.StoredFile{Inode: st.Ino, Size: uint64(st.Size), Allocated: uint64(st.Blocks) * 512, Link: link}
		}
	}
	a.eachSupervisorFile(look)
	err := filepath.WalkDir(a.given(spoolFolder), func(path string, _ fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it went while it was listed
		}
		look(path, path)
		return err
	})
	if err != nil {
		return fmt.Errorf("observe storage: %w", err)
	}
	seen := evidence.Storage{Files: []evidence.StoredFile{}}
	for _, f := range found {
		seen.Logical, seen.Allocated, seen.Files = seen.Logical+f.Size, seen.Allocated+f.Allocated, append(seen.Files, f)
	}
	slices.SortFunc(seen.Files, func(x, y evidence.StoredFile) int { return int(x.Inode) - int(y.Inode) })
	a.record.event(seen)
	return nil
}

// stored says whether a file counts as storage: one of the spool's device, or
// an anonymous one that can hold a payload and is not the producer's arena.
func stored(st *unix.Stat_t, spool uint64, link string) bool {
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return false
	}
	anonymous := strings.HasPrefix(link, "/memfd:") && !strings.HasPrefix(link, "/memfd:arena")
	return st.Dev == spool || anonymous && st.Size > controlState
}

// eachSupervisorFile looks at what the supervisor's processes have open.
func (a *attempt) eachSupervisorFile(look func(path, link string)) {
	producers := a.library.producers()
	for _, pid := range processes() {
		if slices.Contains(producers, pid) || a.tracer.owns(pid) {
			continue
		}
		entries, err := os.ReadDir(procPath(pid, "fd"))
		if err != nil {
			continue // it is gone
		}
		for _, e := range entries {
			path := procPath(pid, "fd/"+e.Name())
			link, _ := os.Readlink(path) // gone: its stat fails too
			look(path, link)
		}
	}
}
