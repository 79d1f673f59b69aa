package driver

import (
	"testing"

	"golang.org/x/sys/unix"

	"touchstone/conformance/launcherfile"
)

// A launcher that contains nothing shares its group with its producer; the
// suite must not be in it.
func TestLaunchedProcessLeadsItsOwnSession(t *testing.T) {
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	pid, err := fork(launcherfile.Command{Argv: []string{"/bin/cat"}}, []given{{0, "stdin", "pipe", pipe[0]}})
	if err != nil {
		t.Fatal(err)
	}
	session, err := unix.Getsid(pid)
	if err != nil || session != pid {
		t.Errorf("session %d, %v; want %d", session, err, pid)
	}
	if err := unix.Close(pipe[1]); err != nil { // cat ends
		t.Error(err)
	}
	if _, err := unix.Wait4(pid, nil, 0, nil); err != nil {
		t.Error(err)
	}
	if err := unix.Close(pipe[0]); err != nil {
		t.Error(err)
	}
}
