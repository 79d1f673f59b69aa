package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Relay is what stands between a launcher's host and its supervisor: it is
// started in the supervisor's place, starts the supervisor behind it, and
// passes on what it is told to. The zero value is honest.
type Relay struct {
	Edits   []Edit        // of the record, in order; its own length is counted anew
	Raw     string        // bytes behind the record's first brace, counted by it
	Append  string        // behind the record, counted by it
	Pad     int           // the packet grows to this many bytes, counted by it; 0: as it is
	Cut     int           // only the first bytes of the packet; 0: all
	Empty   bool          // a packet of no bytes
	Copies  int           // of the packet; 1 is usual
	Delay   time.Duration // before the packet
	Held    string        // the endpoint that another process keeps open; "" is none
	Status  *int          // exit status in place of the supervisor's
	Deed    string        // DoKill or DoStop at a point; "" is neither
	Channel string        // of the point: report or sink, else ""
	Point   string        // PointChild, PointPacket, PointSent; "" with a channel
	Bytes   uint64        // of the channel that were passed on before the deed
}

// The points of an attempt at which a relay can end or stop the supervisor.
const (
	PointChild  = "child"  // the supervisor has a process of its own
	PointPacket = "packet" // the record is there and not passed on
	PointSent   = "sent"   // the record is passed on
)

// Edit puts a JSON value at a member of the record, or takes the member out.
type Edit struct {
	Path []string
	Raw  string // "" takes it out
}

// relayed are the words that stand alone or take one value.
var relayed = map[string]func(*Relay, string) error{
	"raw":    func(r *Relay, text string) error { r.Raw = text; return nil },
	"append": func(r *Relay, text string) error { r.Append = text; return nil },
	"pad":    func(r *Relay, text string) error { return counted(&r.Pad, text, 1, 1<<20) },
	"cut":    func(r *Relay, text string) error { return counted(&r.Cut, text, 1, 65535) },
	"copies": func(r *Relay, text string) error { return counted(&r.Copies, text, 0, 8) },
	"exit": func(r *Relay, text string) error {
		r.Status = new(int)
		return counted(r.Status, text, 0, 255)
	},
	"delay": func(r *Relay, text string) (err error) {
		if r.Delay, err = time.ParseDuration(text); err == nil && r.Delay < 0 {
			err = fmt.Errorf("want a duration from now on")
		}
		return err
	},
	"empty": func(r *Relay, text string) error { r.Empty = true; return oneOf("value", text, "") },
	"held": func(r *Relay, text string) error {
		r.Held = cmp.Or(text, ChannelTerminal)
		return oneOf("endpoint", text, "", ChannelReport, ChannelDiagnostic, ChannelSink)
	},
	"kill": func(r *Relay, text string) error { return r.deed(DoKill, text) },
	"stop": func(r *Relay, text string) error { return r.deed(DoStop, text) },
}

// ParseRelay reads the words of a relay:
//
//	set.PATH=JSON  drop.PATH   a member of the record, by its dotted path
//	raw=TEXT                   behind the record's first brace
//	append=TEXT  pad=N  cut=N  empty   the packet
//	copies=N  delay=DUR        how it is sent
//	held  held=CHANNEL         nobody sees the end of the terminal endpoint, or of report, diagnostic or sink
//	exit=N                     the exit status
//	kill=POINT  stop=POINT     child, report:N, sink:N, packet or sent
func ParseRelay(words []string) (Relay, error) {
	r := Relay{Copies: 1}
	for i, word := range words {
		name, value, _ := strings.Cut(word, "=")
		if slices.ContainsFunc(words[:i], func(w string) bool { n, _, _ := strings.Cut(w, "="); return n == name }) {
			return r, fmt.Errorf("relay %q: given twice", name)
		}
		verb, path, edits := strings.Cut(name, ".")
		read, known := relayed[name]
		var err error
		switch {
		case edits && path != "" && (verb == "drop" && value == "" || verb == "set" && jsontext.Value(value).IsValid()):
			r.Edits = append(r.Edits, Edit{strings.Split(path, "."), value})
		case known:
			err = read(&r, value)
		default:
			err = fmt.Errorf("no such word, or its value is no JSON")
		}
		if err != nil {
			return r, fmt.Errorf("relay %q: %w", word, err)
		}
	}
	return r, nil
}

func counted(into *int, text string, low, high int) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		return fmt.Errorf("want %d..%d", low, high)
	}
	*into = n
	return nil
}

func (r *Relay) deed(deed, point string) error {
	if r.Deed != "" {
		return fmt.Errorf("one deed only")
	}
	r.Deed = deed
	channel, text, ofBytes := strings.Cut(point, ":")
	if !ofBytes {
		r.Point = point
		return oneOf("point", point, PointChild, PointPacket, PointSent)
	}
	n, err := strconv.ParseUint(text, 10, 53)
	if err != nil {
		return fmt.Errorf("point %q: want CHANNEL:BYTES", point)
	}
	r.Channel, r.Bytes = channel, n
	return oneOf("channel", channel, ChannelReport, ChannelSink)
}
