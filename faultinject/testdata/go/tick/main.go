// Command tick is tick_beside in Go: one thread makes one fsync of descriptor
// 1 while another goroutine counts how often it wakes, every ten
// milliseconds, until that is over.
//
// It prints to stderr the milliseconds of the fsync and the number of wakes.
// Exit: 0.
package main

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

func main() {
	took := make(chan time.Duration)
	go func() {
		start := time.Now()
		_ = unix.Fsync(1) // whatever it returns
		took <- time.Since(start)
	}()
	ticker := time.NewTicker(10 * time.Millisecond)
	for ticks := 0; ; ticks++ {
		select {
		case <-ticker.C:
		case t := <-took:
			fmt.Fprintf(os.Stderr, "took=%d ticks=%d\n", t.Milliseconds(), ticks)
			return
		}
	}
}
