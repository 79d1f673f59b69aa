// Command naive-exec is a launcher that must fail certification: it starts the
// producer with os/exec, lets it share the host's endpoints, waits, and then
// writes a terminal record that says what it believes.
//
// It knows the flags of the run_json facade and takes most of them for decoration. The
// program that it runs is named by NAIVE_PRODUCER, the attempt by
// NAIVE_ATTEMPT_ID.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"
)

func main() {
	status, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "naive-exec:", err)
	}
	os.Exit(status)
}

func run(args []string) (int, error) {
	r, err := parse(args)
	if err != nil {
		return 2, err
	}
	u := outcome{}
	cmd := exec.Command(os.Getenv("NAIVE_PRODUCER"), r.producerArgs()...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			return 1, fmt.Errorf("start producer: %w", err)
		}
		u = outcomeOf(exit)
	}
	if err := send(r.terminalFD, encode(u)); err != nil {
		return 1, fmt.Errorf("send record: %w", err)
	}
	return u.facadeExit(), nil
}

// send writes the record as one packet, and closes the endpoint.
func send(fd int, packet []byte) error {
	_, err := unix.Write(fd, packet)
	return errors.Join(err, unix.Close(fd))
}

// request is what this launcher understands of its command line.
type request struct {
	library, ohlcv, mode     string
	capabilities, validation bool
	terminalFD               int
}

func parse(args []string) (request, error) {
	var r request
	flags := flag.NewFlagSet("naive-exec", flag.ContinueOnError)
	flags.StringVar(&r.library, "so", "", "strategy library")
	flags.StringVar(&r.ohlcv, "ohlcv", "", "bars")
	flags.StringVar(&r.mode, "report-mode", "", "report mode")
	flags.BoolVar(&r.capabilities, "capabilities-json", false, "capabilities only")
	flags.BoolVar(&r.validation, "validate-window-only", false, "validation only")
	flags.IntVar(&r.terminalFD, "terminal-status-fd", 3, "endpoint of the terminal record")
	for _, ignored := range []string{
		"report-channel", "profile", "report-max-bytes", "diagnostic-max-bytes", "channel-wall-ms", "channel-stall-ms",
	} {
		flags.String(ignored, "", "ignored")
	}
	return r, flags.Parse(args)
}

func (r request) producerArgs() []string {
	args := []string{"--so", r.library, "--ohlcv", r.ohlcv}
	if r.mode != "" {
		args = append(args, "--report-mode", r.mode)
	}
	if r.capabilities {
		args = append(args, "--capabilities-json")
	}
	if r.validation {
		args = append(args, "--validate-window-only")
	}
	return args
}
