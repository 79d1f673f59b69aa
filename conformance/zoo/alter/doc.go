// Package alter shows that the suite's checks can fail, on recorded evidence
// with one thing altered.
//
// operators.tsv lists what is altered, one operator a line: its name, what it
// does and to what, where it is found (every: on any good attempt on which it can
// act; asked: where a script asks for what is altered; broad: so much is altered
// that only the assertions it names are covered by it), and the assertions of
// which at least one must notice. apply gives every alteration that an operator makes of an attempt; each is a whole,
// well-formed record, so that nothing but a check can notice. One operator, suite,
// leaves the record alone and takes a rule from the suite instead. A Case is a
// script in a cell with all that it asked the oracle; Search asks it again with
// one attempt altered.
//
// An assertion is covered by an alteration if it passed on the evidence as it
// was recorded and failed, by a finding of its own id, on the altered one.
// coverage.tsv, which the command "touchstone zoo alter RUN --write" makes of a
// recorded run, names for each assertion the first operator that upset it, the
// target within the evidence, and the script, line and attempt:
//
//	id  operator  target  cell  script  line  attempt
package alter
