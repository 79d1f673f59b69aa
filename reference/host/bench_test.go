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
// does nothing, from spawn to exit, turn and turn about with its peers:
// bubblewrap around true, and two empty Go processes in a row. The figures are
// ratios of medians. The files are in the system's temporary folder.
func BenchmarkSpawnToExit(b *testing.B) {
	bin, tests := installed(b), requireRoot(b)
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		b.Fatalf("bubblewrap is the peer: %v", err)
	}
	pairing := b.TempDir() + "/pairing.json"
	text, err := os.ReadFile(tests + "/pairing.json")
	if err == nil {
		err = os.WriteFile(pairing, []byte(strings.ReplaceAll(string(text), tests, bin)), 0o644)
	}
	if err != nil {
		b.Fatal(err)
	}
	nothing := empty(b)
	var through, wrapped, floor []time.Duration
	for b.Loop() {
		folder := b.TempDir()
		if err := os.Mkdir(folder+"/spool", 0o700); err != nil {
			b.Fatal(err)
		}
		through = append(through, timed(b, bin+"/refhost", "--report", folder+"/report", "--disposition", folder+"/disposition",
			"--spool", folder+"/spool", "--pairing", pairing, "--", bin+"/refsup", "run_json",
			"--report-channel", "supervised/v1", "--terminal-status-fd", "{terminal_fd}", "--so", tests+"/plain.so", "--ohlcv", tests+"/chart.csv"))
		wrapped = append(wrapped, timed(b, bwrap, "--unshare-all", "--ro-bind", "/", "/", "true"))
		floor = append(floor, timed(b, nothing)+timed(b, nothing))
	}
	own := median(through)
	b.ReportMetric(float64(own.Microseconds())/1000, "ms/attempt")
	b.ReportMetric(float64(own)/float64(median(wrapped)), "x/bwrap")
	b.ReportMetric(float64(own)/float64(median(floor)), "x/two-empty-Go")
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
