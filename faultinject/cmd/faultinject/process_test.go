package main

import (
	"os"
	"path/filepath"
	"strconv"
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
