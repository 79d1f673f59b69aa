package jail

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// Recorded files of a leaf: of this kernel's v1 hierarchies, and of the unified
// one as a kernel gives them that has its controllers.
var (
	memoryV1 = map[string]string{"memory.max_usage_in_bytes": "2629632\n", "memory.limit_in_bytes": "67108864\n",
		"memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n",
		"memory.stat":        "cache 1241088\nrss 270336\nrss_huge 0\ninactive_anon 0\nactive_anon 1511424\ntotal_rss 270336\n"}
	pidsV1  = map[string]string{"pids.current": "0\n", "pids.max": "1\n", "pids.peak": "1\n"}
	unified = map[string]string{"memory.peak": "5242880\n", "memory.max": "max\n", "pids.peak": "3\n",
		"memory.events": "low 0\nhigh 0\nmax 4\noom 2\noom_kill 2\noom_group_kill 0\n",
		"memory.stat":   "anon 1048576\nfile 8192\nkernel 65536\nshmem 0\n"}
	bare = map[string]string{"cgroup.procs": "", "cgroup.type": "domain\n", "cpu.stat": "usage_usec 5\n"}
)

// tree makes the files of one leaf.
func tree(t *testing.T, files ...map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for _, set := range files {
		for name, text := range set {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return folder
}

func with(files map[string]string, name, text string) map[string]string {
	changed := maps.Clone(files)
	changed[name] = text
	return changed
}

func TestUsageOfEveryLayout(t *testing.T) {
	v1 := func(folder string, controllers ...string) group {
		return group{hierarchy: hierarchy{controllers: controllers}, folder: folder}
	}
	v2 := func(folder string) group { return group{hierarchy: hierarchy{unified: true}, folder: folder} }
	known := func(memory, processes, kills int64) Usage {
		return Usage{MemoryPeak: &memory, ProcessesPeak: &processes, OOMKills: &kills}
	}
	tests := map[string]struct {
		groups []group
		want   Usage
	}{
		"v1":         {[]group{v1(tree(t, memoryV1), "memory"), v1(tree(t, pidsV1), "pids")}, known(2629632, 1, 1)},
		"v1 as one":  {[]group{v1(tree(t, memoryV1, pidsV1), "memory", "pids")}, known(2629632, 1, 1)},
		"unified":    {[]group{v2(tree(t, unified))}, known(5242880, 3, 2)},
		"hybrid":     {[]group{v1(tree(t, memoryV1), "memory"), v2(tree(t, with(bare, "pids.peak", "2\n")))}, known(2629632, 2, 1)},
		"bare":       {[]group{v2(tree(t, bare))}, Usage{}},
		"none":       {nil, Usage{}},
		"gone":       {[]group{v2("/proc/self/gone")}, Usage{}},
		"other v1":   {[]group{v1(tree(t, memoryV1, pidsV1), "freezer")}, Usage{}},
		"no number":  {[]group{v2(tree(t, with(bare, "memory.peak", "max\n")))}, Usage{}},
		"empty file": {[]group{v2(tree(t, with(bare, "memory.peak", "")))}, Usage{}},
		"too large":  {[]group{v2(tree(t, with(bare, "memory.peak", "9223372036854775808\n")))}, Usage{}},
		"negative":   {[]group{v2(tree(t, with(bare, "memory.peak", "-1\n")))}, Usage{}},
		"other key":  {[]group{v2(tree(t, with(bare, "memory.events", "oom_killer 3\n")))}, Usage{}},
	}
	for name, test := range tests {
		var got Usage
		for i := range test.groups {
			test.groups[i].measure(&got)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

func TestPrivateMemory(t *testing.T) {
	for stat, want := range map[string]int64{memoryV1["memory.stat"]: 270336, unified["memory.stat"]: 1048576,
		"": -1, "inactive_anon 5\n": -1, "anon \n": -1, "rss": -1, "rss 7": 7} {
		got := int64(-1)
		if value := privateMemory(stat); value != nil {
			got = *value
		}
		if got != want {
			t.Errorf("%q: %d, want %d", stat, got, want)
		}
	}
}

// FuzzInteger: a value is one that the text spells, whatever surrounds it.
func FuzzInteger(f *testing.F) {
	f.Add("12\n", "rss")
	f.Add("+1", "a b")
	f.Fuzz(func(t *testing.T, text, key string) {
		if value := integer(text); value != nil && fmt.Sprint(*value) != strings.TrimLeft(strings.TrimSuffix(text, "\n"), "0") && *value != 0 {
			t.Errorf("%q is %d", text, *value)
		}
		if value := keyed(text, key); value != nil && !strings.Contains(text, key+" ") {
			t.Errorf("%q has %q: %d", text, key, *value)
		}
	})
}

// consume runs the program that uses known amounts, and waits for its word.
func consume(t *testing.T, change func(*Spec), arguments ...string) (*bench, *Domain) {
	t.Helper()
	b := newBench(t, "consume", arguments...)
	b.spec.ScratchBytes, b.spec.ScratchFiles = 1<<20, 64
	change(&b.spec)
	d := b.start(t)
	if err := d.Release(); err != nil {
		t.Fatal(err)
	}
	if err := waitFor(b.output, unix.POLLIN, time.Now().Add(20*time.Second)); err != nil {
		t.Fatal(err)
	}
	if output := b.read(t); output != "done" {
		t.Fatalf("said %q", output)
	}
	return b, d
}

// TestConsumedIsMeasured compares with what the program is known to use, when
// it exits and when it is killed: the same cells.
func TestConsumedIsMeasured(t *testing.T) {
	for _, end := range []string{"exit", "wait"} {
		t.Run(end, func(t *testing.T) {
			_, d := consume(t, func(*Spec) {}, "100", "4194304", "3", "5000", "1000000", "7", end)
			samples, err := d.Samples()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = unix.Close(samples.Process); _ = unix.Close(samples.Memory) }() // only read
			if end == "wait" {
				descriptors, private := samples.Take()
				if descriptors == nil || *descriptors != 3+7 {
					t.Errorf("sampled descriptors %v, want 10", descriptors)
				}
				if private == nil || *private < 4<<20 || *private > 5<<20 {
					t.Errorf("sampled private memory %v, want 4 MiB and a little", private)
				}
				if err := d.Kill(); err != nil {
					t.Fatal(err)
				}
			}
			status := finish(t, d)
			if descriptors, private := samples.Take(); descriptors != nil || private != nil {
				t.Errorf("sampled %v, %v of an ended producer", descriptors, private)
			}
			if cpu := status.Usage.Utime.Nano() + status.Usage.Stime.Nano(); cpu < 1e8 || cpu > 3e8 {
				t.Errorf("cpu time %d ns, want 100 ms and a little", cpu)
			}
			usage := d.Usage()
			pages := int64(3 * 2 * 4096) // of files of 5000 bytes
			want := Usage{ScratchLogical: new(int64(3*5000 + 1000000)), ScratchAllocated: &pages,
				ScratchFiles: new(int64(1 + 3 + 2)), MemoryPeak: usage.MemoryPeak, ProcessesPeak: new(int64(1)), OOMKills: new(int64(0))}
			if diff := cmp.Diff(want, usage); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if usage.MemoryPeak == nil || *usage.MemoryPeak < 4<<20+pages || *usage.MemoryPeak > 8<<20 {
				t.Errorf("memory peak %v", usage.MemoryPeak)
			}
		})
	}
}

// TestMemoryLimitKillsTheProducerAlone: the kernel ends the producer, by a
// signal; this process and init live.
func TestMemoryLimitKillsTheProducerAlone(t *testing.T) {
	b := newBench(t, "consume", "0", "33554432", "0", "0", "0", "0", "exit")
	b.spec.MemoryBytes = 8 << 20
	d := b.start(t)
	if err := d.Release(); err != nil {
		t.Fatal(err)
	}
	if err := waitFor(d.Producer.FD, unix.POLLIN, time.Now().Add(20*time.Second)); err != nil {
		t.Fatal(err)
	}
	if err := unix.PidfdSendSignal(d.Init.FD, 0, nil, 0); err != nil {
		t.Errorf("init: %v", err)
	}
	if status := finish(t, d); status.Signal != unix.SIGKILL {
		t.Errorf("status %+v", status)
	}
	usage := d.Usage()
	if usage.OOMKills == nil || *usage.OOMKills != 1 || usage.MemoryPeak == nil || *usage.MemoryPeak > 8<<20 {
		t.Errorf("usage %+v", usage)
	}
}

func TestLogicalBytesFollowsNothing(t *testing.T) {
	requireRoot(t)
	folder := t.TempDir()
	deep := folder + strings.Repeat("/d", maxLevels-1)
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(deep+"/file", []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"up": "..", "root": "/", "self": "self", "file": deep + "/file"} {
		if err := os.Symlink(target, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(folder+"/mounted", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("test", folder+"/mounted", "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(folder+"/mounted", 0) }) // else the folder stays
	if err := os.WriteFile(folder+"/mounted/other", []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Open(folder, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }() // only looked at
	if got, err := logicalBytes(fd); got != 5 || err != nil {
		t.Errorf("%d bytes, %v; want 5", got, err)
	}
	if err := os.Mkdir(deep+"/d", 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := logicalBytes(fd); err == nil {
		t.Errorf("%d bytes of a tree that is too deep", got)
	}
}
