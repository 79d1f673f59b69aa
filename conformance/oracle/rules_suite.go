package oracle

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

// suiteRules hold of the suite's own attempts: what it says of a launcher was
// seen from outside, of a real process, with everything that R21 asks.
var suiteRules = []rule{
	{"T36.33", always, seenFromOutside},
	{"T36.34", always, ownProfile},
	{"T36.35", always, freshAndDistinct},
	{"T36.36", always, judgedWhole},
}

func always(*view) bool { return true }

// seenFromOutside: the process that was started, with the arguments that the
// record names, is the one whose wait status the kernel gave. That every byte
// has the moment of its arrival is a condition of loading the record at all.
func seenFromOutside(v *view, w *wants) {
	start, started := evidence.First[evidence.Start](v.attempt)
	w.that(started && start.Body.PID > 0, "no process was started", "a process")
	sum := sha256.Sum256([]byte(strings.Join(v.attempt.Launch.Argv, "\x00") + "\x00"))
	w.that(start.Body.ArgvSHA256 == hex.EncodeToString(sum[:]), "started with arguments of the digest "+start.Body.ArgvSHA256, "those of launch.json")
	exit, exited := v.attempt.Exit()
	_, given := evidence.First[evidence.Watchdog](v.attempt)
	w.that(given || (exited && (exit.Body.Status == nil) != (exit.Body.Signal == nil)), "no wait status", "an exit or a signal from the kernel")
	w.that(!exited || exit.Body.PID == start.Body.PID, fmt.Sprintf("process %d was waited for", exit.Body.PID), fmt.Sprintf("process %d, which was started", start.Body.PID))
}

// ProfileWords are what a launch in a profile has, and one in another lacks.
type ProfileWords struct {
	Arguments, Environment []string // texts without placeholders
	Numbers                []int    // of descriptors
}

// ownProfile: the launch is in the profile of its cell, and in no other.
func ownProfile(v *view, w *wants) {
	own, launch := v.facts.Profiles[v.attempt.Scenario.Cell.Profile], v.attempt.Launch
	for _, name := range slices.Sorted(maps.Keys(v.facts.Profiles)) {
		p := v.facts.Profiles[name]
		mine := name == v.attempt.Scenario.Cell.Profile
		for _, of := range []struct{ wanted, ours, given []string }{{p.Arguments, own.Arguments, launch.Argv}, {p.Environment, own.Environment, launch.Environment}} {
			for _, word := range of.wanted {
				there := slices.Contains(of.given, word)
				w.that(there == mine || (!mine && slices.Contains(of.ours, word)), fmt.Sprintf("%q given: %t", word, there), fmt.Sprintf("%t in profile %s", mine, v.attempt.Scenario.Cell.Profile))
			}
		}
		for _, number := range p.Numbers {
			there := slices.ContainsFunc(launch.Descriptors, func(d evidence.Descriptor) bool { return d.Number == number })
			w.that(there || !mine, fmt.Sprintf("no descriptor %d", number), "the descriptors of profile "+name)
		}
	}
}

var attemptName = regexp.MustCompile("^" + attemptForm + "$")

// freshAndDistinct: an identity that no earlier attempt had, endpoints that are
// no two the same unless the script made them so, each read to its end, and
// grants that are finite and the host's own.
func freshAndDistinct(v *view, w *wants) {
	id := v.attempt.Launch.AttemptID
	w.that(attemptName.MatchString(id) && id != noAttempt, "attempt id "+id, "128 random bits")
	w.that(!slices.Contains(v.facts.Earlier, id), "attempt id "+id+" of an earlier attempt", "one of its own")
	endpoints := v.attempt.Scenario.Endpoints
	all := slices.DeleteFunc(slices.Clone(v.attempt.Launch.HostEndpoints), func(e evidence.HostEndpoint) bool { return endpoints.Aliased(e.Name) })
	for i, e := range all {
		same := slices.ContainsFunc(all[:i], func(o evidence.HostEndpoint) bool { return o.Device == e.Device && o.Launcher == e.Launcher })
		w.that(!same, e.Name+" is one with another endpoint", "endpoints of their own")
	}
	for _, name := range []string{scenario.ChannelReport, scenario.ChannelDiagnostic} {
		_, ended := v.attempt.Ended(name)
		w.that(ended || !v.readFreely(name), name+" was not read to its end", "a reader of each endpoint")
	}
	if !v.facts.Grants || v.attempt.Scenario.Admission != "" || !hasRecord(v) || !v.admitted() {
		return
	}
	granted := v.attempt.Scenario.Grants.Resolve()
	for i, value := range []uint64{granted.Report, granted.Diagnostic, granted.Wall, granted.Stall} {
		w.equal("limits."+limitTable[i].member+".granted", v.at("limits", limitTable[i].member, "granted"), value)
	}
}

// readFreely: the host reads this endpoint as long as anybody can write to it.
func (v *view) readFreely(name string) bool {
	kind := v.attempt.Scenario.Endpoints.Kind(name)
	_, given := evidence.First[evidence.Watchdog](v.attempt)
	held := slices.ContainsFunc(v.attempt.Scenario.Controls, func(r scenario.Rule) bool {
		return r.Action.Channel == name && (r.Action.Kind == scenario.DoPause || r.Action.Kind == scenario.DoClose)
	})
	return (kind == scenario.Pipe || kind == scenario.Stream) && !given && !held && !v.attempt.Scenario.Endpoints.Aliased(name)
}

// judgedWhole: an attempt with a record is judged by all that R10 and R12 fix,
// one that claims success by the whole predicate, and each by the rules of the
// suite itself. The lists stand here once more, so that a rule that is gone is
// missed.
func judgedWhole(v *view, w *wants) {
	wanted := numbered("T36", 33, 35)
	if packetSeen(v) {
		wanted = append(append(wanted, numbered("T1", 33, 60)...), "T1.62", "T1.66", "T1.70", "T1.72", "T1.74", "T27.19", "T34.40")
		wanted = append(wanted, numbered("T34", 1, 31)...)
	}
	if unusedSink(v) {
		wanted = append(wanted, "T1.67")
	}
	if sawMounts(v) {
		wanted = append(wanted, "T22.13")
	}
	if v.claimsSuccess() {
		wanted = append(wanted, "T1.18", "T1.22", "T1.23", "T1.24", "T1.25", "T1.28", "T1.30", "T1.31", "T1.32", "T1.61", "T1.63", "T1.65", "T1.73", "T34.39")
	}
	if v.owed() {
		wanted = append(wanted, "T1.19")
	}
	if recorded(v) {
		wanted = append(wanted, "T1.27", "T1.29")
	}
	for _, id := range wanted {
		judged := slices.ContainsFunc(v.rules, func(r rule) bool { return r.id == id && r.when(v) })
		w.that(judged, id+" is not judged", "every rule that applies")
	}
}

func numbered(test string, from, to int) []string {
	var ids []string
	for n := from; n <= to; n++ {
		ids = append(ids, fmt.Sprintf("%s.%02d", test, n))
	}
	return ids
}
