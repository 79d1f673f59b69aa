// Command receive is receive_pattern in Go: it reads descriptor 0 to its end
// by one kind of call and checks that it is the pattern.
//
// It prints to stderr what it saw. Exit: 0 read to the end, 1 an error.
package main

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

func receiveSome(call string, b []byte, at int) (n int, err error) {
	parts := [][]byte{b[:100], b[100:]}
	switch call {
	case "read":
		return unix.Read(0, b)
	case "pread64":
		return unix.Pread(0, b, int64(at))
	case "readv":
		return unix.Readv(0, parts)
	case "preadv":
		return unix.Preadv(0, parts, int64(at))
	case "recvfrom":
		n, _, err = unix.Recvfrom(0, b, 0)
	case "recvmsg":
		n, _, _, _, err = unix.RecvmsgBuffers(0, parts, nil, 0)
	default:
		panic("unknown call " + call)
	}
	return n, err
}

func main() {
	b := make([]byte, 1000)
	at, shorts, eintr, wrong, fault := 0, 0, 0, 0, unix.Errno(0)
	for {
		n, err := receiveSome(os.Args[1], b, at)
		if errors.Is(err, unix.EINTR) {
			eintr++
			continue
		}
		errors.As(err, &fault)
		if err != nil || n == 0 {
			break
		}
		if n < 100 {
			shorts++
		}
		for i, got := range b[:n] {
			if at += 1; got != byte((at-1)*7+(at-1)/251) {
				wrong = i + 1
			}
		}
	}
	fmt.Fprintf(os.Stderr, "received=%d short=%d eintr=%d wrong=%d errno=%d\n", at, shorts, eintr, wrong, int(fault))
	if fault != 0 {
		os.Exit(1)
	}
}
