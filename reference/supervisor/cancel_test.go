package supervisor_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestCancellationComesFirst: the host's request to stop and the producer's end,
// a bad one or that of a success, reach a stopped S, which sees both at once
// (T28.08, T29.13, T29.15).
func TestCancellationComesFirst(t *testing.T) {
	for actor, end := range map[string]unix.Signal{
		"err=1 spin": unix.SIGKILL,
		fmt.Sprintf("err=1 signal=%d report=2000", unix.SIGSTOP): unix.SIGCONT,
	} {
		for range rounds(t) {
			r := launch{actor: actor, atFirstNote: func(s *os.Process) {
				producer := child(t, s.Pid, "actor")
				if end == unix.SIGCONT {
					awaitState(t, producer, 'T')
				}
				for _, step := range []struct {
					pid    int
					signal unix.Signal
					state  byte // to wait for; 0 for none
				}{{s.Pid, unix.SIGSTOP, 'T'}, {producer, end, 'Z'}, {s.Pid, unix.SIGTERM, 0}, {s.Pid, unix.SIGCONT, 0}} {
					if err := unix.Kill(step.pid, step.signal); err != nil {
						t.Error(err)
					}
					awaitState(t, step.pid, step.state)
				}
			}}.run(t)
			r.wants(t, 1, "run_aborted{}")
			if bytes.Contains(r.report, []byte(`"trades"`)) {
				t.Error("a success was published")
			}
		}
	}
}

// awaitState waits until a process is in a state.
func awaitState(t testing.TB, pid int, state byte) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); state != 0; {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if at := bytes.LastIndexByte(stat, ')'); err == nil && at > 0 && stat[at+2] == state {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("process %d is not in state %c: %s, %v", pid, state, stat, err)
			return
		}
		_, _ = unix.Poll(nil, 1) // a bound on how often, not a step
	}
}
