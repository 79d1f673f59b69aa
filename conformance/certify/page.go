package certify

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"touchstone/conformance/certificate"
	"touchstone/conformance/exhibit"
	"touchstone/contracts"
	"touchstone/reports"
)

// Page is a run's report with what can be shown of its attempts, read from
// their evidence. What cannot be read is on the page as such.
func Page(run string, r reports.Report) reports.Page {
	p := reports.Page{Report: r, Statements: map[string]string{}}
	for _, a := range r.Assertions {
		if row, found := contracts.AssertionByID(a.ID); found {
			p.Statements[a.ID] = row.Action + ": " + row.Expect
		}
	}
	var attempts []string
	for _, s := range r.Scripts {
		attempts = append(attempts, s.Attempts...)
	}
	p.Exhibits = make([]reports.Exhibit, len(attempts))
	next := make(chan int)
	var group sync.WaitGroup
	for range runtime.NumCPU() {
		group.Go(func() {
			for i := range next {
				p.Exhibits[i] = exhibit.Load(filepath.Join(run, attempts[i]), attempts[i])
			}
		})
	}
	for i := range attempts {
		next <- i
	}
	close(next)
	group.Wait()
	return p
}

func sameFolder(a, b string) bool {
	one, err := os.Stat(a)
	other, otherErr := os.Stat(b)
	return err == nil && otherErr == nil && os.SameFile(one, other)
}

// Render writes every form of a recorded run's report but report.json again.
// A folder that holds no report is a *UsageError.
//
// out is another folder, or empty for the run folder itself, which is refused
// where a certificate covers what stands there.
func Render(run, out string) (reports.Report, error) {
	if out == "" || sameFolder(run, out) {
		if _, err := os.Stat(filepath.Join(run, certificate.File)); err == nil {
			return reports.Report{}, usage("report: %s has a certificate, which covers its report: name another folder with --out", run)
		}
		out = run
	}
	text, err := os.ReadFile(filepath.Join(run, reports.ReportFile))
	if err != nil {
		return reports.Report{}, usage("report: %v", err)
	}
	r, err := reports.Decode(text)
	if err != nil {
		return reports.Report{}, usage("report: %v", err)
	}
	if err := reports.Render(out, Page(run, r)); err != nil {
		return reports.Report{}, fmt.Errorf("report: %w", err)
	}
	return r, nil
}
