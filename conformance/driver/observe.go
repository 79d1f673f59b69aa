package driver

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"touchstone/conformance/evidence"
)

// observe reads everything that /proc says of a process and its supervisor.
// It fails only when the process is gone.
func observe(who string, pid, supervisor int, hosts []evidence.HostEndpoint) (evidence.Observe, error) {
	status := statusLines(pid)
	if status["Pid"] == "" {
		return evidence.Observe{}, fmt.Errorf("observe %s %d: it is gone", who, pid)
	}
	s := statusLines(supervisor)
	o := evidence.Observe{
		Who: who, PID: pid, PPID: number(status["PPid"]), State: firstWord(status["State"]),
		UIDs: ids(status["Uid"]), GIDs: ids(status["Gid"]), Groups: ids(status["Groups"]),
		Capabilities: evidence.Capabilities{Effective: status["CapEff"], Permitted: status["CapPrm"],
			Bounding: status["CapBnd"], Inheritable: status["CapInh"], Ambient: status["CapAmb"]},
		NoNewPrivs: status["NoNewPrivs"] == "1", Seccomp: number(status["Seccomp"]),
		SeccompFilters: number(status["Seccomp_filters"]), SupervisorFilters: number(s["Seccomp_filters"]),
		Namespaces: namespaces(pid), SupervisorNamespaces: namespaces(supervisor), HostNamespaces: namespaces(os.Getpid()),
		SupervisorUIDs: ids(s["Uid"]), Threads: number(status["Threads"]), Children: children(pid),
		Cgroup: lines(pid, "cgroup", "\n"), SupervisorCgroup: lines(supervisor, "cgroup", "\n"),
		Exe: link(pid, "exe"), Argv: lines(pid, "cmdline", "\x00"), CWD: link(pid, "cwd"), Root: link(pid, "root"),
		Environment: lines(pid, "environ", "\x00"), WritableMappings: writableMappings(pid),
		Descriptors: descriptors(pid, hosts), HostEndpoints: hosts,
	}
	for _, word := range strings.Fields(status["NSpid"]) {
		o.NSPIDs = append(o.NSPIDs, number(word))
	}
	return o, nil
}

// statusLines is /proc/PID/status by name; empty when the process is gone.
func statusLines(pid int) map[string]string {
	text, err := os.ReadFile(procPath(pid, "status"))
	if err != nil {
		return nil
	}
	values := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		values[name] = strings.TrimSpace(value)
	}
	return values
}

// number is a kernel's number; 0 where the line is absent.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return word
}

func ids(text string) []uint32 {
	var found []uint32
	for _, word := range strings.Fields(text) {
		n, err := strconv.ParseUint(word, 10, 32)
		if err == nil {
			found = append(found, uint32(n))
		}
	}
	return found
}

func namespaces(pid int) evidence.Namespaces {
	inode := func(name string) uint64 {
		var st unix.Stat_t
		if unix.Stat(procPath(pid, "ns/"+name), &st) != nil {
			return 0
		}
		return st.Ino
	}
	return evidence.Namespaces{PID: inode("pid"), Mount: inode("mnt"), Net: inode("net"), IPC: inode("ipc"),
		UTS: inode("uts"), User: inode("user"), Cgroup: inode("cgroup")}
}

func link(pid int, name string) string {
	target, err := os.Readlink(procPath(pid, name))
	if err != nil {
		return ""
	}
	return target
}

func lines(pid int, name, separator string) []string {
	text, err := os.ReadFile(procPath(pid, name))
	if err != nil {
		return nil
	}
	return strings.FieldsFunc(string(text), func(r rune) bool { return string(r) == separator })
}

func children(pid int) int {
	tasks, err := os.ReadDir(procPath(pid, "task"))
	if err != nil {
		return 0
	}
	count := 0
	for _, t := range tasks {
		text, err := os.ReadFile(procPath(pid, "task/"+t.Name()+"/children"))
		if err == nil {
			count += len(strings.Fields(string(text)))
		}
	}
	return count
}

// writableMappings are the files that a process shares for writing.
func writableMappings(pid int) []string {
	var found []string
	for _, line := range lines(pid, "maps", "\n") {
		fields := strings.Fields(line)
		if len(fields) >= 6 && strings.HasPrefix(fields[1][1:], "w") && strings.HasSuffix(fields[1], "s") {
			found = append(found, strings.Join(fields[5:], " "))
		}
	}
	return found
}

func descriptors(pid int, hosts []evidence.HostEndpoint) []evidence.Descriptor {
	entries, err := os.ReadDir(procPath(pid, "fd"))
	if err != nil {
		return nil
	}
	var found []evidence.Descriptor
	for _, e := range entries {
		var st unix.Stat_t
		path := procPath(pid, "fd/"+e.Name())
		target, err := os.Readlink(path)
		if err != nil || unix.Stat(path, &st) != nil {
			continue // closed meanwhile
		}
		flags, known := flagsOf(pid, e.Name())
		access := ""
		if known {
			access = accessWord(flags)
		}
		found = append(found, evidence.Descriptor{Number: number(e.Name()), Name: endpointName(st, hosts), Kind: kindOf(target, st),
			Link: target, Device: st.Dev, Inode: st.Ino, Access: access, Nonblocking: known && flags&unix.O_NONBLOCK != 0})
	}
	slices.SortFunc(found, func(a, b evidence.Descriptor) int { return a.Number - b.Number })
	return found
}

// endpointName is the host's word for an inode of one of its endpoints.
func endpointName(st unix.Stat_t, hosts []evidence.HostEndpoint) string {
	for _, h := range hosts {
		if st.Dev == h.Device && (st.Ino == h.Launcher || st.Ino == h.Host) {
			return h.Name
		}
	}
	return ""
}

func kindOf(target string, st unix.Stat_t) string {
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFIFO:
		return "pipe"
	case unix.S_IFSOCK:
		return "socket"
	case unix.S_IFCHR:
		return "device"
	case unix.S_IFREG:
		if strings.HasPrefix(target, "/memfd:") {
			return "memfd"
		}
		return "file"
	}
	return "other"
}

// flagsOf reads a descriptor's status flags from fdinfo, where they are octal.
func flagsOf(pid int, fd string) (flags int, known bool) {
	for _, line := range lines(pid, "fdinfo/"+fd, "\n") {
		if value, found := strings.CutPrefix(line, "flags:"); found {
			flags, err := strconv.ParseInt(strings.TrimSpace(value), 8, 64)
			return int(flags), err == nil
		}
	}
	return 0, false
}
