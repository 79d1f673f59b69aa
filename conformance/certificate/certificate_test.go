package certificate

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"touchstone/reports"
)

func made(verdicts map[string]string) Certificate {
	c := Certificate{Schema: SchemaName, Version: Version, RunID: "r", Expires: "2026-04-01T00:00:00Z", Conclusion: "conforming", Scope: Full,
		Launcher: Launcher{Name: "x"}, Verdicts: map[string]map[string][]string{"c": {}}, Seconds: map[string]map[string]float64{"c": {"s": 1}}}
	for id, verdict := range verdicts {
		c.Verdicts["c"][verdict] = append(c.Verdicts["c"][verdict], id)
	}
	return c
}

func TestEveryFlippedBitOfACertificateIsRefused(t *testing.T) {
	content, err := Encode(made(map[string]string{"T1.01": "pass"}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(content); err != nil {
		t.Fatalf("the accepted twin: %v", err)
	}
	for i := range content {
		for bit := range 8 {
			altered := bytes.Clone(content)
			altered[i] ^= 1 << bit
			if _, err := Decode(altered); err == nil {
				t.Errorf("bit %d of byte %d flipped unnoticed", bit, i)
			}
		}
	}
}

func TestCompare(t *testing.T) {
	a := made(map[string]string{"T1.01": "pass", "T1.02": "fail", "T1.03": "pass", "T1.04": "pass", "T1.05": "pass", "T10.01": "pass", "T2.01": "pass"})
	b := made(map[string]string{"T1.01": "pass", "T1.02": "pass", "T1.03": "fail", "T1.04": "not-run", "T1.06": "pass", "T10.01": "broken", "T2.01": "expected-fail"})
	b.Totals.Leaks, b.Seconds = 2, map[string]map[string]float64{"c": {"s": 9, "new": 100}}
	d := Compare(a, b)
	for name, c := range map[string]struct {
		got  []Change
		want string
	}{
		"new failures":  {d.NewFailures, "T1.03 c: pass -> fail; T10.01 c: pass -> broken"},
		"newly not run": {d.NewlyNotRun, "T1.04 c: pass -> not-run"},
		"gone":          {d.Gone, "T1.05 c: pass -> not planned"},
		"fixed":         {d.Fixed, "T1.02 c: fail -> pass"},
		"other":         {d.Other, "T1.06 c: not planned -> pass; T2.01 c: pass -> expected-fail"},
	} {
		var lines []string
		for _, change := range c.got {
			lines = append(lines, change.String())
		}
		if got := strings.Join(lines, "; "); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	if d.MoreLeaks != 2 || len(d.Paces) != 1 || d.Paces[0].Is != 9 || !d.Worse() || d.Same() {
		t.Errorf("got %+v", d)
	}
	if same := Compare(a, a); same.Worse() || !same.Same() {
		t.Errorf("a run is not the same as itself: %+v", same)
	}
}

func TestGate(t *testing.T) {
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	base := made(map[string]string{"T1.01": "pass", "T1.02": "pass"})
	for name, c := range map[string]struct {
		change func(run, base *Certificate, d *Demand)
		want   string // part of the only reason; "" for none
	}{
		"the same":               {func(*Certificate, *Certificate, *Demand) {}, ""},
		"full when full":         {func(_, _ *Certificate, d *Demand) { d.RequireFull = true }, ""},
		"partial":                {func(run, _ *Certificate, _ *Demand) { run.Scope = Partial }, ""},
		"partial, full required": {func(run, _ *Certificate, d *Demand) { run.Scope, d.RequireFull = Partial, true }, "full certificate is required"},
		"undecided":              {func(run, _ *Certificate, _ *Demand) { run.ExitStatus = 2 }, "exit 2"},
		"another launcher":       {func(run, _ *Certificate, _ *Demand) { run.Launcher.Name = "y" }, "of launcher x"},
		"an old baseline":        {func(_, base *Certificate, _ *Demand) { base.Expires = "2026-02-28T00:00:00Z" }, "baseline's age limit"},
		"an old run":             {func(run, _ *Certificate, _ *Demand) { run.Expires = "2026-02-28T00:00:00Z" }, "run's age limit"},
		"no age limit":           {func(_, base *Certificate, _ *Demand) { base.Expires = "" }, "baseline's age limit"},
		"one newly not run": {func(run, _ *Certificate, _ *Demand) {
			run.Verdicts = made(map[string]string{"T1.01": "pass", "T1.02": "not-run"}).Verdicts
		}, "newly not run: T1.02"},
		"one no longer planned": {func(run, _ *Certificate, _ *Demand) { run.Verdicts = made(map[string]string{"T1.01": "pass"}).Verdicts }, "no longer planned: T1.02"},
		"one failure, none known": {func(run, _ *Certificate, _ *Demand) {
			run.Verdicts = made(map[string]string{"T1.01": "pass", "T1.02": "fail"}).Verdicts
		}, "new failure: T1.02"},
		"a leak more": {func(run, _ *Certificate, _ *Demand) { run.Totals.Leaks = 1 }, "1 leaks more"},
	} {
		run, baseline, demand := base, base, Demand{Now: now}
		c.change(&run, &baseline, &demand)
		got := Gate(run, baseline, demand)
		if (c.want == "") != (len(got) == 0) || len(got) > 1 || (c.want != "" && !strings.Contains(got[0], c.want)) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestListRefusesNamesElsewhere(t *testing.T) {
	sum := Digest(nil)
	for _, text := range []string{sum + "  ../x\n", sum + "  /etc/passwd\n", sum + " x\n", "00  x\n", sum + "  certificate.json\n", sum + "  x\n" + sum + "  x\n"} {
		if _, err := readSums([]byte(text)); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
	if got, err := readSums([]byte(sum + "  a/b\n")); err != nil || got["a/b"] != sum {
		t.Errorf("the accepted twin: %v, %v", got, err)
	}
}

func TestNarrowedRunIsNeverFull(t *testing.T) {
	for name, s := range map[string]reports.Selection{"tests": {Tests: []string{"T6"}}, "facade": {Facade: "direct"}, "profile": {Profile: "jailed"}} {
		if got := scope(reports.Report{Full: true, Selection: s}); got != Partial {
			t.Errorf("one of its %s: %s", name, got)
		}
	}
	if got := scope(reports.Report{Full: true}); got != Full {
		t.Errorf("the accepted twin: %s", got)
	}
}

func TestGateStatusNeverPassesWhatWasNotDecided(t *testing.T) {
	for _, verdict := range append(reports.Verdicts(), "partial") {
		if got := gateStatus(verdict); (got == "passed") != (verdict == reports.Pass) {
			t.Errorf("%s is %s", verdict, got)
		}
	}
}

func FuzzDecode(f *testing.F) {
	content, err := Encode(made(map[string]string{"T1.01": "pass"}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(content)
	f.Add([]byte(`{"schema":"touchstone-certificate","version":1}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		c, err := Decode(content)
		if err != nil {
			return
		}
		if again, err := Encode(c); err != nil || !bytes.Equal(again, content) {
			t.Errorf("two spellings are accepted: %q", content)
		}
	})
}
