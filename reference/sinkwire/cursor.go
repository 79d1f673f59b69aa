package sinkwire

import (
	"slices"
	"strconv"
	"strings"
)

// cursor walks over one line, LF included. The first problem stays; after it
// nothing moves.
type cursor struct {
	line    []byte
	at      int
	problem string
}

func (c *cursor) fail(problem string) {
	if c.problem == "" {
		c.problem = problem
	}
}

// peek returns the next byte, and LF at the end of the line.
func (c *cursor) peek() byte {
	if c.at < len(c.line) {
		return c.line[c.at]
	}
	return '\n'
}

// literal steps over exactly this text.
func (c *cursor) literal(text string, problem string) {
	if c.problem != "" {
		return
	}
	if len(c.line)-c.at < len(text) || string(c.line[c.at:c.at+len(text)]) != text {
		c.fail(problem)
		return
	}
	c.at += len(text)
}

// header reads the header line.
func (c *cursor) header() Columns {
	var columns Columns
	c.literal(headerStart, "not a header of touchstone-sink version 1")
	separator := `{"`
	for i := range columns {
		c.literal(separator+Tags[i:i+1]+`":[`, "header: tag out of place")
		columns[i] = c.columnNames()
		separator = `,"`
	}
	c.literal("}}\n", "header: more than its members")
	return columns
}

// columnNames reads names up to and with the closing bracket.
func (c *cursor) columnNames() []string {
	var names []string
	for c.problem == "" {
		name := c.columnName()
		if slices.Contains(names, name) {
			c.fail("header: column named twice")
		}
		if names = append(names, name); len(names) > maxColumns {
			c.fail("header: more than 64 columns")
		}
		if c.peek() == ']' {
			c.at++
			break
		}
		c.literal(",", "header: column list without end")
	}
	return names
}

// columnName reads one quoted name: a lower-case letter, then lower-case
// letters, digits and underscores.
func (c *cursor) columnName() string {
	c.literal(`"`, "header: not a column name")
	start := c.at
	for isNameByte(c.peek(), c.at == start) {
		c.at++
	}
	name := string(c.line[start:c.at])
	if name == "" || len(name) > maxColumnBytes {
		c.fail("header: column name of no or more than 64 bytes")
	}
	c.literal(`"`, "header: byte that no column name has")
	return name
}

func isNameByte(b byte, first bool) bool {
	return b >= 'a' && b <= 'z' || !first && (b >= '0' && b <= '9' || b == '_')
}

// record reads a record line. It returns the index of its tag, and that of its
// first column with null, or -1.
func (c *cursor) record(columns *Columns) (tag, null int) {
	null = -1
	if len(c.line) < 6 || c.line[0] != '[' || c.line[1] != '"' || c.line[3] != '"' {
		c.fail("not a record")
		return 0, null
	}
	if tag = strings.IndexByte(Tags, c.line[2]); tag < 0 {
		c.fail("record of an unknown tag")
		return 0, null
	}
	c.at = 4
	for i := range columns[tag] {
		if c.peek() != ',' {
			c.fail("record: fewer values than columns")
			return tag, null
		}
		c.at++
		if c.peek() == 'n' && null < 0 {
			null = i
		}
		if c.value(); c.problem != "" {
			return tag, null
		}
	}
	c.literal("]\n", "record: more after its last column")
	if c.problem == "" && c.at != len(c.line) {
		c.fail("record: more after its end")
	}
	return tag, null
}

// trailer reads the trailer line. The digest is the text of 64 lower-case
// hexadecimal digits.
func (c *cursor) trailer() (Counts, []byte) {
	var counts Counts
	c.literal(trailerStart, "not a trailer of touchstone-sink")
	separator := `{"`
	for i := range counts {
		c.literal(separator+Tags[i:i+1]+`":`, "trailer: tag out of place")
		counts[i] = c.count()
		separator = `,"`
	}
	c.literal("}"+trailerDigest, "trailer: no digest after the counts")
	start := c.at
	for b := c.peek(); b >= '0' && b <= '9' || b >= 'a' && b <= 'f'; b = c.peek() {
		c.at++
	}
	digest := c.line[start:c.at]
	if len(digest) != 64 {
		c.fail("trailer: digest is not 64 lower-case hexadecimal digits")
	}
	c.literal(trailerEnd, "trailer: more than its members")
	return counts, digest
}

// count reads an integer from 0 to MaxInteger, in its one spelling.
func (c *cursor) count() int64 {
	start := c.at
	for b := c.peek(); b >= '0' && b <= '9'; b = c.peek() {
		c.at++
	}
	text := c.line[start:c.at]
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || n > MaxInteger || len(text) > 1 && text[0] == '0' {
		c.fail("trailer: not a count")
	}
	return n
}
