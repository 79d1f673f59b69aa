package doctor

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// What a run needs of the machine at least.
const (
	leastOpenFiles = 1024
	leastProcesses = 512
	leastMemory    = 512 << 20 // bytes available
	leastDisk      = 2 << 30   // bytes free for evidence
)

// machineQuestions are about the kernel, its limits and its resources. out is
// where evidence goes.
func machineQuestions(out string) []question {
	return []question{
		{"architecture", "fixtures and filters are written for x86-64: nothing can be certified", "use an x86-64 machine", true, architecture},
		{"kernel", "a launcher that follows the contract refuses what the kernel cannot do", "use Linux 5.10 or newer", false, kernel},
		{"open files", "scripts that leave many descriptors open are broken for want of them", fmt.Sprintf("ulimit -n %d", 4*leastOpenFiles), false, func() (string, error) { return limit(unix.RLIMIT_NOFILE, leastOpenFiles) }},
		{"processes", "an attempt cannot start its processes, and is broken", fmt.Sprintf("ulimit -u %d", 8*leastProcesses), false, func() (string, error) { return limit(unix.RLIMIT_NPROC, leastProcesses) }},
		{"memory", "the kernel may kill a launcher that did nothing wrong", "free memory, or run fewer scripts at a time (certify -j 1)", false, memory},
		{"disk", "evidence may not be written: certify ends with 70", "free space, or name another folder with certify --out", false, func() (string, error) { return disk(out) }},
		{"tmpfs", "the bounded storage of an attempt cannot be mounted", "use a kernel with tmpfs", true, tmpfs},
		{"ptrace", "faults cannot be injected: rows that need them are not run", "sysctl kernel.yama.ptrace_scope=1", false, ptrace},
	}
}

func architecture() (string, error) {
	if runtime.GOARCH != "amd64" {
		return "", errors.New(runtime.GOARCH)
	}
	return runtime.GOARCH, nil
}

func kernel() (string, error) {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return "", fmt.Errorf("uname: %w", err)
	}
	release := unix.ByteSliceToString(name.Release[:])
	major, minor := 0, 0
	if _, err := fmt.Sscanf(release, "%d.%d", &major, &minor); err != nil {
		return "", fmt.Errorf("%s: not a release that can be read", release)
	}
	if major < 5 || (major == 5 && minor < 10) {
		return "", errors.New(release)
	}
	return release, nil
}

func limit(resource int, least uint64) (string, error) {
	var l unix.Rlimit
	if err := unix.Getrlimit(resource, &l); err != nil {
		return "", fmt.Errorf("getrlimit: %w", err)
	}
	text := strconv.FormatUint(l.Cur, 10)
	if l.Cur == unix.RLIM_INFINITY {
		text = "unlimited"
	}
	if l.Cur < least {
		return "", fmt.Errorf("%s, want %d", text, least)
	}
	return text, nil
}

func memory() (string, error) {
	content, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return "", err
	}
	for lines := bufio.NewScanner(bytes.NewReader(content)); lines.Scan(); {
		kilobytes := uint64(0)
		if n, _ := fmt.Sscanf(lines.Text(), "MemAvailable: %d kB", &kilobytes); n == 1 {
			return atLeast(kilobytes<<10, leastMemory, "available")
		}
	}
	return "", errors.New("/proc/meminfo says nothing of MemAvailable")
}

func atLeast(got, least uint64, what string) (string, error) {
	text := fmt.Sprintf("%d MiB %s", got>>20, what)
	if got < least {
		return "", fmt.Errorf("%s, want %d MiB", text, least>>20)
	}
	return text, nil
}

// disk is the room where evidence goes, or in the folder above it that exists.
func disk(out string) (string, error) {
	for ; ; out = filepath.Dir(out) {
		var fs unix.Statfs_t
		err := unix.Statfs(out, &fs)
		if errors.Is(err, unix.ENOENT) && out != filepath.Dir(out) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", out, err)
		}
		return atLeast(fs.Bavail*uint64(fs.Bsize), leastDisk, "free in "+out)
	}
}

func tmpfs() (string, error) {
	content, err := os.ReadFile("/proc/filesystems")
	if err != nil {
		return "", err
	}
	if !strings.Contains(string(content), "\ttmpfs\n") {
		return "", errors.New("not among /proc/filesystems")
	}
	return "in the kernel", nil
}

// ptrace: root may attach unless Yama says that nobody may.
func ptrace() (string, error) {
	content, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	if errors.Is(err, os.ErrNotExist) {
		return "no restriction by Yama", nil
	}
	if err != nil {
		return "", err
	}
	scope := strings.TrimSpace(string(content))
	if scope == "3" {
		return "", errors.New("kernel.yama.ptrace_scope=3: nobody may attach")
	}
	return "kernel.yama.ptrace_scope=" + scope, nil
}

func compilerPlusPlus() (string, error) {
	path, err := exec.LookPath("g++")
	if err != nil {
		return "", errors.New("g++: not found")
	}
	return path, nil
}
