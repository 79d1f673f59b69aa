package driver

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// A process lives while any thread of it does, and no longer.
func TestProcessLivesByItsThreads(t *testing.T) {
	source, program := filepath.Join(t.TempDir(), "threads.c"), filepath.Join(t.TempDir(), "threads")
	text := "#include <pthread.h>\n#include <unistd.h>\nstatic void *stay(void *v) { return pause(), v; }\n" +
		"int main(void) { pthread_t t; return pthread_create(&t, 0, stay, 0) || (pthread_exit(0), 0); }\n"
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.Command("gcc", "-pthread", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	c := exec.Command(program)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	pid := c.Process.Pid
	for deadline := time.Now().Add(10 * time.Second); alive(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the first thread does not end")
		}
	}
	if !lives(pid) {
		t.Error("a process whose first thread has ended is held for dead")
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // killed, as it must be
	if lives(pid) {
		t.Error("a process that is gone is held for living")
	}
}
