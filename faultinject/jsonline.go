package faultinject

import (
	"fmt"
	"strconv"
	"strings"
)

// line writes the twin of a rule as a rule line. Every text that the twin
// brings becomes one quoted word where it must, so it cannot add clauses.
func (t jsonRule) line() (string, error) {
	clauses := []string{"rule " + quoteWord(t.ID+":") + " on " + t.On.words()}
	at, err := t.At.words(t.ID)
	if err != nil {
		return "", err
	}
	if at != "" {
		clauses = append(clauses, "at "+at)
	}
	do, err := t.Do.words(t.ID)
	if err != nil {
		return "", err
	}
	clauses = append(clauses, "do "+do)
	switch times := t.Times.(type) {
	case nil:
	case string:
		clauses = append(clauses, "times "+quoteWord(times))
	case float64:
		if times != float64(int64(times)) {
			return "", fmt.Errorf("rule %q: times: got %v, want a whole number", t.ID, times)
		}
		clauses = append(clauses, "times "+strconv.FormatInt(int64(times), 10))
	default:
		return "", fmt.Errorf("rule %q: times: want a number or \"inf\"", t.ID)
	}
	if t.Scope != "" {
		clauses = append(clauses, "scope "+quoteWord(t.Scope))
	}
	if t.Effect != "" {
		clauses = append(clauses, "effect "+quoteWord(t.Effect))
	}
	return strings.Join(clauses, " ; "), nil
}

func (t jsonOn) words() string {
	out := []string{quoteWord(strings.Join(t.Calls, ","))}
	add := func(keyword, value string) {
		if value != "" {
			out = append(out, keyword, quoteWord(value))
		}
	}
	add("fd", t.FD)
	add("path", t.Path)
	add("role", strings.Join(t.Roles, ","))
	if t.Thread != 0 {
		add("thread", strconv.Itoa(t.Thread))
	}
	for _, test := range t.Args {
		out = append(out, quoteWord(test))
	}
	return strings.Join(out, " ")
}

func counted(keyword string, n *uint64) string {
	if n == nil {
		return ""
	}
	return keyword + " " + strconv.FormatUint(*n, 10)
}

func spaced(keyword, value string) string {
	if value == "" {
		return ""
	}
	return strings.TrimSpace(keyword + " " + quoteWord(value))
}

func (t jsonAt) words(id string) (string, error) {
	at, err := oneOf(id, counted("call", t.Call), counted("every", t.Every), counted("bytes", t.Bytes),
		spaced("time", t.Time))
	return strings.TrimSpace(at + " " + spaced("after", t.After)), err
}

// words lists every member; what does not belong to the action is refused by
// the grammar, as it would be in the text form.
func (t jsonAction) words(id string) (string, error) {
	out := []string{quoteWord(t.Action)}
	add := func(word string) {
		if word != "" {
			out = append(out, word)
		}
	}
	first, err := oneOf(id, strings.TrimSpace(counted("", t.Bytes)), strings.TrimSpace(counted("", t.Value)),
		spaced("", t.Errno), spaced("", t.Delay), spaced("", t.Signal), spaced("", t.Role), spaced("", t.Name))
	add(first)
	if t.Storm != 0 {
		add("storm " + strconv.FormatUint(t.Storm, 10))
	}
	add(spaced("every", t.Every))
	add(spaced("for", t.For))
	if t.NoSigpipe {
		add("nosigpipe")
	}
	add(spaced("nudge", t.Nudge))
	add(spaced("", t.Side))
	add(spaced("max", t.Max))
	return strings.Join(out, " "), err
}
