package certify

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"touchstone/conformance/certificate"
	"touchstone/reports"
)

// Verification is what a certificate is worth.
type Verification struct {
	Certificate certificate.Certificate
	Problems    []string // why not to believe it; none: it holds
}

// Beside are places with what a certificate pins and a run folder does not hold;
// an empty one is not looked at.
type Beside struct {
	Bin      string // the launcher's binaries
	Checkout string // of the suite: fixtures and assertions
}

// Verify checks a certificate against a run folder, offline and from scratch:
// every digest of the evidence, the ledger, the age, and that every verdict
// follows from the evidence. What the run folder does not hold is compared
// where beside names it.
//
// A file that is no certificate is a *UsageError; an altered one is a problem.
func Verify(path, dir string, beside Beside, jobs int, now time.Time) (Verification, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Verification{}, usage("verify: %v", err)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return Verification{}, usage("verify: %s: no run folder", dir)
	}
	c, err := certificate.Decode(text)
	if errors.Is(err, certificate.ErrAltered) {
		return Verification{c, []string{err.Error()}}, nil
	}
	if err != nil {
		return Verification{}, usage("verify: %s: %v", path, err)
	}
	v := Verification{Certificate: c}
	if v.Problems, err = certificate.Check(c, dir, now); err != nil {
		return v, err
	}
	if len(v.Problems) > 0 { // what is judged must first be what was recorded
		return v, nil
	}
	return v, v.judge(dir, beside, jobs)
}

func (v *Verification) judge(dir string, beside Beside, jobs int) error {
	r, differences, err := Recheck(dir, jobs)
	if err != nil {
		return err
	}
	for _, d := range differences {
		v.Problems = append(v.Problems, "judged again: "+d.String())
	}
	if r.Totals != v.Certificate.Totals {
		v.Problems = append(v.Problems, "judged again: other totals than the certificate's")
	}
	if beside.Checkout != "" {
		problems, err := checkoutProblems(v.Certificate, beside.Checkout)
		if err != nil {
			return usage("verify: %v", err)
		}
		v.Problems = append(v.Problems, problems...)
	}
	if beside.Bin == "" {
		return nil
	}
	_, s, err := readRecord(dir)
	if err != nil {
		return err
	}
	problems, err := binaryProblems(v.Certificate, s.File, beside.Bin)
	v.Problems = append(v.Problems, problems...)
	return err
}

// Account reads what a run says of itself, for a comparison: a certificate, a
// report.json, or the folder that holds them. Anything else is a *UsageError.
func Account(path string) (certificate.Certificate, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		inside := filepath.Join(path, reports.ReportFile)
		if _, err := os.Stat(inside); err != nil {
			inside = filepath.Join(path, certificate.File)
		}
		path = inside
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return certificate.Certificate{}, usage("%v; name a run folder, or its certificate.json or report.json", err)
	}
	c, err := certificate.Decode(text)
	if err == nil {
		return c, nil
	}
	r, reportErr := reports.Decode(text)
	if reportErr != nil {
		return certificate.Certificate{}, usage("%s: neither a certificate nor a report: %v", path, err)
	}
	return certificate.FromReport(r), nil
}

// Newest is the latest run folder below out. None is a *UsageError.
func Newest(out string) (string, error) {
	entries, err := os.ReadDir(out)
	if err != nil {
		return "", usage("no run found: %v", err)
	}
	for _, e := range slices.Backward(entries) { // names begin with the time
		dir := filepath.Join(out, e.Name())
		if _, err := os.Stat(filepath.Join(dir, certificate.File)); err == nil {
			return dir, nil
		}
	}
	return "", usage("%s: no run with a certificate", out)
}

// Gate decides whether a run may pass: its certificate holds, it conforms, and
// nothing is worse than in the baseline. It gives a sentence for each reason
// why not.
func Gate(run, baseline string, requireFull bool, jobs int, now time.Time) (certificate.Certificate, []string, error) {
	base, err := readBaseline(baseline)
	if err != nil {
		return certificate.Certificate{}, nil, err
	}
	v, err := Verify(filepath.Join(run, certificate.File), run, Beside{}, jobs, now)
	if err != nil {
		return certificate.Certificate{}, nil, err
	}
	reasons := []string{}
	for _, p := range v.Problems {
		reasons = append(reasons, fmt.Sprintf("the run's certificate does not hold: %s", p))
	}
	return v.Certificate, append(reasons, certificate.Gate(v.Certificate, base, certificate.Demand{RequireFull: requireFull, Now: now})...), nil
}

func readBaseline(path string) (certificate.Certificate, error) {
	const fix = "name the certificate.json of a run"
	text, err := os.ReadFile(path)
	if err != nil {
		return certificate.Certificate{}, usage("baseline: %v; %s", err, fix)
	}
	c, err := certificate.Decode(text)
	if err != nil {
		return c, usage("baseline: %s: %v; %s", path, err, fix)
	}
	return c, nil
}
