package jsonscan

import (
	"fmt"
	"strings"
	"testing"
)

// object spells an object with these names.
func object(names ...string) string {
	var members []string
	for i, name := range names {
		members = append(members, fmt.Sprintf(`"%s":%d`, name, i))
	}
	return "{" + strings.Join(members, ",") + "}"
}

func numbered(n int, form string) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf(form, i))
	}
	return names
}

// TestShapesAtEveryCut: objects like the one before them, and those that only
// begin so, have the oracle's verdict and the same error wherever one cut falls.
func TestShapesAtEveryCut(t *testing.T) {
	abc := object("a", "b", "c")
	many, long := numbered(shapeNames, "%02d"), numbered(4, "%0250d")
	tooMany, tooLong := numbered(shapeNames+1, "%02d"), numbered(5, "%0250d")
	deep := func(inner string, levels int) string {
		return strings.Repeat(`{"a":1,"b":[`, levels) + inner + strings.Repeat("]}", levels)
	}
	for name, rows := range map[string][]string{
		"same":             {abc, abc, abc},
		"fewer":            {abc, object("a", "b"), object("a"), "{}", abc},
		"more":             {abc, object("a", "b", "c", "d"), object("a", "b", "c", "d")},
		"repeats first":    {abc, object("a", "a")},
		"repeats followed": {abc, object("a", "b", "c", "b")},
		"repeats later":    {abc, object("a", "b", "d", "b")},
		"repeats entered":  {abc, object("a", "d", "c", "d")},
		"other spelling":   {abc, object("a", `\u0062`, "c"), object("a", "b", `\u0061`)},
		"longer name":      {abc, object("a", "bb", "c"), object("a", "b")},
		"shorter name":     {object("aa", "b"), object("a", "b", "a")},
		"another order":    {abc, object("b", "a", "c"), object("b", "a", "c", "a")},
		"blanks":           {abc, `{ "a" : 1 , "b":2,"c" :3}`, `{ "a" : 1 , "b":2,"a" :3}`},
		"nested":           {deep(abc, 3), deep(abc, 3), deep(object("a", "b", "c", "a"), 3)},
		"nested same":      {`{"a":{"a":1,"b":2},"b":{"a":1,"b":2}}`, `{"a":{"a":1,"b":2},"b":{"a":1,"b":2},"a":1}`},
		"too deep to keep": {deep(abc, shapeDepths+2), deep(abc, shapeDepths+2), deep(object("a", "a"), shapeDepths+2)},
		"as many":          {object(many...), object(many...), object(append(many, many[63])...)},
		"too many":         {object(tooMany...), object(tooMany...), object(append(tooMany, tooMany[64])...)},
		"as long":          {object(long...), object(long...), object(append(long, long[3])...)},
		"too long":         {object(tooLong...), object(tooLong...), object(append(tooLong, tooLong[4])...)},
	} {
		for n := range rows {
			document := []byte(`{"rows":[` + strings.Join(rows[:n+1], ",") + "]}\n")
			for cut := 1; cut <= len(document); cut++ {
				if err := compare(sample{document, []int{cut, len(document)}}); err != nil {
					t.Fatalf("%s: %d rows, cut at %d: %v", name, n+1, cut, err)
				}
			}
		}
	}
}

// TestFollowedNamesCount: they are live as others are, and no longer.
func TestFollowedNamesCount(t *testing.T) {
	row := object("a", "b")
	for _, test := range []struct {
		document string
		keys     int
		refused  bool // behind the last b
	}{
		{`{"x":[` + row + `,` + row + `,` + row + `]}`, 3, false},
		{`{"x":[` + row + `],"y":[` + row + `]}`, 4, false},
		{`{"x":[` + row + `],"y":[` + row + `]}`, 3, true},
		{`{"x":[` + row + `,{"a":1,"c":[` + row + `]}]}`, 4, true},
	} {
		for cut := 1; cut <= len(test.document); cut++ {
			scanner := New(Limits{LiveKeys: test.keys})
			err := feedCuts(scanner, sample{[]byte(test.document + "\n"), []int{cut, 100}})
			want := error(nil)
			if test.refused {
				want = &Error{Offset: int64(strings.LastIndex(test.document, `"b"`) + 3), Rule: RuleLiveKeys}
			}
			if !sameError(err, want) {
				t.Errorf("%s with %d keys, cut at %d: %v, want %v", test.document, test.keys, cut, err, want)
			}
		}
	}
}
