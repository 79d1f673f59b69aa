// Command benchcalls is bench_calls in Go: N goroutines make COUNT one-byte
// pwrites each, with an fsync every SYNC calls, in DIR.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	count, _ := strconv.Atoi(os.Args[2])
	every, _ := strconv.Atoi(os.Args[3])
	var errors atomic.Int64
	var done sync.WaitGroup
	for range n {
		done.Go(func() {
			f, err := os.CreateTemp(os.Args[4], "bench")
			if err != nil {
				panic(err)
			}
			if err := os.Remove(f.Name()); err != nil {
				panic(err)
			}
			fd, one := int(f.Fd()), []byte{'x'}
			for i := 1; i <= count; i++ {
				if _, err := unix.Pwrite(fd, one, 0); err != nil {
					errors.Add(1)
				}
				if i%every == 0 && unix.Fsync(fd) != nil {
					errors.Add(1)
				}
			}
		})
	}
	done.Wait()
	fmt.Printf("errors=%d\n", errors.Load())
}
