// Command reffinal is the reference finalizer of the native sink:
//
//	reffinal --out-fd N --max-bytes B --receipt-fd N <sink
//
// Its words, exits and receipt are in the package finalizer.
package main

import (
	"os"
	"runtime"

	"touchstone/reference/finalizer"
)

// The first thread makes every call, so that a trace of it is the whole story
// and a fault can be put at the nth call of a kind.
func init() { runtime.LockOSThread() }

func main() { os.Exit(finalizer.Run(os.Args[1:])) }
