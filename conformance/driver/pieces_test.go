package driver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"

	"touchstone/conformance/launcherfile"
	"touchstone/conformance/scenario"
)

func holds(t *testing.T, name string, property gopter.Prop) {
	t.Helper()
	seed := time.Now().UnixNano()
	properties := gopter.NewProperties(gopter.DefaultTestParametersWithSeed(seed))
	properties.Property(name, property)
	if !properties.Run(gopter.ConsoleReporter(false)) {
		t.Errorf("seed %d", seed)
	}
	fmt.Printf("seed %d\n", seed)
}

func TestDescriptorNumbersAreFreeAndDiffer(t *testing.T) {
	holds(t, "no number twice, none reserved", prop.ForAll(func(raw []uint8, extras int) bool {
		var id [16]byte
		copy(id[:], raw)
		p := planDescriptors(id, []launcherfile.Descriptor{{Number: 9}}, map[string]int{"sink": 7}, extras)
		seen := map[int]bool{0: true, 1: true, 2: true, 5: true, 9: true, 7: true}
		for _, n := range append([]int{p.number("terminal"), p.number("phase"), p.launch, p.candidate}, p.extra...) {
			if seen[n] || n > lastNumber {
				return false
			}
			seen[n] = true
		}
		return len(p.extra) == extras && p.number("sink") == 7 && p.number("diagnostic") == 2
	}, gen.SliceOfN(16, gen.UInt8()), gen.IntRange(0, 64)))
	a, b := planDescriptors([16]byte{1}, nil, nil, 0), planDescriptors([16]byte{2}, nil, nil, 0)
	if a.number("terminal") == b.number("terminal") && a.launch == b.launch {
		t.Errorf("two attempts got the same numbers: %+v %+v", a, b)
	}
}

func TestAllowanceNeverPassesAStopOrAPace(t *testing.T) {
	holds(t, "bounded", prop.ForAll(func(total, stop int64, taken, bytes int, now, every int64) bool {
		c := &channel{fd: 3, total: total, taken: taken, window: 1000, pace: scenario.Pace{Bytes: bytes, EveryMS: uint64(every)}}
		n, wake := c.allowance(now, stop)
		switch {
		case n < 0 || n > readBytes || (stop > total && total+int64(n) > stop):
			return false
		case bytes == 0:
			return n > 0 && wake == 0
		case n == 0:
			return wake > now && wake == 1000+every*1e6
		}
		return n <= bytes && (now >= 1000+every*1e6 || taken+n <= bytes)
	}, gen.Int64Range(0, 100), gen.Int64Range(0, 200), gen.IntRange(0, 20), gen.IntRange(0, 20), gen.Int64Range(1000, 5e6), gen.Int64Range(1, 3)))
	for name, c := range map[string]*channel{"paused": {fd: 3, paused: true}, "ended": {fd: 3, ended: true}, "closed": {fd: -1}} {
		if n, wake := c.allowance(5, 0); n != 0 || wake != 0 {
			t.Errorf("%s: may read %d, wakes at %d", name, n, wake)
		}
	}
}

func TestFixtureArguments(t *testing.T) {
	got, err := argumentText(map[string]string{"b": "x=y", "a": ""})
	if want := "a=\x00b=x=y\x00\x00"; err != nil || string(got) != want {
		t.Errorf("got %q %v, want %q", got, err, want)
	}
	for _, args := range []map[string]string{{"": "x"}, {"a=b": "x"}, {"a": "x\x00y"}} {
		if text, err := argumentText(args); err == nil {
			t.Errorf("%q became %q", args, text)
		}
	}
}

func TestPatchFillsExactlyWhatFits(t *testing.T) {
	c, err := built()
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(c.Library["meet"])
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		fixture string
		args    map[string]string
		payload []byte
		want    string
	}{
		"both":             {"meet", map[string]string{"k": "v"}, []byte("document"), ""},
		"the whole room":   {"meet", map[string]string{"k": strings.Repeat("v", 4096-4)}, bytes.Repeat([]byte("p"), 65536), ""},
		"argument too big": {"meet", map[string]string{"k": strings.Repeat("v", 4096-3)}, nil, "4097 bytes, room for 4096"},
		"payload too big":  {"meet", nil, bytes.Repeat([]byte("p"), 65537), "65545 bytes, room for 65544"},
		"takes no payload": {"reach_canaries", nil, []byte("x"), "takes no fixture_payload"},
	}
	for name, c2 := range cases {
		to := filepath.Join(t.TempDir(), "copy.so")
		_, stateful, err := patch(c.Library[c2.fixture], to, c2.args, c2.payload)
		if (err == nil) != (c2.want == "") || (err != nil && !strings.Contains(err.Error(), c2.want)) {
			t.Errorf("%s: got %v, want %q", name, err, c2.want)
			continue
		}
		if err != nil {
			continue
		}
		after, err := os.ReadFile(to)
		if err != nil || !stateful || len(after) != len(before) || !bytes.Contains(after, c2.payload) || bytes.Equal(after, before) {
			t.Errorf("%s: %v, %d bytes after %d", name, err, len(after), len(before))
		}
	}
}

func TestMarketDataIsOnePathForAllAttempts(t *testing.T) {
	s := Setup{Library: filepath.Join(t.TempDir(), "x.so")}
	for range 2 {
		if err := writeMarketData(s.marketData(2), 2); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(s.marketData(2))
	want := "timestamp,open,high,low,close,volume\n1700000040000,100,102,99,101,10\n1700000100000,101,103,100,102,20\n"
	if err != nil || string(text) != want {
		t.Errorf("got %q %v, want %q", text, err, want)
	}
	if entries, err := os.ReadDir(filepath.Dir(s.Library)); err != nil || len(entries) != 1 {
		t.Errorf("left: %v %v", entries, err)
	}
}

func TestGroupFolders(t *testing.T) {
	mounts := "36 30 0:31 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n" +
		"38 30 0:35 /outer /groups/pids rw - cgroup cgroup rw,pids\n40 30 0:37 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
	for _, c := range [][3]string{
		{"memory", "/a/b", "/sys/fs/cgroup/memory/a/b"}, {"pids", "/outer/x", "/groups/pids/x"}, {"pids", "/outer", "/groups/pids"},
		{"pids", "/outerx", ""}, {"pids", "/", ""}, {"", "/", "/sys/fs/cgroup/unified"}, {"cpu", "/", ""},
	} {
		if got := groupFolder(mounts, c[0], c[1]); got != c[2] {
			t.Errorf("%q %s: got %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

func TestOldLeavesOfAGoneRunnerAreSweptAndOthersKept(t *testing.T) {
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	pid, old := gone.Process.Pid, staleAfter+time.Minute
	cases := []struct {
		name string
		age  time.Duration
		kept bool
	}{
		{fmt.Sprintf("touchstone-%d-00", pid), old, false}, {fmt.Sprintf("touchstone-%d-01", pid), 0, true},
		{fmt.Sprintf("touchstone-%d-00", os.Getpid()), old, true}, {fmt.Sprintf("touchstone-%d", pid), old, true},
		{fmt.Sprintf("other-%d-00", pid), old, true}, {"touchstone-x-00", old, true},
	}
	parent := t.TempDir()
	for _, c := range cases {
		path := filepath.Join(parent, c.name)
		then := time.Now().Add(-c.age)
		if err := errors.Join(os.MkdirAll(filepath.Join(path, "below"), 0o755), os.Chtimes(path, then, then)); err != nil {
			t.Fatal(err)
		}
	}
	sweepGroups(groups{parents: []string{parent}})
	for _, c := range cases {
		if _, err := os.Stat(filepath.Join(parent, c.name)); (err == nil) != c.kept {
			t.Errorf("%s, %v old: kept %v, want %v", c.name, c.age, err == nil, c.kept)
		}
	}
}

func TestCompilerComplaintsAreShown(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"bad.c": "int x = ;\n", "fixture.c": "", "abi_a.c": "", "control.c": "int main(void) { return 0; }\n", "tool.c": "int main(void) { return 0; }\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, err := CompileFixtures(filepath.Join(dir, "cache"), "", dir, "a", []string{"bad"})
	if err == nil || !strings.Contains(err.Error(), "compile fixture bad") || !strings.Contains(err.Error(), "expected expression") {
		t.Errorf("got %v", err)
	}
}

func TestAnABIWithoutASeamIsRefusedBeforeAnyCompile(t *testing.T) {
	sources, cache := "../../fixtures/native", filepath.Join(t.TempDir(), "cache")
	_, err := CompileFixtures(cache, "", sources, "nosuch", []string{"plain"})
	var refusal *SeamError
	want := `producer.abi: "nosuch" has no seam; use one of reference second, or write ../../fixtures/native/abi_nosuch.c`
	if !errors.As(err, &refusal) || refusal.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := os.Stat(cache); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was compiled: %v", err)
	}
	if err := CheckSeam(sources, "second"); err != nil {
		t.Errorf("the accepted twin: %v", err)
	}
	if _, err := Seams(cache); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("seams of a missing folder: %v", err)
	}
}

func TestFurtherSeamsAreLinkedWhereAFixtureAsks(t *testing.T) {
	sources, cache := "../../fixtures/native", t.TempDir()
	for abi, lacking := range map[string]string{"reference": "", "second": "no seam abi_second_sink.c for fixture trade_to_sink"} {
		c, err := CompileFixtures(filepath.Join(cache, abi), "", sources, abi, []string{"plain", "trade_to_sink"})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Lacking["trade_to_sink"]; got != lacking || (c.Library["trade_to_sink"] == "") != (lacking != "") {
			t.Errorf("%s: lacking %q, want %q; library %q", abi, got, lacking, c.Library["trade_to_sink"])
		}
		for name, library := range c.Library {
			text, err := os.ReadFile(library)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := bytes.Contains(text, []byte("strategy_set_report_sink_fd")), name != "plain"; got != want {
				t.Errorf("%s exports the sink calls: %t, want %t", library, got, want)
			}
		}
	}
}

func TestActionsWithoutAnObjectFail(t *testing.T) {
	a := &attempt{}
	if err := a.act(scenario.Action{Kind: scenario.DoPause, Channel: "terminal"}); err == nil {
		t.Error("a missing terminal endpoint was paused")
	}
	if err := a.act(scenario.Action{Kind: scenario.DoKill, Who: scenario.Supervisor, Signal: "NONE"}); err == nil {
		t.Error("a signal of no name was sent")
	}
}

func TestAnOrdinaryUserIsToldWhatIsMissing(t *testing.T) {
	needRoot(t)
	c := exec.Command("/proc/self/exe", "start", t.TempDir())
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := c.CombinedOutput()
	if err != nil || string(out) != "needs root: an attempt is made in namespaces of its own; run as root\n" {
		t.Errorf("got %q %v", out, err)
	}
}

// startOnly is the body of the test binary as an ordinary user: it prints
// what Start says of needing root.
func startOnly(dir string) {
	var needs *NeedsRootError
	if err := Start(context.Background(), "/proc/self/exe", dir); errors.As(err, &needs) {
		fmt.Println(needs)
	}
}
