package scenario

import "fmt"

// ByItself is a run of the finalizer by itself, whose input is the payload.
type ByItself struct {
	Mode    string `json:"mode"`    // stream or file
	Cap     string `json:"cap"`     // verbatim; "" is omitted
	Receipt string `json:"receipt"` // what takes the receipt: "" a pipe, full, closed
}

// The modes and the receipts of ByItself.
const (
	AloneStream = "stream"
	AloneFile   = "file"

	ReceiptFull   = "full"   // a device without room
	ReceiptClosed = "closed" // a pipe without a reader
)

// The values of a stand-in's argument misreport: which number of the receipt
// becomes another.
const (
	MisreportCount  = "count"
	MisreportDigest = "digest"
)

// feeds says that the payload is the stand-in's, in place of its input.
func (s Scenario) feeds() bool { return s.Finalizer["feed"] != "" }

// FixturePayload is the payload file of the fixture, "" where the payload is
// for a finalizer or its stand-in.
func (s Scenario) FixturePayload() string {
	if s.Kind == Alone || s.feeds() {
		return ""
	}
	return s.Fixture.PayloadFile
}

// FedPayload is the payload file of the finalizer's stand-in, "" for none.
func (s Scenario) FedPayload() string {
	if !s.feeds() {
		return ""
	}
	return s.Fixture.PayloadFile
}

// CheckStandIn says what is wrong with the arguments of a finalizer's stand-in.
func CheckStandIn(args map[string]string) error {
	for key, value := range args {
		if err := oneOf("argument", key, "end", "err", "feed", "misreport", "status"); err != nil {
			return err
		}
		if key == "misreport" {
			if err := oneOf(key, value, MisreportCount, MisreportDigest); err != nil {
				return err
			}
		}
	}
	return nil
}

// Check says what is wrong with a run by itself.
func (b ByItself) Check() error {
	if err := oneOf("mode", b.Mode, AloneStream, AloneFile); err != nil {
		return err
	}
	if b.Receipt == "" {
		return nil
	}
	if err := oneOf("receipt", b.Receipt, ReceiptFull, ReceiptClosed); err != nil {
		return fmt.Errorf("finalize: %w", err)
	}
	return nil
}

func (s Scenario) checkFinalizer() error {
	if s.Kind != Alone {
		return CheckStandIn(s.Finalizer)
	}
	if s.Fixture.PayloadFile == "" {
		return fmt.Errorf("finalize: no payload")
	}
	return s.Alone.Check()
}
