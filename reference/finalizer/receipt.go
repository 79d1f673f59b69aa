package finalizer

import (
	"crypto/sha256"
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

// Receipt is what a run of the finalizer says of itself. Rules: C-76.
type Receipt struct {
	FinalizerVersion string
	Complete         bool
	Reason           string // empty in a complete one
	SinkBytes        int64  // read, the probe included
	CapBytes         *int64 // nil: none
	Counts           sinkwire.Counts
	SHA256           [sha256.Size]byte // of the bytes before the trailer; zero with the counts in an incomplete one
	Field            string            // of a canonical-value refusal: "E." and the column; otherwise empty
}

// Append appends the receipt as it is sent: one compact JSON object and LF,
// always with the same members in the same order.
func (r *Receipt) Append(to []byte) []byte {
	to = appendText(append(to, `{"receipt":"touchstone-finalizer","version":1,"finalizer_version":`...), r.FinalizerVersion)
	to = strconv.AppendBool(append(to, `,"complete":`...), r.Complete)
	to = appendText(append(to, `,"reason":`...), r.Reason)
	to = strconv.AppendInt(append(to, `,"sink_bytes":`...), r.SinkBytes, 10)
	to = append(to, `,"cap_bytes":`...)
	if r.CapBytes != nil {
		to = strconv.AppendInt(to, *r.CapBytes, 10)
	} else {
		to = append(to, "null"...)
	}
	to = append(to, `,"counts":`...)
	if r.Complete {
		to = r.Counts.Append(to)
		to = appendText(append(to, `,"sha256":`...), hex.EncodeToString(r.SHA256[:]))
	} else {
		to = append(to, `null,"sha256":null`...)
	}
	to = appendText(append(to, `,"field":`...), r.Field)
	return append(to, "}\n"...)
}

// appendText appends a word that needs no escape, or null for none.
func appendText(to []byte, word string) []byte {
	if word == "" {
		return append(to, "null"...)
	}
	return append(append(append(to, '"'), word...), '"')
}
