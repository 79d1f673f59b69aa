// Command store is store_file in Go: it writes ten bytes to PATH.tmp, syncs,
// closes and renames it to PATH, and says what each step returned and
// whether the descriptor is open after its close. Exit: 0.
package main

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

func say(step string, err error) {
	var errno unix.Errno
	errors.As(err, &errno)
	fmt.Fprintf(os.Stderr, "%s=%d ", step, int(errno))
}

func main() {
	path := os.Args[1]
	fd, err := unix.Open(path+".tmp", unix.O_WRONLY|unix.O_CREAT|unix.O_TRUNC, 0o644)
	if err != nil {
		panic(err)
	}
	_, err = unix.Write(fd, []byte("0123456789"))
	say("write", err)
	say("fsync", unix.Fsync(fd))
	say("close", unix.Close(fd))
	open := 0
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil {
		open = 1
	}
	fmt.Fprintf(os.Stderr, "open=%d ", open)
	say("rename", unix.Rename(path+".tmp", path))
	fmt.Fprintln(os.Stderr)
}
