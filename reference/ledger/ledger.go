// Package ledger is the arithmetic of the byte budgets: what may be read, what
// is accepted, what is charged. It is pure; it never sees a byte.
package ledger

// Meter counts one trusted boundary. Observed is what was read there; Accepted
// is what was kept. The two differ by at most the one overflow probe.
//
// The zero value has a limit of zero bytes: its first byte is the probe.
//
// Rules: R06, R08, R10.
type Meter struct {
	limit    int64
	accepted int64
	observed int64
}

// NewMeter returns a meter that accepts up to limit bytes, limit included.
// A negative limit counts as zero.
func NewMeter(limit int64) Meter { return Meter{limit: max(limit, 0)} }

// Want returns how many bytes to read next: at most most, and never more than
// the remaining allowance and one probe. After an overflow it is zero.
func (m *Meter) Want(most int) int {
	if m.Overflowed() {
		return 0
	}
	// The allowance itself is compared, as allowance+1 may not be representable.
	if remaining := m.limit - m.accepted; remaining < int64(most) {
		return int(remaining) + 1
	}
	return most
}

// Take records n bytes read, n being at most the last Want, and returns how
// many of them, from the first on, are accepted.
func (m *Meter) Take(n int) int {
	kept := int(min(int64(n), m.limit-m.accepted))
	m.observed += int64(n)
	m.accepted += int64(kept)
	return kept
}

// Overflowed reports whether the probe byte has been seen.
func (m *Meter) Overflowed() bool { return m.observed > m.accepted }

// Limit returns the largest number of bytes that is accepted.
func (m *Meter) Limit() int64 { return m.limit }

// Accepted returns the bytes kept, at most Limit.
func (m *Meter) Accepted() int64 { return m.accepted }

// Observed returns the bytes read, at most Limit+1.
func (m *Meter) Observed() int64 { return m.observed }

// Report is the aggregate report allowance: native sink, candidate and
// replacement document share it, each charged once.
//
// Rules: R08.
type Report struct {
	limit   int64
	charged int64
}

// NewReport returns the ledger of an allowance of limit bytes, limit included.
func NewReport(limit int64) Report { return Report{limit: max(limit, 0)} }

// Charge adds n accepted bytes. It reports false, and charges nothing, if they
// do not fit: an unfitting representation must not be published.
func (r *Report) Charge(n int64) bool {
	if n < 0 || n > r.Remaining() {
		return false
	}
	r.charged += n
	return true
}

// Remaining returns the bytes that may still be charged.
func (r *Report) Remaining() int64 { return r.limit - r.charged }

// Charged returns the sum of what was charged: report_charged_bytes.
func (r *Report) Charged() int64 { return r.charged }

// Limit returns the whole allowance.
func (r *Report) Limit() int64 { return r.limit }
