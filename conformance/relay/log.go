package relay

import (
	"errors"
	"fmt"
	"os"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"

	"touchstone/conformance/scenario"
)

// Plan is the file that a relay is started with.
type Plan struct {
	Words []string `json:"words"` // as scenario.ParseRelay reads them
	Log   string   `json:"log"`   // path
	// Keeper is the path of a datagram socket, where a data endpoint that is to be held goes; "" without one.
	Keeper string `json:"keeper"`
}

// Line is one line of the log.
type Line struct {
	Mono   int64  `json:"at"` // nanoseconds of CLOCK_MONOTONIC
	Did    string `json:"did"`
	Size   int64  `json:"size"` // bytes, of what has some
	Detail string `json:"detail"`
}

// What a Line can say that was done.
const (
	Started    = "started"    // Detail: what the host activated supervision with
	Received   = "received"   // a packet from the supervisor
	Recorded   = "recorded"   // Size and Detail: what the received record says was written to a channel, and its digest
	Edited     = "edited"     // the packet is another than was received
	Sent       = "sent"       // a packet to the host
	Refused    = "refused"    // Detail: why a packet could not be sent
	Forwarded  = "forwarded"  // all that was passed on of the channel in Detail
	Cancelled  = "cancelled"  // the host asked for the end, and the supervisor was asked
	Killed     = "killed"     // the supervisor, at the point; the relay follows
	Stopped    = "stopped"    // the relay stops itself, at the point
	Held       = "held"       // another process holds an endpoint
	Supervised = "supervised" // Detail: how the supervisor ended
	Ends       = "ends"       // Detail: how the relay ends now
	Failed     = "failed"     // Detail: what the relay could not do
)

// log appends whole lines; a relay that is killed loses none.
type log struct{ file *os.File }

func openLog(path string) (log, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	return log{f}, err
}

// recorded tells what a genuine record says of the host's data endpoints: what
// the files of an accepted result are compared with. Anything else says nothing.
func (l log) recorded(packet []byte) error {
	var record struct {
		Channels map[string]struct {
			Written int64  `json:"written_bytes"`
			SHA256  string `json:"sha256"`
		} `json:"channels"`
	}
	if json.Unmarshal(packet, &record) != nil {
		return nil
	}
	var err error
	for _, name := range []string{scenario.ChannelReport, scenario.ChannelDiagnostic, scenario.ChannelSink} {
		if c := record.Channels[name]; c.SHA256 != "" {
			err = errors.Join(err, l.did(Recorded, c.Written, name+" "+c.SHA256))
		}
	}
	return err
}

func (l log) did(what string, size int64, detail string) error {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return fmt.Errorf("read clock: %w", err)
	}
	text, err := json.Marshal(Line{now.Nano(), what, size, detail}, json.Deterministic(true))
	if err == nil {
		_, err = l.file.Write(append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write log: %w", err)
	}
	return nil
}
