package jail

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestWhatCannotBeADomainIsRefused(t *testing.T) {
	tests := map[string]struct {
		reason Reason
		spoil  func(t *testing.T, s *Spec)
	}{
		"root as producer":   {ReasonPolicy, func(_ *testing.T, s *Spec) { s.UID = 0 }},
		"relative library":   {ReasonPolicy, func(_ *testing.T, s *Spec) { s.Files = []string{"lib.so"} }},
		"no scratch":         {ReasonPolicy, func(_ *testing.T, s *Spec) { s.ScratchBytes = 0 }},
		"no deadline":        {ReasonPolicy, func(_ *testing.T, s *Spec) { s.Deadline = time.Time{} }},
		"deadline passed":    {ReasonPolicy, func(_ *testing.T, s *Spec) { s.Deadline = time.Now().Add(-time.Second) }},
		"no launcher":        {ReasonPolicy, func(_ *testing.T, s *Spec) { s.Helper = "/nowhere/launcher" }},
		"wrong launcher":     {ReasonPolicy, func(_ *testing.T, s *Spec) { s.Helper = "/bin/true" }},
		"missing file":       {ReasonPolicy, func(_ *testing.T, s *Spec) { s.Files = []string{"/nowhere/library.so"} }},
		"bad descriptor":     {ReasonDescriptor, func(_ *testing.T, s *Spec) { s.FDs[7] = 1_000_000 }},
		"descriptor too big": {ReasonDescriptor, func(_ *testing.T, s *Spec) { s.FDs[5000] = 0 }},
		"stopped launcher": {ReasonPolicy, func(t *testing.T, s *Spec) {
			s.Helper = script(t, "kill -STOP $$\n")
			s.Deadline = time.Now().Add(300 * time.Millisecond)
		}},
		"launcher forgets": {ReasonPolicy, func(t *testing.T, s *Spec) { s.Helper = script(t, "exit 0\n") }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, "do_nothing")
			test.spoil(t, &b.spec)
			d, err := Start(b.spec)
			var refused *RefusedError
			if d != nil || !errors.As(err, &refused) {
				t.Fatalf("got %v, %v", d, err)
			}
			if refused.Reason != test.reason || refused.Err == nil {
				t.Errorf("refused with %v", err)
			}
			if left := children(t); left != "" {
				t.Errorf("children left: %s", left)
			}
		})
	}
}

// TestDeadlineLeavesNoProcess gives up at many moments of the setup.
func TestDeadlineLeavesNoProcess(t *testing.T) {
	for i := range 40 {
		t.Run("", func(t *testing.T) {
			b := newBench(t, "do_nothing")
			b.spec.Deadline = time.Now().Add(time.Duration(i) * 200 * time.Microsecond)
			d, err := Start(b.spec)
			if err == nil {
				err = d.Close()
			} else if !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("start: %v", err)
			}
			if left := children(t); left != "" {
				t.Errorf("children left: %s, after %v", left, err)
			}
		})
	}
}

// script writes a launcher that is none.
func script(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "launcher")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestExecFailureIsARefusal(t *testing.T) {
	b := newBench(t, "do_nothing")
	b.spec.Exe = script(t, "exit 0\n") // no shell inside
	d := b.start(t)
	err := d.Release()
	var refused *RefusedError
	if !errors.As(err, &refused) || !errors.Is(err, unix.ENOENT) {
		t.Errorf("release: %v", err)
	}
}

func TestUnattestedDifferencesAreSeen(t *testing.T) {
	for name, spoil := range map[string]func(d *Domain){
		"uid":         func(d *Domain) { d.spec.UID++ },
		"descriptors": func(d *Domain) { d.spec.FDs[9] = d.spec.FDs[0] },
		"root":        func(d *Domain) { d.spec.Exe = "/other" },
	} {
		b := newBench(t, "do_nothing")
		d, err := Start(b.spec)
		if err != nil {
			t.Fatal(err)
		}
		spoil(d)
		err = d.Attest()
		var refused *RefusedError
		if !errors.As(err, &refused) || refused.Reason != ReasonPolicy {
			t.Errorf("%s: %v", name, err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestMemoryLimitHoldsTheProducerOnly(t *testing.T) {
	b := newBench(t, "do_nothing")
	b.spec.MemoryBytes = 64 << 20
	d, err := Start(b.spec)
	if err != nil {
		t.Skipf("not run: needs a memory control group: %v", err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := d.Attest(); err != nil {
		t.Fatal(err)
	}
	if err := d.Release(); err != nil {
		t.Fatal(err)
	}
	finish(t, d)
	if usage := d.Usage(); usage.MemoryPeak == nil || *usage.MemoryPeak == 0 || *usage.MemoryPeak > 64<<20 {
		t.Errorf("usage %+v", usage)
	}
}

// TestOrdinaryUserIsRefused runs Start again in a process without root.
func TestOrdinaryUserIsRefused(t *testing.T) {
	if os.Getenv("JAIL_TEST_USER") != "" {
		_, err := Start(Spec{UID: 200001})
		var refused *RefusedError
		if !errors.As(err, &refused) || refused.Reason != ReasonPolicy {
			t.Errorf("got %v", err)
		}
		return
	}
	command := again(t, "TestOrdinaryUserIsRefused", "JAIL_TEST_USER", "setpriv", "--reuid=65534", "--clear-groups")
	command.Dir = "/"
	if err := os.Chmod(filepath.Dir(filepath.Dir(os.Args[0])), 0o755); err != nil {
		t.Fatal(err)
	}
	if output, err := command.CombinedOutput(); err != nil || !strings.Contains(string(output), "PASS") {
		t.Errorf("as uid 65534: %v\n%s", err, output)
	}
}

// TestOccupiedListenerIsRefused starts the domain from a process that is
// under a listener itself, as a nested supervisor would be.
func TestOccupiedListenerIsRefused(t *testing.T) {
	if os.Getenv("JAIL_TEST_NESTED") != "" {
		b := newBench(t, "do_nothing")
		_, err := Start(b.spec)
		if !errors.Is(err, unix.EBUSY) {
			t.Errorf("got %v", err)
		}
		return
	}
	requireRoot(t)
	p, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	command := again(t, "TestOccupiedListenerIsRefused", "JAIL_TEST_NESTED", p.path("hold_listener"))
	if output, err := command.CombinedOutput(); err != nil || !strings.Contains(string(output), "PASS") {
		t.Errorf("under a listener: %v\n%s", err, output)
	}
}

func BenchmarkDomain(b *testing.B) {
	bench := newBench(b, "do_nothing")
	bench.spec.Deadline = time.Now().Add(time.Hour)
	started := time.Now()
	for b.Loop() {
		d, err := Start(bench.spec)
		if err != nil {
			b.Fatal(err)
		}
		if err := d.Attest(); err != nil {
			b.Fatal(err)
		}
		if err := d.Release(); err != nil {
			b.Fatal(err)
		}
		finish(b, d)
		if err := d.Close(); err != nil {
			b.Fatal(err)
		}
	}
	ours := time.Since(started) / time.Duration(b.N)
	if _, err := exec.LookPath("bwrap"); err != nil {
		b.Log("no ratio: needs bwrap")
		return
	}
	started = time.Now()
	for range b.N {
		arguments := []string{"--unshare-all", "--ro-bind", "/", "/", bench.spec.Exe}
		if output, err := exec.Command("bwrap", arguments...).CombinedOutput(); err != nil {
			b.Fatalf("bwrap: %v %s", err, output)
		}
	}
	b.ReportMetric(float64(ours)/float64(time.Since(started)/time.Duration(b.N)), "bwrap-ratio")
}
