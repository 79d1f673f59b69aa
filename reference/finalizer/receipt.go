package finalizer

import (
	"encoding/hex"
	"strconv"

	"touchstone/reference/sinkwire"
)

// Version is the finalizer's own, as its receipts name it.
const Version = "1.0.0"

// Component exits. Rules: R20, C-76.
const (
	exitVerified   = 0
	exitUsage      = 2
	exitRefused    = 3 // grammar or canonical value
	exitMismatch   = 4
	exitIO         = 5 // also the receipt's and the cleanup's
	exitIncomplete = 6
	exitLate       = 7 // close or rename after verification
	exitExhausted  = 8
)

// Reasons, as receipts name them. Rules: C-76.
const (
	reasonUsage      = "usage"
	reasonGrammar    = "grammar"
	reasonCanonical  = "canonical_value"
	reasonMismatch   = "mismatch"
	reasonIO         = "io"
	reasonIncomplete = "incomplete"
	reasonLate       = "late"
	reasonExhausted  = "sink_exhausted"
)

// failure is why a stream is not verified: exit, reason, and the cause for
// people.
type failure struct {
	exit   int
	reason string
	field  string // "E." and the column, with reasonCanonical only
	err    error
}

func (f *failure) Error() string { return f.err.Error() }

func ioFailure(err error) *failure { return &failure{exit: exitIO, reason: reasonIO, err: err} }

// receipt is what a run of the finalizer says of itself.
type receipt struct {
	failure   *failure // nil: complete
	sinkBytes int64    // read, the probe included
	options   Options
	summary   sinkwire.Summary // of a complete one
}

// line encodes the receipt: one compact JSON object and LF, always with the
// same members in the same order. Rules: C-76.
func (r *receipt) line() []byte {
	to := []byte(`{"receipt":"touchstone-finalizer","version":1,"finalizer_version":"` + Version + `","complete":`)
	to = strconv.AppendBool(to, r.failure == nil)
	reason, field := "", ""
	if r.failure != nil {
		reason, field = r.failure.reason, r.failure.field
	}
	to = appendText(append(to, `,"reason":`...), reason)
	to = strconv.AppendInt(append(to, `,"sink_bytes":`...), r.sinkBytes, 10)
	to = append(to, `,"cap_bytes":`...)
	if r.options.Capped {
		to = strconv.AppendInt(to, r.options.CapBytes, 10)
	} else {
		to = append(to, "null"...)
	}
	to = append(to, `,"counts":`...)
	if r.failure == nil {
		to = r.summary.Counts.Append(to)
		to = appendText(append(to, `,"sha256":`...), hex.EncodeToString(r.summary.SHA256[:]))
	} else {
		to = append(to, `null,"sha256":null`...)
	}
	to = appendText(append(to, `,"field":`...), field)
	return append(to, "}\n"...)
}

// appendText appends a word that needs no escape, or null for none.
func appendText(to []byte, word string) []byte {
	if word == "" {
		return append(to, "null"...)
	}
	return append(append(append(to, '"'), word...), '"')
}
