package supervisor

import (
	"strings"
	"testing"
	"time"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"

	"touchstone/reference/finalizer"
	"touchstone/reference/outcome"
)

// said is a receipt as the finalizer writes it.
func said(exit int, reason, field string, bytes, limit int64) finalizerEnd {
	r := finalizer.Receipt{FinalizerVersion: "1", Complete: exit == 0, Reason: reason, Field: field, SinkBytes: bytes, CapBytes: &limit}
	return finalizerEnd{exit: exit, said: r.Append(nil)}
}

// cause is what a verdict latches beside a producer that ended well.
func (v verdict) cause() string {
	if v.verified {
		return "verified"
	}
	m := outcome.New(outcome.Inherited)
	m.Observe(outcome.ProducerEnded(outcome.Status{}), v.evidence)
	failure := m.Failure()
	words := []string{failure.Code}
	for _, arg := range failure.Args {
		if word, text := arg.Value.(string); text {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// TestVerdicts is the map of the finalizer's exits (R19, R20, C-76, T26.10,
// T35.11 to T35.15).
func TestVerdicts(t *testing.T) {
	const fault, protocol = "harness_internal_error", "report_channel_failed sink protocol"
	whole := relayed{bytes: 70, whole: true, limit: 90}
	for name, c := range map[string]struct {
		end   finalizerEnd
		given relayed
		want  string
	}{
		"verified":          {said(0, "", "", 70, 90), whole, "verified"},
		"grammar":           {said(3, "grammar", "", 70, 90), whole, protocol},
		"canonical value":   {said(3, "canonical_value", "E.equity", 70, 90), whole, "report_result_invalid E.equity nonfinite"},
		"mismatch":          {said(4, "mismatch", "", 70, 90), whole, protocol},
		"incomplete":        {said(6, "incomplete", "", 70, 90), whole, protocol},
		"I/O":               {said(5, "io", "", 70, 90), whole, "report_sink_failed sink_io"},
		"late":              {said(7, "late", "", 70, 90), whole, "report_sink_failed sink_io"},
		"I/O early":         {finalizerEnd{exit: 5}, relayed{bytes: 9, limit: 90}, "report_sink_failed sink_io"},
		"signal":            {finalizerEnd{signal: 9}, whole, "report_sink_failed sink_peer_closed"},
		"early":             {said(0, "", "", 70, 90), relayed{bytes: 70, limit: 90}, "report_sink_failed sink_peer_closed"},
		"usage":             {said(2, "usage", "", 0, 90), whole, fault},
		"exhausted":         {said(8, "sink_exhausted", "", 91, 90), whole, fault},
		"other exit":        {said(9, "grammar", "", 70, 90), whole, fault},
		"other reason":      {said(4, "incomplete", "", 70, 90), whole, fault},
		"other count":       {said(0, "", "", 69, 90), whole, fault},
		"other digest":      {said(0, "", "", 70, 90), relayed{bytes: 70, whole: true, limit: 90, logical: [32]byte{1}}, fault},
		"other cap":         {said(0, "", "", 70, 91), whole, fault},
		"complete and 6":    {finalizerEnd{exit: 6, said: said(0, "", "", 70, 90).said}, whole, fault},
		"incomplete and 0":  {finalizerEnd{exit: 0, said: said(6, "incomplete", "", 70, 90).said}, whole, fault},
		"nothing":           {finalizerEnd{}, whole, fault},
		"two receipts":      {finalizerEnd{said: append(said(0, "", "", 70, 90).said, said(0, "", "", 70, 90).said...)}, whole, fault},
		"not quite the end": {finalizerEnd{said: append(said(0, "", "", 70, 90).said, ' ')}, whole, fault},
	} {
		if got := judge(c.end, c.given).cause(); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// TestVerdictProperty: nothing is verified but exit 0, whole, with a receipt
// that agrees in everything.
func TestVerdictProperty(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("gopter seed %d", seed)
	properties := gopter.NewProperties(gopter.DefaultTestParametersWithSeed(seed))
	properties.Property("verified needs every agreement", prop.ForAll(
		func(exit, other, signal int, bytes, count int64, whole bool) bool {
			end := said(other, map[int]string{0: "", 3: "grammar", 4: "mismatch", 6: "incomplete"}[other], "", count, 90)
			end.exit, end.signal = exit, signal
			v := judge(end, relayed{bytes: bytes, whole: whole, limit: 90})
			return v.verified == (exit == 0 && other == 0 && signal == 0 && bytes == count && whole)
		}, gen.OneConstOf(0, 3, 4, 5, 6, 7, 8), gen.OneConstOf(0, 0, 3, 4, 6), gen.OneConstOf(0, 0, 0, 9),
		gen.Int64Range(1, 3), gen.Int64Range(1, 3), gen.Bool()))
	properties.TestingRun(t)
}

func FuzzVerdict(f *testing.F) {
	f.Add(0, said(0, "", "", 70, 90).said)
	f.Add(3, said(3, "canonical_value", "E.equity", 70, 90).said)
	f.Fuzz(func(t *testing.T, exit int, text []byte) {
		v := judge(finalizerEnd{exit: exit, said: text}, relayed{bytes: 70, whole: true, limit: 90})
		if v.verified && (exit != 0 || !v.receipt.Complete || v.receipt.SinkBytes != 70) {
			t.Errorf("exit %d, %q: %+v", exit, text, v.receipt)
		}
	})
}
