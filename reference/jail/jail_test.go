package jail

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// released starts, attests and releases a program.
func released(t testing.TB, b *bench) *Domain {
	t.Helper()
	d := b.start(t)
	if err := d.Release(); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestProducerSeesOnlyWhatItWasGiven(t *testing.T) {
	b := newBench(t, "report_boundary", "first")
	b.spec.System = []string{"/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/nowhere/at/all"}
	given := filepath.Join(t.TempDir(), "given")
	if err := os.WriteFile(given, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.spec.Files = []string{given, "/etc/hostname"}
	b.spec.FDs[700] = b.spec.FDs[0]
	d := released(t, b)
	if status := finish(t, d); status.ExitStatus != 0 || status.Signal != 0 {
		t.Errorf("ended with %d, signal %d", status.ExitStatus, status.Signal)
	}
	output := b.read(t)
	for _, want := range []string{
		"descriptors: 0 1 2 700\n",
		"ids: 200001 200001 200001 200001 groups 0 pid 2 ppid 0\n",
		"arguments: 2 first\nenvironment: LANG=C\n",
		"folder /proc: errno 2\n", "core: 1 1\n", "query: 0\n", "write root: 30\n",
		"scratch files: 16\n", "scratch bytes: 1048576\n",
	} {
		if !strings.Contains(output, want) {
			t.Errorf("no %q in\n%s", want, output)
		}
	}
	if got := folder(output, "/"); !slices.Equal(got, []string{"bin", "dev", "etc", "lib", "lib64", "tmp", "usr"}) {
		t.Errorf("root holds %v", got)
	}
	if got := folder(output, "/dev"); !slices.Equal(got, []string{"null", "urandom", "zero"}) {
		t.Errorf("/dev holds %v", got)
	}
	if denied := strings.Count(output, "\ndenied "); denied < 55 {
		t.Errorf("%d calls denied in\n%s", denied, output)
	}
	for line := range strings.Lines(output) {
		if strings.HasPrefix(line, "open ") && line != "open mknod 0 14\n" {
			t.Errorf("not denied: %s", line)
		}
	}
	usage := d.Usage()
	if usage.ScratchAllocated == nil || *usage.ScratchAllocated != 1<<20 || usage.ScratchFiles == nil || *usage.ScratchFiles != 16 {
		t.Errorf("scratch usage is %v bytes, %v files", usage.ScratchAllocated, usage.ScratchFiles)
	}
}

// folder returns the sorted names that the probe listed.
func folder(output, path string) []string {
	for line := range strings.Lines(output) {
		if names, ok := strings.CutPrefix(line, "folder "+path+":"); ok {
			list := strings.Fields(names)
			slices.Sort(list)
			return list
		}
	}
	return nil
}

func TestCreationCallsAreNotifiedAndRefused(t *testing.T) {
	tests := []struct {
		entry, op string
		known     bool
	}{
		{"fork", "fork", true}, {"vfork", "vfork", true}, {"clone", "clone", true}, {"clone3", "clone3", true},
		{"thread", "clone3", true}, {"shadow", "fork", true},
		{"i386-fork", "fork", true}, {"i386-vfork", "vfork", true}, {"i386-clone", "clone", true}, {"i386-clone3", "clone3", true},
		{"x32-fork", "fork", true}, {"i386-getpid", "i386:20", false}, {"x32-getpid", "x32:39", false},
	}
	for _, test := range tests {
		t.Run(test.entry, func(t *testing.T) {
			if strings.HasPrefix(test.entry, "i386") && !hasForeignEntry(t) {
				t.Skip("not run: needs the i386 entry")
			}
			b := newBench(t, "create_process", test.entry)
			d := released(t, b)
			if err := waitFor(d.Listener, unix.POLLIN, b.spec.Deadline); err != nil {
				t.Fatalf("no notification: %v: %s", err, b.read(t))
			}
			op, known, err := d.Notification()
			if op != test.op || known != test.known || err != nil {
				t.Errorf("notified %q %v %v, want %q %v", op, known, err, test.op, test.known)
			}
			if err := d.Refuse(); err != nil {
				t.Fatal(err)
			}
			answerRest(t, d)
			finish(t, d)
			output := b.read(t)
			if strings.Contains(output, "child") || !strings.Contains(output, "returned 1\n") {
				t.Errorf("output %q", output)
			}
			if test.entry == "shadow" && !strings.Contains(output, "own filter refused 1 1\n") {
				t.Errorf("output %q", output)
			}
		})
	}
}

// answerRest refuses retries of the C library until the producer has ended.
func answerRest(t *testing.T, d *Domain) {
	t.Helper()
	polled := []unix.PollFd{{Fd: int32(d.Listener), Events: unix.POLLIN}, {Fd: int32(d.Producer.FD), Events: unix.POLLIN}}
	for {
		if _, err := retry(func() (int, error) { return unix.Poll(polled, 20_000) }); err != nil {
			t.Fatal(err)
		}
		if polled[1].Revents != 0 {
			return
		}
		switch _, _, err := d.Notification(); err {
		case nil, ErrNoNotification:
		case ErrListenerEnded: // before the producer's own end is seen
			polled[0].Fd = -1
		default:
			t.Fatal(err)
		}
		if err := d.Refuse(); err != nil {
			t.Fatal(err)
		}
	}
}

// hasForeignEntry says whether the i386 entry works outside the domain.
func hasForeignEntry(t *testing.T) bool {
	p, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	output, err := exec.Command(p.path("create_process"), "i386-getpid").Output()
	return err == nil && string(output) == "returned 0\n"
}

func TestProducerStatusIsExact(t *testing.T) {
	for how, want := range map[string]Status{
		"exit-0": {}, "exit-7": {ExitStatus: 7}, "signal-31": {Signal: 31}, "signal-6": {Signal: 6}, "signal-15": {Signal: 15},
	} {
		d := released(t, newBench(t, "end_as_told", how))
		if got := finish(t, d); got.ExitStatus != want.ExitStatus || got.Signal != want.Signal {
			t.Errorf("%s: exit status %d, signal %d", how, got.ExitStatus, got.Signal)
		}
	}
}

func TestSurvivorIsSeenBeforeTheKill(t *testing.T) {
	for name, intrude := range map[string]bool{"nobody": false, "intruder": true} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, "end_as_told", "wait")
			d := released(t, b)
			if intrude {
				joinNamespace(t, d)
			}
			if err := d.Terminate(unix.SIGKILL); err != nil {
				t.Fatal(err)
			}
			if err := waitFor(d.Producer.FD, unix.POLLIN, b.spec.Deadline); err != nil {
				t.Fatal(err)
			}
			if status, done, err := d.ReapProducer(); status.Signal != unix.SIGKILL || !done || err != nil {
				t.Fatalf("reap producer: %v %v %v", status, done, err)
			}
			if _, ready, err := d.SurvivorAnswer(); ready || err != nil {
				t.Fatalf("answer before the question: %v %v", ready, err)
			}
			if err := d.AskSurvivor(); err != nil {
				t.Fatal(err)
			}
			if err := waitFor(d.Lifeline, unix.POLLIN, b.spec.Deadline); err != nil {
				t.Fatal(err)
			}
			if found, ready, err := d.SurvivorAnswer(); found != intrude || !ready || err != nil {
				t.Errorf("found %v, ready %v, %v", found, ready, err)
			}
		})
	}
}

// joinNamespace puts a process into the domain's pid namespace.
func joinNamespace(t *testing.T, d *Domain) {
	t.Helper()
	p, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	intruder := exec.Command(p.path("join_namespace"), strconv.Itoa(d.Init.PID))
	output, err := intruder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := intruder.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Kill(); err != nil { // its child ends with the domain
			t.Error(err)
		}
		_ = intruder.Wait() // it says nothing more
	})
	if line := make([]byte, 7); true {
		if _, err := output.Read(line); err != nil || string(line) != "joined\n" {
			t.Fatalf("intruder said %q, %v", line, err)
		}
	}
}
