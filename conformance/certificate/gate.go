package certificate

import (
	"fmt"
	"time"
)

// Demand is what a gate asks of a run besides that it conforms.
type Demand struct {
	RequireFull bool
	Now         time.Time
}

// Gate gives a sentence for each reason why run must not pass, compared with a
// baseline: none means that it may. Both certificates have been checked.
func Gate(run, baseline Certificate, d Demand) []string {
	var reasons []string
	say := func(format string, args ...any) { reasons = append(reasons, fmt.Sprintf(format, args...)) }
	if run.ExitStatus != 0 {
		say("the run is %s (exit %d)", run.Conclusion, run.ExitStatus)
	}
	if d.RequireFull && run.Scope != Full {
		say("a full certificate is required, this one is %s: %d of %d planned assertions passed", run.Scope, run.Totals.Pass, run.Totals.Planned)
	}
	if run.Launcher.Name != baseline.Launcher.Name {
		say("the baseline is of launcher %s, the run of %s", baseline.Launcher.Name, run.Launcher.Name)
	}
	if baseline.Expired(d.Now) {
		say("the baseline's age limit passed on %s", baseline.Expires)
	}
	if run.Expired(d.Now) {
		say("the run's age limit passed on %s", run.Expires)
	}
	c := Compare(baseline, run)
	for _, list := range []struct {
		what    string
		changes []Change
	}{{"new failure", c.NewFailures}, {"newly not run", c.NewlyNotRun}, {"no longer planned", c.Gone}} {
		for _, change := range list.changes {
			say("%s: %s", list.what, change)
		}
	}
	if c.MoreLeaks > 0 {
		say("%d leaks more than the baseline", c.MoreLeaks)
	}
	return reasons
}
