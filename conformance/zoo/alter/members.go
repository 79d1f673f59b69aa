package alter

import (
	"fmt"
	"strconv"
	"strings"
)

// A deed is what an operator does to one member of a JSON text: the texts that
// may come of it, each with a word for what it has become.
type deed func(text []byte, m member, yield func(to string, altered []byte))

// memberDeeds are the deeds by their names in operators.tsv.
var memberDeeds = map[string]deed{
	"off-by-one": func(text []byte, m member, yield func(string, []byte)) {
		if n, ok := m.number(text); ok {
			yield("one more", splice(text, m.start, m.end, strconv.FormatUint(n+1, 10)))
			if n > 0 {
				yield("one less", splice(text, m.start, m.end, strconv.FormatUint(n-1, 10)))
			}
		}
	},
	"zero": func(text []byte, m member, yield func(string, []byte)) {
		if n, ok := m.number(text); ok && n > 1 {
			m.become(text, "0", yield)
		}
	},
	"huge":   numberTo("9007199254740991"),
	"unsafe": numberTo("9007199254740993"),
	"fraction": func(text []byte, m member, yield func(string, []byte)) {
		if _, ok := m.number(text); ok {
			yield("and a half", splice(text, m.end, m.end, ".5"))
		}
	},
	"counted": func(text []byte, m member, yield func(string, []byte)) {
		if m.kind == 'n' {
			m.become(text, "1", yield)
		}
	},
	"null": func(text []byte, m member, yield func(string, []byte)) {
		if m.kind != 'n' {
			m.become(text, "null", yield)
		}
	},
	"text": func(text []byte, m member, yield func(string, []byte)) {
		switch m.kind {
		case '0', 't', 'f', 'n':
			yield("as text", splice(text, m.start, m.end, `"`+m.value(text)+`"`))
		case '"':
			m.become(text, "1", yield)
		}
	},
	"toggled": func(text []byte, m member, yield func(string, []byte)) {
		switch m.kind {
		case 't':
			m.become(text, "false", yield)
		case 'f':
			m.become(text, "true", yield)
		case 'n':
			m.become(text, "true", yield)
			m.become(text, "false", yield)
		}
	},
	"other-word": func(text []byte, m member, yield func(string, []byte)) {
		if m.kind == '"' {
			for _, w := range otherWords(m.path, m.word(text)) {
				m.become(text, `"`+w+`"`, yield)
			}
		}
	},
	"other-hex":      otherHex,
	"absent":         worded(member.without, "absent"),
	"twice":          worded(member.twice, "twice"),
	"unknown-member": unknownMember,
	"foreign-text":   foreignText,
	"failed":         failed,
}

func (m member) number(text []byte) (uint64, bool) {
	if m.kind != '0' {
		return 0, false
	}
	n, err := strconv.ParseUint(m.value(text), 10, 64)
	return n, err == nil
}

func (m member) become(text []byte, value string, yield func(string, []byte)) {
	yield(value, splice(text, m.start, m.end, value))
}

func numberTo(value string) deed {
	return func(text []byte, m member, yield func(string, []byte)) {
		if m.kind == '0' && m.value(text) != value {
			m.become(text, value, yield)
		}
	}
}

func worded(change func(member, []byte) []byte, word string) deed {
	return func(text []byte, m member, yield func(string, []byte)) {
		if m.name >= 0 {
			yield(word, change(m, text))
		}
	}
}

// otherHex is another digest or identity: the first digit is another.
func otherHex(text []byte, m member, yield func(string, []byte)) {
	word := m.word(text)
	switch {
	case m.kind == 'n' && strings.HasSuffix(m.path, "sha256"):
		yield("a digest", splice(text, m.start, m.end, `"`+strings.Repeat("0", 64)+`"`))
	case m.kind == '"' && len(word) >= 32 && strings.Trim(word, "0123456789abcdef") == "":
		digit := "0"
		if word[0] == '0' {
			digit = "1"
		}
		yield("another", splice(text, m.start, m.end, `"`+digit+word[1:]+`"`))
	}
}

func unknownMember(text []byte, m member, yield func(string, []byte)) {
	if m.kind == '{' && m.end > m.start+2 {
		yield("with an unknown member", splice(text, m.end-1, m.end-1, `,"altered":0`))
	}
}

// foreignText is words that no record may carry: a path and a message.
func foreignText(text []byte, m member, yield func(string, []byte)) {
	if m.kind == '"' {
		yield("foreign text", splice(text, m.start, m.end, `"/etc/passwd: No such file"`))
	}
}

// failed puts a failure in the place of none, one for each code.
func failed(text []byte, m member, yield func(string, []byte)) {
	if m.kind != 'n' {
		return
	}
	authority := "supervisor"
	if strings.HasPrefix(m.path, "producer.") {
		authority = "producer"
	}
	for _, code := range codes() {
		value := fmt.Sprintf(`{"code":"%s","args":{},"authority":"%s"}`, code, authority)
		yield(code, splice(text, m.start, m.end, value))
	}
}
