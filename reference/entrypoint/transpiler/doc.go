// Package transpiler turns a strategy of this project's small language into
// C++17 that exports the strategy ABI. LANGUAGE.md, one folder up, is the
// language's manual.
//
//	text ── Parse ──> Program ── check ──> types ── emit ──> C++
//
// Parse is strict: what it does not know is refused with a line and a column,
// both from 1; a column counts bytes. Format is its inverse. Everything is pure
// and bounded: text, statements and nesting have limits, so that no strategy
// can exhaust the process that translates it.
//
// The C++ includes strategy.hpp, which holds the averages, the orders and the
// ABI's symbols. A call that keeps state over the bars becomes a member of its
// own and is evaluated on every bar, also where a condition would skip it.
package transpiler
