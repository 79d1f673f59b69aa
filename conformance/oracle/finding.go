package oracle

import (
	"strconv"
	"strings"
	"time"

	"touchstone/conformance/evidence"
	"touchstone/contracts"
)

// Verdict is what one check says.
type Verdict string

// The verdicts of a single check. The runner adds those of declared gaps.
const (
	Pass   Verdict = "pass"
	Fail   Verdict = "fail"
	NotRun Verdict = "not-run" // this launcher or machine cannot be asked
	Broken Verdict = "broken"  // a fault of the suite: nothing can be said
)

// Finding is the outcome of one check on one attempt, or on all attempts of a
// launch. Seen and Wanted are for people; on a pass both may be empty. Reason
// says why a check was not run or broken; on a pass, what it could not show.
type Finding struct {
	ID      string  `json:"id"`
	Rule    string  `json:"rule"` // the contract's rules, as assertions.tsv lists them
	Verdict Verdict `json:"verdict"`
	Seen    string  `json:"seen"`
	Wanted  string  `json:"wanted"`
	Reason  string  `json:"reason"`
	Attempt string  `json:"attempt"` // folder of the attempt, "" when none
	// Members are the paths of the terminal record that a failure is about, where
	// it is about some.
	Members []string `json:"members"`
}

// Rule gives the rules of an assertion as a finding spells them: "R06,R20".
func Rule(id string) string {
	row, found := contracts.AssertionByID(id)
	if !found {
		return ""
	}
	return strings.Join(row.Requirements, ",")
}

// Facts are what has to be known of the launcher, besides the evidence, to
// judge it. All of them come from the launcher file and the script.
type Facts struct {
	// Invocation is the facade's name in the record: run_json or entrypoint.
	Invocation string
	// HarnessDiagnostics are the bytes that the harness may put before all
	// other diagnostics (C-59).
	HarnessDiagnostics []byte
	// Slack is the stated slack of every promptness check.
	Slack time.Duration
	// Volatile are dot-separated paths of scalars that differ from run to run;
	// they are blanked on both sides before reports are compared.
	Volatile []string
	// Reference is the engine's own document for the current request, nil when
	// none was made.
	Reference []byte
	// Documents are the script's documents by name.
	Documents map[string][]byte
	// Control is the unsupervised run of the fixture, nil when none was made.
	Control *evidence.Attempt
	// Earlier are the identities of the earlier attempts of the same script.
	Earlier []string
	// Grants says that the host can set all four grants of this launcher.
	Grants bool
	// Profiles are what a launch has in each of the launcher's profiles.
	Profiles map[string]ProfileWords
	// Host is how the launcher's host tells its decision.
	Host Host
	// SuccessMembers and FailureMembers are the top-level members by which a
	// document of the current request, and a failure document, are known.
	// Empty ones stand for engine, and engine with error (C-30).
	SuccessMembers, FailureMembers []string
}

func quoteList(words []string) string {
	quoted := make([]string, 0, len(words))
	for _, w := range words {
		quoted = append(quoted, strconv.Quote(w))
	}
	return strings.Join(quoted, ", ")
}
