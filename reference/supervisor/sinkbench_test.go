package supervisor_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// meets says of a figure that has a goal whether it is met, and prints by how
// much it is missed.
func meets(b *testing.B, what string, figure, goal float64, least bool) {
	b.Helper()
	if (figure >= goal) != least {
		b.Logf("MISSED: %s is %.3f, the goal is %.3f", what, figure, goal)
	}
}

// BenchmarkSinkRelay carries a sink of 48 MiB from the producer through S to
// the finalizer, turn and turn about with the same bytes from cat into openssl.
//
// Two of the relay's three processes hash. Each is compared with openssl in
// processor time, and all three together in the time from the producer's start
// to the end of its sink. What a small sink costs is taken off both.
func BenchmarkSinkRelay(b *testing.B) {
	requireRoot(b)
	large, small := stream(b, 48<<20), golden(b, "populated")
	file, tiny := streamFile(b, large), streamFile(b, small)
	var whole, fixed relayTimes
	var peer, idle opensslTimes
	for b.Loop() {
		whole.add(b, large)
		peer.add(b, file)
		fixed.add(b, small)
		idle.add(b, tiny)
	}
	// A sample of a process that has just ended can be missing: the middle one is whole.
	middle := func(of []time.Duration) time.Duration { slices.Sort(of); return of[len(of)/2] }
	cost := func(large, small []time.Duration) float64 { return float64(middle(large) - middle(small)) }
	cpu := cost(peer.cpu, idle.cpu)
	for what, ratio := range map[string]float64{"S-cpu": cpu / cost(whole.s, fixed.s), "V-cpu": cpu / cost(whole.v, fixed.v)} {
		b.ReportMetric(ratio, what+"-of-openssl")
		meets(b, what+" as a part of openssl's", ratio, 0.8, true)
	}
	b.ReportMetric(cost(peer.wall, idle.wall)/cost(whole.wall, fixed.wall), "wall-of-openssl")
	b.ReportMetric(float64(len(large))/1e6/slices.Min(whole.wall).Seconds(), "MB/s")
}

// relayTimes are those of several attempts: processor time of S and of the
// finalizer, and the run.
type relayTimes struct{ s, v, wall []time.Duration }

func (times *relayTimes) add(b *testing.B, sink []byte) {
	b.Helper()
	var seen func() map[string]*int64
	r := launch{actor: "sink end snapshot report=900", stream: sink, spoolAt: memorySpool(b),
		whileRunning: func(s *os.Process) { seen = follow(s, onProcessor) }}.run(b)
	r.wants(b, 0, "")
	spent := seen()
	times.s = append(times.s, time.Duration(*spent["S"]))
	times.v = append(times.v, time.Duration(*spent["reffinal"]))
	times.wall = append(times.wall, time.Duration(*r.used(b)["run"]["wall"].Used)*time.Millisecond)
}

// memorySpool is a spool in memory, as a host is advised to supply: what a disk
// costs is not the relay's.
func memorySpool(b *testing.B) string {
	b.Helper()
	folder, err := os.MkdirTemp("/dev/shm", "supervisor-bench-")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(folder) }) // it is small
	return folder
}

// opensslTimes are those that cat into openssl took, and openssl's processor
// time.
type opensslTimes struct{ wall, cpu []time.Duration }

func (times *opensslTimes) add(b *testing.B, file string) {
	b.Helper()
	p := newPipe(b)
	hash, cat := exec.Command("openssl", "dgst", "-sha256"), exec.Command("cat", file)
	hash.Stdin, cat.Stdout = p.read, p.write
	begin := time.Now()
	err := errors.Join(hash.Start(), cat.Start(), p.read.Close(), p.write.Close())
	if err = errors.Join(err, cat.Wait(), hash.Wait()); err != nil {
		b.Fatal(err)
	}
	times.wall = append(times.wall, time.Since(begin))
	times.cpu = append(times.cpu, hash.ProcessState.UserTime()+hash.ProcessState.SystemTime())
}

// onProcessor is how long the first thread of a process has run, 0 once it has
// ended. S and the finalizer do all on that thread.
func onProcessor(pid int) (ns int64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid))
	if err == nil {
		_, _ = fmt.Sscan(string(text), &ns) // a process that has just ended has none
	}
	return ns
}

// copyAndHash is the peer of a publication: it passes on its input, and hashes.
func copyAndHash() int {
	digest := sha256.New()
	_, err := io.CopyBuffer(struct{ io.Writer }{os.Stdout}, io.TeeReader(os.Stdin, digest), make([]byte, 65536))
	if err != nil {
		return 1
	}
	return len(digest.Sum(nil)) - sha256.Size
}

// BenchmarkPublication takes a retained report of 64 MiB, less one page, from
// its first byte at the host to its last, turn and turn about with two processes
// that copy the same bytes and hash them, read in the same way.
func BenchmarkPublication(b *testing.B) {
	requireRoot(b)
	size := 64<<20 - 4096
	file := streamFile(b, make([]byte, size))
	own, peer := time.Hour, time.Hour
	for b.Loop() {
		c := exec.Command("sh", "-c", "cat "+file+" | "+os.Args[0])
		c.Env = append(os.Environ(), "TOUCHSTONE_BENCH_COPY=1")
		p := newPipe(b)
		c.Stdout = p.write
		if err := c.Start(); err != nil {
			b.Fatal(err)
		}
		_ = p.write.Close() // the copier has its own
		peer = min(peer, span(p, size, b))
		if err := c.Wait(); err != nil {
			b.Fatal(err)
		}
		var first, last time.Time
		r := launch{actor: fmt.Sprintf("report=%d", size), seen: func() {
			if last = time.Now(); first.IsZero() {
				first = last
			}
		}}.run(b)
		r.wants(b, 0, "")
		own = min(own, last.Sub(first))
	}
	ratio := float64(peer) / float64(own)
	b.ReportMetric(float64(size)/1e6/own.Seconds(), "MB/s")
	b.ReportMetric(ratio, "of-two-process-copy")
	meets(b, "publication as a part of a two-process copy", ratio, 0.8, true)
}

// span is the time from the first byte to the last.
func span(p pipe, size int, b *testing.B) time.Duration {
	var first, last time.Time
	if got := len(<-p.drain(func() {
		if last = time.Now(); first.IsZero() {
			first = last
		}
	})); got != size {
		b.Fatalf("copied %d bytes of %d", got, size)
	}
	return last.Sub(first)
}

// follow keeps the largest figure of S and of its children, by program, until S
// has ended; the function that it returns waits for that.
func follow(s *os.Process, figure func(pid int) int64) func() map[string]*int64 {
	all := map[string]*int64{"S": new(int64), "refsup": new(int64), "reffinal": new(int64)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := figure(s.Pid); n > 0; n = figure(s.Pid) {
			*all["S"] = max(*all["S"], n)
			lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", s.Pid))
			for _, list := range lists {
				text, _ := os.ReadFile(list) // a thread that has gone had none
				for _, pid := range strings.Fields(string(text)) {
					exe, _ := os.Readlink("/proc/" + pid + "/exe")
					if largest, child := all[filepath.Base(exe)], 0; largest != nil {
						_, _ = fmt.Sscan(pid, &child)
						*largest = max(*largest, figure(child))
					}
				}
			}
			time.Sleep(time.Millisecond)
		}
	}()
	return func() map[string]*int64 {
		<-done
		return all
	}
}

// BenchmarkSinkMemory is the peak resident memory of S, the worker and the
// finalizer beside a sink of 48 MiB and its report.
func BenchmarkSinkMemory(b *testing.B) {
	requireRoot(b)
	sink := stream(b, 48<<20)
	worst := map[string]float64{}
	for b.Loop() {
		var seen func() map[string]*int64
		r := launch{actor: "sink end summary=9000000", stream: sink, sinkTo: readSink,
			whileRunning: func(s *os.Process) { seen = follow(s, highWater) }}.run(b)
		r.wants(b, 0, "")
		for name, kib := range seen() {
			worst[name] = max(worst[name], float64(*kib)/1024)
		}
	}
	for name, goal := range map[string]float64{"S": 24, "refsup": 16, "reffinal": 16} {
		what := strings.Replace(name, "refsup", "worker", 1)
		b.ReportMetric(worst[name], what+"-MiB")
		meets(b, "peak of "+what+" in MiB", worst[name], goal, false)
		if worst[name] == 0 {
			b.Fatalf("%s was not seen", what)
		}
	}
}
