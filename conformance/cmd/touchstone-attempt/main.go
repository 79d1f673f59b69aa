// Command touchstone-attempt makes the one attempt that a folder describes and
// records it there. certify starts it once an attempt, so it links nothing that
// takes time to start.
package main

import (
	"fmt"
	"os"

	"touchstone/conformance/driver"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "touchstone-attempt: usage: touchstone-attempt DIR, as touchstone certify starts it")
		os.Exit(64)
	}
	if err := driver.Run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "touchstone-attempt:", err)
		os.Exit(70)
	}
}
