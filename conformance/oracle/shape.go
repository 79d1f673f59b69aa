package oracle

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// fault is one way in which a record is not what it must be. ID is the
// assertion that says so.
type fault struct {
	ID, Path, Seen, Wanted string
}

// shape says of one value what the contract fixes, each part under the
// assertion that fixes it.
type shape interface {
	check(path string, value *node, report func(fault))
}

type objectShape struct {
	id     string
	fields []field
}

type field struct {
	name  string
	shape shape
}

// object is a closed object: exactly these members, in any order, each once.
func object(id string, fields ...field) shape { return objectShape{id, fields} }

func (s objectShape) check(path string, value *node, report func(fault)) {
	if !value.isObject() {
		report(fault{s.id, path, value.String(), "an object"})
		return
	}
	for _, m := range value.members {
		if !slices.ContainsFunc(s.fields, func(f field) bool { return f.name == m.name }) {
			report(fault{s.id, join(path, m.name), "an unknown member", "only " + s.names()})
		}
	}
	for _, f := range s.fields {
		inner := value.member(f.name)
		if inner == nil {
			report(fault{s.id, join(path, f.name), "absent", "present"})
			continue
		}
		f.shape.check(join(path, f.name), inner, report)
	}
}

func (s objectShape) names() string {
	names := make([]string, 0, len(s.fields))
	for _, f := range s.fields {
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}

// leaf is a value that a predicate decides.
type leaf struct {
	id, wanted string
	ok         func(*node) bool
}

func (s leaf) check(path string, value *node, report func(fault)) {
	if !s.ok(value) {
		report(fault{s.id, path, value.String(), s.wanted})
	}
}

type nullableShape struct{ inner shape }

// nullable also allows null.
func nullable(inner shape) shape { return nullableShape{inner} }

func (s nullableShape) check(path string, value *node, report func(fault)) {
	if !value.isNull() {
		s.inner.check(path, value, report)
	}
}

// word is a string out of a closed list.
func word(id string, words ...string) shape {
	return leaf{id, "one of " + strings.Join(words, ", "), func(n *node) bool {
		return n.isString() && slices.Contains(words, n.text)
	}}
}

// integer is a plainly spelled integer in low..high, both included.
func integer(id string, low, high uint64) shape {
	return leaf{id, fmt.Sprintf("an integer in %d..%d", low, high), func(n *node) bool {
		value, ok := n.uint()
		return ok && value >= low && value <= high
	}}
}

func constant(id string, wanted uint64) shape {
	return leaf{id, fmt.Sprint(wanted), func(n *node) bool {
		value, ok := n.uint()
		return ok && value == wanted
	}}
}

func boolean(id string) shape {
	return leaf{id, "a boolean", func(n *node) bool { return n.isTrue() || n.isFalse() }}
}

func pattern(id, form string) shape {
	expression := regexp.MustCompile("^(?:" + form + ")$")
	return leaf{id, "text of the form " + form, func(n *node) bool {
		return n.isString() && expression.MatchString(n.text)
	}}
}

func anyObject(id string) shape { return leaf{id, "an object", (*node).isObject} }

// anyValue is a member whose type the contract leaves open.
func anyValue() shape { return leaf{ok: func(*node) bool { return true }} }
