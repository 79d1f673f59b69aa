// Package producertest tests the producer, whose folder holds C only: a Go
// file beside C files would make them part of a Go build.
package producertest
