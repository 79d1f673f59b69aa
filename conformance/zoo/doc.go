// Package zoo breaks launchers on purpose, one rule at a time, and asks whether
// the suite notices for the right reason.
//
// A record says what is wrong, which assertions must catch it, and the pieces
// of source that are searched and replaced: mutants of the reference in
// mutants/, of its host in hosts/, of the second launcher in second/. It is
// built outside the source tree (Go by an overlay, C in a copied folder), so no
// switch for tests lives in the product. A piece that no longer applies, or a
// mutant that does not compile, is dead, which is an error: a rule that is no
// longer broken proves nothing. A mutant is killed only if one of its named
// assertions failed where the unbroken launcher does not fail it; failing
// elsewhere only is no kill. It is asked for no more than its named assertions,
// and not waited for longer than it takes to tell a hang from the unbroken
// launcher; where that shows nothing it is asked again in full.
//
// equivalents/ holds changes that the contract allows: there nothing may fail.
// ratchet.tsv keeps what has been shown, and may only grow; alter/coverage.tsv
// lists the changes of recorded evidence that were noticed, for rules that no
// launcher can be made to break.
//
// The package never imports the reference; it knows its sources as text.
package zoo
