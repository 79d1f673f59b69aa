package main

import (
	"bytes"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// guardWord is the hidden command of the process that outlives the tracer.
const guardWord = "guard-of-tracer"

// doneByte tells the guard that the tracer has ended as it should.
const doneByte = 'd'

// guardPipe is the guard's end of the pipe whose other end only the tracer
// has.
const guardPipe = 3

// startGuard starts a process that says so if the tracer is killed or
// crashes: its targets are killed with it by the kernel, and nobody else
// would tell why. disarm ends it.
func startGuard(log string) (disarm func() error, err error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("guard pipe: %w", err)
	}
	defer reader.Close() // the guard's end
	guard, err := os.StartProcess("/proc/self/exe", []string{"faultinject", guardWord, log},
		&os.ProcAttr{Files: []*os.File{nil, nil, os.Stderr, reader}, Sys: ownSession()})
	if err != nil {
		return nil, fmt.Errorf("start guard: %w", err)
	}
	return func() error {
		_, err := writer.Write([]byte{doneByte})
		if err != nil {
			err = fmt.Errorf("end guard: %w", err)
		}
		if closing := writer.Close(); err == nil {
			err = closing
		}
		if releasing := guard.Release(); err == nil {
			err = releasing
		}
		return err
	}, nil
}

// guard waits for the tracer's end.
func guard() int {
	var said [1]byte
	n, err := unix.Read(guardPipe, said[:])
	if err == nil && bytes.Equal(said[:n], []byte{doneByte}) {
		return 0
	}
	const text = "the tracer ended early; every traced process was killed with it"
	fmt.Fprintln(os.Stderr, "faultinject:", text)
	if len(os.Args) > 2 && os.Args[2] != "" {
		log, err := os.OpenFile(os.Args[2], os.O_WRONLY|os.O_APPEND, 0)
		if err == nil {
			_, err = fmt.Fprintf(log, "{\"kind\":\"tracer-lost\",\"text\":%q}\n", text)
			if closing := log.Close(); err == nil {
				err = closing
			}
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "faultinject: write log:", err)
		}
	}
	return 5
}

// ownSession keeps a terminal's signals from the guard.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
