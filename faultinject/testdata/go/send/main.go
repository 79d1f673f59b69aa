// Command send is send_pattern in Go: it sends the first TOTAL bytes of the
// pattern to descriptor 1 by one kind of call, chunk by chunk, and goes on
// after short, interrupted and empty transfers.
//
// It prints to stderr what it saw. Exit: 0 all sent, 1 an error ended it.
package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sendSome makes one call, a vector in three parts.
func sendSome(call string, b []byte, at int) (int, error) {
	third := len(b) / 3
	parts := [][]byte{b[:third], b[third : 2*third], b[2*third:]}
	switch call {
	case "write":
		return unix.Write(1, b)
	case "pwrite64":
		return unix.Pwrite(1, b, int64(at))
	case "sendto":
		return sendTo(b)
	case "writev":
		return unix.Writev(1, parts)
	case "pwritev":
		return unix.Pwritev(1, parts, int64(at))
	case "sendmsg":
		return unix.SendmsgBuffers(1, parts, nil, nil, 0)
	}
	panic("unknown call " + call)
}

// sendTo is send(2), whose count x/sys does not return.
func sendTo(b []byte) (int, error) {
	n, _, errno := unix.Syscall6(unix.SYS_SENDTO, 1, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), 0, 0, 0)
	if errno != 0 {
		return -1, errno
	}
	return int(n), nil
}

func main() {
	total, _ := strconv.Atoi(os.Args[2])
	chunk, _ := strconv.Atoi(os.Args[3])
	data := make([]byte, total)
	for i := range data {
		data[i] = byte(i*7 + i/251)
	}
	at, shorts, eintr, zero, fault := 0, 0, 0, 0, unix.Errno(0)
	for at < total && fault == 0 {
		n := min(chunk, total-at)
		r, err := sendSome(os.Args[1], data[at:at+n], at)
		var errno unix.Errno
		switch {
		case errors.Is(err, unix.EINTR):
			eintr++
		case errors.As(err, &errno):
			fault = errno
		case r == 0:
			zero++
		case r < n:
			shorts++
		}
		at += max(r, 0)
	}
	fmt.Fprintf(os.Stderr, "sent=%d short=%d eintr=%d zero=%d errno=%d damaged=0\n", at, shorts, eintr, zero, int(fault))
	if fault != 0 {
		os.Exit(1)
	}
}
