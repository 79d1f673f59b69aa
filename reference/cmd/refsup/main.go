// Command refsup is the reference supervisor, with both its facades:
//
//	refsup run_json --report-channel supervised/v1 --terminal-status-fd N …
//	PINEFORGE_REPORT_CHANNEL=supervised/v1 PINEFORGE_TERMINAL_STATUS_FD=N refsup entrypoint
//
// Their words and the protocol are in the packages admission and supervisor.
// "refsup worker" and "refsup folder" are for the supervisor's own use.
package main

import (
	"fmt"
	"os"
	"time"

	"touchstone/reference/supervisor"
)

// started is as near to the first instruction as a Go program can see.
var started = time.Now()

func main() {
	word := ""
	if len(os.Args) > 1 {
		word = os.Args[1]
	}
	switch word {
	case "run_json":
		os.Exit(supervisor.Run(started, os.Args[2:]))
	case "entrypoint":
		os.Exit(supervisor.RunEntrypoint(started, os.Args[2:]))
	case "folder":
		os.Exit(supervisor.KeepFolder(os.Args[2:]))
	case "worker":
		os.Exit(supervisor.Work(os.Args[2:]))
	}
	fmt.Fprintln(os.Stderr, "usage: refsup run_json [flags] | refsup entrypoint")
	os.Exit(2)
}
