package supervisor

import (
	"crypto/sha256"
	"slices"

	"touchstone/contracts"
	"touchstone/reference/finalizer"
	"touchstone/reference/outcome"
)

// relayed is S's own account of what the finalizer was given.
type relayed struct {
	bytes int64
	whole bool  // up to the end of the sink, and all of it was taken
	limit int64 // the finalizer's cap
	// logical is the digest of what the trailer speaks of.
	logical [sha256.Size]byte
}

// finalizerEnd is how the finalizer ended. Signal is 0 if it exited.
type finalizerEnd struct {
	exit, signal int
	said         []byte // on its receipt descriptor
}

// reasons are the words that a receipt may give for an exit status of one that
// read its input to the end. Rules: C-76.
var reasons = map[int][]string{0: {""}, 3: {"grammar", "canonical_value"}, 4: {"mismatch"}, 6: {"incomplete"}}

// verdict is what the finalizer's end amounts to. The receipt is zero where
// there was no sound one; its content counts only if verified.
type verdict struct {
	receipt  finalizer.Receipt
	verified bool
	evidence outcome.Observation // of any other verdict
}

// judge turns the finalizer's end into a verdict. Only its actual exit status
// counts; a receipt that does not agree with that status and with S's own
// account is a fault of the harness, whatever it says.
//
// Rules: R08, R19, R20, C-67.
func judge(end finalizerEnd, given relayed) verdict {
	receipt, err := finalizer.ParseReceipt(end.said)
	v := verdict{receipt: receipt}
	words, known := reasons[end.exit]
	agreed := err == nil && known && receipt.Complete == (end.exit == 0) && slices.Contains(words, receipt.Reason) &&
		receipt.SinkBytes == given.bytes && (end.exit != 0 || receipt.SHA256 == given.logical) && receipt.CapBytes != nil && *receipt.CapBytes == given.limit
	switch {
	case end.signal == 0 && (end.exit == 5 || end.exit == 7):
		v.evidence = outcome.SinkFailure(outcome.ReasonSinkIO)
	case end.signal != 0 || !given.whole:
		v.evidence = outcome.SinkFailure(outcome.ReasonSinkPeerClosed)
	case !agreed:
		v.evidence = outcome.Fault()
	case end.exit == 0:
		v.verified = true
	case receipt.Field != "":
		v.evidence = outcome.SinkSettled(outcome.SinkRefused, outcome.ResultInvalid(receipt.Field))
	default:
		v.evidence = outcome.SinkSettled(outcome.SinkRefused,
			outcome.ChannelFailed(contracts.ChannelSink, outcome.ReasonProtocol))
	}
	return v
}
