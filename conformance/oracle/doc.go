// Package oracle judges: every function is pure, reads recorded evidence and
// says what follows from it.
//
// Universal runs the checks that hold of every launch, by assertion id. Check
// runs one noun of a script. Both give findings, which name the assertion, what
// was seen and what was wanted.
//
// What the contract fixes stands here as literals, written independently of
// the reference: the shape of the terminal record, exit statuses, exit
// classes, defaults. Only data comes from contracts: the failure catalog and
// the assertions' own texts.
package oracle
