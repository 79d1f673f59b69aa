package jsonscan

import (
	"errors"
	"strings"
	"testing"
)

// feed gives s the document in chunks of this size, then its end.
func feed(s *Scanner, document []byte, chunk int) error {
	for len(document) > 0 {
		n := min(chunk, len(document))
		if err := s.Write(document[:n]); err != nil {
			return err
		}
		document = document[n:]
	}
	return s.Finish()
}

func scan(document []byte, chunk int) error { return feed(New(Limits{}), document, chunk) }

// chunkSizes cut a document everywhere, here and there, and nowhere.
var chunkSizes = []int{1, 2, 3, 5, 13, 1 << 20}

func TestSoundDocuments(t *testing.T) {
	for _, document := range []string{
		`{}`,
		`{ }`,
		"{\"a\":\r\n\t [ ] , \"b\" : { } }",
		`{"":0,"a":-0,"b":1.5e+10,"c":0.1E-2,"d":1e5,"e":120}`,
		`{"a":[true,false,null,[],{},"",0]}`,
		`{"a":{"a":{"a":1},"b":[{"a":1},{"a":1}]},"b":1}`,
		`{"s":"\"\\\/\b\f\n\r\t\u0000\u001f\u00e9\uD83D\uDE42"}`,
		`{"é":1,"e\u0301":2,"` + "\u007f" + `":3}`,
		"{\"s\":\"\u0080\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff\"}",
		`{"n":123456789012345678901234567890.5e1000}`,
	} {
		for _, chunk := range chunkSizes {
			if err := scan([]byte(document+"\n"), chunk); err != nil {
				t.Errorf("%q in chunks of %d: %v", document, chunk, err)
			}
		}
	}
}

// TestBrokenDocuments has one defect in each document. The offset is that of
// the first ^ in the document, which is taken out, or else its length.
func TestBrokenDocuments(t *testing.T) {
	for rule, documents := range map[Rule][]string{
		RuleIncomplete: {
			"", "{", `{"a`, `{"a"`, `{"a":`, `{"a":1`, `{"a":"\`, `{"a":"\ud83d\`, `{"a":tru`, `{"a":1,`, "{\"a\":\"\xf0\x9f",
			"{}",
		},
		RuleStart: {"^ {}\n", "^\xef\xbb\xbf{}\n", "^[]\n", "^1\n", "^\"a\"\n", "^\n{}\n", "^\x00{}\n"},
		RuleEnd: {
			"{}^ \n", "{}^\r\n", "{}^{}\n", "{}\n^{}\n", "{}\n^\n", "{}\n^ ", "{}^,\n", "{}^}\n", "{}\n^\x00",
		},
		RuleStructure: {
			"{^,}\n", `{"a"^}` + "\n", `{"a"^,"b":1}` + "\n", `{"a":^}` + "\n", `{"a":1,^}` + "\n", `{"a":1^"b":2}` + "\n",
			`{^a:1}` + "\n", `{^'a':1}` + "\n", `{"a":[^,1]}` + "\n", `{"a":[1,^]}` + "\n", `{"a":[1^}` + "\n", `{"a":1^]` + "\n",
			`{"a":[1^:2]}` + "\n", `{"a":^:1}` + "\n", "{\"a\":^\v1}\n", "{^\u00a0}\n", `{^/**/}` + "\n", `{"a":^.5}` + "\n",
			`{"a":^+1}` + "\n", `{"a":^NaN}` + "\n", `{"a":^Infinity}` + "\n", `{"a":"b"^"c"}` + "\n", `{^1:2}` + "\n", "{^{}}\n",
			`{"a":{}^{}}` + "\n", `{"a":^'b'}` + "\n", "{\"a\":1^\x00}\n",
		},
		RuleNumber: {
			`{"a":0^1}`, `{"a":-^}`, `{"a":-^a}`, `{"a":1.^}`, `{"a":1.^e1}`, `{"a":1e^}`, `{"a":1e+^}`, `{"a":1.5^.5}`, `{"a":-^Infinity}`,
			`{"a":1^-1}`, `{"a":1e5^.0}`, `{"a":0e^}`, `{"a":0^0}`, `{"a":-0^0}`, `{"a":1e1^e1}`,
		},
		RuleLiteral:   {`{"a":t^urn}`, `{"a":nul^}`, `{"a":f^}`, `{"a":n^an}`, `{"a":tr^UE}`},
		RuleControl:   {"{\"a\":\"^\n\"}", "{\"a\":\"b^\x00\"}", "{\"^\t\":1}", "{\"a\":\"abcdefgh^\x1f\"}"},
		RuleEscape:    {`{"a":"\^x"}`, `{"a":"\^'"}`, `{"a":"\u12^g4"}`, `{"a":"\u^"}`, `{"\^0":1}`, `{"a":"\^U0041"}`},
		RuleSurrogate: {`{"a":"\ud800^"}`, `{"a":"\ud800^x"}`, `{"a":"\udc00^"}`, `{"a":"\ud800\^n"}`, `{"a":"\ud800\ud800^"}`, `{"\udfff^":1}`, `{"a":"\ud800\u0041^"}`},
		RuleUTF8: {
			"{\"a\":\"^\x80\"}", "{\"a\":\"^\xc0\x80\"}", "{\"a\":\"^\xc1\xbf\"}", "{\"a\":\"^\xe0\x80\x80\"}", "{\"a\":\"^\xe0\x9f\xbf\"}",
			"{\"a\":\"^\xed\xa0\x80\"}", "{\"a\":\"^\xed\xbf\xbf\"}", "{\"a\":\"^\xf0\x80\x80\x80\"}", "{\"a\":\"^\xf4\x90\x80\x80\"}",
			"{\"a\":\"^\xf5\x80\x80\x80\"}", "{\"a\":\"^\xff\"}", "{\"a\":\"^\xe2\x82\"}", "{\"^\xfe\":1}", "{\"a\":\"^\xf0\x9f\x99\"}", "{\"a\":\"^\xc2\"}",
		},
		RuleDuplicate: {
			`{"a":1,"a"^:2}`, `{"a":1,"\u0061"^:2}`, `{"\u0061":1,"a"^:2}`, `{"":1,""^:2}`, `{"x":{"b":[{"a":1,"b":2,"a"^:3}]}}`,
			`{"a":{"a":1},"a"^:2}`, `{"é":1,"\u00E9"^:2}`, `{"🙂":1,"\ud83d\ude42"^:2}`, `{"/":1,"\/"^:2}`, `{"\n":1,"\u000a"^:2}`,
		},
	} {
		for _, marked := range documents {
			at := strings.IndexByte(marked, '^')
			document := strings.ReplaceAll(marked, "^", "")
			if at < 0 {
				at = len(document)
			}
			checkBroken(t, document, rule, int64(at))
		}
	}
}

func checkBroken(t *testing.T, document string, rule Rule, offset int64) {
	t.Helper()
	for _, chunk := range chunkSizes {
		s := New(Limits{})
		err := feed(s, []byte(document), chunk)
		var broken *Error
		if !errors.As(err, &broken) || broken.Rule != rule || broken.Offset != offset {
			t.Errorf("%q in chunks of %d: got %v, want byte %d: %s", document, chunk, err, offset, rule)
			return
		}
		if !s.Failed() || s.Write([]byte("x")) != err || s.Finish() != err {
			t.Errorf("%q in chunks of %d: does not stay failed", document, chunk)
		}
	}
}

func TestWriteAfterFinish(t *testing.T) {
	s := New(Limits{})
	if err := feed(s, []byte("{}\n"), 1); err != nil || s.Failed() {
		t.Fatalf("sound document: %v", err)
	}
	if err := s.Finish(); err != nil {
		t.Errorf("second finish: %v", err)
	}
	var broken *Error
	if err := s.Write([]byte("\n")); !errors.As(err, &broken) || *broken != (Error{Offset: 3, Rule: RuleFinished}) {
		t.Errorf("write after finish: %v", err)
	}
}

func TestErrorText(t *testing.T) {
	err := scan([]byte("[]\n"), 1)
	if got, want := err.Error(), "scan candidate: byte 0: the first byte is not {"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
