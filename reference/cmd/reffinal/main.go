// Command reffinal is the reference finalizer of the native sink:
//
//	reffinal --out-fd N --max-bytes B --receipt-fd N <sink
//
// Its words, exits and receipt are in the package finalizer.
package main

import (
	"os"

	"touchstone/reference/finalizer"
)

func main() { os.Exit(finalizer.Run(os.Args[1:])) }
