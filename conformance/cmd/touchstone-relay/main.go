// Command touchstone-relay stands in a supervisor's place between a host under
// test and the real supervisor.
package main

import (
	"fmt"
	"os"

	"touchstone/conformance/relay"
)

func main() {
	status, err := relay.Run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "touchstone-relay:", err)
	}
	os.Exit(status)
}
