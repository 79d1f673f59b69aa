package jsonscan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMembers(t *testing.T) {
	document := `{ "engine" : "pineforge", "n":-1.5e3 ,"t":true,"f" : false,"z":null,"l":[1, {"engine":2}],` +
		"\"args\" : { \"a\":[ 1 ],\"b\":\"\\u00e9\" }\t,\"\\u0063ode\":\"x\",\"last\":0}\n"
	want := []Member{
		{Name: "engine", Kind: '"', Raw: []byte(`"pineforge"`), Size: 11},
		{Name: "n", Kind: '0', Raw: []byte(`-1.5e3`), Size: 6},
		{Name: "t", Kind: 't', Raw: []byte(`true`), Size: 4},
		{Name: "f", Kind: 'f', Size: 5},
		{Name: "z", Kind: 'n', Size: 4},
		{Name: "l", Kind: '[', Size: 17},
		{Name: "args", Kind: '{', Raw: []byte(`{ "a":[ 1 ],"b":"\u00e9" }`), Size: 26},
		{Name: "code", Kind: '"', Raw: []byte(`"x"`), Size: 3},
		{Name: "last", Kind: '0', Raw: []byte(`0`), Size: 1},
	}
	for _, chunk := range chunkSizes {
		s := New(Limits{Capture: []string{"engine", "n", "t", "args", "code", "last", "absent"}})
		if err := feed(s, []byte(document), chunk); err != nil {
			t.Fatalf("chunks of %d: %v", chunk, err)
		}
		if diff := cmp.Diff(want, s.Members()); diff != "" {
			t.Errorf("chunks of %d: -want +got\n%s", chunk, diff)
		}
		if got := s.MemberCount(); got != len(want) {
			t.Errorf("chunks of %d: %d members, want %d", chunk, got, len(want))
		}
	}
}

func TestCaptureLimit(t *testing.T) {
	for _, chunk := range chunkSizes {
		for size, kept := range map[int]bool{9: true, 10: true, 11: false, 5000: false} {
			raw := `"` + strings.Repeat("a", size-2) + `"`
			s := New(Limits{Capture: []string{"args"}, CaptureBytes: 10})
			if err := feed(s, []byte(`{"args":`+raw+`,"b":1}`+"\n"), chunk); err != nil {
				t.Fatal(err)
			}
			got := s.Members()[0]
			if (string(got.Raw) == raw) != kept || got.Oversized == kept || got.Size != size || !kept && got.Raw != nil {
				t.Errorf("%d bytes in chunks of %d: raw %d bytes, size %d, oversized %t", size, chunk, len(got.Raw), got.Size, got.Oversized)
			}
		}
	}
}

func TestMemberListLimits(t *testing.T) {
	long := strings.Repeat("n", 9)
	document := `{"a":1,"eight by":1,"` + long + `":2,"\u006e` + long[1:] + `x":2,"b":3,"c":4,"code":5,"d":6}` + "\n"
	for _, chunk := range chunkSizes {
		s := New(Limits{Members: 3, NameBytes: 8, Capture: []string{"code"}})
		if err := feed(s, []byte(document), chunk); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, member := range s.Members() {
			names = append(names, member.Name)
		}
		if got := strings.Join(names, " "); got != "a eight by b code" {
			t.Errorf("chunks of %d: listed %q", chunk, got)
		}
		if got := s.MemberCount(); got != 8 {
			t.Errorf("chunks of %d: counted %d, want 8", chunk, got)
		}
	}
}

// TestLongCaptureName: the name limit gives way to a captured name.
func TestLongCaptureName(t *testing.T) {
	for _, chunk := range chunkSizes {
		s := New(Limits{NameBytes: 2, Capture: []string{"validation_only"}})
		if err := feed(s, []byte("{\"validation_only\":true,\"validation_only \":1}\n"), chunk); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]Member{{Name: "validation_only", Kind: 't', Raw: []byte("true"), Size: 4}}, s.Members()); diff != "" {
			t.Errorf("chunks of %d: -want +got\n%s", chunk, diff)
		}
	}
}

func TestUnfinishedMemberIsNotListed(t *testing.T) {
	s := New(Limits{Capture: []string{"b"}})
	if err := s.Write([]byte(`{"a":1,"b":"x`)); err != nil {
		t.Fatal(err)
	}
	if got := s.Members(); len(got) != 1 || got[0].Name != "a" {
		t.Errorf("listed %v, want a alone", got)
	}
	if err := s.Finish(); err == nil {
		t.Error("finish: no error")
	}
}

func TestCompactSize(t *testing.T) {
	for raw, want := range map[string]string{
		`{}`:                          `{}`,
		" { \"a\" : [ 1 , 2.50 ] } ":  `{"a":[1,2.50]}`,
		`{"a":"\u0041\u00e9\/"}`:      `{"a":"Aé/"}`,
		`{"a":"\u000a\u0001\"\\"}`:    `{"a":"\n\u0001\"\\"}`,
		`{"a":"\ud83d\ude42"}`:        `{"a":"🙂"}`,
		`{"cap_bytes":4096,"b":null}`: `{"cap_bytes":4096,"b":null}`,
	} {
		if got, err := CompactSize([]byte(raw)); err != nil || got != len(want) {
			t.Errorf("%s: got %d, %v, want %d", raw, got, err, len(want))
		}
	}
	if _, err := CompactSize([]byte(`{"a":1,"a":2}`)); err == nil {
		t.Error("a duplicate name gave a size")
	}
}
