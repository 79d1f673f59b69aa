package ledger_test

import (
	"testing"
	"time"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"

	"touchstone/reference/ledger"
)

// properties returns gopter properties whose seed is printed, so that a
// failure can be replayed.
func properties(t *testing.T) *gopter.Properties {
	t.Helper()
	seed := time.Now().UnixNano()
	t.Logf("gopter seed %d", seed)
	return gopter.NewProperties(gopter.DefaultTestParametersWithSeed(seed))
}

// feed reads stream through a meter as S does: never more than Want at once.
func feed(m *ledger.Meter, stream int64, chunk int) {
	for stream > 0 {
		n := min(int64(m.Want(chunk)), stream)
		if n == 0 {
			return
		}
		m.Take(int(n))
		stream -= n
	}
}

func TestMeterProperties(t *testing.T) {
	p := properties(t)
	sizes, chunks := gen.Int64Range(0, 5000), gen.IntRange(1, 700)
	p.Property("accepted is the shorter of stream and limit; one probe at most", prop.ForAll(
		func(limit, stream int64, chunk int) bool {
			m := ledger.NewMeter(limit)
			feed(&m, stream, chunk)
			return m.Accepted() == min(limit, stream) &&
				m.Observed() == min(limit+1, stream) &&
				m.Overflowed() == (stream > limit)
		}, sizes, sizes, chunks))
	p.Property("chunk size does not matter", prop.ForAll(
		func(limit, stream int64, one, other int) bool {
			a, b := ledger.NewMeter(limit), ledger.NewMeter(limit)
			feed(&a, stream, one)
			feed(&b, stream, other)
			return a == b
		}, sizes, sizes, chunks, chunks))
	p.Property("nothing is wanted after an overflow", prop.ForAll(
		func(limit int64, chunk int) bool {
			m := ledger.NewMeter(limit)
			feed(&m, limit+1, chunk)
			return m.Want(chunk) == 0
		}, sizes, chunks))
	p.TestingRun(t)
}

func TestReportProperties(t *testing.T) {
	p := properties(t)
	p.Property("never over the limit; a refused charge changes nothing", prop.ForAll(
		func(limit int64, charges []int64) bool {
			r := ledger.NewReport(limit)
			for _, n := range charges {
				before := r.Charged()
				if r.Charge(n) != (n >= 0 && before+n <= limit) {
					return false
				}
				if r.Charged() < before || r.Charged()+r.Remaining() != limit {
					return false
				}
			}
			return r.Charged() <= limit
		}, gen.Int64Range(0, 10000), gen.SliceOf(gen.Int64Range(-5, 4000))))
	p.TestingRun(t)
}

// TestSharedAllowance: sink, candidate and replacement in S's order, whatever
// is written to each (T13.01 to T13.09).
func TestSharedAllowance(t *testing.T) {
	p := properties(t)
	sizes := gen.Int64Range(0, 3000)
	p.Property("charged is sink, candidate and replacement, at most R; one probe each", prop.ForAll(
		func(limit, certified, sink, candidate, replacement int64, chunk int) bool {
			r := ledger.NewReport(limit)
			k := ledger.NewMeter(min(certified, limit))
			feed(&k, sink, chunk)
			fits := r.Charge(k.Accepted())
			c := ledger.NewMeter(r.Remaining())
			feed(&c, candidate, chunk)
			fits = fits && r.Charge(c.Accepted())
			replaced := int64(0)
			if r.Charge(replacement) {
				replaced = replacement
			}
			return fits && r.Charged() == k.Accepted()+c.Accepted()+replaced && r.Charged() <= limit &&
				k.Observed() <= k.Accepted()+1 && c.Observed() <= c.Accepted()+1 && c.Limit() == limit-k.Accepted()
		}, sizes, sizes, sizes, sizes, gen.Int64Range(0, 500), gen.IntRange(1, 700)))
	p.TestingRun(t)
}

func TestMeterBounds(t *testing.T) {
	largest := int64(1)<<53 - 2
	m := ledger.NewMeter(largest)
	if got := m.Want(65536); got != 65536 {
		t.Errorf("want of the largest limit: got %d bytes, want 65536", got)
	}
	zero := ledger.NewMeter(0)
	if got := zero.Want(65536); got != 1 {
		t.Errorf("want of a zero limit: got %d bytes, want the probe alone", got)
	}
	if kept := zero.Take(1); kept != 0 || !zero.Overflowed() {
		t.Errorf("probe of a zero limit: kept %d, overflowed %t", kept, zero.Overflowed())
	}
}

func FuzzMeter(f *testing.F) {
	f.Add(int64(4096), []byte{1, 200, 7})
	f.Fuzz(func(t *testing.T, limit int64, reads []byte) {
		m := ledger.NewMeter(limit % 4096)
		for _, most := range reads {
			before := m.Accepted()
			want := m.Want(int(most) + 1)
			if want == 0 {
				break
			}
			if kept := m.Take(want); m.Accepted() != before+int64(kept) || kept > want {
				t.Fatalf("take %d of %d: accepted %d to %d", kept, want, before, m.Accepted())
			}
			if m.Observed() > m.Limit()+1 || m.Accepted() > m.Limit() {
				t.Fatalf("observed %d accepted %d of limit %d", m.Observed(), m.Accepted(), m.Limit())
			}
		}
	})
}
