package finalizer

import (
	"errors"
	"fmt"
	"os/signal"

	"golang.org/x/sys/unix"

	"touchstone/reference/sinkwire"
)

// chunkBytes is the size of one read.
const chunkBytes = 256 << 10

// Run is the whole program: it reads the arguments behind the program's name
// and stdin, and returns the exit status. It owns the process's descriptors.
//
// Rules: R08, R17, C-76.
func Run(args []string) int {
	signal.Ignore(unix.SIGPIPE) // a closed reader is EPIPE
	var r run
	var t target
	var err error
	if r.options, err = ParseOptions(args); err != nil {
		r.failure = &failure{exit: exitUsage, reason: reasonUsage, err: fmt.Errorf("%w; %s", err, usage)}
	} else {
		t, r.failure = r.finalize()
	}
	r.deliver(t)
	if r.failure == nil {
		return exitVerified
	}
	if r.options.ReceiptFD == 1 { // elsewhere it is for a program, whose diagnostics are its own
		// Nobody is left to be told that this could not be written.
		_ = writeStream(2, fmt.Appendf(nil, "reffinal: %v\n", r.failure))
	}
	return r.failure.exit
}

// run is one run of the program and what is known of it so far.
type run struct {
	options   Options
	sinkBytes int64            // read, the probe included
	summary   sinkwire.Summary // of a verified stream
	failure   *failure         // nil: verified and committed
}

// receipt is what to say of the run as it stands.
func (r *run) receipt() []byte {
	receipt := Receipt{FinalizerVersion: Version, Complete: r.failure == nil, SinkBytes: r.sinkBytes}
	if r.options.Capped {
		receipt.CapBytes = &r.options.CapBytes
	}
	if r.failure == nil {
		receipt.Counts, receipt.SHA256 = r.summary.Counts, r.summary.SHA256
	} else {
		receipt.Reason, receipt.Field = r.failure.reason, r.failure.field
	}
	return receipt.Append(nil)
}

// finalize receives the stream and commits or discards it. The target is
// returned if it was committed.
func (r *run) finalize() (target, *failure) {
	if _, err := unix.FcntlInt(uintptr(r.options.ReceiptFD), unix.F_GETFD, 0); err != nil {
		return nil, ioFailure(fmt.Errorf("receipt descriptor %d: %w", r.options.ReceiptFD, err))
	}
	t, err := openTarget(r.options)
	if err != nil {
		return nil, ioFailure(err)
	}
	f := r.receive(t)
	if f == nil {
		f = t.commit()
	}
	if f == nil {
		return t, nil
	}
	if err := t.discard(); err != nil {
		// A cleanup that failed is worse news than why it was needed.
		return nil, ioFailure(errors.Join(f, err))
	}
	return nil, f
}

// receive retains the stream up to EOF or the cap and gives the verdict on it.
// At most one byte beyond the cap is read; it is neither retained nor verified.
func (r *run) receive(t target) *failure {
	reader := sinkwire.NewReader()
	chunk := make([]byte, chunkBytes)
	for {
		n, err := readChunk(0, chunk[:r.allowance()])
		if err != nil {
			return ioFailure(fmt.Errorf("stdin: %w", err))
		}
		if n == 0 {
			break
		}
		r.sinkBytes += int64(n)
		exhausted := r.options.Capped && r.sinkBytes > r.options.CapBytes
		if exhausted {
			n--
		}
		if err := t.write(chunk[:n]); err != nil {
			return ioFailure(err)
		}
		if exhausted {
			return &failure{exit: exitExhausted, reason: reasonExhausted, err: errors.New("stdin: more bytes than the cap")}
		}
		_, _ = reader.Write(chunk[:n]) // Finish repeats the refusal
	}
	summary, err := reader.Finish()
	if err != nil {
		return verdict(err)
	}
	r.summary = summary
	return nil
}

// allowance is the size of the next read: a chunk, or what the cap still allows
// and the probe byte.
func (r *run) allowance() int64 {
	if !r.options.Capped {
		return chunkBytes
	}
	return min(chunkBytes, r.options.CapBytes-r.sinkBytes+1)
}

func verdict(err error) *failure {
	var refused *sinkwire.RefusedError
	if !errors.As(err, &refused) {
		return ioFailure(err)
	}
	f := &failure{exit: exitRefused, reason: reasonGrammar, field: refused.Field, err: err}
	switch refused.Kind {
	case sinkwire.CanonicalValue:
		f.reason = reasonCanonical
	case sinkwire.Mismatch:
		f.exit, f.reason = exitMismatch, reasonMismatch
	case sinkwire.Incomplete:
		f.exit, f.reason = exitIncomplete, reasonIncomplete
	}
	return f
}

// deliver writes the receipt, the last thing that can fail. Without it nothing
// is complete: what was committed is taken back.
func (r *run) deliver(committed target) {
	err := writeStream(r.options.ReceiptFD, r.receipt())
	if err == nil {
		return
	}
	err = fmt.Errorf("receipt: %w", err)
	if r.failure != nil {
		err = errors.Join(r.failure, err)
	}
	if committed != nil {
		err = errors.Join(err, committed.revoke())
	}
	r.failure = ioFailure(err)
}
