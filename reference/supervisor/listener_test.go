package supervisor_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestNobodyElseListens: while the producer runs, S alone holds the listener of
// its calls; a process that held a copy could let them pass.
func TestNobodyElseListens(t *testing.T) {
	r := launch{actor: "sink=100000 err=1 spin", sinkTo: readSink, stream: stream(t, 1000000), atFirstNote: func(s *os.Process) {
		if own := listeners(t, s.Pid); own != 1 {
			t.Errorf("S holds %d listeners", own)
		}
		for _, name := range []string{"actor", "jail", "refsup", "reffinal"} {
			if held := listeners(t, child(t, s.Pid, name)); held != 0 {
				t.Errorf("%s holds %d listeners", name, held)
			}
		}
		if err := s.Signal(unix.SIGTERM); err != nil {
			t.Error(err)
		}
	}}.run(t)
	r.wants(t, 1, "run_aborted{}")
}

// listeners counts the descriptors of a process that are seccomp listeners.
func listeners(t *testing.T, pid int) (n int) {
	t.Helper()
	links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil || len(links) == 0 {
		t.Errorf("process %d: no descriptors: %v", pid, err)
	}
	for _, link := range links {
		if target, _ := os.Readlink(link); strings.Contains(target, "seccomp notify") { // it may be closed by now
			n++
		}
	}
	return n
}
