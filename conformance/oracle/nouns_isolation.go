package oracle

import (
	"fmt"
	"slices"
	"strings"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

// observed are the producer's states as the host saw them. None is a failure,
// or a fault of the suite where looking itself failed.
func (v *view) observed(w *wants) []evidence.Observe {
	var seen []evidence.Observe
	for _, o := range evidence.All[evidence.Observe](v.attempt) {
		if o.Body.Who == scenario.Producer {
			seen = append(seen, o.Body)
		}
	}
	if len(seen) == 0 {
		for _, c := range evidence.All[evidence.Control](v.attempt) {
			if c.Body.Action.Kind == scenario.DoObserve && c.Body.Result == evidence.Failed {
				w.undecided(Broken, "observe failed: "+c.Body.Detail)
			}
		}
		w.that(false, "the producer was never observed", "a producer to look at")
	}
	return seen
}

func parseIdentity(words []string) (test, error) {
	if slices.Equal(words, []string{"varies"}) {
		return test{all: identityVaries}, nil
	}
	if len(words) != 1 || words[0] != "isolated" {
		return test{}, fmt.Errorf("want isolated or varies")
	}
	return each(func(v *view, w *wants) {
		for _, o := range v.observed(w) {
			identityIsolated(o, w)
		}
	})
}

// identityIsolated: ids of its own, never root and never the supervisor's, no
// capability in any set, no way to gain one, a system call filter.
//
// Rules: R02, C-79.
func identityIsolated(o evidence.Observe, w *wants) {
	w.that(len(o.UIDs) > 0 && len(o.GIDs) > 0, "no ids", "user and group ids")
	for _, id := range o.UIDs {
		w.that(id != 0 && !slices.Contains(o.SupervisorUIDs, id), fmt.Sprintf("uid %d", id), "neither root nor the supervisor's")
	}
	for _, id := range slices.Concat(o.GIDs, o.Groups) {
		w.that(id != 0, fmt.Sprintf("gid %d", id), "not root's")
	}
	sets := []string{o.Capabilities.Effective, o.Capabilities.Permitted, o.Capabilities.Bounding, o.Capabilities.Inheritable, o.Capabilities.Ambient}
	for _, set := range sets {
		w.that(set != "" && strings.Trim(set, "0") == "", fmt.Sprintf("capabilities %q", set), "none in any set")
	}
	w.that(o.NoNewPrivs, "no_new_privs unset", "set")
	w.that(o.Seccomp == 2, fmt.Sprintf("seccomp mode %d", o.Seccomp), "2, a filter")
}

// identityVaries: two uids from a range may happen to be one, those of a whole
// launch are not.
//
// Rules: C-79.
func identityVaries(views []*view, w *wants) {
	if len(views) < 3 {
		w.undecided(Broken, fmt.Sprintf("%d attempts: want three or more", len(views)))
	}
	var first []uint32
	varies := false
	for _, v := range views {
		for _, o := range v.observed(w) {
			if first == nil {
				first = o.UIDs
			}
			varies = varies || !slices.Equal(o.UIDs, first)
		}
	}
	w.that(varies, fmt.Sprintf("uid %v in each of %d attempts", first, len(views)), "one of each attempt's own")
}

func parseNamespaces(words []string) (test, error) {
	if err := exactly(words, 2); err != nil {
		return test{}, err
	}
	names := strings.Split(words[1], ",")
	for _, name := range names {
		if _, known := namespace(evidence.Namespaces{}, name); !known || words[0] != "private" {
			return test{}, fmt.Errorf("unknown %q %q", words[0], name)
		}
	}
	return each(func(v *view, w *wants) {
		for _, o := range v.observed(w) {
			for _, name := range names {
				own, _ := namespace(o.Namespaces, name)
				host, _ := namespace(o.HostNamespaces, name)
				supervisor, _ := namespace(o.SupervisorNamespaces, name)
				w.that(own != 0 && own != host && own != supervisor,
					fmt.Sprintf("%s namespace %d (supervisor %d, host %d)", name, own, supervisor, host), "one of its own")
			}
		}
	})
}

func namespace(n evidence.Namespaces, name string) (inode uint64, known bool) {
	switch name {
	case "pid":
		return n.PID, true
	case "mnt":
		return n.Mount, true
	case "net":
		return n.Net, true
	case "ipc":
		return n.IPC, true
	case "uts":
		return n.UTS, true
	case "user":
		return n.User, true
	case "cgroup":
		return n.Cgroup, true
	}
	return 0, false
}

func parseSurvivors(words []string) (test, error) {
	if len(words) != 1 || words[0] != "none" {
		return test{}, fmt.Errorf("want none")
	}
	return each(func(v *view, w *wants) {
		_, exited := v.attempt.Exit()
		w.that(exited, v.exitText(), "an exit")
		for _, l := range evidence.All[evidence.Leftover](v.attempt) {
			w.that(l.Body.What != "process", "left behind: "+l.Body.Detail, "no process of the attempt")
		}
	})
}

func parseObserved(words []string) (test, error) {
	conditions, err := parseConditions(words, "threads", "children")
	if err != nil {
		return test{}, err
	}
	return each(func(v *view, w *wants) {
		for _, o := range v.observed(w) {
			for _, c := range conditions {
				if c.member == "threads" {
					c.number(uint64(o.Threads), w)
				} else {
					c.number(uint64(o.Children), w)
				}
			}
		}
	})
}

// parseCommand reads the words about an observed process's command line.
func parseCommand(words []string) (test, error) {
	if err := atLeast(words, 3); err != nil {
		return test{}, err
	}
	who, rest := words[0], words[2:]
	has := words[1] == "has"
	if !slices.Contains([]string{scenario.Supervisor, scenario.Producer, scenario.Finalizer}, who) || (!has && words[1] != "lacks") {
		return test{}, fmt.Errorf("unknown %q %q", who, words[1])
	}
	return each(func(v *view, w *wants) {
		seen := v.commands(who)
		for _, argv := range seen {
			if has {
				w.that(consecutive(argv, rest), "command "+quoteList(argv), quoteList(rest)+" in it")
				continue
			}
			w.that(!strings.Contains(strings.Join(argv, " "), strings.Join(rest, " ")), "command "+quoteList(argv), "no "+quoteList(rest)+" in it")
		}
		w.that(len(seen) > 0, "the "+who+" was never observed", "one to look at")
	})
}

// commands are the command lines of a process that was looked at, or whose
// place a program of the suite took.
func (v *view) commands(who string) (seen [][]string) {
	for _, o := range evidence.All[evidence.Observe](v.attempt) {
		if o.Body.Who == who {
			seen = append(seen, o.Body.Argv)
		}
	}
	for _, f := range evidence.All[evidence.Finalized](v.attempt) {
		if who == scenario.Finalizer {
			seen = append(seen, f.Body.Argv)
		}
	}
	return seen
}

// consecutive says whether words stand one after another in argv.
func consecutive(argv, words []string) bool {
	for i := range argv {
		if i+len(words) <= len(argv) && slices.Equal(argv[i:i+len(words)], words) {
			return true
		}
	}
	return false
}

// killDomain: what runs out of memory in the producer's control group kills
// nobody outside of it, as neither its supervisor nor its finalizer is inside.
//
// Rules: R02.
func killDomain(v *view, w *wants) {
	finalizers := []evidence.Observe{}
	for _, o := range evidence.All[evidence.Observe](v.attempt) {
		if o.Body.Who == scenario.Finalizer {
			finalizers = append(finalizers, o.Body)
		}
	}
	for _, o := range v.observed(w) {
		own := memoryGroup(o.Cgroup)
		if own == "" {
			w.undecided(NotRun, "needs control groups that account memory")
			continue
		}
		w.that(!inside(memoryGroup(o.SupervisorCgroup), own), fmt.Sprintf("supervisor in %q, producer in %q", memoryGroup(o.SupervisorCgroup), own), "the supervisor outside")
		for _, f := range finalizers {
			w.that(!inside(memoryGroup(f.Cgroup), own), fmt.Sprintf("finalizer in %q, producer in %q", memoryGroup(f.Cgroup), own), "the finalizer outside")
		}
	}
}

// memoryGroup is the path of the group that accounts memory; "" without one.
func memoryGroup(lines []string) string {
	unified := ""
	for _, line := range lines {
		fields := strings.SplitN(line, ":", 3)
		switch {
		case len(fields) != 3:
		case slices.Contains(strings.Split(fields[1], ","), "memory"):
			return fields[2]
		case fields[1] == "":
			unified = fields[2]
		}
	}
	return unified
}

func inside(path, group string) bool {
	return path == group || strings.HasPrefix(path, strings.TrimSuffix(group, "/")+"/")
}
