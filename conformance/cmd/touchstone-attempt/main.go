// Command touchstone-attempt makes the one attempt that its working directory
// describes and records it there. certify starts it once an attempt, so it
// links nothing that takes time to start.
package main

import (
	"fmt"
	"os"

	"touchstone/conformance/driver"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == driver.DepriveWord {
		fmt.Fprintln(os.Stderr, "touchstone-attempt:", driver.Deprive(os.Args[2:]))
		os.Exit(70)
	}
	if len(os.Args) != 1 {
		fmt.Fprintln(os.Stderr, "touchstone-attempt: usage: no arguments, in an attempt folder, as touchstone certify starts it")
		os.Exit(64)
	}
	if err := driver.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "touchstone-attempt:", err)
		os.Exit(70)
	}
}
