package supervisor

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// folderWord is the argument that turns S's own binary into the keeper of the
// tools' work folder.
const folderWord = "folder"

// folder is S's end of the keeper: a process of S's own binary that makes the
// tools' work folder in the host's spool, and removes it, with all it holds,
// when its input ends: by S's wish or with S. It outlives S for that.
//
// Rules: R09, C-74, C-75.
type folder struct {
	path       string
	pid, pidfd int
	input      int // S -> keeper: EOF
	said       int // S <- keeper: one byte when the folder is there, in the end what it held
	held       *held
}

// held is what the tools had left in their folder: lengths and backing in
// bytes, and how many files.
type held struct{ logical, allocated, files int64 }

// openFolder starts the keeper and waits until the folder is there, empty and
// the given user's, at most until the deadline.
func openFolder(path string, uid int, deadline time.Time) (f *folder, err error) {
	f = &folder{path: path, pidfd: -1, input: -1, said: -1}
	ends := [2]int{-1, -1} // the keeper's
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return f, fmt.Errorf("open null device: %w", err)
	}
	defer func() {
		for _, fd := range []int{ends[0], ends[1], null} {
			err = errors.Join(err, shut(&fd))
		}
	}()
	if ends[0], f.input, err = pipe(false, false); err != nil {
		return f, err
	}
	if f.said, ends[1], err = pipe(true, false); err != nil {
		return f, err
	}
	f.pid, err = syscall.ForkExec("/proc/self/exe", []string{"refsup", folderWord, path, strconv.Itoa(uid)}, &syscall.ProcAttr{
		Env:   []string{"GOMAXPROCS=1"},
		Files: []uintptr{uintptr(ends[0]), uintptr(ends[1]), uintptr(null)},
		Sys:   &syscall.SysProcAttr{PidFD: &f.pidfd, Setsid: true},
	})
	if err != nil {
		return f, fmt.Errorf("start keeper of %s: %w", path, err)
	}
	if err := shut(&ends[1]); err != nil {
		return f, err
	}
	for end := deadline; ; {
		if err := poll([]unix.PollFd{{Fd: int32(f.said), Events: unix.POLLIN}}, time.Until(end)); err != nil {
			return f, fmt.Errorf("make %s: %w", path, err)
		}
		n, err := transfer(unix.Read, f.said, make([]byte, 1))
		switch {
		case err == nil && n == 1:
			return f, nil
		case err == nil:
			return f, fmt.Errorf("make %s: refused", path)
		case !errors.Is(err, errAgain) || !time.Now().Before(end):
			return f, fmt.Errorf("make %s: %w", path, err)
		}
	}
}

// close has the keeper remove the folder, within grace, and reports whether it
// did.
func (f *folder) close(grace time.Duration) (removed bool, err error) {
	err = shut(&f.input)
	for end := time.Now().Add(grace); f.pidfd >= 0; {
		var status unix.WaitStatus
		pid, failed := unix.Wait4(f.pid, &status, unix.WNOHANG, nil)
		if pid == f.pid {
			removed = status.ExitStatus() == 0
			f.hear()
			break
		}
		left := time.Until(end)
		if failed != nil && !errors.Is(failed, unix.EINTR) || left <= 0 {
			break // it goes on without S
		}
		if failed := poll([]unix.PollFd{{Fd: int32(f.pidfd), Events: unix.POLLIN}}, left); failed != nil {
			return false, errors.Join(err, failed)
		}
	}
	return removed, errors.Join(err, shut(&f.said), shut(&f.pidfd))
}

// hear takes what the folder held, if the keeper could tell.
func (f *folder) hear() {
	told := make([]byte, 3*8)
	if n, err := transfer(unix.Read, f.said, told); err == nil && n == len(told) {
		number := func(i int) int64 { return int64(binary.NativeEndian.Uint64(told[8*i:])) }
		f.held = &held{number(0), number(1), number(2)}
	}
}

// tell measures the folder and says so; what cannot be measured whole is not told.
func tell(path string) {
	var h held
	err := filepath.WalkDir(path, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		stat := info.Sys().(*syscall.Stat_t)
		if h.logical += stat.Size; h.logical < 0 || stat.Size < 0 {
			return errors.New("more than can be counted")
		}
		h.allocated += stat.Blocks * 512
		h.files++
		return nil
	})
	if err != nil {
		return
	}
	told := binary.NativeEndian.AppendUint64(nil, uint64(h.logical))
	told = binary.NativeEndian.AppendUint64(told, uint64(h.allocated))
	_ = writeAll(1, binary.NativeEndian.AppendUint64(told, uint64(h.files))) // S may be gone
}

// KeepFolder is the keeper's main function; it returns the exit status, 0 if
// nothing is left of the folder.
func KeepFolder(args []string) int {
	if len(args) != 2 {
		return 2
	}
	uid, err := strconv.Atoi(args[1])
	if err != nil {
		return 2
	}
	path := args[0]
	if err := os.Mkdir(path, 0o700); err != nil {
		return 1 // not ours, or nothing
	}
	err = os.Chown(path, uid, uid)
	if err == nil {
		err = writeAll(1, []byte{1})
	}
	if err == nil {
		_, err = readSome(0, make([]byte, 1)) // the end, with or without S
		tell(path)
	}
	if err := errors.Join(err, os.RemoveAll(path)); err != nil {
		return 1
	}
	return 0
}
