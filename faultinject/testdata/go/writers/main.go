// Command writers has N goroutines on threads of their own write one byte a
// call to descriptor 1, COUNT times each. It prints how many writes failed.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	count, _ := strconv.Atoi(os.Args[2])
	var errors atomic.Int64
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	for range n {
		ready.Add(1)
		done.Go(func() {
			runtime.LockOSThread()
			ready.Done()
			<-start
			for range count {
				if _, err := unix.Write(1, []byte{'x'}); err != nil {
					errors.Add(1)
				}
			}
		})
	}
	ready.Wait()
	close(start)
	done.Wait()
	fmt.Fprintf(os.Stderr, "errors=%d\n", errors.Load())
}
