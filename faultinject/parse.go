package faultinject

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Parse reads a plan, one rule or bind a line, and refuses what Lint refuses.
// Every refusal carries its line and column; all of them are joined into the
// returned error. Warnings are left to Lint.
func Parse(text string) (Plan, error) {
	plan, found := parsePlan(text)
	if err := join(found); err != nil {
		return Plan{}, err
	}
	if err := join(Lint(plan)); err != nil {
		return Plan{}, err
	}
	return plan, nil
}

func parsePlan(text string) (Plan, []*Error) {
	var plan Plan
	var found []*Error
	number := 0
	for line := range strings.Lines(text) {
		number++
		if err := plan.addLine(strings.TrimSuffix(line, "\n"), number); err != nil {
			err.Pos.Line = number
			found = append(found, err)
		}
	}
	return plan, found
}

func (p *Plan) addLine(line string, number int) *Error {
	words, err := lexLine(line)
	if err != nil || len(words) == 0 {
		return err
	}
	s := &scanner{words: words, line: number, end: len(line) + 1}
	switch {
	case s.accept("rule"):
		rule, err := s.rule()
		if err == nil {
			p.Rules = append(p.Rules, rule)
		}
		return err
	case s.accept("bind"):
		bind, err := s.bind()
		if err == nil {
			p.Binds = append(p.Binds, bind)
		}
		return err
	}
	return s.fail("got %q, want rule or bind", words[0].text)
}

// scanner walks over the words of one line.
type scanner struct {
	words  []word
	at     int
	line   int
	end    int // column after the line
	ruleID string
}

func (s *scanner) done() bool { return s.at == len(s.words) }

func (s *scanner) pos() Pos {
	if s.done() {
		return Pos{s.line, s.end}
	}
	return Pos{s.line, s.words[s.at].col}
}

func (s *scanner) fail(format string, args ...any) *Error {
	return &Error{Pos: s.pos(), Rule: s.ruleID, Text: fmt.Sprintf(format, args...)}
}

func (s *scanner) accept(keyword string) bool {
	if s.done() || !s.words[s.at].is(keyword) {
		return false
	}
	s.at++
	return true
}

// clauseEnds tells whether the next word, if any, closes the clause.
func (s *scanner) clauseEnds() bool { return s.done() || s.words[s.at].is(";") }

// text takes one word that is not a separator.
func (s *scanner) text(what string) (string, *Error) {
	if s.clauseEnds() {
		return "", s.fail("%s is missing", what)
	}
	s.at++
	return s.words[s.at-1].text, nil
}

func (s *scanner) number(what string) (uint64, *Error) {
	word, err := s.text(what)
	if err != nil {
		return 0, err
	}
	n, bad := strconv.ParseUint(word, 0, 64)
	if bad != nil {
		s.at--
		return 0, s.fail("%s: got %q, want a number from 0 to 2^64-1", what, word)
	}
	return n, nil
}

func (s *scanner) duration(what string) (time.Duration, *Error) {
	word, err := s.text(what)
	if err != nil {
		return 0, err
	}
	d, bad := time.ParseDuration(word)
	if bad != nil || d < 0 {
		s.at--
		return 0, s.fail("%s: got %q, want a duration such as 20ms", what, word)
	}
	return d, nil
}

func (s *scanner) name(what string) (string, *Error) {
	word, err := s.text(what)
	if err == nil && !isName(word) {
		s.at--
		err = s.fail("%s: got %q, want letters, digits, _, - or .", what, word)
	}
	return word, err
}

// named takes a word that table knows.
func named[K comparable](s *scanner, what string, table map[K]string) (K, *Error) {
	word, err := s.text(what)
	if err != nil {
		var none K
		return none, err
	}
	k, ok := reverse(table, word)
	if !ok {
		s.at--
		return k, s.fail("%s: unknown word %q", what, word)
	}
	return k, nil
}

func isName(text string) bool {
	if text == "" {
		return false
	}
	return strings.IndexFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			r == '_' || r == '-' || r == '.')
	}) < 0
}

// id takes "NAME:" and returns NAME.
func (s *scanner) id() (string, *Error) {
	word, err := s.text("name")
	if err != nil {
		return "", err
	}
	name, colon := strings.CutSuffix(word, ":")
	if !colon || !isName(name) {
		s.at--
		return "", s.fail("got %q, want a name and a colon", word)
	}
	return name, nil
}

func (s *scanner) bind() (Bind, *Error) {
	b := Bind{Pos: s.pos()}
	var err *Error
	if b.Name, err = s.id(); err != nil {
		return b, err
	}
	if b.Kind, err = named(s, "bind", bindWords); err != nil {
		return b, err
	}
	if b.Pattern, err = s.text("pattern"); err != nil {
		return b, err
	}
	if !s.done() {
		return b, s.fail("unexpected %q", s.words[s.at].text)
	}
	return b, nil
}
