package main

import (
	"bytes"
	"errors"
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

// watcher starts a process that says so if the tracer is killed or crashes:
// its targets are killed with it by the kernel, and nobody else would tell
// why. It starts beside the target, so as not to delay it.
type watcher struct {
	log     string
	writer  *os.File // the tracer's end of the guard's pipe
	started chan error
}

// arm starts the guard in the background.
func (w *watcher) arm() {
	w.started = make(chan error, 1)
	go func() { w.started <- w.start() }()
}

func (w *watcher) start() error {
	reader, writer, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("guard pipe: %w", err)
	}
	defer reader.Close() // the guard's end
	w.writer = writer
	guard, err := os.StartProcess("/proc/self/exe", []string{"faultinject", guardWord, w.log},
		&os.ProcAttr{Files: []*os.File{nil, nil, os.Stderr, reader}, Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		return errors.Join(fmt.Errorf("start guard: %w", err), writer.Close())
	}
	return guard.Release()
}

// disarm ends the guard, if it was armed.
func (w *watcher) disarm() error {
	if w.started == nil {
		return nil
	}
	if err := <-w.started; err != nil {
		return err
	}
	_, err := w.writer.Write([]byte{doneByte})
	if err = errors.Join(err, w.writer.Close()); err != nil {
		return fmt.Errorf("end guard: %w", err)
	}
	return nil
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
