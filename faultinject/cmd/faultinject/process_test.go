package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// until asks again until done says yes; it fails the test after the deadline
// of a run. The pause spares the processor, nothing depends on its length.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(deadline); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not after %s", what, deadline)
		}
	}
}

// processes returns the pids whose executable is image.
func processes(t *testing.T, image string) []int {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var out []int
	for _, dir := range dirs {
		if exe, err := os.Readlink(dir + "/exe"); err == nil && exe == image {
			pid, err := strconv.Atoi(filepath.Base(dir))
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, pid)
		}
	}
	return out
}

// waitStopped returns the pid of the only process of image, once it is in a
// group stop.
func waitStopped(t *testing.T, image string) int {
	t.Helper()
	pid := 0
	until(t, "group stop of "+image, func() bool {
		pids := processes(t, image)
		if len(pids) != 1 {
			return false
		}
		pid = pids[0]
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return false
		}
		state := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))[0]
		return state == "T" || state == "t" && groupStopped(pid)
	})
	return pid
}

// groupStopped tells a group stop of a traced process (which shows t) from a
// stop of ptrace alone: only then is the wait channel do_signal_stop's.
func groupStopped(pid int) bool {
	wchan, err := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", pid))
	return err == nil && len(wchan) > 0
}
