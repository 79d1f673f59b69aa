package certify

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json"

	"touchstone/reports"
)

// Unpassed reads which jobs of a run did not pass: those that failed, were
// broken, left something behind, or made a declaration stale; with notRun those
// that could not be asked too. path is report.json or the folder that holds it.
//
// The request is the one that runs just these again; its Only is empty where
// every job passed. launcher is empty for the run's own, which its folder
// knows. What is no report is a *UsageError.
func Unpassed(path, launcher string, notRun bool) (Request, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, reports.ReportFile)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return Request{}, usage("%v", err)
	}
	r, err := reports.Decode(text)
	if err != nil {
		return Request{}, usage("%s: %v", path, err)
	}
	request := Request{Launcher: launcher, Tests: []string{}}
	for _, s := range r.Scripts {
		if unpassed(r, s, notRun) {
			request.Only = append(request.Only, jobName(s.Script, s.Cell))
			request.Tests = append(request.Tests, s.Script)
		}
	}
	slices.Sort(request.Tests)
	request.Tests = slices.Compact(request.Tests)
	if launcher == "" && len(request.Only) > 0 {
		request.Launcher, err = launcherOfRun(filepath.Dir(path))
	}
	return request, err
}

// unpassed judges a script in a cell by its own verdict and by the leaks.
func unpassed(r reports.Report, s reports.Script, notRun bool) bool {
	left := slices.ContainsFunc(r.Leaks, func(l reports.Leak) bool { return l.Script == s.Script && l.Cell == s.Cell })
	if s.Verdict == "" { // of a version that did not tell
		s.Verdict = worstFound(r, s)
	}
	return left || reports.IsBad(s.Verdict) || (notRun && (s.Verdict == reports.NotRun || s.Verdict == "partial"))
}

// worstFound is a bad verdict among the findings of a script in a cell.
func worstFound(r reports.Report, s reports.Script) string {
	for _, a := range r.Assertions {
		if a.Cell == s.Cell && a.Verdict != reports.ExpectedFail {
			for _, f := range a.Findings {
				if f.Script == s.Script && reports.IsBad(f.Verdict) {
					return f.Verdict
				}
			}
		}
	}
	return reports.Pass
}

// launcherOfRun is the launcher as the run in a folder was asked for it.
func launcherOfRun(dir string) (string, error) {
	var m meta
	text, err := os.ReadFile(filepath.Join(dir, metaFile))
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil || m.Request.Launcher == "" {
		return "", usage("no %s beside the report tells the launcher: name it with --launcher", metaFile)
	}
	return m.Request.Launcher, nil
}
