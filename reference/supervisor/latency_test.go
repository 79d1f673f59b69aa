package supervisor

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"touchstone/contracts"
	"touchstone/reference/admission"
	"touchstone/reference/outcome"
	"touchstone/reference/record"
)

// flooding is an attempt in this process whose producer floods its diagnostics,
// of which limit bytes are admitted; the host's ends read nowhere.
func flooding(b *testing.B, limit int64) *attempt {
	b.Helper()
	bin, folder := "../../.build/bin/", b.TempDir()
	actor := folder + "/actor"
	output, err := exec.Command("gcc", "-std=gnu11", "-O2", "-o", actor, "testdata/actor.c", "testdata/sinkactor.c").CombinedOutput()
	if err != nil {
		b.Fatalf("build actor: %v\n%s", err, output)
	}
	absolute, err := os.Getwd()
	if err != nil {
		b.Fatal(err)
	}
	granted := func(n int64) record.Limit { return record.Limit{Granted: &n, Effective: &n} }
	a := admission.Admission{AttemptID: fmt.Sprintf("%032x", time.Now().UnixNano()), Route: outcome.NoSink,
		Request: admission.Request{Profile: admission.Unjailed, Terminal: admission.NoFD, SinkFD: admission.NoFD,
			Engine: []string{"--inputs", "stubborn err=4000000000"}},
		Launch: admission.Launch{Spool: admission.Spool{Path: folder, Bytes: 1 << 30}},
		Limits: record.Limits{ReportBytes: granted(1 << 20), DiagnosticBytes: granted(limit), WallMS: granted(60000), StallMS: granted(5000)}}
	a.Pairing.Jail.Path, a.Pairing.Producer.Path = absolute+"/"+bin+"jail", actor
	a.Pairing.Jail.Path = unixPath(b, a.Pairing.Jail.Path)
	a.Pairing.System = []string{"/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache"}
	a.Pairing.ScratchBytes, a.Pairing.ScratchFiles = 1<<20, 16
	a.Pairing.UIDs.First, a.Pairing.UIDs.Count = 200000, 4096
	cancel := &canceller{}
	if err := cancel.watch(); err != nil {
		b.Fatal(err)
	}
	attempt := newAttempt(time.Now(), a, cancel)
	null, err := unix.Open("/dev/null", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		b.Fatal(err)
	}
	attempt.report = newPublisher(contracts.ChannelReport, -1, time.Second)
	attempt.diagnosticOut = newPublisher(contracts.ChannelDiagnostic, null, time.Second)
	return attempt
}

// unixPath has no dots in it, as the jail wants.
func unixPath(b *testing.B, path string) string {
	b.Helper()
	real, err := exec.Command("readlink", "-f", path).Output()
	if err != nil {
		b.Fatalf("run scripts/build first: %v", err)
	}
	return string(real[:len(real)-1])
}

// BenchmarkOverflowToEmpty is the time from the batch that sees byte D+1 to the
// proof that the producer's domain is empty, of a producer that writes on and
// ignores SIGTERM. No more than D+1 bytes are ever read.
func BenchmarkOverflowToEmpty(b *testing.B) {
	if os.Geteuid() != 0 {
		b.Skip("not run: needs root")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all []time.Duration
	for b.Loop() {
		const limit = 4096
		a := flooding(b, limit)
		if failure := a.start(); failure != nil {
			b.Fatalf("%+v: %v", failure, a.admitted.Why)
		}
		var over, empty time.Time
		for a.step() {
			now := time.Now()
			if over.IsZero() && a.diagnostics.meter.Overflowed() {
				over = now
			}
			if empty.IsZero() && a.emptied {
				empty = now
			}
		}
		a.finish()
		if observed := a.diagnostics.meter.Observed(); observed != limit+1 || empty.IsZero() {
			b.Fatalf("observed %d bytes of a limit of %d, empty %t", observed, limit, a.emptied)
		}
		all = append(all, empty.Sub(over))
	}
	slices.Sort(all)
	median := all[len(all)/2]
	b.ReportMetric(float64(median.Microseconds()), "us-median")
	b.ReportMetric(float64(all[0].Microseconds()), "us-least")
	if median >= time.Millisecond {
		b.Logf("MISSED: the median is %s, the goal is less than 1ms", median)
	}
}
