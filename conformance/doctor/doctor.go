// Package doctor says what this machine lacks for a certification, what
// follows from it, and what to do. It changes nothing that outlives it.
package doctor

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Answer is one question's answer.
type Answer struct {
	Name        string `json:"name"`
	OK          bool   `json:"ok"`
	Required    bool   `json:"required"` // without it nothing can be certified
	Seen        string `json:"seen"`
	Consequence string `json:"consequence"` // "" when it is there
	Fix         string `json:"fix"`         // "" when it is there
}

// question is one thing to look for. look gives what it saw, and an error when
// that is not enough.
type question struct {
	name, consequence, fix string
	required               bool
	look                   func() (string, error)
}

// Examine asks everything, for the binaries in bin and evidence in out. The same questions always
// come in the same order.
func Examine(bin, out string) []Answer {
	var answers []Answer
	for _, q := range questions(bin, out) {
		seen, err := q.look()
		answer := Answer{Name: q.name, OK: err == nil, Required: q.required, Seen: seen}
		if err != nil {
			answer.Seen, answer.Consequence, answer.Fix = err.Error(), q.consequence, q.fix
		}
		answers = append(answers, answer)
	}
	return answers
}

// Sound tells whether everything required is there.
func Sound(answers []Answer) bool {
	for _, a := range answers {
		if a.Required && !a.OK {
			return false
		}
	}
	return true
}

func questions(bin, out string) []question {
	return append(machineQuestions(out), []question{
		{"root", "no attempt can be made: certify reports every assertion as not run and exits 2", "run as root, or in a privileged container", true, isRoot},
		{"namespaces", "no attempt can be made in namespaces of its own", "run where the kernel allows new pid, mount, ipc, net and uts namespaces (a container needs CAP_SYS_ADMIN)", true, namespaces},
		{"seqpacket", "the terminal endpoint cannot be made", "use a Linux kernel with AF_UNIX SOCK_SEQPACKET and SO_PASSCRED", true, seqpacket},
		{"pidfd", "processes cannot be named safely", "use Linux 5.3 or newer", true, pidfd},
		{"seccomp user notification", "a launcher that follows R18 refuses to run", "use Linux 5.0 or newer with CONFIG_SECCOMP_FILTER", false, userNotification},
		{"cgroup", "what a launcher leaves in a control group is found by its processes only, and memory rows are not run", "mount cgroup2, or give this container a writable control group", false, cgroup},
		{"memfd", "the jailed profile has no arena", "use Linux 3.17 or newer", false, memfd},
		{"go", "nothing of this checkout can be built", "install Go 1.26 or newer: https://go.dev/dl", false, golang},
		{"gcc", "fixtures cannot be compiled: certify reports every assertion as not run", "apt-get install gcc libc6-dev", true, compiler},
		{"g++", "the compile stage of the entrypoint cannot run: its rows are not run", "apt-get install g++", false, compilerPlusPlus},
		{"musl-gcc", "process creation by another C library is not asked: its rows are not run", "apt-get install musl-tools, then scripts/build", false, compilerMusl},
		{"libseccomp", "the reference launcher cannot be built; other launchers can be certified", "apt-get install libseccomp-dev pkg-config", false, libseccomp},
		{"launcher binaries", "the reference launcher is not built", "run scripts/certify, which builds it, or scripts/build", false, func() (string, error) { return binaries(bin) }},
	}...)
}

func isRoot() (string, error) {
	if uid := os.Geteuid(); uid != 0 {
		return "", fmt.Errorf("user %d", uid)
	}
	return "user 0", nil
}

// namespaces starts a process in the namespaces of an attempt.
func namespaces() (string, error) {
	c := exec.Command("true")
	c.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_NEWNET | unix.CLONE_NEWUTS,
	}
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("pid, mount, ipc, net, uts: %w", err)
	}
	return "pid, mount, ipc, net, uts", nil
}

func seqpacket() (string, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return "", fmt.Errorf("socketpair: %w", err)
	}
	defer unix.Close(pair[0]) // scratch sockets: nothing to lose
	defer unix.Close(pair[1])
	if err := unix.SetsockoptInt(pair[0], unix.SOL_SOCKET, unix.SO_PASSCRED, 1); err != nil {
		return "", fmt.Errorf("credentials: %w", err)
	}
	return "socket pair with credentials", nil
}

func pidfd() (string, error) {
	fd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return "", fmt.Errorf("pidfd_open: %w", err)
	}
	return "pidfd_open", unix.Close(fd)
}

// Constants of seccomp(2) that x/sys/unix does not name.
const (
	getActionAvail = 2
	returnNotify   = uint32(0x7fc00000)
)

func userNotification() (string, error) {
	action := returnNotify
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, getActionAvail, 0, uintptr(unsafe.Pointer(&action)))
	if errno != 0 {
		return "", fmt.Errorf("seccomp action USER_NOTIF: %w", errno)
	}
	return "action available", nil
}

func cgroup() (string, error) {
	const root = "/sys/fs/cgroup"
	var fs unix.Statfs_t
	if err := unix.Statfs(root, &fs); err != nil {
		return "", fmt.Errorf("%s: %w", root, err)
	}
	layout, at := "v1 or hybrid", root
	if fs.Type == unix.CGROUP2_SUPER_MAGIC {
		layout = "v2"
	} else if _, err := os.Stat(filepath.Join(root, "unified")); err == nil {
		at = filepath.Join(root, "unified")
	} else if _, err := os.Stat(filepath.Join(root, "memory")); err == nil {
		at = filepath.Join(root, "memory")
	}
	if err := unix.Access(at, unix.W_OK); err != nil {
		return "", fmt.Errorf("%s, %s not writable: %w", layout, at, err)
	}
	return layout + ", writable", nil
}

func memfd() (string, error) {
	fd, err := unix.MemfdCreate("touchstone-doctor", unix.MFD_CLOEXEC)
	if err != nil {
		return "", fmt.Errorf("memfd_create: %w", err)
	}
	return "memfd_create", unix.Close(fd)
}

func compiler() (string, error) {
	path, err := exec.LookPath("gcc")
	if err != nil {
		return "", fmt.Errorf("gcc: not found")
	}
	c := exec.Command(path, "-fsyntax-only", "-x", "c", "-")
	c.Stdin = strings.NewReader("#include <stdio.h>\n#include <dlfcn.h>\n")
	if said, err := c.CombinedOutput(); err != nil {
		line, _, _ := strings.Cut(strings.TrimSpace(string(said)), "\n")
		return path, fmt.Errorf("%s has no C library headers: %s", path, line)
	}
	return path, nil
}

func compilerMusl() (string, error) { return exec.LookPath("musl-gcc") }

func golang() (string, error) {
	version, err := exec.Command("go", "env", "GOVERSION").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	return strings.TrimSpace(string(version)), nil
}

func libseccomp() (string, error) {
	if version, err := exec.Command("pkg-config", "--modversion", "libseccomp").Output(); err == nil {
		return "version " + strings.TrimSpace(string(version)), nil
	}
	if _, err := os.Stat("/usr/include/seccomp.h"); err != nil {
		return "", fmt.Errorf("neither pkg-config libseccomp nor /usr/include/seccomp.h")
	}
	return "/usr/include/seccomp.h", nil
}

func binaries(bin string) (string, error) {
	for _, name := range []string{"refsup", "refhost", "reffinal", "reftranspile", "refbind", "jail", "producer", "touchstone-attempt", "touchstone-relay", "faultinject"} {
		if _, err := os.Stat(filepath.Join(bin, name)); err != nil {
			return "", fmt.Errorf("%s: no %s", bin, name)
		}
	}
	return bin, nil
}
