package sinkwire

import "fmt"

// Kind says in which way a stream is refused. Rules: R26.
type Kind uint8

// The kinds of refusal. Each has a component exit of its own in the finalizer,
// except that Grammar and CanonicalValue share one.
const (
	Grammar        Kind = iota + 1 // a line is not of the dialect
	CanonicalValue                 // null in an equity point
	Mismatch                       // counts, digest, or bytes after the trailer
	Incomplete                     // EOF before the end of the trailer
)

// NonFinite is the reason of every CanonicalValue refusal: a writer has no
// other way to spell a value that is not finite.
const NonFinite = "nonfinite"

// RefusedError is the verdict on a stream that is not accepted.
type RefusedError struct {
	Kind   Kind
	Line   int64  // 1 for the header
	Field  string // "E." and the column for CanonicalValue, otherwise empty
	Detail string // for people
}

// Error says where and why.
func (e *RefusedError) Error() string { return fmt.Sprintf("sink line %d: %s", e.Line, e.Detail) }
