package oracle

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// condition is member=value, member<=N or member>=N of a noun. A value may
// list alternatives with |.
type condition struct {
	member, operator string
	values           []string
}

func parseConditions(words []string, members ...string) ([]condition, error) {
	if len(words) == 0 {
		return nil, fmt.Errorf("no member=value")
	}
	conditions := make([]condition, 0, len(words))
	for _, w := range words {
		c, err := parseCondition(w)
		if err != nil {
			return nil, err
		}
		if len(members) > 0 && !slices.Contains(members, c.member) {
			return nil, fmt.Errorf("member %q is none of %s", c.member, strings.Join(members, ", "))
		}
		conditions = append(conditions, c)
	}
	return conditions, nil
}

func parseCondition(text string) (condition, error) {
	at := strings.IndexAny(text, "=<>")
	if at <= 0 {
		return condition{}, fmt.Errorf("%q: want member=value", text)
	}
	c := condition{member: text[:at], operator: "="}
	rest := text[at:]
	for _, operator := range []string{"=<=", "=>=", "<=", ">=", "="} {
		if value, found := strings.CutPrefix(rest, operator); found {
			c.values = strings.Split(value, "|")
			if len(operator) > 1 {
				c.operator = operator[len(operator)-2:]
			}
			return c, c.checkBound()
		}
	}
	return condition{}, fmt.Errorf("%q: want =, <= or >=", text)
}

func (c condition) checkBound() error {
	if c.operator == "=" {
		return nil
	}
	if _, err := strconv.ParseUint(c.values[0], 10, 64); err != nil || len(c.values) != 1 {
		return fmt.Errorf("%s%s%s: want one decimal", c.member, c.operator, strings.Join(c.values, "|"))
	}
	return nil
}

func (c condition) String() string { return c.member + c.operator + strings.Join(c.values, "|") }

// judge compares a value of the record with the condition.
func (c condition) judge(value *node, w *wants) {
	seen := c.member + "=" + value.String()
	if c.operator == "=" {
		w.value(slices.ContainsFunc(c.values, func(v string) bool { return spelled(value, v) }), value, seen, c.String())
		return
	}
	bound, _ := strconv.ParseUint(c.values[0], 10, 64)
	got, ok := value.uint()
	w.value(ok && ((c.operator == "<=" && got <= bound) || (c.operator == ">=" && got >= bound)), value, seen, c.String())
}

// number compares a count that the host made itself.
func (c condition) number(got uint64, w *wants) {
	c.judge(&node{kind: '0', text: strconv.FormatUint(got, 10)}, w)
}

// spelled: null, true, false, a plain number or a string's own text.
func spelled(value *node, text string) bool {
	if value == nil {
		return false
	}
	switch value.kind {
	case 'n':
		return text == "null"
	case 't', 'f', '0', '"':
		return value.text == text
	}
	return false
}
