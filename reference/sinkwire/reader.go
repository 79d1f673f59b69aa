package sinkwire

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
)

// Summary is what a verified stream says of itself, counted by the reader.
type Summary struct {
	Counts Counts
	SHA256 [sha256.Size]byte // of every byte before the trailer line
}

// Reader verifies one stream that is given to it in chunks. It keeps at most
// one line, of MaxLineBytes, besides its header. The verdict is the same
// however the stream is cut.
//
// Rules: R05, R26, T35.
type Reader struct {
	columns  Columns
	counts   Counts
	digest   hash.Hash
	pending  []byte // a line whose LF has not come
	line     int64  // the line being read, from 1
	complete bool   // the trailer was read and agrees
	refused  *RefusedError
}

// NewReader returns a reader that has seen nothing.
func NewReader() *Reader { return &Reader{digest: sha256.New(), line: 1} }

// Write takes the next bytes of the stream. The first refusal is its error then
// and for good; it is a *RefusedError. A later chunk is not looked at.
func (r *Reader) Write(chunk []byte) (int, error) {
	rest := chunk
	if len(r.pending) > 0 {
		rest = r.completeLine(rest)
	}
	rest = rest[r.readLines(rest):]
	r.keep(rest)
	if r.refused != nil {
		return 0, r.refused
	}
	return len(chunk), nil
}

// Finish says that EOF follows what was written, and returns the verdict: the
// summary, or a *RefusedError.
func (r *Reader) Finish() (Summary, error) {
	switch {
	case r.refused != nil:
	case !r.complete && len(r.pending) > 0:
		r.refuse(Incomplete, "ends inside a line")
	case !r.complete:
		r.refuse(Incomplete, "ends without a trailer")
	}
	if r.refused != nil {
		return Summary{}, r.refused
	}
	s := Summary{Counts: r.counts}
	r.digest.Sum(s.SHA256[:0])
	return s, nil
}

// completeLine adds the first bytes of a chunk to the pending line, reads it if
// its LF is among them, and returns the rest of the chunk.
func (r *Reader) completeLine(chunk []byte) []byte {
	end := bytes.IndexByte(chunk, '\n')
	if end < 0 {
		return chunk // keep takes it
	}
	r.keep(chunk[:end+1])
	if r.refused == nil {
		r.readLines(r.pending)
		r.pending = r.pending[:0]
	}
	return chunk[end+1:]
}

// keep appends to the pending line. A line that has no LF within MaxLineBytes
// is refused at once, so that nothing longer is ever held.
func (r *Reader) keep(part []byte) {
	if r.refused != nil || len(part) == 0 {
		return
	}
	if r.complete {
		r.refuse(Mismatch, "bytes after the trailer")
		return
	}
	if size := len(r.pending) + len(part); size > MaxLineBytes || size == MaxLineBytes && part[len(part)-1] != '\n' {
		r.refuse(Grammar, tooLong)
		return
	}
	r.pending = append(r.pending, part...)
}

// readLines reads the whole lines at the start of a chunk and returns how many
// bytes they are. Neighbouring lines are hashed together: they are short.
func (r *Reader) readLines(chunk []byte) int {
	if r.refused != nil {
		return len(chunk)
	}
	start := 0
	for !r.complete {
		size := bytes.IndexByte(chunk[start:], '\n') + 1
		if size == 0 {
			break
		}
		line := chunk[start : start+size]
		if size > MaxLineBytes {
			r.refuse(Grammar, tooLong)
			return start + size
		}
		if r.line > 1 && line[0] == '{' {
			r.digest.Write(chunk[:start])
			r.readTrailer(line)
			return start + size
		}
		if r.readLine(line); r.refused != nil {
			return start + size
		}
		r.line++
		start += size
	}
	r.digest.Write(chunk[:start])
	return start
}

// readLine reads a header or record line.
func (r *Reader) readLine(line []byte) {
	c := cursor{line: line}
	if r.line == 1 {
		if r.columns = c.header(); c.problem != "" {
			r.refuse(Grammar, c.problem)
		}
		return
	}
	tag, null := c.record(&r.columns)
	switch {
	case c.problem != "":
		r.refuse(Grammar, c.problem)
	case null >= 0 && Tags[tag] == 'E':
		r.refuse(CanonicalValue, "null in an equity point")
		r.refused.Field = "E." + r.columns[tag][null]
	default:
		r.counts[tag]++
	}
}

// readTrailer reads the trailer line and compares it with what was counted.
func (r *Reader) readTrailer(line []byte) {
	c := cursor{line: line}
	counts, digest := c.trailer()
	own := hex.AppendEncode(nil, r.digest.Sum(nil))
	switch {
	case c.problem != "":
		r.refuse(Grammar, c.problem)
	case counts != r.counts:
		r.refuse(Mismatch, "the trailer's counts differ")
	case !bytes.Equal(digest, own):
		r.refuse(Mismatch, "the trailer's digest differs")
	default:
		r.complete = true
		r.line++
	}
}

func (r *Reader) refuse(kind Kind, detail string) {
	r.refused = &RefusedError{Kind: kind, Line: r.line, Detail: detail}
}
