package faultinject

import (
	"slices"
	"strconv"
	"strings"
)

func (s *scanner) rule() (Rule, *Error) {
	r := Rule{Pos: s.pos(), clauses: map[string]Pos{}}
	var err *Error
	if r.ID, err = s.id(); err != nil {
		return r, err
	}
	s.ruleID = r.ID
	for first := true; ; first = false {
		if first && (s.done() || !s.words[s.at].is("on")) {
			return r, s.fail("the first clause is on CALLS")
		}
		if err := s.clause(&r); err != nil {
			return r, err
		}
		if s.done() {
			break
		}
		if !s.accept(";") {
			return r, s.fail("unexpected %q", s.words[s.at].text)
		}
	}
	if r.Do.Kind == 0 {
		return r, s.fail("clause do ACTION is missing")
	}
	r.fillDefaults()
	return r, nil
}

// fillDefaults puts in what the text left out.
func (r *Rule) fillDefaults() {
	if r.Roles == 0 {
		r.Roles = Supervisor | Verifier
	}
	if r.At.Kind == 0 {
		r.At.Kind, r.At.N = AtCall, 1
	}
	if _, given := r.clauses["times"]; !given {
		r.Times = r.defaultTimes()
	}
	if _, given := r.clauses["effect"]; !given {
		r.Effect = r.defaultEffect()
	}
}

func (r *Rule) defaultTimes() int {
	if r.At.Kind == AtEvery {
		return Unlimited
	}
	return 1
}

// defaultEffect lets a failing close still close: that is what Linux does.
func (r *Rule) defaultEffect() Effect {
	calls := r.Syscalls()
	other := slices.ContainsFunc(calls, func(name string) bool { return name != "close" })
	if len(calls) > 0 && !other && r.Do.Kind.Replaces() {
		return After
	}
	return Skip
}

func (s *scanner) clause(r *Rule) *Error {
	start := s.pos()
	keyword, err := s.text("clause")
	if err != nil {
		return err
	}
	s.at--
	if _, again := r.clauses[keyword]; again {
		return s.fail("clause %s is given twice", keyword)
	}
	s.at++
	r.clauses[keyword] = start
	switch keyword {
	case "on":
		return s.onClause(r)
	case "at":
		return s.atClause(r)
	case "do":
		return s.doClause(r)
	case "times":
		return s.timesClause(r)
	case "scope":
		r.Scope, err = named(s, "scope", scopeWords)
	case "effect":
		r.Effect, err = named(s, "effect", effectWords)
	default:
		s.at--
		return s.fail("unknown clause %q", keyword)
	}
	return err
}

func (s *scanner) timesClause(r *Rule) *Error {
	if s.accept("inf") {
		r.Times = Unlimited
		return nil
	}
	n, err := s.number("times")
	if err == nil && (n < 1 || n > 1<<31) {
		s.at--
		err = s.fail("times: got %d, want 1 to 2^31 or inf", n)
	}
	r.Times = int(n)
	return err
}

func (s *scanner) onClause(r *Rule) *Error {
	calls, err := s.text("calls")
	if err != nil {
		return err
	}
	for _, call := range strings.Split(calls, ",") {
		if Expand(call) == nil {
			s.at--
			return s.fail("unknown syscall or class %q", call)
		}
		r.Calls = append(r.Calls, call)
	}
	for !s.clauseEnds() {
		if err := s.selection(r); err != nil {
			return err
		}
	}
	return nil
}

func (s *scanner) selection(r *Rule) *Error {
	var err *Error
	switch {
	case r.FD == "" && s.accept("fd"):
		r.FD, err = s.name("fd")
	case r.Path == "" && s.accept("path"):
		r.Path, err = s.text("path")
		if err == nil && r.Path == "" {
			err = s.fail("path: empty pattern")
		}
	case r.Roles == 0 && s.accept("role"):
		r.Roles, err = s.roles()
	case r.Thread == 0 && s.accept("thread"):
		r.Thread, err = s.thread()
	default:
		var test ArgTest
		if test, err = s.argTest(); err == nil {
			r.Args = append(r.Args, test)
		}
	}
	return err
}

func (s *scanner) roles() (Role, *Error) {
	word, err := s.text("role")
	if err != nil {
		return 0, err
	}
	if word == "any" {
		return Supervisor | Verifier | Untrusted, nil
	}
	var set Role
	for _, letter := range strings.Split(word, ",") {
		role, ok := roleOf(letter)
		if !ok || set&role != 0 {
			s.at--
			return 0, s.fail("role: got %q, want any, or S, V and U with commas", word)
		}
		set |= role
	}
	return set, nil
}

func (s *scanner) thread() (int, *Error) {
	if s.accept("any") {
		return 0, nil
	}
	if s.accept("leader") {
		return 1, nil
	}
	n, err := s.number("thread")
	if err == nil && (n < 1 || n > 1<<22) {
		s.at--
		err = s.fail("thread: got %d, want 1 (the leader) to 2^22", n)
	}
	return int(n), err
}

// argOps are the operators of argument tests, longer ones first.
var argOps = []string{"==", "!=", ">=", "<=", ">", "<", "&"}

// cutArgTest cuts argNopVALUE into its parts.
func cutArgTest(word string) (arg int, op, value string, ok bool) {
	rest, isArg := strings.CutPrefix(word, "arg")
	if !isArg || rest == "" || rest[0] < '0' || rest[0] > '5' {
		return 0, "", "", false
	}
	for _, op := range argOps {
		if value, found := strings.CutPrefix(rest[1:], op); found && value != "" {
			return int(rest[0] - '0'), op, value, true
		}
	}
	return 0, "", "", false
}

func (s *scanner) argTest() (ArgTest, *Error) {
	word, err := s.text("selection")
	if err != nil {
		return ArgTest{}, err
	}
	s.at--
	arg, op, text, ok := cutArgTest(word)
	if !ok {
		return ArgTest{}, s.fail("got %q, want fd, path, role, thread (each once) or argN>=VALUE", word)
	}
	value, bad := strconv.ParseUint(text, 0, 64)
	if bad != nil {
		return ArgTest{}, s.fail("argument value: got %q, want a number from 0 to 2^64-1", text)
	}
	s.at++
	return ArgTest{Arg: arg, Op: op, Value: value}, nil
}

func (s *scanner) atClause(r *Rule) *Error {
	var err *Error
	p := &r.At
	switch {
	case s.accept("call"):
		p.Kind = AtCall
		p.N, err = s.number("call")
	case s.accept("every"):
		p.Kind = AtEvery
		p.N, err = s.number("every")
	case s.accept("bytes"):
		p.Kind = AtBytes
		p.N, err = s.number("bytes")
	case s.accept("time"):
		p.Kind = AtTime
		p.Delay, err = s.duration("time")
	case !s.clauseEnds() && s.words[s.at].is("after"):
		p.Kind, p.N = AtCall, 1
	default:
		return s.fail("at: want call, every, bytes, time or after")
	}
	if err == nil && s.accept("after") {
		p.After, err = s.name("after")
	}
	return err
}
