package supervisor_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// installed is the folder of the programs as scripts/build makes them; a
// benchmark of anything else would flatter or blame the wrong thing.
func installed(b *testing.B) string {
	b.Helper()
	requireRoot(b)
	folder, err := filepath.Abs("../../.build/bin")
	if err != nil {
		b.Fatal(err)
	}
	if _, err := os.Stat(folder + "/refsup"); err != nil {
		b.Fatalf("run scripts/build first: %v", err)
	}
	return folder
}

// strategy is a library that does nothing, made by the fixtures' own seam.
func strategy(b *testing.B) (library, chart string) {
	b.Helper()
	folder := b.TempDir()
	library, chart = folder+"/plain.so", folder+"/chart.csv"
	native := "../../fixtures/native/"
	output, err := exec.Command("gcc", "-std=gnu11", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-o", library,
		native+"plain.c", native+"fixture.c", native+"sink_writer.c", native+"abi_reference.c").CombinedOutput()
	if err != nil {
		b.Fatalf("build strategy: %v\n%s", err, output)
	}
	rows := "timestamp,open,high,low,close,volume\n" + strings.Repeat("0,1,1,1,1,1\n", 1)
	if err := os.WriteFile(chart, []byte(rows), 0o644); err != nil {
		b.Fatal(err)
	}
	for _, path := range []string{filepath.Dir(folder), folder} {
		if err := os.Chmod(path, 0o755); err != nil { // the producer's identity reads them
			b.Fatal(err)
		}
	}
	return library, chart
}

// empty is a Go program that does nothing: what starting S and its worker
// costs at the very least.
func empty(b *testing.B) string {
	b.Helper()
	folder := b.TempDir()
	if err := os.WriteFile(folder+"/main.go", []byte("package main\n\nfunc main() {}\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	if output, err := exec.Command("go", "build", "-o", folder+"/empty", folder+"/main.go").CombinedOutput(); err != nil {
		b.Fatalf("build empty program: %v\n%s", err, output)
	}
	return folder + "/empty"
}

func timed(b *testing.B, name string, arguments ...string) time.Duration {
	b.Helper()
	begin := time.Now()
	if err := exec.Command(name, arguments...).Run(); err != nil {
		b.Fatalf("%s: %v", name, err)
	}
	return time.Since(begin)
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// BenchmarkSpawnToExit times S on a strategy that does nothing, without a native
// sink and with the automatic one, from spawn to exit, turn and turn about with
// two peers: bubblewrap around true, and two empty Go processes in a row. The
// figures are ratios of medians, and the processor time of S and what it reaps.
func BenchmarkSpawnToExit(b *testing.B) {
	b.Run("no-sink", func(b *testing.B) { spawnToExit(b, true) })
	b.Run("automatic-sink", func(b *testing.B) { spawnToExit(b, false) })
}

func spawnToExit(b *testing.B, jailed bool) {
	bin := installed(b)
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		b.Fatalf("bubblewrap is the peer: %v", err)
	}
	library, chart := strategy(b)
	nothing := empty(b)
	s := launch{bin: bin, library: library, chart: chart, producer: bin + "/producer", jailed: jailed}
	var supervised, processor, wrapped, floor []time.Duration
	for b.Loop() {
		r := s.run(b)
		r.wants(b, 0, "")
		supervised, processor = append(supervised, r.elapsed), append(processor, r.cpu)
		wrapped = append(wrapped, timed(b, bwrap, "--unshare-all", "--ro-bind", "/", "/", "true"))
		floor = append(floor, timed(b, nothing)+timed(b, nothing))
	}
	own := median(supervised)
	b.ReportMetric(float64(own.Microseconds())/1000, "ms/attempt")
	b.ReportMetric(float64(median(processor).Microseconds())/1000, "cpu-ms/attempt")
	b.ReportMetric(float64(own)/float64(median(wrapped)), "x/bwrap")
	b.ReportMetric(float64(own)/float64(median(floor)), "x/two-empty-Go")
}

// BenchmarkResidentMemory is the peak resident memory of S beside a report of
// 64 MiB, less one page; the contract's default allowance holds it (R09).
func BenchmarkResidentMemory(b *testing.B) {
	var peak int64
	size := 64<<20 - 4096
	for b.Loop() {
		r := launch{actor: fmt.Sprintf("report=%d", size)}.run(b)
		r.wants(b, 0, "")
		if len(r.report) != size {
			b.Fatalf("report of %d bytes, want %d", len(r.report), size)
		}
		peak = max(peak, r.maxRSS)
	}
	b.ReportMetric(float64(peak)/1024, "MiB-peak")
	b.ReportMetric(float64(peak)*1024/float64(size), "peak/report")
}
