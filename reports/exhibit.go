package reports

// Exhibit is what a page shows of one attempt. Times are nanoseconds from the
// start of its process.
type Exhibit struct {
	Attempt string // folder, relative to the run
	Script  string
	Cell    string
	Kind    string // launch, reference, control
	Ended   string // exit 0, signal 9, …
	Problem string // why there is nothing more to show
	Span    int64  // to the last thing that was seen
	Lanes   []Lane
	Moments []Moment
	Limits  []Limit
	Streams []Stream
	Packets [][]byte // terminal packets, in order
	Files   []string // the evidence, names within the folder
}

// Lane is a channel's bytes over time.
type Lane struct {
	Name  string
	Bytes int64   // in all
	Steps []Step  // in order of time
	Marks []int64 // single messages instead of bytes: when each came
	End   int64   // when it ended; -1: never seen
}

// Step says that a channel had delivered so many bytes by then.
type Step struct{ At, Bytes int64 }

// Moment is something that happened or was done at one time.
type Moment struct {
	At   int64
	Kind string // control, kill, rendezvous, observe, exit (of the launcher), end (of a producer), watchdog, fault, leftover
	Text string
}

// Limit is a time that was granted, from a moment on.
type Limit struct {
	Name         string
	From, Length int64
}

// Stream is the content of a channel, shortened: when First and Last are
// together shorter than Bytes, the middle is left out.
type Stream struct {
	Name        string
	Bytes       int64
	First, Last []byte
}

// StreamBytes is how much of each end of a channel an exhibit holds.
const StreamBytes = 96
