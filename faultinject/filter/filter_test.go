package filter

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func answers(t *testing.T, program []unix.SockFilter, want map[int]uint32) {
	t.Helper()
	for nr, action := range want {
		got, err := Answer(program, nr)
		if err != nil {
			t.Fatal(err)
		}
		if got != action {
			t.Errorf("call %d: got %#x, want %#x", nr, got, action)
		}
	}
}

func TestCallsStopsOnlyTheWanted(t *testing.T) {
	program, err := Calls([]int{unix.SYS_WRITE, unix.SYS_FSYNC})
	if err != nil {
		t.Fatal(err)
	}
	answers(t, program, map[int]uint32{
		unix.SYS_WRITE: unix.SECCOMP_RET_TRACE | traceCode, unix.SYS_FSYNC: unix.SECCOMP_RET_TRACE | traceCode,
		unix.SYS_READ: unix.SECCOMP_RET_ALLOW, 0x40000001: unix.SECCOMP_RET_TRACE | Foreign,
	})
	if again := Decode(Encode(program)); len(again) != len(program) || again[0] != program[0] {
		t.Errorf("encode and decode: got %v, want %v", again, program)
	}
}

func TestCallsAtTestsTheAddress(t *testing.T) {
	program, err := CallsAt([]int{unix.SYS_WRITE, unix.SYS_READ}, []uint64{0x400010, 0})
	if err != nil {
		t.Fatal(err)
	}
	// Answer's instruction pointer is 0, one of the addresses.
	answers(t, program, map[int]uint32{
		unix.SYS_WRITE: unix.SECCOMP_RET_TRACE | traceCode, unix.SYS_READ: unix.SECCOMP_RET_TRACE | traceCode,
		unix.SYS_FSYNC: unix.SECCOMP_RET_ALLOW,
	})
	elsewhere, err := CallsAt([]int{unix.SYS_WRITE}, []uint64{0x400010})
	if err != nil {
		t.Fatal(err)
	}
	answers(t, elsewhere, map[int]uint32{unix.SYS_WRITE: unix.SECCOMP_RET_ALLOW})
	if _, err := CallsAt([]int{1}, []uint64{1 << 32}); err == nil {
		t.Error("an address above 4 GiB was accepted")
	}
}

// TestSites: the syscall instructions are found in images of Go's linker,
// with and without symbols, and in one that a C linker made.
func TestSites(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "m.go")
	for _, c := range []struct{ imports, flags, cgo string }{
		{"", "", "0"}, {"", "-s -w", "0"}, {"import \"C\"\n", "-linkmode external -extldflags -static", "1"},
	} {
		text := "package main\n\n" + c.imports + "import \"os\"\n\nfunc main() { os.Stdout.WriteString(\"x\") }\n"
		if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		image := filepath.Join(dir, "m")
		cmd := exec.Command("go", "build", "-ldflags="+c.flags, "-o", image, source)
		cmd.Env = append(os.Environ(), "CGO_ENABLED="+c.cgo)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		sites, err := Sites(image)
		if err != nil || len(sites) < 2 || sites[0] < 0x400000 {
			t.Errorf("ldflags %q: got %#x, %v", c.flags, sites, err)
		}
	}
	if _, err := Sites("/bin/true"); !errors.Is(err, ErrNotGoStatic) {
		t.Errorf("/bin/true: got %v, want %v", err, ErrNotGoStatic)
	}
}

func TestHides(t *testing.T) {
	refuse := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offsetNr},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_WRITE, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	if hidden, err := Hides(refuse, unix.SYS_WRITE); err != nil || !hidden {
		t.Errorf("write: got %v, %v, want hidden", hidden, err)
	}
	if hidden, err := Hides(refuse, unix.SYS_READ); err != nil || hidden {
		t.Errorf("read: got %v, %v, want seen", hidden, err)
	}
	if _, err := Answer([]unix.SockFilter{{Code: 0xffff}}, 1); err == nil {
		t.Error("an unknown instruction was run")
	}
}
