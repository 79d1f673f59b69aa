package certificate

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"touchstone/conformance/ledger"
	"touchstone/reports"
)

// Check compares a certificate with the run folder that it is about: the list,
// every file, the report, the ledger, the age. It gives a sentence for each
// thing that is not as it was certified; that the verdicts follow from the
// evidence is for certify.Recheck to say. An error means that nothing can be
// said.
func Check(c Certificate, dir string, now time.Time) (problems []string, err error) {
	list, err := os.ReadFile(filepath.Join(dir, SumsFile))
	if err != nil {
		return []string{SumsFile + ": missing"}, ignoreMissing(err)
	}
	if Digest(list) != c.Evidence.SHA256 {
		problems = append(problems, SumsFile+": altered: it is not the list that was certified")
	}
	listed, err := readSums(list)
	if err != nil {
		return append(problems, err.Error()), nil
	}
	changed, err := checkSums(dir, listed)
	if err != nil {
		return nil, err
	}
	problems = append(problems, changed...)
	problems = append(problems, c.checkScripts(listed)...)
	problems = append(problems, c.checkReport(dir, list)...)
	if c.Expired(now) {
		problems = append(problems, fmt.Sprintf("the certificate's age limit passed on %s", c.Expires))
	}
	return problems, nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("check evidence: %w", err)
}

// checkScripts: the scripts in the folder are the certified ones.
func (c Certificate) checkScripts(listed map[string]string) []string {
	var problems []string
	for _, name := range sorted(c.Suite.Scripts) {
		if listed["scripts/"+name+".txtar"] != c.Suite.Scripts[name] {
			problems = append(problems, "script "+name+": not the one that was certified")
		}
	}
	if listed["launcher.toml"] != c.Launcher.SHA256 {
		problems = append(problems, "launcher.toml: not the launcher file that was certified")
	}
	return problems
}

// checkReport: the certificate and the ledger say what the report says.
func (c Certificate) checkReport(dir string, list []byte) []string {
	text, err := os.ReadFile(filepath.Join(dir, reports.ReportFile))
	if err != nil {
		return []string{err.Error()}
	}
	r, err := reports.Decode(text)
	if err != nil {
		return []string{err.Error()}
	}
	var problems []string
	if c.Conclusion != r.Conclusion || c.ExitStatus != r.ExitStatus || c.Scope != scope(r) || c.Totals != r.Totals || !reflect.DeepEqual(c.Verdicts, verdicts(r)) {
		problems = append(problems, "the certificate says otherwise than the report")
	}
	if c.Launcher.SHA256 != r.Launcher.SHA256 || c.Launcher.Name != r.Launcher.Name {
		problems = append(problems, "the certificate is for another launcher file than the report")
	}
	want, err := ledger.Encode(book(r, c, list))
	if err != nil {
		return append(problems, err.Error())
	}
	got, err := os.ReadFile(filepath.Join(dir, LedgerFile))
	if err != nil {
		return append(problems, LedgerFile+": missing")
	}
	if !bytes.Equal(got, want) {
		problem := LedgerFile + ": altered: it does not follow from the run"
		if err := ledger.Check(got); err != nil {
			problem = LedgerFile + ": " + err.Error()
		}
		problems = append(problems, problem)
	}
	return problems
}
