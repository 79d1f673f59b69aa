package sinkwire

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"
)

// Writer writes one stream of the dialect. It refuses what the reader would;
// after an error it writes nothing more.
type Writer struct {
	to      io.Writer
	columns Columns
	counts  Counts
	digest  hash.Hash
	err     error
}

// NewWriter writes the header and returns the stream's writer.
func NewWriter(to io.Writer, columns Columns) (*Writer, error) {
	header := AppendHeader(nil, columns)
	if c := (cursor{line: header}); len(header) > MaxLineBytes {
		return nil, errors.New("write sink header: " + tooLong)
	} else if c.header(); c.problem != "" {
		return nil, fmt.Errorf("write sink header: %s", c.problem)
	}
	w := &Writer{to: to, columns: columns, digest: sha256.New()}
	w.write("header", header)
	return w, w.err
}

// Record writes one record: a tag of Tags and a value for each of its columns.
func (w *Writer) Record(tag byte, values ...Value) error {
	if w.err != nil {
		return w.err
	}
	line := AppendRecord(nil, tag, values...)
	c := cursor{line: line}
	index, null := c.record(&w.columns)
	switch {
	case len(line) > MaxLineBytes:
		c.fail(tooLong)
	case tag == 'E' && null >= 0:
		c.fail("null in an equity point")
	}
	if c.problem != "" {
		w.err = fmt.Errorf("write sink record %c: %s", tag, c.problem)
		return w.err
	}
	w.counts[index]++
	w.write("record", line)
	return w.err
}

// Finish writes the trailer. Nothing may follow it.
func (w *Writer) Finish() error {
	if w.err != nil {
		return w.err
	}
	w.write("trailer", AppendTrailer(nil, w.counts, [sha256.Size]byte(w.digest.Sum(nil))))
	if w.err == nil {
		w.err = errors.New("write sink: finished")
		return nil
	}
	return w.err
}

func (w *Writer) write(what string, line []byte) {
	w.digest.Write(line)
	if _, err := w.to.Write(line); err != nil {
		w.err = fmt.Errorf("write sink %s: %w", what, err)
	}
}

// AppendHeader appends a header line, unchecked.
func AppendHeader(to []byte, columns Columns) []byte {
	to = append(to, headerStart...)
	separator := byte('{')
	for i, names := range columns {
		to = append(to, separator, '"', Tags[i])
		to = append(to, `":[`...)
		if len(names) > 0 {
			to = append(to, `"`+strings.Join(names, `","`)+`"`...)
		}
		to = append(to, ']')
		separator = ','
	}
	return append(to, "}}\n"...)
}

// AppendRecord appends a record line, unchecked.
func AppendRecord(to []byte, tag byte, values ...Value) []byte {
	to = append(to, '[', '"', tag, '"')
	for _, value := range values {
		to = append(to, ',')
		to = append(to, value.spelling...)
	}
	return append(to, "]\n"...)
}

// AppendTrailer appends a trailer line with these counts and this digest,
// whatever came before it.
func AppendTrailer(to []byte, counts Counts, digest [sha256.Size]byte) []byte {
	to = append(to, trailerStart...)
	to = counts.Append(to)
	to = append(to, trailerDigest...)
	to = hex.AppendEncode(to, digest[:])
	return append(to, trailerEnd...)
}
