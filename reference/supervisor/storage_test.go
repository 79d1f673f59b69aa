package supervisor

import (
	"errors"
	"strings"
	"testing"
	"time"

	"touchstone/reference/record"
)

// A target's name may be as long as a name can be.
func TestPartialNameHasRoom(t *testing.T) {
	id := strings.Repeat("a", 32)
	for _, size := range []int{1, 213, 214, 220, 255} {
		name := partialName(strings.Repeat("n", size), id)
		if len(name) > 255 || !strings.HasSuffix(name, "."+id+".partial") || !strings.HasPrefix(name, ".n") {
			t.Errorf("%d bytes: %q of %d", size, name, len(name))
		}
	}
}

// A wait that fails leaves its descriptor ready; it is not tried again at once.
func TestFailedWaitIsNotTriedAtOnce(t *testing.T) {
	a := &attempt{started: time.Now()}
	if !a.waits() {
		t.Error("a first wait has to wait")
	}
	if seen := a.unwaited(nil); len(seen) != 0 || !a.waits() {
		t.Errorf("nothing has ended yet: %v", seen)
	}
	if seen := a.unwaited(errors.New("no child")); len(seen) != 1 || a.waits() || a.waitAt > a.now()+retryInterval {
		t.Errorf("failed: %v, again at %s", seen, a.waitAt)
	}
}

// What the tools left is part of the job's work space, or that is not known.
func TestWorkSpaceHoldsWhatToolsLeft(t *testing.T) {
	var m measured
	m[workLogical], m[workAllocated], m[workFiles] = record.Number(10), record.Number(4096), record.Number(1)
	a := &attempt{folder: &folder{held: &held{5, 8192, 2}}}
	got := a.withTools(m)
	if *got[workLogical] != 15 || *got[workAllocated] != 12288 || *got[workFiles] != 3 {
		t.Errorf("got %d, %d, %d", *got[workLogical], *got[workAllocated], *got[workFiles])
	}
	a.folder.held = nil
	if got := a.withTools(m); got[workLogical] != nil || got[workAllocated] != nil || got[workFiles] != nil {
		t.Error("what nobody measured is told")
	}
	if a.folder = nil; *a.withTools(m)[workLogical] != 10 {
		t.Error("without tools it is the worker's alone")
	}
}
