// Command launcher is a small supervisor: it writes half a report to
// descriptor 1, runs an untrusted program in namespaces of its own, then a
// verifier, and writes the other half. Arguments: UNTRUSTED VERIFIER; with
// the single argument "verify" it is the verifier, which writes one line.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

func emit(text string) {
	for text != "" {
		n, err := unix.Write(1, []byte(text))
		if err != nil {
			fmt.Fprintf(os.Stderr, "emit: %v\n", err)
			os.Exit(3)
		}
		text = text[n:]
	}
}

func main() {
	if len(os.Args) == 2 {
		emit("verified\n")
		return
	}
	emit("first half\n")
	untrusted := exec.Command(os.Args[1])
	untrusted.Stderr = os.Stderr
	untrusted.Stdout = os.Stdout
	untrusted.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_NEWNET,
		Credential: &syscall.Credential{Uid: 65534, Gid: 65534},
	}
	if err := untrusted.Run(); err != nil {
		fmt.Fprintf(os.Stderr, "untrusted: %v\n", err)
		os.Exit(4)
	}
	verifier := exec.Command(os.Args[2], "verify")
	verifier.Stdout, verifier.Stderr = os.Stdout, os.Stderr
	if err := verifier.Run(); err != nil {
		fmt.Fprintf(os.Stderr, "verifier: %v\n", err)
		os.Exit(5)
	}
	emit("second half\n")
}
