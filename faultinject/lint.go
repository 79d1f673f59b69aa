package faultinject

import (
	"fmt"
	"path"
	"slices"
	"sort"
)

// Lint returns what is wrong with a plan, in file order. An entry that is not
// a warning describes a rule that cannot work: one that can never match, or
// that contradicts itself. A warning describes a fault that Linux would not
// produce, or a rule that another one hides.
//
// Names used by fd are checked against the binds and known, the names that
// the caller binds itself; with known nil every name is accepted.
func Lint(p Plan, known ...string) []*Error {
	l := &linter{plan: p, rules: map[string]int{}}
	l.names(known)
	for i, r := range p.Rules {
		if first, again := l.rules[r.ID]; again {
			l.refuse(r, "", "name is used before, at %s", p.Rules[first].Pos)
		} else {
			l.rules[r.ID] = i
		}
	}
	for i, r := range p.Rules {
		l.selection(r, known)
		l.position(r)
		l.action(r)
		l.realism(r)
		l.neighbours(i, r)
	}
	sort.SliceStable(l.found, func(i, j int) bool { return l.found[i].Pos.Line < l.found[j].Pos.Line })
	return l.found
}

type linter struct {
	plan  Plan
	rules map[string]int
	found []*Error
}

func (l *linter) add(r Rule, clause string, warning bool, format string, args ...any) {
	pos, ok := r.clauses[clause]
	if !ok {
		pos = r.Pos
	}
	l.found = append(l.found, &Error{Pos: pos, Rule: r.ID, Text: fmt.Sprintf(format, args...), Warning: warning})
}

func (l *linter) refuse(r Rule, clause, format string, args ...any) {
	l.add(r, clause, false, format, args...)
}

func (l *linter) warn(r Rule, clause, format string, args ...any) {
	l.add(r, clause, true, format, args...)
}

func (l *linter) names(known []string) {
	for _, b := range l.plan.Binds {
		text := ""
		switch {
		case b.Pattern == "":
			text = "empty pattern"
		case slices.Contains(known, b.Name):
			text = "name is bound by the caller too"
		case b.Kind == BindPath:
			if _, err := path.Match(b.Pattern, ""); err != nil {
				text = "bad pattern"
			}
		}
		if text != "" {
			l.found = append(l.found, &Error{Pos: b.Pos, Text: "bind " + b.Name + ": " + text})
		}
	}
}

func (l *linter) selection(r Rule, known []string) {
	shapes := r.shapes()
	if len(shapes) == 0 {
		l.refuse(r, "on", "no call is selected")
	}
	anyFD := slices.ContainsFunc(shapes, func(s Shape) bool { return s.FD != None })
	if (r.FD != "" || r.Scope == PerObject) && !anyFD {
		l.refuse(r, "on", "none of the calls has a descriptor")
	}
	bound := slices.ContainsFunc(l.plan.Binds, func(b Bind) bool { return b.Name == r.FD })
	if r.FD != "" && known != nil && !bound && !slices.Contains(known, r.FD) {
		l.refuse(r, "on", "fd %s is bound by nobody", r.FD)
	}
	if r.Path != "" {
		if _, err := path.Match(r.Path, ""); err != nil {
			l.refuse(r, "on", "path: bad pattern")
		}
		if !slices.ContainsFunc(shapes, func(s Shape) bool { return s.Paths[0] != None }) {
			l.refuse(r, "on", "none of the calls has a path")
		}
	}
	for arg := range 6 {
		if low, high := argBounds(r.Args, arg); low > high {
			l.refuse(r, "on", "the tests of arg%d exclude each other", arg)
		}
	}
}

func (r Rule) shapes() []Shape {
	var out []Shape
	for _, name := range r.Syscalls() {
		out = append(out, ShapeOf(name))
	}
	return out
}

// argBounds returns the inclusive range that the ordered tests leave. It
// knows nothing of != and &; low > high says that nothing is left.
func argBounds(tests []ArgTest, arg int) (low, high uint64) {
	high = ^uint64(0)
	for _, t := range tests {
		if t.Arg != arg {
			continue
		}
		switch t.Op {
		case "==":
			low, high = max(low, t.Value), min(high, t.Value)
		case ">=":
			low = max(low, t.Value)
		case "<=":
			high = min(high, t.Value)
		case ">":
			if t.Value == ^uint64(0) {
				return 1, 0
			}
			low = max(low, t.Value+1)
		case "<":
			if t.Value == 0 {
				return 1, 0
			}
			high = min(high, t.Value-1)
		case "&":
			if t.Value == 0 {
				return 1, 0
			}
		}
	}
	return low, high
}

func (l *linter) position(r Rule) {
	if (r.At.Kind == AtCall || r.At.Kind == AtEvery) && r.At.N == 0 {
		l.refuse(r, "at", "calls are counted from 1")
	}
	if r.At.Kind == AtBytes {
		if !slices.ContainsFunc(r.shapes(), Shape.Transfers) {
			l.refuse(r, "at", "none of the calls moves bytes")
		}
		if slices.ContainsFunc(r.Calls, func(c string) bool { return c == "sendmmsg" || c == "recvmmsg" }) {
			l.refuse(r, "at", "bytes cannot be counted for sendmmsg and recvmmsg, which return messages")
		}
		if r.Do.Kind.Boundary() && r.Times != 1 {
			l.refuse(r, "times", "a byte count is reached once: times must be 1")
		}
	}
	if r.At.After == "" {
		return
	}
	if _, ok := l.rules[r.At.After]; !ok {
		l.refuse(r, "at", "after %s: no such rule", r.At.After)
	}
	for seen, id := map[string]bool{}, r.ID; id != ""; id = l.afterOf(id) {
		if seen[id] {
			l.refuse(r, "at", "after %s waits for itself", r.At.After)
			return
		}
		seen[id] = true
	}
}

func (l *linter) afterOf(id string) string {
	if i, ok := l.rules[id]; ok {
		return l.plan.Rules[i].At.After
	}
	return ""
}
