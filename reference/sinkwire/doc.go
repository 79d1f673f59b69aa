// Package sinkwire reads and writes the native sink's wire dialect
// touchstone-sink/1: a header line, record lines and a trailer line with counts
// and digest, then EOF. DIALECT.md is its manual.
//
// The engine's own sink bytes are not published; this is a stand-in with the
// properties that the contract states, and is named as one. The finalizer is
// the reader's only user in the product; the supervisor never looks inside the
// bytes.
//
// Rules: R05, R26, C-22, C-23.
package sinkwire

import "strconv"

// MaxLineBytes is the size of the longest line, LF included. Rules: R26.
const MaxLineBytes = 1 << 20

// MaxInteger is the largest magnitude of an integer, inclusive. Rules: R26.
const MaxInteger = 1<<53 - 1

// Tags are the record kinds in the order of header and trailer: equity point,
// trade, output bar, series value, constant, event text, horizontal line.
const Tags = "ETOVKXH"

// Bounds of a header's column lists, inclusive.
const (
	maxColumns     = 64 // a tag
	maxColumnBytes = 64 // a name
)

// Columns are the column names of each tag, in the order of Tags.
type Columns [len(Tags)][]string

// Counts are numbers of records, in the order of Tags.
type Counts [len(Tags)]int64

// EngineColumns returns the columns that the project's own writers use: the
// members that the engine's report has for the same things.
func EngineColumns() Columns {
	return Columns{
		{"time_ms", "equity", "open_profit"},
		{"n", "side", "entry_time", "exit_time", "entry_price", "exit_price", "qty", "pnl", "pnl_pct", "max_runup",
			"max_drawdown", "commission", "entry_bar_index", "exit_bar_index", "open_at_end"},
		{"bar_index", "time_ms", "open", "high", "low", "close", "volume"},
		{"series", "bar_index", "value"},
		{"name", "value"},
		{"time_ms", "kind", "text"},
		{"name", "price"},
	}
}

// Append appends the counts as the trailer and the receipt spell them: an
// object with every tag, in the order of Tags.
func (c Counts) Append(to []byte) []byte {
	separator := byte('{')
	for i, count := range c {
		to = append(to, separator, '"', Tags[i], '"', ':')
		to = strconv.AppendInt(to, count, 10)
		separator = ','
	}
	return append(to, '}')
}

// Fixed text of header and trailer.
const (
	headerStart   = `{"sink":"touchstone-sink","version":1,"columns":`
	trailerStart  = `{"end":"touchstone-sink","counts":`
	trailerDigest = `,"sha256":"`
	trailerEnd    = "\"}\n"
)
