package jail

import (
	"errors"
	"fmt"
	"math"

	"golang.org/x/sys/unix"
)

// measureScratch asks the file system of /tmp, which Attest took hold of.
func (d *Domain) measureScratch(u *Usage) {
	var fs unix.Statfs_t
	if d.scratch < 0 || unix.Fstatfs(d.scratch, &fs) != nil {
		return
	}
	allocated := int64(fs.Blocks-fs.Bfree) * fs.Bsize
	files := int64(fs.Files-fs.Ffree) - d.scratchFiles
	u.ScratchAllocated, u.ScratchFiles = &allocated, &files
	if logical, err := logicalBytes(d.scratch); err == nil {
		u.ScratchLogical = &logical
	}
}

// errDeep refuses a tree that is too deep to hold a descriptor for each level.
var errDeep = errors.New("too many levels")

// maxLevels bounds the depth of a tree that is measured (inclusive).
const maxLevels = 256

// logicalBytes adds up the lengths of the regular files below a folder of one
// file system; one with several names counts once. Nothing is followed, so the
// tree may be anybody's.
func logicalBytes(folder int) (int64, error) {
	var root unix.Stat_t
	if err := unix.Fstat(folder, &root); err != nil {
		return 0, err
	}
	w := walk{device: root.Dev, seen: map[uint64]bool{}}
	fd, err := unix.Openat(folder, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	err = w.folder(fd, 1)
	return w.total, errors.Join(err, unix.Close(fd))
}

type walk struct {
	device uint64
	seen   map[uint64]bool // inodes with several names
	total  int64
}

func (w *walk) folder(fd, level int) error {
	if level > maxLevels {
		return errDeep
	}
	inside, err := names(fd)
	if err != nil {
		return err
	}
	for _, name := range inside {
		var stat unix.Stat_t
		if err := unix.Fstatat(fd, name, &stat, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return err
		}
		if stat.Dev != w.device {
			continue // something mounted there
		}
		switch stat.Mode & unix.S_IFMT {
		case unix.S_IFREG:
			err = w.file(&stat)
		case unix.S_IFDIR:
			err = w.below(fd, name, level)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) file(stat *unix.Stat_t) error {
	if stat.Nlink > 1 {
		if w.seen[stat.Ino] {
			return nil
		}
		w.seen[stat.Ino] = true
	}
	if stat.Size > math.MaxInt64-w.total {
		return fmt.Errorf("more than %d bytes", int64(math.MaxInt64))
	}
	w.total += stat.Size
	return nil
}

func (w *walk) below(parent int, name string, level int) error {
	fd, err := unix.Openat(parent, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return errors.Join(w.folder(fd, level+1), unix.Close(fd))
}

// names lists the names in an open folder, without the two of every folder.
func names(fd int) ([]string, error) {
	var list []string
	buffer := make([]byte, 8192)
	for {
		n, err := retry(func() (int, error) { return unix.ReadDirent(fd, buffer) })
		if n <= 0 || err != nil {
			return list, err
		}
		_, _, list = unix.ParseDirent(buffer[:n], -1, list)
	}
}
