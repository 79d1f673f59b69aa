// Package contracts is the stable surface that the suite and the reference
// share: data, closed vocabularies and loaders, and nothing that judges.
//
// It holds the failure catalog, the closed word lists of the terminal record,
// the JSON Schemas, the assertions and the examples. What decides (exit maps,
// class maps, defaults, record decoding, checks of catalog args) is written
// once in the reference and once in the suite's oracle, with literals, so that
// one wrong reading of the contract cannot pass against itself.
//
// Every function returns values that the caller owns: changing a returned
// slice or map changes nothing here.
//
// A contract letter is never an identifier; the channels are called candidate,
// report, sink, diagnostic and status.
package contracts

import "embed"

//go:embed failure-catalog.v1.json assertions.tsv unsettled.tsv *.schema.json examples
var files embed.FS

// mustRead returns an embedded file. A missing one is a broken build.
func mustRead(name string) []byte {
	content, err := files.ReadFile(name)
	if err != nil {
		panic("bug: read embedded file: " + err.Error())
	}
	return content
}
