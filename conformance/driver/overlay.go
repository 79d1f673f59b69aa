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
)

// common are the folders of the machine in which programs put files of their
// own.
var common = []string{"/tmp", "/var/tmp", "/run"}

// surroundings are the common folders, laid over with empty ones of memory: the
// attempt sees them as they are, and what it makes there is its own. It owns
// its descriptors until close.
type surroundings struct {
	below  map[string]int // each folder as the machine has it
	above  map[string]int // each folder's new files
	queues int            // the POSIX queues of the ipc namespace
}

// layOver lays the common folders over, but for those with a mount inside,
// which an overlay would hide, and all where the kernel has no overlays. Mounts
// must be private. The layers stand nowhere once they are in use.
func layOver() (s surroundings, err error) {
	const layers = "/dev/shm"
	s = surroundings{below: map[string]int{}, above: map[string]int{}, queues: -1}
	mounts, err := mountPoints()
	if err != nil {
		return s, err
	}
	if _, err := os.Stat(layers); err != nil {
		return s, nil
	}
	if err := mountSized(layers, 512<<20, 0o700); err != nil {
		return s, err
	}
	for i, folder := range common {
		if !mountsInside(mounts, folder) {
			err = errors.Join(err, s.lay(folder, fmt.Sprintf("%s/%d", layers, i)))
		}
	}
	err = errors.Join(err, s.watchQueues(layers+"/queues"))
	return s, errors.Join(err, unix.Unmount(layers, unix.MNT_DETACH))
}

// mountsInside says whether anything is mounted below a folder.
func mountsInside(mounts map[string]bool, folder string) bool {
	for line := range mounts {
		if fields := strings.Fields(line); len(fields) > 4 && strings.HasPrefix(fields[4], folder+"/") {
			return true
		}
	}
	return false
}

func (s *surroundings) lay(folder, layer string) error {
	below, err := unix.Open(folder, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil // this machine has no such folder
	}
	var st unix.Stat_t
	err = errors.Join(unix.Fstat(below, &st), unix.Mkdir(layer, 0o755), unix.Mkdir(layer+"/new", 0o755), unix.Mkdir(layer+"/work", 0o755),
		unix.Chmod(layer+"/new", st.Mode&0o7777), unix.Chown(layer+"/new", int(st.Uid), int(st.Gid)))
	if err != nil {
		return fmt.Errorf("lay over %s: %w", folder, errors.Join(err, unix.Close(below)))
	}
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s/new,workdir=%s/work", folder, layer, layer)
	if unix.Mount("overlay", folder, "overlay", unix.MS_NOSUID|unix.MS_NODEV, options) != nil {
		return unix.Close(below) // no overlays here: the folder is not watched
	}
	s.below[folder] = below
	s.above[folder], err = unix.Open(layer+"/new", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	return err
}

// watchQueues mounts the queues where nobody else sees them.
func (s *surroundings) watchQueues(folder string) (err error) {
	if err := unix.Mkdir(folder, 0o700); err != nil {
		return fmt.Errorf("watch queues: %w", err)
	}
	if unix.Mount("mqueue", folder, "mqueue", 0, "") == nil {
		s.queues, err = unix.Open(folder, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	}
	return err
}

// left are the files that were made since, but for the attempt's own place.
func (s surroundings) left(place string) (paths []string, err error) {
	for folder, above := range s.above {
		root := descriptorPath(above)
		err = errors.Join(err, filepath.WalkDir(root+"/.", func(path string, d fs.DirEntry, err error) error {
			switch relative := strings.TrimPrefix(path, root); {
			case errors.Is(err, fs.ErrNotExist) || relative == "/.":
				return nil
			case err != nil:
				return err
			case folder+relative == place:
				return fs.SkipDir
			case !exists(descriptorPath(s.below[folder])+relative) && d.Type()&fs.ModeCharDevice == 0: // a device stands for what was removed
				paths = append(paths, fmt.Sprintf("%s %s", d.Type(), folder+relative))
			}
			return nil
		}))
	}
	if s.queues >= 0 {
		queues, listed := os.ReadDir(descriptorPath(s.queues))
		err = errors.Join(err, listed)
		for _, q := range queues {
			paths = append(paths, "queue /"+q.Name())
		}
	}
	slices.Sort(paths)
	return paths, err
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func descriptorPath(fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }

func (s surroundings) close() error {
	errs := []error{closeFD(s.queues)}
	for folder := range s.above {
		errs = append(errs, unix.Close(s.above[folder]), unix.Close(s.below[folder]))
	}
	return errors.Join(errs...)
}
