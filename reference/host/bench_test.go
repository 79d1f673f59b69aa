package host

import (
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
	if _, err := os.Stat(folder + "/refhost"); err != nil {
		b.Fatalf("run scripts/build first: %v", err)
	}
	return folder
}

// empty is a Go program that does nothing.
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
	if output, err := exec.Command(name, arguments...).CombinedOutput(); err != nil {
		b.Fatalf("%s: %v\n%s", name, err, output)
	}
	return time.Since(begin)
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// BenchmarkSpawnToExit times a whole attempt through refhost on a strategy that
// does nothing, without a native sink and with the automatic one, from spawn to
// exit, turn and turn about with its peers:
// bubblewrap around true, and two empty Go processes in a row. The figures are
// ratios of medians. The host's documents are in memory, where a service would
// have them; with all of them on the temporary folder's disk, each synced, it is
// the last figure.
func BenchmarkSpawnToExit(b *testing.B) {
	b.Run("no-sink", func(b *testing.B) {
		spawnToExit(b, []string{"--arena-bytes", "65536"}, []string{"--profile", "jailed"})
	})
	b.Run("automatic-sink", func(b *testing.B) { spawnToExit(b, nil, nil) })
}

// spawnToExit measures with further arguments of the host and of S.
func spawnToExit(b *testing.B, hosts, supervisors []string) {
	bin := installed(b)
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		b.Fatalf("bubblewrap is the peer: %v", err)
	}
	nothing, pairing := empty(b), installedPairing(b)
	var through, onDisk, wrapped, floor []time.Duration
	for b.Loop() {
		memory, err := os.MkdirTemp("/dev/shm", "host-bench-")
		if err != nil {
			b.Fatal(err)
		}
		through = append(through, attemptIn(b, bin, pairing, memory, b.TempDir(), hosts, supervisors))
		disk := b.TempDir()
		onDisk = append(onDisk, attemptIn(b, bin, pairing, disk, disk, hosts, supervisors))
		wrapped = append(wrapped, timed(b, bwrap, "--unshare-all", "--ro-bind", "/", "/", "true"))
		floor = append(floor, timed(b, nothing)+timed(b, nothing))
		if err := os.RemoveAll(memory); err != nil {
			b.Fatal(err)
		}
	}
	own := median(through)
	b.ReportMetric(float64(own.Microseconds())/1000, "ms/attempt")
	b.ReportMetric(float64(own)/float64(median(wrapped)), "x/bwrap")
	b.ReportMetric(float64(own)/float64(median(floor)), "x/two-empty-Go")
	b.ReportMetric(float64(median(onDisk))/float64(median(wrapped)), "x/bwrap-synced")
}

// installedPairing names the installed programs.
func installedPairing(b *testing.B) string {
	b.Helper()
	bin, tests := installed(b), requireRoot(b)
	path := b.TempDir() + "/pairing.json"
	text, err := os.ReadFile(tests + "/pairing.json")
	if err == nil {
		err = os.WriteFile(path, []byte(strings.ReplaceAll(string(text), tests, bin)), 0o644)
	}
	if err != nil {
		b.Fatal(err)
	}
	return path
}

// attemptIn times one accepted attempt with its documents and its spool in these folders.
func attemptIn(b *testing.B, bin, pairing, documents, spool string, hosts, supervisors []string) time.Duration {
	b.Helper()
	tests := requireRoot(b)
	arguments := append([]string{"--report", documents + "/report", "--disposition", documents + "/disposition",
		"--spool", spool, "--pairing", pairing}, hosts...)
	arguments = append(arguments, "--", bin+"/refsup", "run_json", "--report-channel", "supervised/v1",
		"--terminal-status-fd", "{terminal_fd}", "--so", tests+"/plain.so", "--ohlcv", tests+"/chart.csv")
	return timed(b, bin+"/refhost", append(arguments, supervisors...)...)
}

// BenchmarkJudge is the verification of one successful attempt.
func BenchmarkJudge(b *testing.B) {
	o := newSample(b, "{\"engine\":\"e\"}\n", "notes", "{\"sink\":1}\n").observed(b)
	b.SetBytes(int64(len(o.Packet)))
	for b.Loop() {
		if v := Judge(o); !v.Accepted {
			b.Fatalf("%q", v.Findings)
		}
	}
}
