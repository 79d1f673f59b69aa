package oracle

import (
	"fmt"
	"slices"
	"strings"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

// rule is one assertion that holds of every launch it applies to. What the
// shape of the record says under the same id is part of it.
type rule struct {
	id     string
	when   func(*view) bool
	relate func(*view, *wants) // nil where the shape says everything
}

// wants collects what was not as wanted.
//
// A check that cannot be decided says so instead with undecided.
type wants struct {
	faults  []fault
	members []string // of the record, that the faults are about
	verdict Verdict  // Broken or NotRun, when undecided
	reason  string
	note    string // what a pass could not show
}

// undecided says that the evidence does not allow an answer.
func (w *wants) undecided(verdict Verdict, reason string) {
	if w.verdict == "" {
		w.verdict, w.reason = verdict, reason
	}
}

func (w *wants) that(ok bool, seen, wanted string) {
	if !ok {
		w.faults = append(w.faults, fault{Seen: seen, Wanted: wanted})
	}
}

// value is that for one member of the record.
func (w *wants) value(ok bool, got *node, seen, wanted string) {
	w.that(ok, seen, wanted)
	if !ok && got != nil && got.path != "" {
		w.members = append(w.members, got.path)
	}
}

// equal compares a counter of the record with what it must be.
func (w *wants) equal(name string, got *node, wanted uint64) {
	value, ok := got.uint()
	w.value(ok && value == wanted, got, name+"="+got.String(), fmt.Sprintf("%s=%d", name, wanted))
}

// atMost compares a counter of the record with an inclusive bound.
func (w *wants) atMost(name string, got *node, bound uint64) {
	value, ok := got.uint()
	w.value(ok && value <= bound, got, name+"="+got.String(), fmt.Sprintf("%s<=%d", name, bound))
}

func (w *wants) truth(name string, got *node, wanted bool) {
	w.value((got.isTrue() && wanted) || (got.isFalse() && !wanted), got, name+"="+got.String(), fmt.Sprintf("%s=%t", name, wanted))
}

func (w *wants) null(name string, got *node) {
	w.value(got.isNull(), got, name+"="+got.String(), name+"=null")
}

// digest compares a digest of the record with the digest of bytes.
func (w *wants) digest(name string, got *node, content []byte) {
	w.value(digestMatches(got, content), got, name+"="+got.String(), name+"="+digest(content))
}

func packetSeen(v *view) bool { return v.record != nil }

// onBytes are the assertions about messages and bytes, not about the record.
var onBytes = map[string]bool{"T1.19": true, "T1.34": true, "T1.18": true, "T36.33": true, "T36.34": true, "T36.35": true, "T36.36": true}

func hasRecord(v *view) bool { return v.record != nil && v.record.root != nil }

// UniversalIDs are the assertions that Universal may speak of, in order.
func UniversalIDs() []string {
	ids := make([]string, 0, len(rules))
	for _, r := range rules {
		ids = append(ids, r.id)
	}
	return ids
}

// ByChance says whether it is chance that an attempt shows an assertion of
// every attempt: the driver may see a producer's mounts, or come too late. Where
// no script asks for it, it counts only where it fails.
func ByChance(id string) bool { return id == "T22.13" }

// Universal runs every check that holds of all launches on one launch. An
// assertion that does not apply to the attempt (no packet, not a success)
// gives no finding. Attempts of another kind give none, nor does a launch that
// is asked for no supervision: nothing of the contract holds of it (R01).
//
// With evidence that was altered, every finding is a failure. A fault of the
// driver gives one broken finding, under T1.19: nothing is known of the attempt,
// which must show, but not hide what other attempts showed.
func Universal(a *evidence.Attempt, f Facts) []Finding { return judgeBy(rules, a, f) }

// Without is Universal of a suite that has lost the rule of an assertion, for
// the proof that such a suite fails its own attempts. Rules: R21 (T36.36).
func Without(id string, a *evidence.Attempt, f Facts) []Finding {
	return judgeBy(slices.DeleteFunc(slices.Clone(rules), func(r rule) bool { return r.id == id }), a, f)
}

func judgeBy(all []rule, a *evidence.Attempt, f Facts) []Finding {
	if a.Scenario.Kind != scenario.Launch {
		return nil
	}
	v := look(a, f)
	v.rules = all
	var findings []Finding
	reason, verdict := unusable(a)
	if verdict == Broken {
		return []Finding{undecided("T1.19", Broken, reason, a.Dir)}
	}
	if verdict == "" && !a.Scenario.Negotiates() {
		return nil
	}
	for _, r := range all {
		if verdict != "" {
			findings = append(findings, undecided(r.id, verdict, reason, a.Dir))
			continue
		}
		if r.when(v) {
			findings = append(findings, r.find(v))
		}
	}
	return findings
}

func (r rule) find(v *view) Finding {
	finding := Finding{ID: r.id, Rule: Rule(r.id), Verdict: Pass, Attempt: v.attempt.Dir}
	var faults []fault
	if v.record != nil {
		for _, f := range v.record.faults {
			if f.ID == r.id {
				faults = append(faults, f)
				finding.Members = appendMember(finding.Members, f.Path)
			}
		}
	}
	if r.relate != nil {
		w := &wants{}
		r.relate(v, w)
		faults = append(faults, w.faults...)
		finding.Members = append(finding.Members, w.members...)
	}
	if len(faults) == 0 && packetSeen(v) && !hasRecord(v) && !onBytes[r.id] {
		faults = append(faults, fault{Seen: "no readable record", Wanted: "a record"})
	}
	if len(faults) > 0 {
		finding.Verdict = Fail
		finding.Seen, finding.Wanted = describe(faults)
	}
	return finding
}

func appendMember(members []string, path string) []string {
	if path == "" {
		return members
	}
	return append(members, path)
}

// describe puts at most three faults into one line each of seen and wanted.
func describe(faults []fault) (seen, wanted string) {
	var got, want []string
	for _, f := range faults[:min(len(faults), 3)] {
		path := ""
		if f.Path != "" {
			path = f.Path + ": "
		}
		got, want = append(got, path+f.Seen), append(want, path+f.Wanted)
	}
	if more := len(faults) - 3; more > 0 {
		got = append(got, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(got, "; "), strings.Join(want, "; ")
}

// unusable says why nothing can pass on this attempt; an empty verdict means
// that its evidence can be judged.
func unusable(a *evidence.Attempt) (reason string, verdict Verdict) {
	if len(a.Tampered) > 0 {
		return "evidence altered: " + strings.Join(a.Tampered, ", "), Fail
	}
	if faults := a.Faults(); len(faults) > 0 {
		return fmt.Sprintf("driver: %s: %s", faults[0].Operation, faults[0].Cause), Broken
	}
	return "", ""
}

func undecided(id string, verdict Verdict, reason, dir string) Finding {
	finding := Finding{ID: id, Rule: Rule(id), Verdict: verdict, Attempt: dir}
	if verdict == Fail {
		finding.Seen, finding.Wanted = reason, "the evidence as it was recorded"
	} else {
		finding.Reason = reason
	}
	return finding
}

// Leaks says what a launch left behind. It is judged apart from every
// assertion. An attempt whose supervisor was killed or stopped on purpose
// leaks nothing by it: its leftovers are for the host to reap (R15). Nor does
// one that the watchdog had to kill, which has failed already.
func Leaks(a *evidence.Attempt, f Facts) []string {
	_, killed := evidence.First[evidence.Watchdog](a)
	started := a.Scenario.Kind == scenario.Launch || a.Scenario.Kind == scenario.Hosted
	if !started || killed || !look(a, f).handled() {
		return nil
	}
	var leaks []string
	for _, l := range evidence.All[evidence.Leftover](a) {
		leaks = append(leaks, l.Body.What+": "+l.Body.Detail)
	}
	slices.Sort(leaks)
	return leaks
}
