package jail

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// newTool is a bench for a tool with a work folder.
func newTool(t testing.TB, arguments ...string) (b *bench, work string) {
	b = newBench(t, "use_tool_domain", arguments...)
	work = filepath.Join(t.TempDir(), "work")
	source := filepath.Join(filepath.Dir(work), "elsewhere")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(work, b.spec.UID, b.spec.UID); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(source, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.spec.Tool, b.spec.Work, b.spec.FileBytes = true, work, 100000
	b.spec.System = []string{"/usr", "/lib", "/lib64", "/bin"}
	b.spec.Copies = map[string]string{"/given/source": source}
	return b, work
}

// TestToolDomain: a tool may have helpers; all else is as for a producer.
func TestToolDomain(t *testing.T) {
	b, work := newTool(t)
	d := b.start(t)
	if mounts, err := os.ReadFile(d.proc("mountinfo")); err != nil || strings.Contains(string(mounts), " /given") {
		t.Errorf("a copy is a mount: %v\n%s", err, mounts)
	}
	if err := d.Release(); err != nil {
		t.Fatal(err)
	}
	if status := finish(t, d); status.ExitStatus != 3 || status.Signal != 0 {
		t.Errorf("ended with %d, signal %d", status.ExitStatus, status.Signal)
	}
	const want = "fork: 0\nvfork: 0\nclone3: 38\nparent: 1\nuser namespace: 1\nmount namespace: 1\n" +
		"pid and net namespaces: 1\nunshare: 1\nsocket: 1\nread file: 0\nwrite file: 13\nwrite work: 0\nwrite more: 27\n" +
		"run work: 13\nwrite root: 30\nwrite other: 30\n"
	if got := b.read(t); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if info, err := os.Stat(filepath.Join(work, "fits")); err != nil || info.Size() != 100000 {
		t.Errorf("work holds %v, %v", info, err)
	}
}

// TestHelperEndsWithItsTool: what a tool left behind is gone once init is
// reaped, and its output has ended.
func TestHelperEndsWithItsTool(t *testing.T) {
	b, _ := newTool(t, "leave")
	d := released(t, b)
	if status := finish(t, d); status.ExitStatus != 3 {
		t.Errorf("ended with %d, signal %d", status.ExitStatus, status.Signal)
	}
	if err := unix.Close(b.spec.FDs[1]); err != nil { // the last writer but for a helper
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); ; {
		if err := waitFor(b.output, unix.POLLIN, end); err != nil {
			t.Fatalf("the output goes on: %v", err)
		}
		if n, err := unix.Read(b.output, make([]byte, 4096)); n == 0 || err != nil {
			return
		}
	}
}

func TestToolSpecsAreChecked(t *testing.T) {
	for name, change := range map[string]func(*Spec){
		"work of a producer": func(s *Spec) { s.Tool = false },
		"no bound":           func(s *Spec) { s.FileBytes = 0 },
		"relative work":      func(s *Spec) { s.Work = "work" },
		"symlink source": func(s *Spec) {
			link := filepath.Join(filepath.Dir(s.Work), "link")
			if err := os.Symlink(s.Copies["/given/source"], link); err != nil {
				t.Fatal(err)
			}
			s.Copies["/given/source"] = link
		},
		"folder source":   func(s *Spec) { s.Copies["/given/source"] = s.Work },
		"relative source": func(s *Spec) { s.Copies["/given/source"] = "source" },
	} {
		b, _ := newTool(t)
		change(&b.spec)
		if d, err := Start(b.spec); err == nil {
			t.Errorf("%s: started", name)
			_ = d.Close() // failed already
		}
	}
}
