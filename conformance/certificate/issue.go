package certificate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"touchstone/conformance/ledger"
	"touchstone/reports"
)

// Subject is what a certificate says beyond what the report does.
type Subject struct {
	Suite    Suite
	Launcher Launcher
	Days     int // the age limit; 0 is DefaultDays
}

// Issue lists the evidence of a finished run, and writes the certificate and
// the ledger. Nothing may be written to the folder afterwards.
func Issue(dir string, r reports.Report, s Subject) (Certificate, error) {
	list, files, size, err := sums(dir)
	if err != nil {
		return Certificate{}, err
	}
	c := Certificate{
		Schema: SchemaName, Version: Version, RunID: r.RunID, Started: r.Started, Conclusion: r.Conclusion, ExitStatus: r.ExitStatus,
		Scope: scope(r), Suite: s.Suite, Launcher: s.Launcher, Host: r.Host, Seeds: []string{}, Selection: r.Selection, Totals: r.Totals,
		Verdicts: verdicts(r), Seconds: scriptSeconds(r),
		Evidence: Evidence{File: SumsFile, SHA256: Digest(list), Files: files, Bytes: size},
	}
	if s.Days == 0 {
		s.Days = DefaultDays
	}
	started, err := time.Parse(time.RFC3339, r.Started)
	if err != nil {
		return Certificate{}, fmt.Errorf("issue certificate: %w", err)
	}
	c.Expires = started.AddDate(0, 0, s.Days).Format(time.RFC3339)
	content, err := Encode(c)
	if err != nil {
		return Certificate{}, err
	}
	book, err := ledger.Encode(book(r, c, list))
	if err != nil {
		return Certificate{}, err
	}
	err = errors.Join(os.WriteFile(filepath.Join(dir, SumsFile), list, 0o644),
		os.WriteFile(filepath.Join(dir, File), content, 0o644), os.WriteFile(filepath.Join(dir, LedgerFile), book, 0o644))
	if err != nil {
		return Certificate{}, fmt.Errorf("issue certificate: %w", err)
	}
	return Decode(content)
}
