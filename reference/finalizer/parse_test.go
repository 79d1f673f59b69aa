package finalizer

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/prop"

	"touchstone/reference/sinkwire"
)

const verified = `{"receipt":"touchstone-finalizer","version":1,"finalizer_version":"1.0.0","complete":true,"reason":null,` +
	`"sink_bytes":1318,"cap_bytes":2000,"counts":{"E":3,"T":1,"O":3,"V":3,"K":3,"X":2,"H":1},` +
	`"sha256":"0209b7ea0d875a158bbf467b729d927dee7a433dd204ca9876d1ad767bd0a090","field":null}` + "\n"

const refused = `{"receipt":"touchstone-finalizer","version":1,"finalizer_version":"1.0.0","complete":false,"reason":"canonical_value",` +
	`"sink_bytes":626,"cap_bytes":null,"counts":null,"sha256":null,"field":"E.equity"}` + "\n"

func TestParseReceiptRefuses(t *testing.T) {
	for _, sound := range []string{verified, refused} {
		r, err := ParseReceipt([]byte(sound))
		if again := string(r.Append(nil)); err != nil || again != sound {
			t.Fatalf("%v, again %s, want %s", err, again, sound)
		}
	}
	for _, c := range []struct{ of, old, new string }{
		{verified, "\n", ""}, {verified, "\n", "\n\n"}, {verified, "\n", "x\n"}, {verified, "{\"receipt", " {\"receipt"},
		{verified, "\n", strings.Repeat(" ", MaxReceiptBytes) + "\n"},
		{verified, `"touchstone-finalizer"`, `"other"`}, {verified, `"version":1`, `"version":2`}, {verified, `"version":1`, `"version":"1"`},
		{verified, `"version":1,`, `"version":1,"version":1,`}, {verified, `"version":1,`, ``}, {verified, `"version":1,`, `"version":1,"x":1,`},
		{verified, `"1.0.0"`, `""`}, {verified, `"1.0.0"`, `null`}, {verified, `"complete":true`, `"complete":false`},
		{verified, `"complete":true`, `"complete":null`}, {verified, `"reason":null`, `"reason":"io"`},
		{verified, `1318`, `-1`}, {verified, `1318`, `null`}, {verified, `1318`, `9007199254740992`}, {verified, `1318`, `1.5`},
		{verified, `2000`, `-1`}, {verified, `"E":3,`, ``}, {verified, `"E":3,`, `"E":3,"Z":0,`}, {verified, `"E":3`, `"E":-1`},
		{verified, `"E":3`, `"E":null`}, {verified, `{"E":3,"T":1,"O":3,"V":3,"K":3,"X":2,"H":1}`, `null`},
		{verified, `0209`, `020`}, {verified, `0209`, `02090`}, {verified, `7ea0d`, `7EA0D`}, {verified, `7ea0d`, `7zzzz`},
		{verified, `"field":null`, `"field":"E.equity"`}, {verified, `1.0.0`, "1\xff0"},
		{refused, `"reason":"canonical_value"`, `"reason":"grammar"`}, {refused, `"reason":"canonical_value"`, `"reason":"other"`},
		{refused, `"reason":"canonical_value"`, `"reason":null`}, {refused, `"E.equity"`, `null`}, {refused, `"E.equity"`, `"T.n"`},
		{refused, `"counts":null`, `"counts":{"E":0,"T":0,"O":0,"V":0,"K":0,"X":0,"H":0}`}, {refused, `"sha256":null`, `"sha256":""`},
		{refused, `"complete":false`, `"complete":true`},
	} {
		altered := strings.Replace(c.of, c.old, c.new, 1)
		if r, err := ParseReceipt([]byte(altered)); altered == c.of || err == nil {
			t.Errorf("%s: got %+v, want it refused", altered, r)
		}
	}
	if _, err := ParseReceipt(nil); err == nil {
		t.Error("an empty receipt is taken")
	}
}

func TestReceiptRoundTrip(t *testing.T) {
	parameters := gopter.DefaultTestParameters()
	parameters.MinSuccessfulTests = 2000
	t.Logf("seed %d", parameters.Seed())
	receipts := func(p *gopter.GenParameters) *gopter.GenResult {
		r := Receipt{FinalizerVersion: "1.0.0", SinkBytes: p.Rng.Int63n(sinkwire.MaxInteger + 1)}
		if p.Rng.Intn(2) == 0 {
			n := p.Rng.Int63n(sinkwire.MaxInteger + 1)
			r.CapBytes = &n
		}
		if r.Complete = p.Rng.Intn(2) == 0; r.Complete {
			for i := range r.Counts {
				r.Counts[i] = p.Rng.Int63n(1000)
			}
			p.Rng.Read(r.SHA256[:])
		} else if r.Reason = reasons[p.Rng.Intn(len(reasons))]; r.Reason == reasonCanonical {
			r.Field = "E.equity"
		}
		return gopter.NewGenResult(r, gopter.NoShrinker)
	}
	properties := gopter.NewProperties(parameters)
	properties.Property("what is appended is read", prop.ForAll(func(r Receipt) (bool, error) {
		line := r.Append(nil)
		got, err := ParseReceipt(line)
		if again := got.Append(nil); err != nil || !bytes.Equal(again, line) || len(line) > MaxReceiptBytes {
			return false, fmt.Errorf("%w: %s, again %s", err, line, again)
		}
		return true, nil
	}, receipts))
	properties.TestingRun(t)
}

// FuzzParseReceipt: what is taken is taken again in its one spelling.
func FuzzParseReceipt(f *testing.F) {
	f.Add([]byte(verified))
	f.Add([]byte(refused))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := ParseReceipt(line)
		if err != nil {
			return
		}
		if strings.ContainsAny(r.FinalizerVersion+r.Field, "\"\\") || strings.ToValidUTF8(r.FinalizerVersion+r.Field, "") != r.FinalizerVersion+r.Field {
			return // Append spells only plain words
		}
		for _, b := range []byte(r.FinalizerVersion + r.Field) {
			if b < 0x20 {
				return
			}
		}
		again, err := ParseReceipt(r.Append(nil))
		if err != nil || !bytes.Equal(again.Append(nil), r.Append(nil)) {
			t.Fatalf("%q: again %v %+v", line, err, again)
		}
	})
}

// FuzzOptions: no command line is both refused and without a place for the
// receipt, and no stream is without a cap.
func FuzzOptions(f *testing.F) {
	for _, words := range []string{"--out a --max-bytes 5", "--out - --max-bytes 5 --receipt-fd 3", "--out-fd=3", "--out a more", "--bogus"} {
		f.Add(words)
	}
	f.Fuzz(func(t *testing.T, words string) {
		o, err := ParseOptions(strings.Fields(words))
		if o.ReceiptFD < 1 || o.Stream && o.ReceiptFD == 1 {
			t.Fatalf("receipt goes to %d", o.ReceiptFD)
		}
		targets := map[bool]int{true: 1}
		if err == nil && (targets[o.Path != ""]+targets[o.Stream]+targets[o.OutFD >= 0] != 1 || o.Stream && o.CapBytes < 1 || o.OutFD == o.ReceiptFD) {
			t.Fatalf("took %q as %+v", words, o)
		}
	})
}
