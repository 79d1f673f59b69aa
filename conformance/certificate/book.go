package certificate

import (
	"strings"

	"touchstone/conformance/ledger"
	"touchstone/reports"
)

// book retells a run as a build ledger: the objective, the candidate, the
// attempt with its progress, a gate for each test, and the decision.
func book(r reports.Report, c Certificate, list []byte) ledger.Ledger {
	var b ledger.Builder
	b.Start("run-"+r.RunID, r.Started, "touchstone "+c.Suite.Version)
	b.Objective(ledger.Objective{
		Repository: "touchstone", Owner: c.Launcher.Name, Purpose: "certify " + c.Launcher.Name + " against supervised/v1",
		Scope: "tests " + orAll(strings.Join(r.Selection.Tests, ",")) + ", facade " + orAll(r.Selection.Facade) + ", profile " + orAll(r.Selection.Profile),
		Gates: gateNames(r)})
	b.Candidate(ledger.Candidate{Repository: "touchstone", Commit: c.Suite.Commit, Artifact: artifact(c.Launcher), Evidence: c.Evidence.SHA256, Owner: c.Launcher.Name})
	b.Attempt("certify", Digest([]byte(strings.Join(r.Selection.Tests, ",")+"|"+r.Selection.Facade+"|"+r.Selection.Profile)))
	b.Progress(progressState(r), c.Evidence.SHA256, r.Conclusion)
	for _, t := range r.Tests {
		b.Gate(ledger.Gate{Name: t.Test, Status: gateStatus(t.Verdict), Evidence: gateEvidence(r, t.Test, list),
			Locator: reports.ReportFile + " test " + t.Test, Verifier: "touchstone verify"})
	}
	b.Decision(r.ExitStatus == 0, r.Conclusion+", "+c.Scope)
	return b.Ledger()
}

func orAll(text string) string {
	if text == "" {
		return "all"
	}
	return text
}

func gateNames(r reports.Report) []string {
	var names []string
	for _, t := range r.Tests {
		names = append(names, t.Test)
	}
	return names
}

func progressState(r reports.Report) string {
	switch r.ExitStatus {
	case 0:
		return "completed"
	case 2:
		return "uncertain"
	}
	return "failed"
}

// gateStatus: a test that was not wholly decided is unavailable, never passed.
func gateStatus(verdict string) string {
	switch verdict {
	case reports.Pass:
		return "passed"
	case reports.NotRun, reports.Broken, "partial":
		return "unavailable"
	}
	return "failed"
}

// artifact is one digest for all binaries and the launcher file.
func artifact(l Launcher) string {
	text := l.SHA256 + "  " + l.File + "\n"
	for _, name := range sorted(l.Binaries) {
		text += l.Binaries[name] + "  " + name + "\n"
	}
	return Digest([]byte(text))
}

// gateEvidence is the digest of the part of the list that lies in the folders of a
// test's attempts; of the whole list for the checks of every attempt.
func gateEvidence(r reports.Report, test string, list []byte) string {
	var prefixes []string
	for _, s := range r.Scripts {
		if s.Test == test {
			for _, a := range s.Attempts {
				prefixes = append(prefixes, a+"/")
			}
		}
	}
	if len(prefixes) == 0 {
		return Digest(list)
	}
	wanted := map[string]bool{}
	for _, p := range prefixes {
		wanted[p] = true
	}
	var part strings.Builder
	for line := range strings.Lines(string(list)) {
		_, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if at := strings.LastIndexByte(name, '/'); at >= 0 && wanted[name[:at+1]] {
			part.WriteString(line)
		}
	}
	return Digest([]byte(part.String()))
}
