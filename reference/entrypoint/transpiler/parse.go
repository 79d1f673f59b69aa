package transpiler

import (
	"slices"
)

// actionWords begin an action.
var actionWords = []string{"long", "short", "exit", "print", "note", "fail"}

// keywords are no names.
var keywords = append([]string{"strategy", "input", "let", "when", "at", "and", "or", "not", "true", "false"}, actionWords...)

// parser reads a program from its tokens; the last is end.
type parser struct {
	tokens []token
	depth  int
}

// Parse reads a strategy. Errors are *Error.
func Parse(source string) (Program, error) {
	all, err := tokens(source)
	if err != nil {
		return Program{}, err
	}
	p := parser{tokens: all}
	p.blank()
	var program Program
	if err := p.keyword("strategy"); err != nil {
		return program, err
	}
	if program.Name, err = p.text(); err != nil {
		return program, err
	}
	for {
		if err := p.lineEnd(); err != nil {
			return program, err
		}
		if p.blank(); p.peek().kind == end {
			return program, nil
		}
		if len(program.Statements) == maxStatements {
			return program, refuse(p.peek().Position, "more than %d statements", maxStatements)
		}
		s, err := p.statement()
		if err != nil {
			return program, err
		}
		program.Statements = append(program.Statements, s)
	}
}

func (p *parser) peek() token { return p.tokens[0] }

func (p *parser) take() token {
	t := p.tokens[0]
	if t.kind != end {
		p.tokens = p.tokens[1:]
	}
	return t
}

// found takes the next token if it is a symbol or keyword spelled so.
func (p *parser) found(spelled string) bool {
	t := p.peek()
	if t.text != spelled || t.kind != symbol && t.kind != word {
		return false
	}
	p.take()
	return true
}

func (p *parser) keyword(spelled string) error {
	if at := p.peek(); !p.found(spelled) {
		return refuse(at.Position, "expected %q, found %s", spelled, at)
	}
	return nil
}

func (p *parser) text() (string, error) {
	t := p.take()
	if t.kind != text {
		return "", refuse(t.Position, "expected a text, found %s", t)
	}
	return t.text, nil
}

// blank skips empty lines.
func (p *parser) blank() {
	for p.peek().kind == newline {
		p.take()
	}
}

func (p *parser) lineEnd() error {
	if t := p.peek(); t.kind != newline && t.kind != end {
		return refuse(t.Position, "expected the end of the line, found %s", t)
	}
	return nil
}

func (p *parser) statement() (s Statement, err error) {
	s.At = p.peek().Position
	switch {
	case p.found("input"):
		return p.definition(s, "input")
	case p.found("let"):
		return p.definition(s, "let")
	case p.found("when"):
		s.Word = "when"
		if s.Value, err = p.expression(); err != nil {
			return s, err
		}
		err = p.keyword(":")
	case p.found("at"):
		s.Word = "at"
		if err = p.keyword("exit"); err == nil {
			err = p.keyword(":")
		}
	default:
		s.Word = "do"
	}
	if err != nil {
		return s, err
	}
	s.Actions, err = p.actions()
	return s, err
}

// definition is NAME = expression, of an input a plain number.
func (p *parser) definition(s Statement, of string) (Statement, error) {
	s.Word = of
	t := p.take()
	if t.kind != word || slices.Contains(keywords, t.text) {
		return s, refuse(t.Position, "expected a name, found %s", t)
	}
	s.Name = t.text
	if err := p.keyword("="); err != nil {
		return s, err
	}
	at := p.peek()
	value, err := p.expression()
	if err != nil {
		return s, err
	}
	s.Value = value
	if of == "input" && value.Op != "number" && (value.Op != "neg" || value.Args[0].Op != "number") {
		return s, refuse(at.Position, "an input is a plain number")
	}
	return s, nil
}

func (p *parser) actions() (all []Action, err error) {
	for {
		a, err := p.action()
		if err != nil {
			return nil, err
		}
		all = append(all, a)
		if !p.found(";") {
			return all, nil
		}
	}
}

func (p *parser) action() (a Action, err error) {
	t := p.take()
	if t.kind != word || !slices.Contains(actionWords, t.text) {
		return a, refuse(t.Position, "expected a statement or an action, found %s", t)
	}
	a.At, a.Word = t.Position, t.text
	if a.Word == "exit" {
		return a, nil
	}
	for {
		item, err := p.expression()
		if err != nil {
			return a, err
		}
		a.Items = append(a.Items, item)
		if !p.found(",") {
			return a, nil
		}
	}
}

func (p *parser) expression() (*Expr, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, refuse(p.peek().Position, "expression nested deeper than %d", maxDepth)
	}
	e, err := p.infix(0)
	p.depth--
	return e, err
}

// infix reads one level of operators and everything that binds tighter.
func (p *parser) infix(level int) (*Expr, error) {
	if level == len(levels) {
		return p.prefix()
	}
	left, err := p.infix(level + 1)
	for length := 1; err == nil; length++ {
		operator := p.peek()
		if operator.kind != symbol && operator.kind != word || !slices.Contains(levels[level], operator.text) {
			return left, nil
		}
		if length > maxDepth {
			return nil, refuse(operator.Position, "more than %d operators in a row", maxDepth)
		}
		if level == 2 && length > 1 {
			return nil, refuse(operator.Position, "comparisons do not chain")
		}
		p.take()
		var right *Expr
		if right, err = p.infix(level + 1); err == nil {
			left = &Expr{At: operator.Position, Op: operator.text, Args: []*Expr{left, right}}
		}
	}
	return nil, err
}

func (p *parser) prefix() (*Expr, error) {
	t := p.peek()
	op := ""
	switch {
	case p.found("-"):
		op = "neg"
	case p.found("not"):
		op = "not"
	default:
		return p.primary()
	}
	if p.depth++; p.depth > maxDepth {
		return nil, refuse(t.Position, "expression nested deeper than %d", maxDepth)
	}
	arg, err := p.prefix()
	p.depth--
	if err != nil {
		return nil, err
	}
	return &Expr{At: t.Position, Op: op, Args: []*Expr{arg}}, nil
}

func (p *parser) primary() (*Expr, error) {
	t := p.take()
	e := &Expr{At: t.Position, Text: t.text}
	switch {
	case t.kind == number:
		e.Op = "number"
		return e, nil
	case t.kind == text:
		e.Op = "text"
		return e, nil
	case t.kind == symbol && t.text == "(":
		inner, err := p.expression()
		if err != nil {
			return nil, err
		}
		return inner, p.keyword(")")
	case t.kind != word || slices.Contains(keywords, t.text) && t.text != "true" && t.text != "false":
		return nil, refuse(t.Position, "expected a value, found %s", t)
	case !p.found("("):
		e.Op = "name"
		return e, nil
	}
	e.Op = "call"
	for {
		arg, err := p.expression()
		if err != nil {
			return nil, err
		}
		e.Args = append(e.Args, arg)
		if !p.found(",") {
			return e, p.keyword(")")
		}
	}
}
