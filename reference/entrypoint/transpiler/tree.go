package transpiler

import (
	"strings"
)

// Program is a parsed strategy.
type Program struct {
	Name       string
	Statements []Statement
}

// Statement is one line. Which members it has follows from Word.
type Statement struct {
	At      Position
	Word    string // input, let, when, do (actions without a condition), at
	Name    string // input, let
	Value   *Expr  // input: a number, a minus before it allowed; let; when: the condition
	Actions []Action
}

// Action is one thing that a strategy does on a bar, or at the exit.
type Action struct {
	At    Position
	Word  string  // long, short: Items is the size; exit; print, note, fail: Items is what is said
	Items []*Expr // a text is an item only where something is said
}

// Expr is an expression: an operator or function with its arguments, or a leaf.
type Expr struct {
	At   Position
	Op   string // number, text, name, call, not, neg, or an infix operator
	Text string // of a leaf; of a call, the function
	Args []*Expr
}

// levels are the infix operators by how loosely they bind, loosest first.
// Comparisons do not chain.
var levels = [][]string{{"or"}, {"and"}, {"<", "<=", ">", ">=", "==", "!="}, {"+", "-"}, {"*", "/"}}

// Format spells a program so that Parse reads it back: one statement a line,
// every operator's arguments in parentheses.
func (p Program) Format() string {
	var b strings.Builder
	b.WriteString("strategy " + quote(p.Name) + "\n")
	for _, s := range p.Statements {
		b.WriteString(s.format() + "\n")
	}
	return b.String()
}

func (s Statement) format() string {
	var actions []string
	for _, a := range s.Actions {
		var items []string
		for _, item := range a.Items {
			items = append(items, item.format())
		}
		actions = append(actions, strings.TrimSpace(a.Word+" "+strings.Join(items, ", ")))
	}
	done := strings.Join(actions, "; ")
	switch s.Word {
	case "do":
		return done
	case "at":
		return "at exit: " + done
	case "when":
		return "when " + s.Value.format() + ": " + done
	}
	return s.Word + " " + s.Name + " = " + s.Value.format()
}

func (e *Expr) format() string {
	switch e.Op {
	case "number", "name":
		return e.Text
	case "text":
		return quote(e.Text)
	case "neg":
		return "-" + e.Args[0].nested()
	case "not":
		return "not " + e.Args[0].nested()
	case "call":
		var args []string
		for _, arg := range e.Args {
			args = append(args, arg.format())
		}
		return e.Text + "(" + strings.Join(args, ", ") + ")"
	}
	return e.Args[0].nested() + " " + e.Op + " " + e.Args[1].nested()
}

func (e *Expr) nested() string {
	if len(e.Args) == 0 || e.Op == "call" {
		return e.format()
	}
	return "(" + e.format() + ")"
}

func quote(text string) string {
	return `"` + strings.NewReplacer("\n", `\n`, "\t", `\t`, `"`, `\"`, `\`, `\\`).Replace(text) + `"`
}
