// Package admission decides whether an attempt may start, before anything of
// the customer's, or any process of ours, has started. It reads the command
// line and its environment twins, the launch descriptor and the pairing file,
// and looks at the host's endpoints. It starts nothing and writes nothing.
//
// A refusal is a value, not an error: an *outcome.Failure that the record
// carries, beside what could be admitted all the same.
//
// Rules: R01, R03, R07, C-1 to C-15, C-64, C-65, C-70 to C-72.
package admission
