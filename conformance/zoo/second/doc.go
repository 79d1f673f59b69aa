// Package second holds a launcher that shares no code with any other: its
// sources are C, in src/, written from the contract and its resolutions alone.
// The suite certifies it as any launcher (conformance/launchers/second.toml).
//
// The tests of this package make single mistakes in a copy of those sources
// (mistakes.toml) and ask whether the suite sees each of them for the right
// reason; and they hold its candidate scanner against another strict reader.
package second
