// Command refhost is the reference host:
//
//	refhost --report FILE --disposition FILE --spool FOLDER --pairing FILE [flags] -- COMMAND…
//	refhost reap MANIFEST
//
// Its flags, files and exits are in the package host.
package main

import (
	"os"

	"touchstone/reference/host"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "reap" {
		os.Exit(host.Recover(os.Args[2:]))
	}
	os.Exit(host.Run(os.Args[1:]))
}
