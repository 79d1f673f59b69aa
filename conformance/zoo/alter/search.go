package alter

import (
	"slices"
	"strings"

	"touchstone/conformance/evidence"
	"touchstone/conformance/oracle"
	"touchstone/conformance/script"
)

// Upset is a check that passed on evidence as it was recorded and failed on
// the same with one thing altered.
type Upset struct {
	ID       string `json:"id"`
	Operator string `json:"operator"`
	Target   string `json:"target"` // what was altered, and to what
	Cell     string `json:"cell"`
	Script   string `json:"script"`
	Attempt  int    `json:"attempt"` // within the script and cell
}

// Case is a script in a cell with all that it asked the oracle.
type Case struct {
	Script, Cell string
	Asked        []script.Judgement
}

// question is one assertion that a judgement passed of one attempt.
type question struct {
	id string
	script.Judgement
}

// asks gives the judgements of an attempt and what each of them passed. A check
// that must hold of each attempt of a launch is asked of this one alone.
func (c Case) asks(a *evidence.Attempt) (all []question) {
	for _, j := range c.Asked {
		if !slices.Contains(j.Attempts, a) {
			continue
		}
		if j.Universal() || j.Words[0] != "attempts" {
			j.Attempts = []*evidence.Attempt{a}
		}
		for _, f := range j.Findings() {
			if f.Verdict == oracle.Pass {
				all = append(all, question{f.ID, j})
			}
		}
	}
	return all
}

// attempts are those that something was asked of, in order.
func (c Case) attempts() (all []*evidence.Attempt) {
	seen := map[*evidence.Attempt]bool{}
	for _, j := range c.Asked {
		for _, a := range j.Attempts {
			if !seen[a] {
				seen[a] = true
				all = append(all, a)
			}
		}
	}
	return all
}

// fails are the assertions among some questions that fail with an attempt in
// another's place.
func fails(questions []question, a *evidence.Attempt, as variant) (ids []question) {
	var universal []oracle.Finding
	for _, q := range questions {
		attempts := slices.Clone(q.Attempts)
		attempts[slices.Index(attempts, a)] = as.attempt
		q.Judgement.Attempts = attempts
		findings := universal
		switch {
		case !q.Universal():
			findings = q.Findings()
		case universal == nil && as.lost != "":
			findings = oracle.Without(as.lost, as.attempt, q.Facts)
		case universal == nil:
			findings = q.Findings()
		}
		if q.Universal() {
			universal = findings
		}
		if slices.ContainsFunc(findings, func(f oracle.Finding) bool { return f.ID == q.id && f.Verdict == oracle.Fail }) {
			ids = append(ids, q)
		}
	}
	return ids
}

// Search is a hunt, over one case after another, for an alteration that upsets
// each assertion.
type Search struct {
	Operators []Operator
	Passed    map[string]bool            // assertions that some check passed
	Upset     map[string]Upset           // by assertion: the first alteration that upset it
	First     map[string]Upset           // by operator: the first assertion that noticed it
	Noticed   map[string]map[string]bool // by operator: the assertions that noticed it, as far as they were asked
	Judged    int                        // alterations
	Every     bool                       // also ask what was upset before, for Noticed

	swept map[string]int
}

// NewSearch is a search with some operators.
func NewSearch(operators []Operator) *Search {
	return &Search{Operators: operators, Passed: map[string]bool{}, Upset: map[string]Upset{}, First: map[string]Upset{}, Noticed: map[string]map[string]bool{},
		swept: map[string]int{}}
}

// Aimed alters what the checks of a case look at: of a check that nothing has
// upset yet all of it, of others by operators that nothing has noticed yet.
func (s *Search) Aimed(c Case) {
	for _, a := range c.attempts() {
		var about *subject
		for _, q := range c.asks(a) {
			s.Passed[q.id] = true
			if q.Universal() {
				continue
			}
			if about == nil {
				about = newSubject(a, c.Asked)
			}
			aimed := aimOf(q.Words)
			about.aim = &aimed
			s.try(c, about, []question{q}, aimed.takes)
		}
	}
}

// sweeps is how many attempts are altered in all their parts for one of the
// checks of every attempt: an assertion that none of them upsets needs a look.
const sweeps = 3

// Universal alters everything about the first attempt of a case, as long as
// one of the checks of every attempt is not upset, or an operator not noticed.
func (s *Search) Universal(c Case) {
	all := c.attempts()
	if len(all) == 0 {
		return
	}
	var asked []question
	for _, q := range c.asks(all[0]) {
		if s.Passed[q.id] = true; q.Universal() && s.swept[q.id] < sweeps {
			s.swept[q.id]++
			asked = append(asked, q)
		}
	}
	s.try(c, newSubject(all[0], c.Asked), asked, everything)
}

// Whole alters everything about each attempt of a case, as long as something
// that was asked of it is not upset.
func (s *Search) Whole(c Case) {
	for _, a := range c.attempts() {
		s.try(c, newSubject(a, c.Asked), c.asks(a), everything)
	}
}

func everything(Operator) bool { return true }

func (s *Search) done(id string) bool {
	_, upset := s.Upset[id]
	return upset && !s.Every
}

func (s *Search) try(c Case, about *subject, asked []question, takes func(Operator) bool) {
	for _, o := range s.Operators {
		if !takes(o) {
			continue
		}
		open := func() []question {
			return slices.DeleteFunc(slices.Clone(asked), func(q question) bool {
				settled := s.done(q.id) && len(s.Noticed[o.Name]) > 0
				return settled || s.Noticed[o.Name][q.id] || (o.Broad && !slices.Contains(o.IDs, q.id))
			})
		}
		if len(open()) == 0 {
			continue
		}
		o.apply(about, func(target string, as variant) {
			questions := open()
			if len(questions) == 0 {
				return
			}
			s.Judged++
			for _, q := range fails(questions, about.attempt, as) {
				s.upset(o, target, c, q, about.attempt.Scenario.Number)
			}
		})
	}
}

func (s *Search) upset(o Operator, target string, c Case, q question, number int) {
	s.notice(o.Name, q.id)
	row := Upset{q.id, o.Name, oneLine(target), c.Cell, c.Script, number}
	if _, before := s.Upset[q.id]; !before {
		s.Upset[q.id] = row
	}
	if _, before := s.First[o.Name]; !before {
		s.First[o.Name] = row
	}
}

func (s *Search) notice(operator, id string) {
	if s.Noticed[operator] == nil {
		s.Noticed[operator] = map[string]bool{}
	}
	s.Noticed[operator][id] = true
}

func oneLine(text string) string {
	return strings.NewReplacer("\t", " ", "\n", " ").Replace(text)
}
