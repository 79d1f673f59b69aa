package jail

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Attest compares the parked producer, from outside, with what the boundary
// promises, and then makes it try a fork, which must arrive on the listener; a
// tool may fork. Nothing that the producer says counts. Errors are *RefusedError{policy}.
//
// Rules: R02, C-78.
func (d *Domain) Attest() error {
	checks := []struct {
		name string
		run  func() error
	}{
		{"identity", d.attestStatus},
		{"namespaces", d.attestNamespaces},
		{"descriptors", d.attestDescriptors},
		{"init", d.attestInit},
		{"root", d.attestRoot},
		{"limits", d.attestLimits},
		{"control groups", d.attestGroups},
		{"canary", d.canary},
		{"scratch", d.holdScratch},
	}
	for _, check := range checks {
		if err := check.run(); err != nil {
			return refuse(ReasonPolicy, fmt.Errorf("attest %s: %w", check.name, err))
		}
	}
	return nil
}

// proc names a file of the producer in /proc; the unreaped child keeps its pid.
func (d *Domain) proc(name string) string {
	return filepath.Join("/proc", strconv.Itoa(d.Producer.PID), name)
}

// statusText is the text of a status file, lines of "Key: words".
type statusText string

func readStatus(path string) (statusText, error) {
	text, err := readFile(path)
	return statusText("\n" + text), err
}

// field returns the words of one line with single blanks between, and whether
// there is such a line.
func (s statusText) field(key string) (words string, found bool) {
	_, rest, found := strings.Cut(string(s), "\n"+key+":")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.Join(strings.Fields(line), " "), found
}

func (d *Domain) attestStatus() error {
	own, err := readStatus("/proc/self/status")
	if err != nil {
		return err
	}
	have, err := readStatus(d.proc("status"))
	if err != nil {
		return err
	}
	want, err := d.wantedStatus(own)
	if err != nil {
		return err
	}
	for key, value := range want {
		if words, found := have.field(key); !found || words != value {
			return fmt.Errorf("%s is %q, want %q", key, words, value)
		}
	}
	numbers, _ := have.field("NSpid")
	ownNumbers, _ := own.field("NSpid")
	return checkNamespacePID(numbers, ownNumbers, d.Producer.PID)
}

// wantedStatus is the state of the parked producer; S's own filters count too (C-78).
func (d *Domain) wantedStatus(own statusText) (map[string]string, error) {
	count, _ := own.field("Seccomp_filters")
	filters, err := strconv.Atoi(count)
	if err != nil {
		return nil, fmt.Errorf("own filter count: %w", err)
	}
	id := strconv.Itoa(d.spec.UID)
	ids := strings.Join([]string{id, id, id, id}, " ")
	const none = "0000000000000000"
	return map[string]string{
		"PPid": strconv.Itoa(unix.Getpid()), "Uid": ids, "Gid": ids, "Groups": "",
		"CapInh": none, "CapPrm": none, "CapEff": none, "CapBnd": none, "CapAmb": none,
		"NoNewPrivs": "1", "Seccomp": "2", "Seccomp_filters": strconv.Itoa(filters + 1), "Threads": "1",
		"SigBlk": none, "SigIgn": none, "SigCgt": none,
	}, nil
}

// checkNamespacePID wants one namespace level below S, and not its PID 1. S
// must see itself with one number: else /proc is that of another namespace.
func checkNamespacePID(have, own string, pid int) error {
	numbers := strings.Fields(have)
	if len(strings.Fields(own)) != 1 || len(numbers) != 2 || numbers[0] != strconv.Itoa(pid) || numbers[1] == "1" {
		return fmt.Errorf("NSpid is %q for process %d beside own %q", have, pid, own)
	}
	return nil
}

func (d *Domain) attestNamespaces() error {
	for _, name := range []string{"pid", "mnt", "net", "ipc", "uts", "cgroup"} {
		have, err := os.Readlink(d.proc("ns/" + name))
		if err != nil {
			return err
		}
		own, err := os.Readlink("/proc/self/ns/" + name)
		if err != nil {
			return err
		}
		inits, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(d.Init.PID), "ns", name))
		if err != nil {
			return err
		}
		if have == own || have != inits {
			return fmt.Errorf("%s namespace is %s: own %s, init's %s", name, have, own, inits)
		}
	}
	return nil
}

// attestInit wants the init without capabilities, holding the lifeline only.
func (d *Domain) attestInit() error {
	folder := filepath.Join("/proc", strconv.Itoa(d.Init.PID))
	have, err := readStatus(filepath.Join(folder, "status"))
	if err != nil {
		return err
	}
	for _, key := range []string{"CapPrm", "CapEff", "CapBnd", "CapAmb"} {
		if set, _ := have.field(key); strings.Trim(set, "0") != "" || set == "" {
			return fmt.Errorf("%s is %q", key, set)
		}
	}
	numbers, err := descriptorNumbers(filepath.Join(folder, "fd"))
	if err == nil && len(numbers) != 1 {
		err = fmt.Errorf("descriptors are %v, want the lifeline only", numbers)
	}
	return err
}

// attestLimits reads the file: asking with prlimit needs a right that S may lack.
func (d *Domain) attestLimits() error {
	text, err := readFile(d.proc("limits"))
	if err != nil {
		return err
	}
	text = strings.Join(strings.Fields(text), " ")
	for _, want := range []string{"Max core file size 1 1 bytes", "Max locked memory 0 0 bytes", "Max msgqueue size 0 0 bytes"} {
		if !strings.Contains(text, want) {
			return fmt.Errorf("not %q", want)
		}
	}
	return nil
}

// attestGroups wants the producer in its leaf of every hierarchy that has one.
func (d *Domain) attestGroups() error {
	if len(d.leaf.groups) == 0 {
		return nil
	}
	text, err := readFile(d.proc("cgroup"))
	if err != nil {
		return err
	}
	for _, g := range d.leaf.groups {
		want := ":" + strings.Join(g.controllers, ",") + ":" + filepath.Join(g.path, filepath.Base(g.folder)) + "\n"
		if !strings.Contains(text, want) {
			return fmt.Errorf("%q not in %q", want, text)
		}
	}
	return d.leaf.closeEntries()
}

// holdScratch takes hold of the producer's /tmp, so that it can be measured
// after every process of the domain is gone.
func (d *Domain) holdScratch() error {
	fd, err := unix.Open(d.proc("root/tmp"), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	d.scratch = fd
	var fs unix.Statfs_t
	if err := unix.Fstatfs(fd, &fs); err != nil {
		return err
	}
	d.scratchFiles = int64(fs.Files - fs.Ffree)
	if size := int64(fs.Blocks) * fs.Bsize; size < d.spec.ScratchBytes || size >= d.spec.ScratchBytes+fs.Bsize {
		return fmt.Errorf("size is %d, want %d", size, d.spec.ScratchBytes)
	}
	return nil
}
