package jail

import (
	"errors"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestWaitForWhatCameBefore: who stood still over the deadline hears of what is
// ready: a producer that was let go has run, and is no refusal.
func TestWaitForWhatCameBefore(t *testing.T) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[0]) // scratch sockets: nothing to lose
	past := time.Now().Add(-time.Second)
	if err := waitFor(pair[0], unix.POLLIN, past); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("nothing is ready: %v", err)
	}
	if err := unix.Close(pair[1]); err != nil {
		t.Fatal(err)
	}
	if err := waitFor(pair[0], unix.POLLIN, past); err != nil {
		t.Errorf("the end is there: %v", err)
	}
}
