package sinkwire

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
)

// TestReaderRefusesAltered alters the end of a sound stream.
func TestReaderRefusesAltered(t *testing.T) {
	counts := Counts{0: 1, 4: 2}
	whole := stream(counts, `["E",1,2.0,3.0]`, `["K","a",1]`, `["K","b",null]`)
	if _, err := read(whole); err != nil {
		t.Fatalf("the sound stream: %v", err)
	}
	end := bytes.LastIndex(whole, []byte(`{"end"`))
	body, trailer := whole[:end:end], string(whole[end:])
	digest := sha256.Sum256(body)
	other := sha256.Sum256(nil)
	replace := func(old, new string) []byte {
		if !strings.Contains(trailer, old) {
			t.Fatalf("the trailer has no %s", old)
		}
		return append(body, strings.Replace(trailer, old, new, 1)...)
	}
	for name, c := range map[string]struct {
		stream []byte
		kind   Kind
	}{
		"empty":                   {nil, Incomplete},
		"no trailer":              {body, Incomplete},
		"trailer without LF":      {whole[:len(whole)-1], Incomplete},
		"half a trailer":          {whole[:end+20], Incomplete},
		"half a record":           {body[:len(body)-3], Incomplete},
		"half a header":           {body[:10], Incomplete},
		"other digest":            {AppendTrailer(body, counts, other), Mismatch},
		"other count":             {AppendTrailer(body, Counts{0: 1, 4: 1}, digest), Mismatch},
		"count of another tag":    {AppendTrailer(body, Counts{0: 1, 3: 2}, digest), Mismatch},
		"LF after the trailer":    {append(bytes.Clone(whole), '\n'), Mismatch},
		"NUL after the trailer":   {append(bytes.Clone(whole), 0), Mismatch},
		"second trailer":          {append(bytes.Clone(whole), trailer...), Mismatch},
		"second stream":           {append(bytes.Clone(whole), whole...), Mismatch},
		"record after trailer":    {append(bytes.Clone(whole), `["K","a",1]`+"\n"...), Mismatch},
		"digest in upper case":    {replace(fmt.Sprintf("%x", digest), fmt.Sprintf("%X", digest)), Grammar},
		"digest of 63 digits":     {replace(fmt.Sprintf("%x", digest), fmt.Sprintf("%x", digest)[1:]), Grammar},
		"digest of 65 digits":     {replace(fmt.Sprintf("%x", digest), fmt.Sprintf("0%x", digest)), Grammar},
		"count with leading zero": {replace(`"E":1`, `"E":01`), Grammar},
		"count 1.0":               {replace(`"E":1`, `"E":1.0`), Grammar},
		"count -1":                {replace(`"E":1`, `"E":-1`), Grammar},
		"count beyond":            {replace(`"E":1`, `"E":9007199254740992`), Grammar},
		"count missing":           {replace(`"E":1,`, ``), Grammar},
		"no count":                {replace(`"E":1`, `"E":`), Grammar},
		"counts out of order":     {replace(`"E":1,"T":0`, `"T":0,"E":1`), Grammar},
		"blank in trailer":        {replace(`,"sha256"`, `, "sha256"`), Grammar},
		"other name":              {replace(`touchstone-sink`, `sink-v1`), Grammar},
		"more members":            {replace("\"}\n", "\",\"usage\":1}\n"), Grammar},
		"trailer with CR":         {replace("}\n", "}\r\n"), Grammar},
	} {
		_, err := read(c.stream)
		wantRefused(t, name, err, c.kind)
	}
}

// TestReaderStaysRefused: after a refusal nothing changes the verdict.
func TestReaderStaysRefused(t *testing.T) {
	r := NewReader()
	_, first := r.Write([]byte("no header\n"))
	wantRefused(t, "no header", first, Grammar)
	_, again := r.Write(stream(Counts{}))
	if _, last := r.Finish(); again != first || last != first {
		t.Errorf("got %v, then %v and %v, want the same", first, again, last)
	}
}
