package admission

import (
	"bytes"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

const soundPairing = `{"version":1,"producer":{"path":"/p"},"jail":{"path":"/j"},"finalizer":{"path":"/f"},` +
	`"uids":{"first":7,"count":8},"system":["/usr","/lib"],"scratch_bytes":9,"scratch_files":10,` +
	`"transpiler":{"path":"/t"},"compiler":{"path":"/c","arguments":["-O1",""],"memory_bytes":11},"binder":{"path":"/b"}}`

// asReflection compares one way of decoding with the library's own.
func asReflection[T any](t *testing.T, content []byte, decode func(decoder, *T) error) {
	t.Helper()
	var got, want T
	wantErr := json.Unmarshal(content, &want, json.RejectUnknownMembers(true))
	gotErr := decode(decoder{jsontext.NewDecoder(bytes.NewBuffer(bytes.Clone(content)))}, &got)
	if (gotErr == nil) != (wantErr == nil) {
		t.Fatalf("%q: %v, want %v", content, gotErr, wantErr)
	}
	if diff := cmp.Diff(want, got); gotErr == nil && diff != "" {
		t.Fatalf("%q: -want +got\n%s", content, diff)
	}
}

// TestDecodersAgree: on sound documents, on each with one token replaced, and
// on each cut short.
func TestDecodersAgree(t *testing.T) {
	for _, sound := range []string{soundLaunch, soundPairing} {
		both := func(content string) {
			asReflection(t, []byte(content), decoder.launch)
			asReflection(t, []byte(content), decoder.pairing)
		}
		both(sound)
		both(sound + " \n")
		for i := range sound {
			both(sound[:i])
			for _, scrap := range []string{"null", "1", "-0", "-1", "1.0", "9223372036854775808", `"1"`, "[]", "{}", "true", " "} {
				end := i + strings.IndexAny(sound[i:]+",", ",}]")
				both(sound[:i] + scrap + sound[min(end, len(sound)):])
			}
		}
	}
}

func FuzzDecoders(f *testing.F) {
	f.Add([]byte(soundLaunch))
	f.Add([]byte(soundPairing))
	f.Fuzz(func(t *testing.T, content []byte) {
		asReflection(t, content, decoder.launch)
		asReflection(t, content, decoder.pairing)
	})
}
