package driver

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// startedByRunner refuses anywhere but in PID 1 of a pid namespace whose parent
// is outside: everything of an attempt is killed by signalling all processes
// that it can see.
func startedByRunner() error {
	if os.Getpid() != 1 || os.Getppid() != 0 || os.Getenv(groupVariable) == "" {
		return errors.New("enter namespaces: not started by the runner; use `touchstone certify`")
	}
	return nil
}

// enterNamespaces makes the attempt's new namespaces its own: private mounts,
// its own /proc and /dev/shm, the common folders laid over, loopback up.
func enterNamespaces() (s surroundings, err error) {
	// What this process inherited by mistake must not reach a launcher.
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return s, fmt.Errorf("mark inherited descriptors: %w", err)
	}
	// A fixture that nothing contains may signal its parent: that is us. A
	// caught signal is harmless; those that cannot be caught spare PID 1.
	signal.Notify(make(chan os.Signal, 1))
	if err := catchUncatchable(); err != nil {
		return s, err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return s, fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return s, fmt.Errorf("mount /proc: %w", err)
	}
	if err := keepDevices(); err != nil {
		return s, err
	}
	if s, err = layOver(); err != nil {
		return s, err
	}
	if _, err := os.Stat("/dev/shm"); err == nil {
		if err := mountSized("/dev/shm", 64<<20, 0o1777); err != nil {
			return s, err
		}
	}
	return s, raiseLoopback()
}

// keepDevices lets nothing of the machine's /dev be removed or replaced: a
// launcher may be told to put its sink where /dev/stdout stands. Writing to a
// device needs no writable folder.
func keepDevices() error {
	if err := unix.Mount("/dev", "/dev", "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("keep /dev: %w", err)
	}
	if err := unix.Mount("", "/dev", "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|unix.MS_NOSUID, ""); err != nil {
		return fmt.Errorf("keep /dev: %w", err)
	}
	return nil
}

// mountSized mounts an empty folder of memory of at most so many bytes. Large
// files get large pages where the kernel has them: a reservation of 64 MiB costs
// 15 ms of processor time otherwise.
func mountSized(folder string, bytes uint64, mode uint32) error {
	options := fmt.Sprintf("size=%d,mode=%o", bytes, mode)
	err := unix.Mount("tmpfs", folder, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options+",huge=within_size")
	if errors.Is(err, unix.EINVAL) {
		err = unix.Mount("tmpfs", folder, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options)
	}
	if err != nil {
		return fmt.Errorf("mount %s: %w", folder, err)
	}
	return nil
}

func raiseLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("raise loopback: %w", err)
	}
	request, err := unix.NewIfreq("lo")
	if err == nil {
		request.SetUint16(unix.IFF_UP)
		err = unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request)
	}
	if err = errors.Join(err, unix.Close(fd)); err != nil {
		return fmt.Errorf("raise loopback: %w", err)
	}
	return nil
}

// canaries are what a contained producer must not reach, planted in the
// attempt's own namespaces (fixtures/native/reach_canaries.c). They live as
// long as the attempt.
type canaries struct {
	sockets []int
	segment int
}

var noCanaries = canaries{segment: -1}

const (
	canaryPort = 45127
	canaryName = "@touchstone-canary"
	canaryKey  = 0x54534e43
)

func plantCanaries() (canaries, error) {
	c := noCanaries
	datagram, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return noCanaries, fmt.Errorf("plant canary: %w", err)
	}
	c.sockets = append(c.sockets, datagram)
	stream, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return noCanaries, fmt.Errorf("plant canary: %w", errors.Join(err, c.remove()))
	}
	c.sockets = append(c.sockets, stream)
	address := &unix.SockaddrInet4{Port: canaryPort, Addr: [4]byte{127, 0, 0, 1}}
	err = errors.Join(unix.Bind(datagram, address), unix.Bind(stream, &unix.SockaddrUnix{Name: canaryName}), unix.Listen(stream, 8))
	if err == nil {
		c.segment, err = unix.SysvShmGet(canaryKey, os.Getpagesize(), unix.IPC_CREAT|unix.IPC_EXCL|0o666)
	}
	if err != nil {
		return noCanaries, fmt.Errorf("plant canary: %w", errors.Join(err, c.remove()))
	}
	return c, nil
}

func (c canaries) remove() error {
	var errs []error
	for _, fd := range c.sockets {
		errs = append(errs, unix.Close(fd))
	}
	if c.segment >= 0 {
		_, err := unix.SysvShmCtl(c.segment, unix.IPC_RMID, nil)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// mountPoints are the mounts of this namespace, by their line.
func mountPoints() (map[string]bool, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("list mounts: %w", err)
	}
	points := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		points[strings.TrimSpace(line)] = true
	}
	return points, nil
}

// sysvObjects counts the System V objects of this ipc namespace.
func sysvObjects() (int, error) {
	count := 0
	for _, kind := range []string{"shm", "sem", "msg"} {
		text, err := os.ReadFile("/proc/sysvipc/" + kind)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("list ipc objects: %w", err)
		}
		count += max(0, strings.Count(string(text), "\n")-1) // less the heading
	}
	return count, nil
}

// killEverything kills every process of the namespace but this one and reaps
// until none is left, or patience ends.
func killEverything(patience time.Duration) error {
	const pause = 2 * time.Millisecond
	for waited := time.Duration(0); ; waited += pause {
		if err := unix.Kill(-1, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("kill what is left: %w", err)
		}
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG|unix.WALL, nil)
		switch {
		case errors.Is(err, unix.ECHILD):
			return nil
		case err != nil && !errors.Is(err, unix.EINTR):
			return fmt.Errorf("reap what is left: %w", err)
		case pid > 0:
			continue
		case waited >= patience:
			return errors.New("reap what is left: a killed process does not end")
		}
		time.Sleep(pause)
	}
}
