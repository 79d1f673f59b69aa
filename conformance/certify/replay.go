package certify

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"touchstone/conformance/capsule"
	"touchstone/conformance/scenario"
	"touchstone/conformance/script"
	"touchstone/reports"
)

// The outcomes of a replay.
const (
	ReplayPassed    = 0 // everything passed this time
	ReplaySame      = 1 // it did not pass again, the same way: see compareCapsules
	ReplayUndecided = 2 // nothing failed, but not everything could be decided
	ReplayOther     = 3 // it failed, but otherwise
)

// ReadCapsule reads a capsule. What is none is a *UsageError.
func ReadCapsule(path string) (capsule.Capsule, error) {
	const fix = "name capsules/FACADE-PROFILE/SCRIPT.txtar of a run folder"
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return capsule.Capsule{}, usage("capsule: %v; %s", err, fix)
	case info.IsDir():
		return capsule.Capsule{}, usage("capsule: %s is a folder; %s", path, fix)
	case info.Size() > capsule.MaxBytes:
		return capsule.Capsule{}, usage("capsule: %s has %d bytes, more than any; %s", path, info.Size(), fix)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return capsule.Capsule{}, usage("capsule: %v", err)
	}
	c, err := capsule.Decode(content)
	if err != nil {
		return c, usage("capsule: %s: %v; %s", path, err, fix)
	}
	return c, nil
}

// SelectCapsule is the one job of a capsule: its script, in its cell, with the
// launcher of that name or path, or the capsule's own where it is empty.
func SelectCapsule(root string, c capsule.Capsule, launcher string) (Selection, error) {
	if launcher == "" {
		launcher = c.Launcher.Request
	}
	s, err := launcherOf(root, Request{Launcher: launcher, Tests: []string{c.Script}, Facade: c.Cell.Facade, Profile: c.Cell.Profile})
	if err != nil {
		return Selection{}, err
	}
	one, err := script.Parse(c.Script+".txtar", c.Source)
	if err != nil {
		return Selection{}, usage("capsule: %v", err)
	}
	if err := lint(root, []script.Script{one}); err != nil {
		return Selection{}, usage("capsule: %v", err)
	}
	if !slices.Contains(one.Cells(s.File.Cells()), c.Cell) {
		return Selection{}, usage("launcher %s: no cell %s for this capsule", s.File.Name, c.Cell)
	}
	s.Scripts, s.jobs, s.cells = []script.Script{one}, []job{{one, c.Cell}}, []scenario.Cell{c.Cell}
	return s, nil
}

// Strangers says what of a replay is not what the capsule was made with, a
// sentence each: its launcher first.
func Strangers(c capsule.Capsule, s Selection, p Place, version reports.Suite) ([]string, error) {
	r, err := newReport(s, p, version)
	if err != nil {
		return nil, err
	}
	about, err := subject(s, p, r)
	if err != nil {
		return nil, err
	}
	var said []string
	if r.Launcher.SHA256 != c.Launcher.SHA256 {
		said = append(said, fmt.Sprintf("launcher file %s: its digest is not the capsule's", s.Path))
	}
	names := maps.Clone(c.Launcher.Binaries)
	maps.Copy(names, about.Launcher.Binaries)
	maps.DeleteFunc(names, func(name, _ string) bool { return c.Launcher.Binaries[name] == about.Launcher.Binaries[name] })
	if len(names) > 0 {
		said = append(said, "launcher binaries, whose digests are not the capsule's: "+strings.Join(slices.Sorted(maps.Keys(names)), " "))
	}
	if about.Suite.Program != c.Suite.Program || about.Suite.Attempt != c.Suite.Attempt || listDigest(about.Suite.Fixtures) != c.Suite.Fixtures {
		said = append(said, fmt.Sprintf("suite: version %s %s, the capsule is of version %s %s", version.Version, version.Commit, c.Suite.Version, c.Suite.Commit))
	}
	return said, nil
}

// Change is what a replay says of an assertion that was no pass in the capsule
// or is none now.
type Change struct {
	ID   string          `json:"id"`
	Was  capsule.Verdict `json:"was"`
	Now  capsule.Verdict `json:"now"`
	Same bool            `json:"same"`
}

// Replay is one run of a capsule.
type Replay struct {
	Outcome int      `json:"outcome"`
	Run     string   `json:"run"` // folder
	Changes []Change `json:"changes"`
	Leaks   []string `json:"leaks"`
	Blocked string   `json:"blocked"` // why nothing could run
}

// ReplayCapsule makes the job of a capsule once more, as a run of its own.
func ReplayCapsule(ctx context.Context, c capsule.Capsule, s Selection, p Place, version reports.Suite, progress Progress) (Replay, error) {
	p.Seeds, p.Jobs = c.Seeds, 1
	r, err := Run(ctx, s, p, version, progress)
	if err != nil {
		return Replay{}, err
	}
	if r.Blocked != "" {
		return Replay{Outcome: ReplayUndecided, Run: p.Run, Changes: []Change{}, Leaks: []string{}, Blocked: r.Blocked}, nil
	}
	now := capsule.Capsule{}
	if path := filepath.Join(p.Run, capsuleName(c.Cell, c.Script)); len(r.Scripts) == 1 && r.Scripts[0].Capsule != "" {
		if now, err = ReadCapsule(path); err != nil {
			return Replay{}, fmt.Errorf("read own capsule: %v", err)
		}
	}
	replay := compareCapsules(c, now)
	replay.Run = p.Run
	return replay, nil
}

// compareCapsules says how a replay's capsule differs; one without verdicts is
// of a run in which everything passed. The same way is: by the same assertions
// at the same lines, and leaving something behind as before. The checks of
// every attempt may come and go with the machine's timing: they decide only
// where no check of the script's own had failed.
func compareCapsules(was, now capsule.Capsule) Replay {
	before, after := byID(was), byID(now)
	both := maps.Clone(before)
	maps.Copy(both, after)
	own := slices.ContainsFunc(was.Verdicts, ownAndNoPass)
	r := Replay{Changes: []Change{}, Leaks: append([]string{}, now.Leaks...)}
	same, failed := (len(was.Leaks) > 0) == (len(now.Leaks) > 0), len(now.Leaks) > 0
	for _, id := range inOrder(both) {
		a, b := orPassed(before, id), orPassed(after, id)
		if a.Seen == reports.Pass && b.Seen == reports.Pass {
			continue
		}
		c := Change{ID: id, Was: a, Now: b, Same: a.Seen == b.Seen && a.Line == b.Line}
		same = same && (c.Same || (own && a.Line == 0 && b.Line == 0))
		failed = failed || slices.Contains([]string{reports.Fail, reports.UnexpectedPass, reports.WrongFail}, b.Seen)
		r.Changes = append(r.Changes, c)
	}
	switch {
	case len(now.Verdicts) == 0 && len(now.Leaks) == 0:
		r.Outcome = ReplayPassed
	case same:
		r.Outcome = ReplaySame
	case failed:
		r.Outcome = ReplayOther
	default:
		r.Outcome = ReplayUndecided
	}
	return r
}

// ownAndNoPass: a check of the script itself that did not pass.
func ownAndNoPass(v capsule.Verdict) bool { return v.Line > 0 && v.Seen != reports.Pass }

func byID(c capsule.Capsule) map[string]capsule.Verdict {
	all := map[string]capsule.Verdict{}
	for _, v := range c.Verdicts {
		all[v.ID] = v
	}
	return all
}

func orPassed(all map[string]capsule.Verdict, id string) capsule.Verdict {
	if v, known := all[id]; known {
		return v
	}
	return capsule.Verdict{ID: id, Expected: reports.Pass, Seen: reports.Pass}
}
