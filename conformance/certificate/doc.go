// Package certificate issues and checks the certificate of a run: one document
// that says what was certified, by what, on what machine and with what result,
// and that pins every byte of the evidence.
//
// evidence.sha256 lists the digest of every file of the run folder, as
// sha256sum writes and checks it. certificate.json holds the digest of that
// list and, last, its own. ledger.json retells the run in records of a build
// ledger (package ledger). No other file of the folder is outside of the list.
package certificate
