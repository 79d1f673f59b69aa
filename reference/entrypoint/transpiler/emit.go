package transpiler

import (
	"fmt"
	"slices"
	"strings"
)

// Transpile returns the C++ of a strategy. The same text always gives the same
// C++. Errors are *Error.
func Transpile(source string) (string, error) {
	p, err := Parse(source)
	if err != nil {
		return "", err
	}
	c, err := check(p)
	if err != nil {
		return "", err
	}
	e := emitter{checker: c}
	for _, s := range p.Statements {
		e.statement(s)
	}
	return e.file(p.Name), nil
}

// emitter collects the parts of the generated file.
type emitter struct {
	checker
	inputs, members, setters, bar, exit []string
	kept                                int // members with state so far
}

func (e *emitter) file(name string) string {
	var b strings.Builder
	section := func(indent string, lines []string) {
		for _, line := range lines {
			b.WriteString(indent + line + "\n")
		}
	}
	b.WriteString("// Written by reftranspile. Strategy: " + literal(name) + "\n#include <strategy.hpp>\n\nnamespace {\n\n")
	b.WriteString("struct generated final : touchstone::strategy {\n")
	section("\t", slices.Concat(e.inputs, e.members))
	b.WriteString("\n\tdouble *input(const std::string &key) override\n\t{\n")
	section("\t\t", e.setters)
	b.WriteString("\t\t(void)key;\n\t\treturn nullptr;\n\t}\n\n\tvoid bar() override\n\t{\n")
	section("\t\t", e.bar)
	b.WriteString("\t}\n};\n\n")
	if len(e.exit) > 0 {
		b.WriteString("struct farewell {\n\t~farewell()\n\t{\n")
		section("\t\t", e.exit)
		b.WriteString("\t}\n} at_exit;\n\n")
	}
	b.WriteString("} // namespace\n\nTOUCHSTONE_STRATEGY(generated)\n")
	return b.String()
}

func (e *emitter) statement(s Statement) {
	switch s.Word {
	case "input":
		e.inputs = append(e.inputs, fmt.Sprintf("double %s = %s;", variable(s.Name), e.expr(s.Value)))
		e.setters = append(e.setters, fmt.Sprintf("if (key == %s)", literal(s.Name)), "\treturn &"+variable(s.Name)+";")
	case "let":
		declared := map[valueType]string{aNumber: "double", aTruth: "bool"}[e.types[s.Name]]
		e.bar = append(e.bar, fmt.Sprintf("const %s %s = %s;", declared, variable(s.Name), e.expr(s.Value)),
			"(void)"+variable(s.Name)+";")
	case "at":
		for _, a := range s.Actions {
			e.exit = append(e.exit, e.action(a)...)
		}
	default:
		e.rule(s)
	}
}

// rule evaluates what its actions need before its condition is looked at: a
// call with state sees every bar.
func (e *emitter) rule(s Statement) {
	condition := "true"
	if s.Value != nil {
		condition = e.expr(s.Value)
	}
	var done []string
	for _, a := range s.Actions {
		done = append(done, e.action(a)...)
	}
	e.bar = append(e.bar, "if ("+condition+") {")
	for _, line := range done {
		e.bar = append(e.bar, "\t"+line)
	}
	e.bar = append(e.bar, "}")
}

func (e *emitter) action(a Action) (lines []string) {
	switch a.Word {
	case "long", "short":
		return []string{"enter_" + a.Word + "(" + e.expr(a.Items[0]) + ");"}
	case "exit":
		return []string{"leave();"}
	case "fail":
		return []string{"fail(" + literal(a.Items[0].Text) + ");"}
	}
	for _, item := range a.Items { // print is C++'s stream, note is C's; neither is flushed
		lines = append(lines, "touchstone::"+a.Word+"("+e.expr(item)+");")
	}
	return append(lines, "touchstone::"+a.Word+`("\n");`)
}

// expr returns the C++ of an expression; a call with state is evaluated in a
// line of its own before.
func (e *emitter) expr(x *Expr) string {
	switch x.Op {
	case "number":
		if strings.Contains(x.Text, ".") {
			return x.Text
		}
		return x.Text + ".0"
	case "text":
		return literal(x.Text)
	case "name":
		if x.Text == "true" || x.Text == "false" {
			return x.Text
		}
		if slices.Contains(facts, x.Text) {
			return "now." + x.Text
		}
		return variable(x.Text)
	case "call":
		return e.call(x)
	case "neg":
		return "(-" + e.expr(x.Args[0]) + ")"
	case "not":
		return "(!" + e.expr(x.Args[0]) + ")"
	}
	op := map[string]string{"and": "&&", "or": "||"}[x.Op]
	if op == "" {
		op = x.Op
	}
	left := e.expr(x.Args[0])
	return "(" + left + " " + op + " " + e.expr(x.Args[1]) + ")"
}

func (e *emitter) call(x *Expr) string {
	var args []string
	for _, arg := range x.Args {
		args = append(args, e.expr(arg))
	}
	list := strings.Join(args, ", ")
	f := functions[x.Text]
	if !f.kept {
		return "touchstone::" + x.Text + "(" + list + ")"
	}
	e.kept++
	e.members = append(e.members, fmt.Sprintf("touchstone::%s kept_%d;", x.Text, e.kept))
	e.bar = append(e.bar, fmt.Sprintf("const auto value_%d = kept_%d.next(%s);", e.kept, e.kept, list))
	return fmt.Sprintf("value_%d", e.kept)
}

// variable is the C++ name of a name: no keyword of C++, none of the runtime.
func variable(name string) string { return "v_" + name }

// literal spells a text as a C++ string: ASCII only, three digits for all else,
// so that no character after it can change its meaning.
func literal(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(text) {
		switch c := text[i]; {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', strings.IndexByte(" .,:;()+-*/=<>_'!#%&@[]{}|^~$", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, `\%03o`, c)
		}
	}
	return b.String() + `"`
}
