// Package second holds a launcher that shares no code with any other: its
// sources are C, in src/, written from the contract and its resolutions alone.
// The suite certifies it as any launcher (conformance/launchers/second.toml).
//
// What it chooses for itself, where the contract leaves it open: variables for
// identity, grants and storage; the producer as second process of a pid
// namespace that the supervisor unshares, found by pidfd; no control group; a
// hand-written filter whose listener is fetched from the parked producer and
// never answered; one epoll loop; an unnamed spool file kept and judged by a
// forked worker; a failure document of its own in place of the producer's;
// digests of empty channels given, not null; the members of the record in
// another order; and an engine, strategy ABI and report shape of its own.
//
// mistakes.toml lists single mistakes that package zoo makes in a copy of those
// sources, to ask whether the suite sees each of them for the right reason. The
// tests of this package hold the candidate scanner against another strict reader.
package second
