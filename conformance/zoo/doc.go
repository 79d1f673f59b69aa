// Package zoo breaks the reference launcher on purpose, one rule at a time,
// and asks whether the suite notices for the right reason.
//
// A mutant is a record in mutants/: what is wrong, which assertions must catch
// it, and the pieces of source that are searched and replaced. It is built
// outside the source tree (Go by an overlay, C in a copied tree), so no switch for
// tests lives in the product. A piece that no longer applies, or a mutant that does not compile, is
// dead, which is an error: a rule that is no longer broken proves nothing. A
// mutant is killed only if one of its named assertions failed; failing
// elsewhere only is no kill.
//
// The package never imports the reference; it knows its sources as text.
package zoo
