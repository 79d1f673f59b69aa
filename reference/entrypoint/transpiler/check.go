package transpiler

import (
	"slices"
	"strconv"
)

// kinds of values.
type valueType string

const (
	aNumber valueType = "a number"
	aTruth  valueType = "a truth value"
	aText   valueType = "a text"
	aLength valueType = "a length" // of a window: a whole number or an input
)

// function is one of the language's. A kept one has state over the bars.
type function struct {
	takes []valueType
	gives valueType
	kept  bool
}

var functions = map[string]function{
	"sma":        {[]valueType{aNumber, aLength}, aNumber, true},
	"ema":        {[]valueType{aNumber, aLength}, aNumber, true},
	"highest":    {[]valueType{aNumber, aLength}, aNumber, true},
	"lowest":     {[]valueType{aNumber, aLength}, aNumber, true},
	"previous":   {[]valueType{aNumber}, aNumber, true},
	"crossover":  {[]valueType{aNumber, aNumber}, aTruth, true},
	"crossunder": {[]valueType{aNumber, aNumber}, aTruth, true},
	"known":      {[]valueType{aNumber}, aTruth, false},
	"abs":        {[]valueType{aNumber}, aNumber, false},
	"floor":      {[]valueType{aNumber}, aNumber, false},
	"min":        {[]valueType{aNumber, aNumber}, aNumber, false},
	"max":        {[]valueType{aNumber, aNumber}, aNumber, false},
}

// facts are the names that every bar has.
var facts = []string{"open", "high", "low", "close", "volume", "time", "index", "position", "entry", "equity"}

// longestWindow bounds a length (inclusive), here and in strategy.hpp.
const longestWindow = 10000

// checker holds the names that are known so far.
type checker struct {
	types  map[string]valueType
	inputs map[string]bool
	atExit bool // nothing of a bar is known
}

// check refuses a program that has no meaning. Errors are *Error.
func check(p Program) (checker, error) {
	c := checker{types: map[string]valueType{"true": aTruth, "false": aTruth}, inputs: map[string]bool{}}
	for _, name := range facts {
		c.types[name] = aNumber
	}
	for _, s := range p.Statements {
		if err := c.statement(s); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (c *checker) statement(s Statement) error {
	switch s.Word {
	case "input", "let":
		return c.define(s)
	case "when":
		if err := c.want(s.Value, aTruth); err != nil {
			return err
		}
	}
	c.atExit = s.Word == "at"
	defer func() { c.atExit = false }()
	for _, a := range s.Actions {
		if err := c.action(a); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) define(s Statement) error {
	if _, known := c.types[s.Name]; known || functions[s.Name].takes != nil {
		return refuse(s.At, "name %q: taken", s.Name)
	}
	given, err := c.expr(s.Value)
	switch {
	case err != nil:
		return err
	case given == aText:
		return refuse(s.Value.At, "a text has no name")
	}
	c.types[s.Name] = given
	c.inputs[s.Name] = s.Word == "input"
	return nil
}

func (c *checker) action(a Action) error {
	said := a.Word == "print" || a.Word == "note"
	switch {
	case c.atExit && !said:
		return refuse(a.At, "%s: nothing but print and note at exit", a.Word)
	case (a.Word == "long" || a.Word == "short") && len(a.Items) != 1:
		return refuse(a.At, "%s: one size, not %d", a.Word, len(a.Items))
	case a.Word == "fail" && (len(a.Items) != 1 || a.Items[0].Op != "text" || a.Items[0].Text == ""):
		return refuse(a.At, "fail: one text that is not empty")
	}
	for _, item := range a.Items {
		var err error
		if said || a.Word == "fail" {
			_, err = c.expr(item)
		} else {
			err = c.want(item, aNumber)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// want refuses an expression of another type.
func (c *checker) want(e *Expr, wanted valueType) error {
	if wanted == aLength {
		return c.length(e)
	}
	given, err := c.expr(e)
	if err == nil && given != wanted {
		err = refuse(e.At, "expected %s, found %s", wanted, given)
	}
	return err
}

func (c *checker) length(e *Expr) error {
	n, err := strconv.Atoi(e.Text)
	switch {
	case e.Op == "name" && c.inputs[e.Text]:
		return nil
	case e.Op != "number" || err != nil || n < 1 || n > longestWindow:
		return refuse(e.At, "expected a length: an input or a whole number of 1 to %d", longestWindow)
	}
	return nil
}

func (c *checker) expr(e *Expr) (valueType, error) {
	switch e.Op {
	case "number":
		return aNumber, nil
	case "text":
		return aText, nil
	case "name":
		given, known := c.types[e.Text]
		switch {
		case !known:
			return "", refuse(e.At, "unknown name %q", e.Text)
		case c.atExit:
			return "", refuse(e.At, "name %q: no bar at exit", e.Text)
		}
		return given, nil
	case "call":
		return c.call(e)
	}
	takes, gives := aNumber, aNumber
	switch {
	case slices.Contains([]string{"and", "or", "not"}, e.Op):
		takes, gives = aTruth, aTruth
	case slices.Contains(levels[2], e.Op):
		gives = aTruth
	}
	for _, arg := range e.Args {
		if err := c.want(arg, takes); err != nil {
			return "", err
		}
	}
	return gives, nil
}

func (c *checker) call(e *Expr) (valueType, error) {
	f, known := functions[e.Text]
	switch {
	case !known:
		return "", refuse(e.At, "unknown function %q", e.Text)
	case len(e.Args) != len(f.takes):
		return "", refuse(e.At, "%s: %d arguments, not %d", e.Text, len(f.takes), len(e.Args))
	case c.atExit && f.kept:
		return "", refuse(e.At, "%s: no bar at exit", e.Text)
	}
	for i, arg := range e.Args {
		if err := c.want(arg, f.takes[i]); err != nil {
			return "", err
		}
	}
	return f.gives, nil
}
