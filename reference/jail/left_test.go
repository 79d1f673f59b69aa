package jail

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestNothingIsLeftOfManyDomains(t *testing.T) {
	requireRoot(t)
	rounds := 200
	if testing.Short() {
		rounds = 20
	}
	var folders []string
	for i := range rounds {
		t.Run("", func(t *testing.T) {
			b := newBench(t, "end_as_told", "wait")
			d := b.start(t)
			for _, g := range d.leaf.groups {
				folders = append(folders, g.folder)
			}
			if i%3 > 0 {
				if err := d.Release(); err != nil {
					t.Fatal(err)
				}
			}
			if err := d.Kill(); err != nil {
				t.Fatal(err)
			}
			if status := finish(t, d); status.Signal != unix.SIGKILL {
				t.Errorf("signal %d", status.Signal)
			}
		})
	}
	for _, folder := range folders {
		if _, err := os.Stat(folder); !os.IsNotExist(err) {
			t.Errorf("control group %s: %v", folder, err)
		}
	}
	if left := children(t); left != "" {
		t.Errorf("children left: %s", left)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(mounts), " - tmpfs scratch ") {
		t.Errorf("a mount is left:\n%s", mounts)
	}
}

// TestUnifiedGroup: a domain whose only hierarchy is the unified one begins in
// its group there.
func TestUnifiedGroup(t *testing.T) {
	b := newBench(t, "end_as_told", "wait")
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	_, path, found := strings.Cut("\n"+string(own), "\n0::")
	usable := hierarchies(string(mounts), "0::"+path)
	if !found || len(usable) != 1 {
		t.Skip("not run: needs the unified hierarchy")
	}
	d := newDomain(b.spec)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := d.start(usable); err != nil {
		t.Fatal(err)
	}
	if len(d.leaf.groups) != 1 || !d.leaf.groups[0].unified {
		t.Fatalf("groups %+v", d.leaf.groups)
	}
	if err := d.Attest(); err != nil { // it looks for the group in /proc/PID/cgroup
		t.Error(err)
	}
	if err := d.Kill(); err != nil {
		t.Fatal(err)
	}
	finish(t, d)
}

// children lists the children of this process.
func children(t *testing.T) string {
	t.Helper()
	threads, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	var list strings.Builder
	for _, path := range threads {
		text, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) { // a thread may end
			t.Fatal(err)
		}
		list.Write(text)
	}
	return list.String()
}

func TestNoDescriptorIsLeft(t *testing.T) {
	once := func() {
		b := newBench(t, "end_as_told", "exit-0")
		d, err := Start(b.spec)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Attest(); err != nil {
			t.Fatal(err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		for _, fd := range []int{b.output, b.spec.FDs[0], b.spec.FDs[1]} {
			_ = unix.Dup3(fd, fd, 0) // keeps the numbers used until Cleanup
		}
	}
	once()
	before, err := descriptorNumbers("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	once()
	after, err := descriptorNumbers("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	if len(after) != len(before)+3 { // the second bench's own pipe and null device
		t.Errorf("descriptors %v, then %v", before, after)
	}
}

func TestDomainDiesWithItsSupervisor(t *testing.T) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	command := again(t, "TestSupervisorToBeKilled", "JAIL_TEST_SUPERVISOR")
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 64)
	n, err := output.Read(line)
	pids := strings.Fields(string(line[:n]))
	if err != nil || len(pids) != 3 {
		t.Fatalf("supervisor said %q, %v", line[:n], err)
	}
	if err := command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait() // killed
	for _, text := range pids[:2] {
		pid, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		reapOrphan(t, pid)
	}
	removeLeaf(t, pids[2])
}

// reapOrphan wants the process, now a child of this one, to end by itself.
func reapOrphan(t *testing.T, pid int) {
	t.Helper()
	pidfd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatalf("open process %d: %v", pid, err)
	}
	defer unix.Close(pidfd)
	if err := waitFor(pidfd, unix.POLLIN, time.Now().Add(10*time.Second)); err != nil {
		t.Fatalf("process %d: %v", pid, err)
	}
	if _, done, err := wait(pidfd, 0); err != nil || !done {
		t.Fatalf("reap %d: %v %v", pid, done, err)
	}
}

// removeLeaf removes the groups that a killed supervisor could not.
func removeLeaf(t *testing.T, name string) {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hierarchies(string(mounts), string(own)) {
		if err := unix.Rmdir(filepath.Join(h.folder, name)); err != nil && err != unix.ENOENT {
			t.Error(err)
		}
	}
}

// TestSupervisorToBeKilled is the body of the process that the test above kills.
func TestSupervisorToBeKilled(t *testing.T) {
	if os.Getenv("JAIL_TEST_SUPERVISOR") == "" {
		t.Skip("not run: only as a child of TestDomainDiesWithItsSupervisor")
	}
	b := newBench(t, "end_as_told", "wait")
	d := released(t, b)
	if err := waitFor(b.output, unix.POLLIN, b.spec.Deadline); err != nil {
		t.Fatal(err)
	}
	line := strconv.Itoa(d.Producer.PID) + " " + strconv.Itoa(d.Init.PID) + " " + filepath.Base(d.leaf.groups[0].folder) + "\n"
	if _, err := os.Stdout.WriteString(line); err != nil {
		t.Fatal(err)
	}
	select {} // until killed
}
