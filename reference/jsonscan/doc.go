// Package jsonscan checks the candidate document while it streams past.
//
// A candidate is exactly one UTF-8 JSON object followed by exactly one LF: the
// first byte is {, the last two are } and LF. Inside, whitespace and any valid
// spelling of a string are free; what is refused is everything that two readers
// could take differently: bad UTF-8 (overlong forms, surrogates, beyond
// U+10FFFF), an escaped surrogate without its partner, a number that is not
// JSON's, a raw control character, and two equal names in one object, compared
// as decoded ("a" equals "\u0061").
//
// The scanner builds no tree and keeps no document. What it holds is bounded by
// Limits: one frame for each open container, one 64-bit hash for each name in
// an open object, the list of top-level members, the bytes of those few members
// that the caller asked for, and the names of one small object for each of the
// outer depths: most objects of a long report are like the one before them, and
// are then told apart from a duplicate by comparison alone (shapes.go).
//
// Names are compared by hash. Equal names have equal hashes, so a duplicate is
// never missed. Different names collide, and a sound document is refused, with
// probability at most n(n-1)/2^65 for n names held at once: below 2^-29 for the
// default limit of 2^18 names, about 10^-11 for a report of a third of a million
// trades. The seed is random for each scanner, so a producer cannot aim at it.
//
// The verdict, the offset and the broken rule do not depend on how the document
// is cut into chunks.
//
// Rules: R04, R09, C-29, C-62.
package jsonscan
