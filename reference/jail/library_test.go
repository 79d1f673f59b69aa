package jail

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// What a C library calls is its own choice; the filter must know each choice of
// those that producers are linked with.
func TestCreationByLibraryIsNotified(t *testing.T) {
	for _, library := range []struct {
		compiler string
		chooses  map[string]string
	}{
		{"gcc", map[string]string{"fork": "clone", "vfork": "vfork", "daemon": "clone", "spawn": "clone3", "system": "clone3",
			"popen": "clone3", "wordexp": "clone3", "pthread": "clone3", "thrd": "clone3", "timer": "clone3"}},
		{"musl-gcc", map[string]string{"fork": "fork", "vfork": "vfork", "daemon": "fork", "spawn": "clone", "system": "clone",
			"popen": "clone", "wordexp": "fork", "pthread": "clone", "thrd": "clone", "timer": "clone"}},
	} {
		t.Run(library.compiler, func(t *testing.T) {
			requireRoot(t)
			if _, err := exec.LookPath(library.compiler); err != nil {
				t.Skipf("not run: needs %s", library.compiler)
			}
			program := compileBy(t, library.compiler)
			for function, op := range library.chooses {
				t.Run(function, func(t *testing.T) { noticed(t, program, function, op) })
			}
		})
	}
}

func compileBy(t *testing.T, compiler string) string {
	t.Helper()
	program := t.TempDir() + "/create_by_library"
	output, err := exec.Command(compiler, "-std=c11", "-O2", "-static", "-o", program, "testdata/create_by_library.c").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return program
}

// noticed wants the function's first call as op. Older C libraries have only the
// older call for what is clone3 here.
func noticed(t *testing.T, program, function, op string) {
	b := newBench(t, "create_process", function)
	b.spec.Exe = program
	d := released(t, b)
	if err := waitFor(d.Listener, unix.POLLIN, b.spec.Deadline); err != nil {
		t.Fatalf("no notification: %v: %s", err, b.read(t))
	}
	wanted := []string{op}
	if op == "clone3" {
		wanted = []string{"clone", "clone3"}
	}
	if got, known, err := d.Notification(); !slices.Contains(wanted, got) || !known || err != nil {
		t.Errorf("notified %q %v %v, want %s", got, known, err, wanted)
	}
	if err := d.Refuse(); err != nil {
		t.Fatal(err)
	}
	answerRest(t, d)
	finish(t, d)
	if output := b.read(t); strings.Contains(output, "child") || !strings.Contains(output, "returned\n") {
		t.Errorf("output %q", output)
	}
}
