package faultinject

import (
	"fmt"
	"strconv"
	"strings"
)

// Print returns the plan as text that Parse reads back to an equal plan.
// What equals its default is left out.
func Print(p Plan) string {
	var b strings.Builder
	for _, bind := range p.Binds {
		b.WriteString(bind.String() + "\n")
	}
	for _, rule := range p.Rules {
		b.WriteString(rule.String() + "\n")
	}
	return b.String()
}

// String returns the bind as one line without its end.
func (b Bind) String() string {
	return "bind " + b.Name + ": " + bindWords[b.Kind] + " " + quoteWord(b.Pattern)
}

// String returns the rule as one line without its end.
func (r Rule) String() string {
	clauses := []string{"rule " + r.ID + ": on " + r.selectionText()}
	if at := r.At.String(); at != "call 1" {
		clauses = append(clauses, "at "+at)
	}
	clauses = append(clauses, "do "+r.Do.String())
	if r.Times != r.defaultTimes() {
		clauses = append(clauses, "times "+timesText(r.Times))
	}
	if r.Scope != PerRule {
		clauses = append(clauses, "scope "+scopeWords[r.Scope])
	}
	if r.Effect != r.defaultEffect() {
		clauses = append(clauses, "effect "+effectWords[r.Effect])
	}
	return strings.Join(clauses, " ; ")
}

func timesText(times int) string {
	if times == Unlimited {
		return "inf"
	}
	return strconv.Itoa(times)
}

func (r Rule) selectionText() string {
	out := []string{strings.Join(r.Calls, ",")}
	if r.FD != "" {
		out = append(out, "fd", r.FD)
	}
	if r.Path != "" {
		out = append(out, "path", quoteWord(r.Path))
	}
	if r.Roles != Supervisor|Verifier {
		out = append(out, "role", strings.Join(r.Roles.Letters(), ","))
	}
	if r.Thread != 0 {
		out = append(out, "thread", strconv.Itoa(r.Thread))
	}
	for _, test := range r.Args {
		out = append(out, test.String())
	}
	return strings.Join(out, " ")
}

// String returns the test as one word, such as arg2>=4096.
func (a ArgTest) String() string { return fmt.Sprintf("arg%d%s%d", a.Arg, a.Op, a.Value) }

// String returns the position without its keyword at.
func (p Position) String() string {
	var out string
	switch p.Kind {
	case AtCall:
		out = fmt.Sprintf("call %d", p.N)
	case AtEvery:
		out = fmt.Sprintf("every %d", p.N)
	case AtBytes:
		out = fmt.Sprintf("bytes %d", p.N)
	case AtTime:
		out = "time " + p.Delay.String()
	}
	if p.After != "" {
		out += " after " + p.After
	}
	return out
}

// String returns the action without its keyword do.
func (a Action) String() string {
	out := actionWords[a.Kind]
	add := func(format string, args ...any) { out += fmt.Sprintf(" "+format, args...) }
	switch a.Kind {
	case DoShort, DoRet:
		add("%d", a.N)
	case DoErrno:
		add("%s", a.Errno)
		if a.Storm != 0 {
			add("storm %d", a.Storm)
		}
		if a.StormFor != 0 {
			add("for %s", a.StormFor)
		}
		if a.NoSigpipe {
			add("nosigpipe")
		}
	case DoAgain:
		if a.Nudge != 0 {
			add("nudge %s", a.Nudge)
		}
	case DoDelay:
		add("%s", a.Delay)
	case DoSignal:
		add("%s", a.Signal)
		if a.Every != 0 {
			add("every %s for %s", a.Every, a.For)
		}
	case DoKill:
		if a.Role != 0 {
			add("%s", a.Role.Letters()[0])
		}
	case DoHold, DoRelease:
		add("%s", a.Name)
	}
	if a.Late {
		add("after")
	}
	if a.Max != 0 {
		add("max %s", a.Max)
	}
	return out
}
