// Command edge sends COUNT bytes to descriptor 1, a pipe or socket, through
// Go's poller, ten bytes a call, and fails unless that is over in 5 s.
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

func main() {
	count, _ := strconv.Atoi(os.Args[1])
	if err := unix.SetNonblock(1, true); err != nil {
		panic(err)
	}
	out := os.NewFile(1, "out")
	if err := out.SetWriteDeadline(time.Now().Add(5 * time.Second)); err != nil {
		panic(err)
	}
	sent := 0
	for sent < count {
		n, err := out.Write([]byte("0123456789"))
		sent += n
		if err != nil {
			fmt.Fprintf(os.Stderr, "sent=%d error=%v\n", sent, err)
			os.Exit(1)
		}
	}
	fmt.Fprintf(os.Stderr, "sent=%d\n", sent)
}
